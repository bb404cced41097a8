"""The report on a process of the program: collected by its server, read by the parent."""

from __future__ import annotations

import io
import pickle
from dataclasses import field, is_dataclass
from typing import Any

from cudarun.base.records import dataclass

CLIENT = "libcudarun_client.so"
"""The library by which the program calls its server, in the folder of reports."""

USED = "used"  # the file that exists once a process of the program has called CUDA


@dataclass(slots=True)
class KernelTimes:
    """The launches of a kernel.

    Attributes:
        launches: Their number.
        seconds: The time of all, on the emulated device.
    """

    launches: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call that failed, of which the program did not look at the error.

    Attributes:
        call: Its name.
        error: The name of the error.
        file: The executable or library with the caller.
        offset: The address after the call, from the start of the file's image.
    """

    call: str
    error: str
    file: str
    offset: int


@dataclass(slots=True)
class ProcessReport:
    """The report of a process.

    Attributes:
        kernels: The launches by kernel.
        unchecked: The failed calls whose errors were not looked at, with their numbers.
        unsupported: The calls that the emulated device does not have, with their numbers.
        refused: Kernels that could not be loaded, and why.
        foreign: Libraries that use private tables of the driver, and their functions.
        defects: Errors of the emulated device itself, each in a line.
        fault: The report of the fault that ended a kernel.
        running: The states of the threads of a kernel that was still running.
        findings: Those of the detectors.
        statistics: Those of the launches.
        engine_notes: The engine of each kernel, and why.
        calls: The number of calls.
    """

    pid: int
    kernels: dict[str, KernelTimes] = field(default_factory=dict)
    unchecked: dict[FailedCall, int] = field(default_factory=dict)
    unsupported: dict[str, int] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    foreign: dict[str, str] = field(default_factory=dict)
    defects: list[str] = field(default_factory=list)
    fault: str | None = None
    running: str | None = None
    findings: list[Any] = field(default_factory=list)
    statistics: Any = None
    engine_notes: list[str] = field(default_factory=list)
    calls: int = 0


# What the unpickler raises for bytes that are no pickle, besides its own error.
_DAMAGED = (
    *(EOFError, AttributeError, ImportError, IndexError, KeyError),
    *(MemoryError, OverflowError, TypeError, ValueError),
)


def read_report(data: bytes) -> ProcessReport:
    """Return a pickled report, of a file where the program can write, too.

    Raises:
        pickle.UnpicklingError: It has more than data, or is damaged.
    """
    try:
        report = _DataUnpickler(io.BytesIO(data)).load()
    except _DAMAGED as error:
        raise pickle.UnpicklingError(f"it is damaged: {error}") from None
    if not isinstance(report, ProcessReport):
        raise pickle.UnpicklingError("it is not a report")
    return report


class _DataUnpickler(pickle.Unpickler):
    """Reads plain values and dataclasses of the package; any other class or function could act."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a dataclass by its module and name."""
        found = super().find_class(module, name) if module.startswith("cudarun.") else None
        if not (isinstance(found, type) and is_dataclass(found)):
            raise pickle.UnpicklingError(f"{module}.{name} is not a dataclass")
        return found
