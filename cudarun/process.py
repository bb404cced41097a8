"""The process as a whole: its standard streams, and the signals that end it."""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes a while to import
    from _typeshed import ReadableBuffer


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


class StdoutError(OSError):
    """Stdout cannot be written: a full disk, or it is closed."""


class _Stdout(io.FileIO):
    """The file of stdout, whose errors are told from those of other files."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write.

        Raises:
            BrokenPipeError: The reader has left.
            StdoutError: The data cannot be written.
        """
        try:
            return super().write(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            # Only a descriptor that `open_standard_streams` opened is for reading.
            why = "stdout is closed" if error.errno == errno.EBADF else error.strerror
            raise StdoutError(error.errno, why) from None


def open_standard_streams() -> None:
    """Open missing standard streams of the process on the null device.

    Otherwise the next opened file or pipe gets the stream's descriptor: output for the stream would
    go there, and a worker that redirects its streams would close it. Writing to a missing stdout
    fails, because the output would be lost.
    """
    missing = (
        (0, "stdin", "r", os.O_RDWR),
        (1, "stdout", "w", os.O_RDONLY),
        (2, "stderr", "w", os.O_RDWR),
    )
    for descriptor, name, mode, flags in missing:
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, flags)  # returns the lowest free descriptor
            setattr(sys, name, os.fdopen(descriptor, mode, closefd=False))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _with_own_errors(sys.stdout)
    if isinstance(sys.stderr, io.TextIOWrapper):
        encoding = sys.stderr.encoding
        sys.stderr = _Stderr(sys.stderr.detach(), encoding, "backslashreplace", line_buffering=True)


def _with_own_errors(stdout: io.TextIOWrapper) -> io.TextIOWrapper:
    encoding, errors, by_line = stdout.encoding, stdout.errors, stdout.line_buffering
    unbuffered = stdout.write_through
    descriptor = stdout.fileno()
    stdout.detach()
    return io.TextIOWrapper(
        io.BufferedWriter(_Stdout(descriptor, "wb", closefd=False)),
        encoding,
        errors,
        line_buffering=by_line or unbuffered,
    )


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
