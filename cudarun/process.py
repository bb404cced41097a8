"""What is about the process as a whole: its standard streams, and the signals that end it."""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import suppress


class _Stderr(io.TextIOWrapper):
    """Loses what cannot be written: a full disk there is not to change the exit code."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()


def open_standard_streams() -> None:
    """Give a process that was started without stdin, stdout or stderr ones that lead nowhere.

    Else the next file or pipe that is opened gets the number, and what is meant for it, or a worker
    that puts its own streams there closes it.
    """
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # which takes the lowest number that is free
            setattr(sys, name, os.fdopen(descriptor, mode))
    if isinstance(sys.stderr, io.TextIOWrapper):
        encoding = sys.stderr.encoding
        sys.stderr = _Stderr(sys.stderr.detach(), encoding, "backslashreplace", line_buffering=True)


def end_in_order() -> list[int]:
    """Have SIGTERM and SIGHUP do what Ctrl-C does: end workers, leave no half-written file.

    Returns:
        A list that gets the number of the signal. Signals that are ignored, as under nohup, stay
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
