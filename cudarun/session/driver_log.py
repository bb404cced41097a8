"""The driver's own log of what went wrong (driver API, section 6.36; CUDA 12.9 and later)."""

from __future__ import annotations

import ctypes
import re
from typing import Any

_BYTES = 25600  # cuLogsDumpToMemory: the driver keeps no more
_ENTRY = re.compile(r"^(?:\[[^\]\n]*\]){4}\[(\w+)\] ?", re.MULTILINE)
_VERSION = re.compile(r"_v\d+$")
_SUCCESS = 0


class DriverLog:
    """Reads what the log has got since the last time.

    Args:
        calls: Has ``cuLogsCurrent`` and ``cuLogsDumpToMemory``, with the signatures of the
            bindings.
    """

    def __init__(self, calls: Any) -> None:
        self._calls = calls
        self._iterator: Any = None  # from the beginning

    def since_last(self, call: str) -> str:
        """The new entries, each without its time and thread; empty where there are none.

        Args:
            call: What has failed; entries about another call say which.
        """
        buffer = bytearray(_BYTES)
        result, *_ = self._calls.cuLogsDumpToMemory(self._iterator, buffer, _BYTES, 0)
        _, self._iterator = self._calls.cuLogsCurrent(0)
        if result != _SUCCESS:
            return ""
        return "\n".join(_entries(buffer.split(b"\0", 1)[0].decode(errors="replace"), call))


def _entries(text: str, call: str) -> list[str]:
    """The messages of a log; an entry begins with ``[time][thread][source][severity][call]``."""
    starts = [*_ENTRY.finditer(text)]
    ends = [*(start.start() for start in starts), len(text)][1:]
    messages = []
    for start, end in zip(starts, ends, strict=True):
        about = _VERSION.sub("", start[1])
        message = text[start.end() : end].strip()
        messages.append(message if about == call else f"{about}: {message}")
    return messages


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
