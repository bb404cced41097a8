"""The single place where driver calls are made, checked and traced.

A driver function returns a tuple whose first item is a ``CUresult``. Through `Driver` the same
function returns the values alone and raises when the result is not ``CUDA_SUCCESS``::

    address = driver.cuMemAlloc(1024)
    # if a failure is a valid answer:
    result, *values = driver.attempt("cuKernelGetParamInfo", kernel, 0)
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from cudarun.base.bindings import is_missing_library
from cudarun.base.errors import CudarunError, DeviceFailed, ImageRefused, NoDevice
from cudarun.base.terminal import visible
from cudarun.session.driver.drivers import DriverChoice
from cudarun.session.driver.log import DriverLog

if TYPE_CHECKING:
    from enum import IntEnum

    from cudarun.session.driver.protocol import DriverCalls
else:
    DriverCalls = object

Values = tuple[Any, ...]
Function = Callable[..., Values]

# CUDA driver API, enum CUresult: failures that are not the device's.
_NO_DEVICE = frozenset({3, 34, 36, 46, 100, 101, 102, 802, 803, 804})
_IMAGE_REFUSED = frozenset({200, 209, 218, 220, 221, 222, 223, 224, 225, 226, 300, 301, 302, 303})
_SUCCESS, _NOT_FOUND, _NOT_READY, _NOT_SUPPORTED = 0, 500, 600, 801
# Calls on an image or its contents that have no name argument: the code needs the symbol.
_OF_CODE = ("cuFunc", "cuKernel", "cuLaunch", "cuLibraryLoad", "cuModuleLoad")
_DOCTOR = "find the cause with 'cudarun devices --doctor'"
_INTERPRET = "interpret the kernel: --cpu-engine auto, or CUDARUN_CPU_ENGINE=auto"
_UNLINKED = "the image has undefined symbols; link it: cudarun link FILE… -o OUT"
_LOGS_SINCE = 12090
_NAME_BYTES = 256
FAULTS = frozenset({700, 702, 710, 714, 715, 716, 717, 718, 719, 721})
"""CUDA driver API, enum CUresult: after these every call of the process fails."""


class Driver(DriverCalls):
    """A driver API with checked and traced calls; enums and handle types pass through.

    Args:
        trace: Log every call on stderr when it returns.
    """

    def __init__(self, choice: DriverChoice, *, trace: bool = False) -> None:
        self.module = choice.module
        self.traits = choice.traits
        self.count = 0  # number of calls
        self.version = 0  # cuDriverGetVersion, e.g. 13000; known once the session is initialized
        self._trace = trace
        self._log: DriverLog | None = None
        self._last_log = ""  # the driver's log of the last failed call

    if not TYPE_CHECKING:  # for a type checker it has the calls of `DriverCalls`

        def __getattr__(self, name: str) -> object:
            member = getattr(self.module, name)
            if not (name.startswith("cu") and name[2:3].isupper()):  # a type or an enumeration
                return member

            def checked(*args: object) -> object:
                result, *values = self.attempt(name, *args)
                if result != 0:
                    raise self.failure(name, result)
                return values[0] if len(values) == 1 else tuple(values) if values else None

            setattr(self, name, checked)  # found without __getattr__ from now on
            return checked

    def attempt(self, name: str, *args: object) -> Values:
        """Make one call; return its ``CUresult`` and values, unchecked.

        Raises:
            NoDevice: There is no driver library to call.
        """
        self.count += 1
        try:
            function = getattr(self.module, name)
            answer = self._traced(name, function, args) if self._trace else function(*args)
        except RuntimeError as error:
            # The bindings raise this, not a CUresult, when libcuda cannot be opened.
            if not is_missing_library(error):
                raise
            raise NoDevice(
                "no CUDA driver: libcuda.so.1 was not found",
                hint=f"{_DOCTOR}; -d cpu selects the emulated device",
            ) from error
        if answer[0] not in (_SUCCESS, _NOT_READY) and self.version >= _LOGS_SINCE:
            if self._log is None and (logs := self.traits.find_logs()) is not None:
                self._log = DriverLog(logs)
            self._last_log = "" if self._log is None else self._log.since_last(name)
        return answer

    def optional(self, refusal: IntEnum, name: str, *args: object) -> Values | None:
        """Make a checked call and return its values; ``None`` if its result is this refusal."""
        result, *values = self.attempt(name, *args)
        if result not in (0, refusal):
            raise self.failure(name, result)
        return tuple(values) if result == 0 else None

    def failure(self, name: str, result: IntEnum) -> CudarunError:
        """Return the exception for the last failed call's result, with the driver's own log."""
        number, hint = int(result), None
        kind: type[CudarunError] = DeviceFailed
        if number in _NO_DEVICE:
            kind, hint = NoDevice, _DOCTOR
        elif number in _IMAGE_REFUSED:
            kind = ImageRefused
        elif number == _NOT_FOUND and name.startswith(_OF_CODE):
            kind, hint = ImageRefused, _UNLINKED
        elif number == _NOT_SUPPORTED and self.traits.was_refused_by_engine():
            hint = _INTERPRET
        status, text = self.module.cuGetErrorString(result)
        words = text.decode() if int(status) == 0 else "unknown error"
        cuda = result.name, number
        error = kind(words, hint=hint, cuda=cuda, log=self._last_log or None, operation=name)
        error.places = self.traits.fault_places()
        return error

    def _traced(self, name: str, function: Function, args: Values) -> Values:
        started = time.perf_counter()
        answer = function(*args)
        microseconds = (time.perf_counter() - started) * 1e6
        shown = ", ".join(map(_shown, args))
        values = " ".join(map(_shown, answer[1:]))
        line = f"{name}({shown}) = {answer[0].name} {values}".rstrip()
        line = visible(line) if sys.stderr.isatty() else line
        print(f"{line} <{microseconds:.1f} µs>", file=sys.stderr, flush=True)
        return answer


def _shown(value: Any) -> str:
    """Format a value for ``--trace``: long data by size, handles and addresses in hex."""
    if isinstance(value, bytes) and len(value) <= _NAME_BYTES:  # a C string in its buffer
        return repr(value.split(b"\0", 1)[0].decode(errors="replace"))
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"
    if isinstance(value, bool | str | float) or value is None:
        return str(value)
    if hasattr(value, "name") and hasattr(value, "value"):
        return str(value.name)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_shown, value))}]"
    try:
        number = int(value)
    except (TypeError, ValueError):
        return f"<{type(value).__name__}>"
    return hex(number) if number > 0xFFFF else str(number)


def is_fault(error: CudarunError) -> bool:
    """Return whether the error makes the process's driver unusable."""
    return error.cuda is not None and error.cuda[1] in FAULTS
