"""The reports of ``record``."""

from __future__ import annotations

from dataclasses import field, replace
from typing import ClassVar, Literal

from cudarun.base.errors import CudarunError, ExitCode
from cudarun.base.records import LEFT_OUT, dataclass


@dataclass(frozen=True, slots=True)
class ListedLaunches:
    """The launches of a kernel with one geometry."""

    kernel: str  # the kernel's symbol
    demangled: str  # its name in C++ spelling
    name: str = field(metadata=LEFT_OUT)  # its name without namespaces and template arguments
    grid: tuple[int, ...]  # the blocks of the grid
    block: tuple[int, ...]  # the threads of a block
    shared_bytes: int  # the dynamic shared memory of a block
    launches: int  # the number of launches
    measured: int  # the number of launches whose time is known
    milliseconds: float  # the total time of those
    in_graph: bool  # whether launches were captured in a graph, where they are not measured

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
    """A recording that was written."""

    path: str  # the file
    kernel: str  # the kernel's symbol
    demangled: str  # its name in C++ spelling
    ordinal: int  # the number of the launch among those that matched
    grid: tuple[int, ...]  # the blocks of the grid
    block: tuple[int, ...]  # the threads of a block
    ranges: int  # the number of ranges of device memory
    memory_bytes: int  # their size
    file_bytes: int  # the size of the file
    has_ptx: bool  # whether it contains PTX, so that the emulated device can replay it
    status: int | None  # the result of the launch as a ``CUresult``; ``None`` if it did not end


@dataclass(frozen=True, slots=True)
class LaunchListing:
    """The launches of a program."""

    program_status: int  # the exit status of the program
    launches: tuple[ListedLaunches, ...]  # the launches, those with the most time first
    notes: tuple[str, ...] = ()  # what kept launches from being listed
    tag: ClassVar[Literal["record-list"]] = "record-list"

    @property
    def exit_code(self) -> int:
        """The exit code of the program."""
        return self.program_status


@dataclass(frozen=True, slots=True)
class RecordReport:
    """The recordings of a program."""

    program_status: int  # the exit status of the program
    files: tuple[RecordedFile, ...]  # the recordings
    notes: tuple[str, ...] = ()  # what kept launches from being recorded
    # The error that the exit code is of; ``None`` where nothing but a check failed.
    error: CudarunError | None = None
    tag: ClassVar[Literal["record"]] = "record"

    @property
    def exit_code(self) -> int:
        """The exit code of the program; of one that succeeds, that of the error."""
        if self.program_status or self.error is None:
            return self.program_status
        return int(ExitCode.CHECK_FAILED)
