"""The request that each node of a fleet gets."""

from __future__ import annotations

from cudarun.base.options import option_field
from cudarun.base.records import dataclass

CASE_TIMEOUT = 60.0  # the default of ``--timeout`` in seconds, as of ``launch --spec``


@dataclass(frozen=True, slots=True)
class NodeRequest:
    """The request of one node."""

    version: str  # the version of cudarun that made it; a node of another version refuses it
    names: tuple[str, ...]  # the names of the cases; all by default
    limit: float  # the seconds after which the node ends itself
    spec: str = ""  # the spec, relative to the folder of the files
    devices: str = option_field(
        "-d",
        "--device LIST",
        "devices",
        default="all",
        help="The devices of each node, as for launch.",
    )
    timeout: float | None = option_field(
        "--timeout SECONDS",
        help="Time limit of each phase of a case in seconds, as for launch.  [default: that of the "
        f"case, or {CASE_TIMEOUT:g}]",
    )
    runs: int = option_field(
        "--runs N",
        default=3,  # enough to tell a changing output from a wrong one
        bounds=(1, 10_000),
        help="Runs of each case on each GPU, whose outputs are compared.",
    )
    soak: float = option_field(
        "--soak TIME", default=0.0, help="Repeat the runs for this time: 90s, 30m, 1h."
    )
    seed: int | None = option_field(
        "--seed N",
        bounds=(0, (1 << 63) - 1),
        help="Seed of random inputs on all GPUs.  [default: that of each case]",
    )
    filter_text: str | None = option_field(
        "--filter EXPR",
        "filter_text",
        help="Run the cases that match an expression, as for launch.",
    )
