"""The request of ``judge``."""

from __future__ import annotations

from dataclasses import MISSING

from cudarun.arguments.assertions import Assertion
from cudarun.base.files import FileUse
from cudarun.base.options import CaseForm, option_field
from cudarun.base.records import dataclass
from cudarun.session.driver.selection import Selector

SEED_BITS = 53
"""Too many for a search, and few enough for the numbers of JSON."""


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """Submissions, and the problem that they solve."""

    submissions: tuple[str, ...]  # their files
    device: Selector  # the device
    problem: str = option_field(
        "--problem PATH",
        default=MISSING,
        required=True,
        file=FileUse.INPUT,
        help="The problem: a file with Model and get_inputs, or a folder with reference.py.",
    )
    runs: int = option_field(
        "--runs N",
        default=4,
        bounds=(2, 10_000),
        help="Runs of each case, each with new inputs.",
    )
    seed: int | None = option_field(
        "--seed N",
        bounds=(0, (1 << SEED_BITS) - 1),
        help="Seed of all inputs.  [default: drawn]",
    )
    rtol: float | None = option_field(
        "--rtol X",
        is_number=True,
        help="Relative tolerance.  [default: that of the problem, or of the type]",
    )
    atol: float | None = option_field(
        "--atol X",
        is_number=True,
        help="Absolute tolerance.  [default: that of the problem, or of the type]",
    )
    timeout: float | None = option_field(
        "--timeout SECONDS",
        help="Time limit in seconds of loading a submission, and of each run.  [default: 60]",
    )
    memory: int = option_field(
        "--max-memory BYTES",
        "memory",
        default=16 << 30,
        show_default=False,
        help="Limit of the host memory of a submission's processes.  [default: 16Gi]",
    )
    asserts: tuple[Assertion, ...] = option_field(
        "--assert CONDITION",
        "asserts",
        form=CaseForm.TEXTS,
        help="Require a count of instructions on cpu, such as 'mma > 0'; repeatable.",
    )
    allow_library: bool = option_field(
        "--allow-library",
        help="Accept kernels of PyTorch and of CUDA's libraries beside those of the submission.",
    )
    python: str | None = option_field(
        "--python EXE",
        help="Run the problem and the submissions with this Python interpreter.  [default: "
        "cudarun's]",
    )
