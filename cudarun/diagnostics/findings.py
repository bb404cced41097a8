"""Findings of compute-sanitizer in a kernel, parsed from its report."""

from __future__ import annotations

from typing import Literal

from cudarun.base.records import dataclass

Extent = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class FindingLocation:
    """An instruction that a finding of the sanitizer is about.

    Attributes:
        access: The kind of access; empty where the finding says it.
        function: The function, in C++ spelling.
        offset: Bytes from the function's start.
        file: The source file; ``None`` without line information.
        line: The line, from 1.
    """

    access: str
    function: str | None
    offset: int | None
    file: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class SanitizerFinding:
    """A fault that compute-sanitizer found.

    Attributes:
        kind: Its kind, such as Invalid __global__ write.
        severity: The severity by the sanitizer.
        message: Its first line.
        kernel: The kernel; ``None`` where the sanitizer does not name it.
        places: The instruction and its callers; of a race, all that take part.
        block: The thread's block.
        thread: The thread in its block.
        address: The address.
        details: Its other lines.
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
