"""The report of ``exec``."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar, Literal

from cudarun.base.errors import ExitCode
from cudarun.base.records import LEFT_OUT, dataclass
from cudarun.model.detectors import DetectorReport, LaunchFinding

SIGNALED = range(129, 193)  # the exit statuses of a shell for signals


@dataclass(frozen=True, slots=True)
class ExecutedKernel:
    """The launches of a kernel in all processes."""

    kernel: str  # the kernel's symbol
    demangled: str  # its name in C++ spelling
    name: str = field(metadata=LEFT_OUT)  # its name without namespaces and template arguments
    launches: int  # their number
    milliseconds: float  # the time of all


@dataclass(frozen=True, slots=True)
class UncheckedError:
    """A failed call whose error the program ignores."""

    call: str  # the call
    error: str  # the error
    function: str | None  # the function that calls it; `None` if the file has no symbols
    file: str  # the executable or the library with the caller
    offset: int  # the address after the call in the file
    count: int  # how often it failed there


@dataclass(frozen=True, slots=True)
class UnsupportedCall:
    """A call that the emulated device does not have."""

    call: str  # the call
    count: int  # how often the program made it


@dataclass(frozen=True, slots=True)
class ExecReport:
    """The run of a program."""

    program: str  # the program and its arguments
    program_status: int  # the exit status of the program, as a shell has it
    seconds: float  # the time of the run
    kernels: tuple[ExecutedKernel, ...] = ()  # the kernels that ran, those with the most time first
    detectors: tuple[DetectorReport, ...] = ()  # the reports of the detectors, one for each process
    unchecked: tuple[UncheckedError, ...] = ()  # failed calls whose errors were ignored
    # The calls that the emulated device does not have.
    unsupported: tuple[UnsupportedCall, ...] = ()
    problems: tuple[str, ...] = ()  # why code was not loaded or launched, or a library not used
    defects: tuple[str, ...] = ()  # errors of cudarun itself, after which no fault is reported
    fault: str | None = None  # the report of the fault that ended a kernel
    limit: float | None = None  # the time limit that was exceeded, in seconds
    running: str | None = None  # the states of the threads of a kernel that was running at the end
    # Whether a program contains a CUDA runtime, so that its kernels cannot run.
    has_runtime: bool = field(default=False, metadata=LEFT_OUT)
    # Whether the exit code is always that of the program.
    keeps_status: bool = field(default=False, metadata=LEFT_OUT)
    tag: ClassVar[Literal["exec"]] = "exec"

    @property
    def findings(self) -> tuple[LaunchFinding, ...]:
        """The findings of the detectors in all processes."""
        return tuple(found for each in self.detectors for found in each.findings)

    @property
    def is_complete(self) -> bool:
        """Return whether the program ended by itself, after kernels without a fault."""
        is_cut_off = self.limit is not None or self.program_status in SIGNALED
        return bool(self.kernels) and not (is_cut_off or self.running or self.fault or self.defects)

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
        if self.findings or self.unchecked or self.has_runtime:
            return int(ExitCode.CHECK_FAILED)
        return self.program_status
