"""Findings of compute-sanitizer in a kernel, parsed from its report."""

from __future__ import annotations

from typing import Literal

from cudarun.records import dataclass

Extent = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class FindingLocation:
    """An instruction that a finding is about.

    Attributes:
        access: The access, as ``Write access``; empty if the finding names it.
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
    """One finding.

    Attributes:
        kind: The kind, without variable parts: ``Invalid __global__ write``.
        severity: The tool's severity.
        message: The first line, complete.
        kernel: The kernel; ``None`` if the tool does not name it.
        places: The instruction, then its call stack; of a race, all instructions involved.
        block: Block index of the thread.
        thread: Thread index in the block.
        address: The accessed address.
        details: The remaining lines.
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
