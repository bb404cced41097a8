"""The process as a whole: its standard streams, and the signals that end it."""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import suppress


class _Stderr(io.TextIOWrapper):
    """A text stream that discards failed writes: a full disk must not change the exit code."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()


def open_standard_streams() -> None:
    """Open missing standard streams of the process on the null device.

    Otherwise the next opened file or pipe gets the stream's descriptor: output for the stream would
    go there, and a worker that redirects its streams would close it.
    """
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # returns the lowest free descriptor
            setattr(sys, name, os.fdopen(descriptor, mode))
    if isinstance(sys.stderr, io.TextIOWrapper):
        encoding = sys.stderr.encoding
        sys.stderr = _Stderr(sys.stderr.detach(), encoding, "backslashreplace", line_buffering=True)


def end_in_order() -> list[int]:
    """Make SIGTERM and SIGHUP act like Ctrl-C: end the workers, leave no partial file.

    Returns:
        A list that receives the number of the signal. Ignored signals, as under nohup, stay
        ignored.
    """
    received: list[int] = []

    def end(number: int, _: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, end)
    return received
