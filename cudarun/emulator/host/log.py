"""The driver's log: read by ``cuLogs*``, written to ``CUDA_LOG_FILE`` (driver API, section 6.36).

One entry is one or more lines in the format of the driver of CUDA 13.0,
``[time][thread][CUDA][E] message``. The message of a failing call precedes an entry
``Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuLaunchKernel``.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections import deque

from cuda.bindings.driver import CUresult

CAPACITY = 25600  # bytes; "The maximum size of the buffer is 25600 bytes"
_TRUNCATED = "[CUDA][W] the oldest messages were dropped: the log was full\n"


class ErrorLog:
    """The newest messages, up to `CAPACITY` bytes; an iterator is the number of an entry."""

    def __init__(self) -> None:
        self._entries: deque[tuple[int, str]] = deque()  # number and text
        self._size = 0
        self.next = 0  # the number of the next entry
        self._of_thread = threading.local()

    @property
    def last_words(self) -> str:
        """The reason of the last call of this thread that failed, or its result."""
        words: str = getattr(self._of_thread, "words", "")
        return words

    def returning(self, call: str, result: CUresult, words: str = "") -> None:
        """Append that a call fails, preceded by its message."""
        self._of_thread.words = words or result.name
        if words:
            self.write(words)
        self.write(f"Returning {int(result)} ({result.name}) from {call}")

    def write(self, message: str) -> None:
        """Append a message, and write it to ``CUDA_LOG_FILE``."""
        now = time.time()
        clock = time.strftime("%H:%M:%S", time.localtime(now)) + f".{int(now * 1000) % 1000:03d}"
        text = f"[{clock}][{threading.get_native_id()}][CUDA][E] {message.rstrip()}\n"
        self._entries.append((self.next, text))
        self._size += len(text)
        self.next += 1
        while self._size > CAPACITY and len(self._entries) > 1:
            self._size -= len(self._entries.popleft()[1])
        target = os.environ.get("CUDA_LOG_FILE")
        if target in ("stdout", "stderr"):
            getattr(sys, target).write(text)
        elif target:
            # A file that cannot be written loses messages; it fails no call.
            with contextlib.suppress(OSError), open(target, "a", encoding="utf-8") as file:
                file.write(text)

    def since(self, number: int, limit: int = CAPACITY) -> bytes | None:
        """Return the messages from ``number`` on in at most ``limit`` bytes, keeping the newest.

        ``None`` if not even the newest message fits.
        """
        newer = [text.encode() for own, text in self._entries if own >= number]
        lost = bool(self._entries) and number < self._entries[0][0]
        if not lost and sum(map(len, newer)) <= limit:
            return b"".join(newer)
        room = limit - len(_TRUNCATED)
        kept: list[bytes] = []
        for text in reversed(newer):
            if room < len(text):
                break
            room -= len(text)
            kept.append(text)
        if not kept:
            return None
        return b"".join([_TRUNCATED.encode(), *reversed(kept)])
