"""The request of ``cudarun record``."""

from __future__ import annotations

from cudarun.base.records import dataclass


@dataclass(frozen=True, slots=True)
class RecordRequest:
    """The launches to record, or to list.

    Attributes:
        command: The program and its arguments.
        kernels: Patterns of kernel names; all kernels without one.
        nth: The first matching launch to record, from 1.
        count: The number of launches to record.
        all_kernels: Record launches of each kernel.
        max_bytes: The most memory of a recording.
        listed: Only list launches.
        output: The file; ``None`` for one named after the kernel.
        limit: With `record_at_fault`, the seconds after which a launch counts as endless.
        keeps_stdout: Whether stdout is a document, so that the program's goes to stderr.
    """

    command: tuple[str, ...]
    kernels: tuple[str, ...] = ()
    nth: int = 1
    count: int = 1
    all_kernels: bool = False
    max_bytes: int = 4 << 30
    listed: bool = False
    output: str | None = None
    limit: float | None = None
    keeps_stdout: bool = False
