"""The reports of ``record``."""

from __future__ import annotations

from dataclasses import field, replace
from typing import ClassVar, Literal

from cudarun.base.errors import CudarunError, ExitCode
from cudarun.base.records import LEFT_OUT, dataclass


@dataclass(frozen=True, slots=True)
class ListedLaunches:
    """The launches of a kernel with one geometry.

    Attributes:
        kernel: The kernel's symbol.
        demangled: Its name in C++ spelling.
        name: Its name without namespaces and template arguments.
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
    name: str = field(metadata=LEFT_OUT)
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared_bytes: int
    launches: int
    measured: int
    milliseconds: float
    in_graph: bool

    def plus(self, other: ListedLaunches) -> ListedLaunches:
        """Return the sum of two processes' launches."""
        return replace(
            self,
            launches=self.launches + other.launches,
            measured=self.measured + other.measured,
            milliseconds=self.milliseconds + other.milliseconds,
            in_graph=self.in_graph or other.in_graph,
        )


@dataclass(frozen=True, slots=True)
class RecordedFile:
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
        status: The result of the launch as a ``CUresult``; ``None`` if it did not end.
    """

    path: str
    kernel: str
    demangled: str
    ordinal: int
    grid: tuple[int, ...]
    block: tuple[int, ...]
    ranges: int
    memory_bytes: int
    file_bytes: int
    has_ptx: bool
    status: int | None


@dataclass(frozen=True, slots=True)
class LaunchListing:
    """The launches of a program.

    Attributes:
        program_status: The exit status of the program.
        launches: The launches, those with the most time first.
        notes: What kept launches from being listed.
    """

    program_status: int
    launches: tuple[ListedLaunches, ...]
    notes: tuple[str, ...] = ()
    tag: ClassVar[Literal["record-list"]] = "record-list"

    @property
    def exit_code(self) -> int:
        """The exit code of the program."""
        return self.program_status


@dataclass(frozen=True, slots=True)
class RecordReport:
    """The recordings of a program.

    Attributes:
        program_status: The exit status of the program.
        files: The recordings.
        notes: What kept launches from being recorded.
        error: The error that the exit code is of; ``None`` where nothing but a check failed.
    """

    program_status: int
    files: tuple[RecordedFile, ...]
    notes: tuple[str, ...] = ()
    error: CudarunError | None = None
    tag: ClassVar[Literal["record"]] = "record"

    @property
    def exit_code(self) -> int:
        """The exit code of the program; of one that succeeds, that of the error."""
        if self.program_status or self.error is None:
            return self.program_status
        return int(ExitCode.CHECK_FAILED)
