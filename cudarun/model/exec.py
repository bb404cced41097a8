"""The report of ``exec``."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar, Literal

from cudarun.base.errors import ExitCode
from cudarun.base.records import LEFT_OUT, dataclass
from cudarun.model.detectors import DetectorReport

SIGNALED = range(129, 193)
"""The exit statuses of a shell for signals."""


@dataclass(frozen=True, slots=True)
class ExecutedKernel:
    """The launches of a kernel in all processes.

    Attributes:
        kernel: The kernel's symbol.
        demangled: Its name in C++ spelling.
        name: Its name without namespaces and template arguments.
        launches: Their number.
        milliseconds: The time of all.
    """

    kernel: str
    demangled: str
    name: str = field(metadata=LEFT_OUT)
    launches: int
    milliseconds: float


@dataclass(frozen=True, slots=True)
class UncheckedError:
    """A failed call whose error the program ignores.

    Attributes:
        call: The call.
        error: The error.
        function: The function that calls it; `None` if the file has no symbols.
        file: The executable or the library with the caller.
        offset: The address after the call in the file.
        count: How often it failed there.
    """

    call: str
    error: str
    function: str | None
    file: str
    offset: int
    count: int


@dataclass(frozen=True, slots=True)
class UnsupportedCall:
    """A call that the emulated device does not have.

    Attributes:
        call: The call.
        count: How often the program made it.
    """

    call: str
    count: int


@dataclass(frozen=True, slots=True)
class ExecReport:
    """The run of a program.

    Attributes:
        program: The program and its arguments.
        program_status: The exit status of the program, as a shell has it.
        seconds: The time of the run.
        kernels: The kernels that ran, those with the most time first.
        detectors: The reports of the detectors, one for each process.
        unchecked: Failed calls whose errors were ignored.
        unsupported: The calls that the emulated device does not have.
        problems: Why code could not be loaded, or a library not be used.
        defects: Errors of cudarun itself, after which no fault is reported.
        fault: The report of the fault that ended a kernel.
        limit: The time limit that was exceeded, in seconds.
        running: The states of the threads of a kernel that was running at the end.
        keeps_status: Whether the exit code is always that of the program.
    """

    program: str
    program_status: int
    seconds: float
    kernels: tuple[ExecutedKernel, ...] = ()
    detectors: tuple[DetectorReport, ...] = ()
    unchecked: tuple[UncheckedError, ...] = ()
    unsupported: tuple[UnsupportedCall, ...] = ()
    problems: tuple[str, ...] = ()
    defects: tuple[str, ...] = ()
    fault: str | None = None
    limit: float | None = None
    running: str | None = None
    keeps_status: bool = field(default=False, metadata=LEFT_OUT)
    tag: ClassVar[Literal["exec"]] = "exec"

    @property
    def has_findings(self) -> bool:
        """Return whether a detector found something."""
        return any(each.findings for each in self.detectors)

    @property
    def exit_code(self) -> int:
        """The exit code of the worst that has happened, or that of the program."""
        if self.keeps_status:
            return self.program_status
        if self.defects:
            return int(ExitCode.WORKER_DIED)
        if self.limit is not None:
            return int(ExitCode.OUT_OF_TIME)
        if self.fault is not None:
            return int(ExitCode.DEVICE_FAILED)
        if self.program_status in SIGNALED:
            return self.program_status
        if self.has_findings or self.unchecked:
            return int(ExitCode.CHECK_FAILED)
        return self.program_status
