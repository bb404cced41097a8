"""The process as a whole: its standard streams, and the signals that end it."""

from __future__ import annotations

import errno
import gc
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

IS_X86 = os.uname().machine == "x86_64"
"""Whether the processor is of the x86-64 architecture; otherwise it is of AArch64."""

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes a while to import
    from types import FrameType

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
        by_line = sys.stdout.line_buffering or sys.stdout.write_through
        _replace_outputs(sys.stdout.encoding, sys.stdout.errors or "strict", by_line=by_line)


def reopen_standard_streams(encoding: str, *, by_line: bool) -> None:
    """Use the files that the descriptors of the standard streams belong to by now."""
    _replace("stdin", os.fdopen(0, "r", encoding=encoding, closefd=False))
    _replace_outputs(encoding, "strict", by_line=by_line)


def _replace_outputs(encoding: str, errors: str, *, by_line: bool) -> None:
    """Replace stdout and stderr by streams with errors of their own."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            with suppress(OSError):
                stream.detach()
    stdout = io.BufferedWriter(_Stdout(1, "wb", closefd=False))
    _replace("stdout", io.TextIOWrapper(stdout, encoding, errors, line_buffering=by_line))
    stderr = io.BufferedWriter(io.FileIO(2, "wb", closefd=False))
    _replace("stderr", _Stderr(stderr, encoding, "backslashreplace", line_buffering=True))


def _replace(name: str, stream: io.TextIOWrapper) -> None:
    """Replace a standard stream and its original, from which `shutil` reads the terminal's width.

    The original is detached: it has no descriptor.
    """
    for attribute in (name, f"__{name}__"):
        setattr(sys, attribute, stream)


_INTERRUPTED = 130  # as `ExitCode` has it

_HANDLED = 2
"""The number of signals that raise: one for the command, one while the first is handled. The next
ends the process at once."""


class EndingSignals:
    """The signals that end the process in order: Ctrl-C, and like it SIGTERM and SIGHUP.

    They raise KeyboardInterrupt, so that workers end and no partial file is left. It must reach
    `cudarun.cli.main`, but imports turn exceptions into other ones (``__set_name__``, extension
    modules), and Python drops them in ``__del__`` and callbacks of weak references. So it is
    raised when no import is running, and again where it was dropped. Before `admit` it waits.
    """

    def __init__(self, received: list[int]) -> None:
        self._received = received  # the signals that came before
        self._is_admitted = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                signal.signal(number, self._receive)
        self._report_others = sys.unraisablehook
        sys.unraisablehook = self._report_unraisable

    def admit(self) -> None:
        """Begin to raise; `KeyboardInterrupt` if a signal has come before."""
        self._is_admitted = True
        if self._received:
            raise KeyboardInterrupt

    def leave(self) -> None:
        """Ignore signals from now on; end the process by the first one unless it was Ctrl-C.

        The process that waits for this one is to see what ended it.
        """
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        if self._received and (first := self._received[0]) != signal.SIGINT:
            signal.signal(first, signal.SIG_DFL)
            os.kill(os.getpid(), first)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if number != signal.SIGINT and number in self._received:
            return  # timeout(1) sends it to the process, and to its group
        self._received.append(number)
        if not self._is_admitted:
            return
        if len(self._received) > _HANDLED:
            os._exit(_INTERRUPTED)
        _interrupt(frame)

    def _report_unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_type is KeyboardInterrupt:
            sys.setprofile(_interrupt_outside_the_hook)
        else:
            self._report_others(unraisable)


def _interrupt(frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; after all imports that a frame belongs to."""
    imports = None
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            imports = frame
        frame = frame.f_back
    if imports is None:
        raise KeyboardInterrupt

    def interrupt_at_the_end(frame: FrameType, event: str, _: object) -> None:
        if frame is imports and event == "return":
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(interrupt_at_the_end)


def _interrupt_outside_the_hook(frame: FrameType, _event: str, _argument: object) -> None:
    """Raise KeyboardInterrupt at the next call or return, but in `EndingSignals`' own hook."""
    if frame.f_code is not EndingSignals._report_unraisable.__code__:
        sys.setprofile(None)
        _interrupt(frame)


# --- the collector of reference cycles -----------------------------------------------------------


keeps_frozen = True
"""Whether objects can be kept for long: not in a process that goes on to other work."""


@contextmanager
def without_collection(*, freeze: bool = False) -> Iterator[None]:
    """Suspend the collector in a block that creates many objects and keeps them.

    It would visit all of them again and again: up to half of the time of such a block.

    Args:
        freeze: Exclude the objects from later collections, too: they are kept for long.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
        if freeze and keeps_frozen:
            gc.freeze()
    finally:
        gc.enable()
