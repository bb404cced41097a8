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
SKIPS_KERNELS = "skip"  # the file that exists once kernels are to be skipped


@dataclass(slots=True)
class KernelTimes:
    """The launches of a kernel."""

    launches: int = 0  # their number
    seconds: float = 0.0  # the time of all, on the emulated device


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call that failed, of which the program did not look at the error."""

    call: str  # its name
    error: str  # the name of the error
    file: str  # the executable or library with the caller
    offset: int  # the address after the call, from the start of the file's image


@dataclass(slots=True)
class ProcessReport:
    """The report of a process."""

    pid: int
    kernels: dict[str, KernelTimes] = field(default_factory=dict)  # the launches by kernel
    # The failed calls whose errors were not looked at, with their numbers.
    unchecked: dict[FailedCall, int] = field(default_factory=dict)
    # The calls that the emulated device does not have, with their numbers.
    unsupported: dict[str, int] = field(default_factory=dict)
    # Kernels that could not be loaded or launched, and why.
    refused: dict[str, str] = field(default_factory=dict)
    # Libraries that use private tables of the driver, and their functions.
    foreign: dict[str, str] = field(default_factory=dict)
    # Errors of the emulated device itself, each in a line.
    defects: list[str] = field(default_factory=list)
    fault: str | None = None  # the report of the fault that ended a kernel
    running: str | None = None  # the states of the threads of a kernel that was still running
    findings: list[Any] = field(default_factory=list)  # those of the detectors
    statistics: Any = None  # those of the launches
    engine_notes: list[str] = field(default_factory=list)  # the engine of each kernel, and why


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

    def find_class(self, module: str, name: str) -> type:
        """Return a dataclass by its module and name."""
        found = super().find_class(module, name) if module.startswith("cudarun.") else None
        if not (isinstance(found, type) and is_dataclass(found)):
            raise pickle.UnpicklingError(f"{module}.{name} is not a dataclass")
        return found
