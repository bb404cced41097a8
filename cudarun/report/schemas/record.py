"""The documents of ``record``."""

from __future__ import annotations

from typing import Literal, TypedDict

from cudarun.report.schemas.errors import Head


class ListedLaunchesRecord(TypedDict):
    """The launches of a kernel with one geometry.

    Attributes:
        kernel: The kernel's symbol.
        demangled: Its name in C++ spelling.
        grid: The blocks of the grid.
        block: The threads of a block.
        shared_bytes: The dynamic shared memory of a block.
        launches: The number of launches.
        measured: The number of launches whose time is known.
        milliseconds: The total time of those.
        in_graph: Whether launches were captured in a graph, where they are not measured.
    """

    kernel: str
    demangled: str
    grid: list[int]
    block: list[int]
    shared_bytes: int
    launches: int
    measured: int
    milliseconds: float
    in_graph: bool


class LaunchListingDocument(Head):
    """The launches of a program.

    Attributes:
        schema: The schema of this document.
        program_status: The exit status of the program.
        launches: The launches, those with the most time first.
        notes: What kept launches from being listed.
    """

    schema: Literal["cudarun/record-list/1"]
    program_status: int
    launches: list[ListedLaunchesRecord]
    notes: list[str]


class RecordedFileRecord(TypedDict):
    """A recording that was written.

    Attributes:
        path: The file.
        kernel: The kernel's symbol.
        demangled: Its name in C++ spelling.
        ordinal: The number of the launch among those that matched.
        grid: The blocks of the grid.
        block: The threads of a block.
        ranges: The number of ranges of device memory.
        memory_bytes: Their size.
        file_bytes: The size of the file.
        has_ptx: Whether it contains PTX, so that the emulated device can replay it.
        status: The result of the launch as a CUresult; null if it did not end.
    """

    path: str
    kernel: str
    demangled: str
    ordinal: int
    grid: list[int]
    block: list[int]
    ranges: int
    memory_bytes: int
    file_bytes: int
    has_ptx: bool
    status: int | None


class RecordDocument(Head):
    """The recordings of a program.

    Attributes:
        schema: The schema of this document.
        program_status: The exit status of the program.
        files: The recordings.
        notes: What kept launches from being recorded.
    """

    schema: Literal["cudarun/record/1"]
    program_status: int
    files: list[RecordedFileRecord]
    notes: list[str]
