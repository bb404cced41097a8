"""The request of ``cudarun record``."""

from __future__ import annotations

from cudarun.base.files import FileUse
from cudarun.base.options import CaseForm, option_field
from cudarun.base.records import dataclass


@dataclass(frozen=True, slots=True)
class RecordRequest:
    """The launches to record, or to list."""

    command: tuple[str, ...]  # the program and its arguments
    output: str | None = option_field(
        "-o",
        "--output FILE",
        file=FileUse.OUTPUT,
        help="Write the recording to FILE, further ones to FILE-2 and so on.  "
        "[default: the kernel's name]",
    )
    kernels: tuple[str, ...] = option_field(
        "-k",
        "--kernel GLOB",
        form=CaseForm.TEXTS,
        help="Record kernels whose name matches, mangled or in C++ spelling; repeatable.  "
        "[default: every kernel]",
    )
    nth: int = option_field(
        "--nth N", default=1, bounds=(1,), help="Start with the Nth matching launch."
    )
    count: int = option_field(
        "--count N", default=1, bounds=(1,), help="Number of launches to record."
    )
    all_kernels: bool = option_field(
        "--all-kernels",
        help="Apply --nth and --count to each matching kernel of each process.",
    )
    max_bytes: int = option_field(
        "--max-size BYTES",
        default=4 << 30,
        without="4Gi",
        help="Record no launch that can reach more device memory.",
    )
    listed: bool = option_field(
        "--list",
        help="List the launches of the program with their times, and record nothing.",
    )
    at_fault: bool = option_field(
        "--at-fault",
        help="Run the program twice: to find the launch that faults, and to record it.",
    )
    # With ``at_fault``, the seconds after which a launch counts as endless.
    limit: float | None = None
    keeps_stdout: bool = False  # whether stdout is a document, so that the program's goes to stderr
