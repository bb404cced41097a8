"""What a checker found in a kernel, taken out of its report."""

from __future__ import annotations

from typing import Literal

from cudarun.records import dataclass

Extent = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class FindingLocation:
    """An instruction that a finding is about.

    Attributes:
        access: What it does there, as ``Write access``; empty where the finding itself says.
        function: The kernel, or a function that it calls, in C++ spelling.
        offset: Bytes from the function's start to the instruction.
        file: The source file; ``None`` where the code has no line information.
        line: From 1, in that file.
    """

    access: str
    function: str | None
    offset: int | None
    file: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class SanitizerFinding:
    """One fault.

    Attributes:
        kind: What it is, without what differs from one to the next: ``Invalid __global__ write``.
        severity: As the checker grades it.
        message: Its first line, whole.
        kernel: The kernel; ``None`` where the checker does not name it.
        places: Where it happens, then where that was called from; of a race, all that take part.
        block: Of the thread.
        thread: Within the block.
        address: What was accessed.
        details: All else that it says, line by line.
    """

    kind: str
    severity: Literal["error", "warning"]
    message: str
    kernel: str | None = None
    places: tuple[FindingLocation, ...] = ()
    block: Extent | None = None
    thread: Extent | None = None
    address: int | None = None
    details: tuple[str, ...] = ()
