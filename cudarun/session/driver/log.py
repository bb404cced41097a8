"""The driver's own error log (driver API, section 6.36; CUDA 12.9 and later).

The entries of a call and their end, as the driver of CUDA 13.0 writes them::

    [15:05:53.128][140648125628736][CUDA][E] One or more of block dimensions of …
    [15:05:53.128][140648125628736][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from …

Some drivers put the call in brackets instead: ``[CUDA][E][cuLaunchKernel] …``. The log also has
calls that cudarun did not make: cuda-bindings query dozens of functions of newer drivers.
"""

from __future__ import annotations

import ctypes
import re
from types import ModuleType

_BYTES = 25600  # cuLogsDumpToMemory: the maximum size of the log
_BRACKETS = r"\[[^\]\n]*\]"
_ENTRY = re.compile(
    rf"^{_BRACKETS}\[(?P<thread>[^\]\n]*)\]{_BRACKETS}\[\w+\](?:\[(?P<call>\w+)\])? ?", re.MULTILINE
)
_RETURNING = re.compile(r"^Returning \d+ \(\w+\) from (\w+)$")
_VERSION = re.compile(r"_v\d+$")
_SUCCESS = 0


class DriverLog:
    """A reader of the log entries since the last time.

    Args:
        calls: Has the driver's ``cuLogs*`` calls, with the signatures of the bindings.
    """

    def __init__(self, calls: LibcudaLogs | ModuleType) -> None:
        self._calls = calls
        self._iterator: ctypes.c_uint | None = None  # from the beginning

    def since_last(self, call: str) -> str:
        """Return the new entries about a failed call; empty without any."""
        buffer = bytearray(_BYTES)
        result, *_ = self._calls.cuLogsDumpToMemory(self._iterator, buffer, _BYTES, 0)
        _, self._iterator = self._calls.cuLogsCurrent(0)
        if result != _SUCCESS:
            return ""
        return "\n".join(_entries(buffer.split(b"\0", 1)[0].decode(errors="replace"), call))


def _entries(text: str, call: str) -> list[str]:
    """Return the messages about a call, and those that name no call."""
    starts = [*_ENTRY.finditer(text)]
    ends = [*(start.start() for start in starts), len(text)][1:]
    named: list[str] = []
    of_threads: dict[str, list[str]] = {}  # since a call last returned in that thread
    for start, end in zip(starts, ends, strict=True):
        message = text[start.end() : end].strip()
        returning = _RETURNING.match(message)
        if start["call"] is not None:
            named += [message] if _is(start["call"], call) else []
        elif returning is None:
            of_threads.setdefault(start["thread"], []).append(message)
        else:
            messages = of_threads.pop(start["thread"], [])
            named += messages if _is(returning[1], call) else []
    return [*named, *(message for messages in of_threads.values() for message in messages)]


def _is(entry_point: str, call: str) -> bool:
    return _VERSION.sub("", entry_point) == call


class LibcudaLogs:
    """The ``cuLogs*`` calls of the driver that the bindings have loaded, with their signatures.

    The bindings of CUDA 13.3 do not find them: they query ``cuGetProcAddress`` for the functions of
    CUDA 12.8, which did not have them.

    Raises:
        OSError: There is no driver.
        AttributeError: The driver is older than CUDA 12.9.
    """

    def __init__(self) -> None:
        library = ctypes.CDLL("libcuda.so.1")
        self._current = library.cuLogsCurrent
        self._dump = library.cuLogsDumpToMemory

    def cuLogsCurrent(self, flags: int) -> tuple[int, ctypes.c_uint]:  # noqa: N802
        """Return a result, and an iterator to the position of the next message."""
        iterator = ctypes.c_uint()
        return self._current(ctypes.byref(iterator), ctypes.c_uint(flags)), iterator

    def cuLogsDumpToMemory(  # noqa: N802
        self, iterator: ctypes.c_uint | None, buffer: bytearray, size: int, flags: int
    ) -> tuple[int, ctypes.c_uint | None, int]:
        """Write the messages since ``iterator`` (all for ``None``) and a NUL to ``buffer``."""
        written = ctypes.c_size_t(size)
        result = self._dump(
            None if iterator is None else ctypes.byref(iterator),
            (ctypes.c_char * size).from_buffer(buffer),
            ctypes.byref(written),
            ctypes.c_uint(flags),
        )
        return result, iterator, written.value


def libcuda_logs() -> LibcudaLogs | None:
    """Return the driver's log calls; ``None`` without a log."""
    try:
        return LibcudaLogs()
    except (OSError, AttributeError):
        return None
