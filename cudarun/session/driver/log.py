"""The driver's own log of what went wrong (driver API, section 6.36; CUDA 12.9 and later).

What a call has to say, and the end of it, as the driver of CUDA 13.0 writes them::

    [15:05:53.128][140648125628736][CUDA][E] One or more of block dimensions of …
    [15:05:53.128][140648125628736][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from …

Some drivers name the call in brackets instead: ``[CUDA][E][cuLaunchKernel] …``. Calls fail that
nobody here made: cuda-bindings ask a driver for functions of newer ones, dozens of them.
"""

from __future__ import annotations

import ctypes
import re
from typing import Any, Protocol

_BYTES = 25600  # cuLogsDumpToMemory: the driver keeps no more
_BRACKETS = r"\[[^\]\n]*\]"
_ENTRY = re.compile(
    rf"^{_BRACKETS}\[(?P<thread>[^\]\n]*)\]{_BRACKETS}\[\w+\](?:\[(?P<call>\w+)\])? ?",
    re.MULTILINE,
)
_RETURNING = re.compile(r"^Returning \d+ \(\w+\) from (\w+)$")
_VERSION = re.compile(r"_v\d+$")
_SUCCESS = 0


class LogCalls(Protocol):
    """The calls of a driver that keeps a log, with the signatures of the bindings."""

    def cuLogsCurrent(self, flags: int, /) -> tuple[Any, ...]:  # noqa: N802
        """Return a result, and an iterator to the place where the next message will be."""

    def cuLogsDumpToMemory(  # noqa: N802
        self, iterator: Any, buffer: bytearray, size: int, flags: int, /
    ) -> tuple[Any, ...]:
        """Return a result; write the messages since ``iterator`` and a NUL to ``buffer``."""


class DriverLog:
    """Reads what the log of some calls has got since the last time."""

    def __init__(self, calls: LogCalls) -> None:
        self._calls = calls
        self._iterator: Any = None  # from the beginning

    def since_last(self, call: str) -> str:
        """What the new entries say of a call that has failed; empty where they say nothing."""
        buffer = bytearray(_BYTES)
        result, *_ = self._calls.cuLogsDumpToMemory(self._iterator, buffer, _BYTES, 0)
        _, self._iterator = self._calls.cuLogsCurrent(0)
        if result != _SUCCESS:
            return ""
        return "\n".join(_entries(buffer.split(b"\0", 1)[0].decode(errors="replace"), call))


def _entries(text: str, call: str) -> list[str]:
    """The messages about a call, and those that do not say which one they are about."""
    starts = [*_ENTRY.finditer(text)]
    ends = [*(start.start() for start in starts), len(text)][1:]
    named: list[str] = []
    of_threads: dict[str, list[str]] = {}  # since a call last returned there
    for start, end in zip(starts, ends, strict=True):
        message = text[start.end() : end].strip()
        returning = _RETURNING.match(message)
        if start["call"] is not None:
            named += [message] if _is(start["call"], call) else []
        elif returning is None:
            of_threads.setdefault(start["thread"], []).append(message)
        else:
            said = of_threads.pop(start["thread"], [])
            named += said if _is(returning[1], call) else []
    return [*named, *(message for said in of_threads.values() for message in said)]


def _is(entry_point: str, call: str) -> bool:
    return _VERSION.sub("", entry_point) == call


class LibcudaLogs:
    """``cuLogs*`` of the driver that the bindings have loaded, with their signatures.

    The bindings of CUDA 13.3 do not find them: they ask ``cuGetProcAddress`` for the functions as
    of CUDA 12.8, and there they were not yet.

    Raises:
        OSError: There is no driver.
        AttributeError: It is older than CUDA 12.9.
    """

    def __init__(self) -> None:
        library = ctypes.CDLL("libcuda.so.1")
        self._current = library.cuLogsCurrent
        self._dump = library.cuLogsDumpToMemory

    def cuLogsCurrent(self, flags: int) -> tuple[int, ctypes.c_uint]:  # noqa: N802
        """An iterator to the place where the next message will be."""
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
    """The driver's log; ``None`` where it keeps none."""
    try:
        return LibcudaLogs()
    except (OSError, AttributeError):
        return None
