"""The request that each node of a fleet gets."""

from __future__ import annotations

from cudarun.base.records import dataclass

RUNS = 3
"""The default number of runs of each case: enough to tell a changing output from a wrong one."""


@dataclass(frozen=True, slots=True)
class NodeRequest:
    """The request of one node.

    Attributes:
        version: The version of cudarun that made it; a node of another version refuses it.
        devices: The devices of the node, as for ``--device``.
        names: The names of the cases; all by default.
        filter_text: The expression of ``--filter``.
        seed: The seed of all cases; ``None`` for their own, none of which is random.
        timeout: The time limit of each case in seconds; ``None`` for their own.
        runs: The runs of each case on each GPU.
        soak: Repeat the runs for this number of seconds; 0 for one pass.
        limit: The seconds after which the node ends itself.
        spec: The spec, relative to the folder of the files.
    """

    version: str
    devices: str
    names: tuple[str, ...]
    filter_text: str | None
    seed: int | None
    timeout: float | None
    runs: int
    soak: float
    limit: float
    spec: str = ""
