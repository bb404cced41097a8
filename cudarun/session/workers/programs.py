"""Many external programs with the same input, some of them at once."""

from __future__ import annotations

import errno
import os
import resource
import select
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import IO

from cudarun.base.records import dataclass
from cudarun.session.workers.program import SupervisedProgram

_INTERVAL = 0.01  # seconds between two looks at the running programs
_MOST_ERRORS = 2000  # the bytes at the end of a program's stderr that are kept
_CHUNK = 1 << 16
_PATIENCE = 3.0  # seconds from SIGTERM to SIGKILL
_DESCRIPTORS = 2  # descriptors of a running program: its output and its stderr
_RESERVED = 32  # descriptors that are left to the rest of this process
_SHORTAGES = (errno.EMFILE, errno.ENFILE, errno.EAGAIN)
"""The errors of the operating system that pass when other programs end."""


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The end of a program."""

    status: int | None  # its status; ``None`` if it was killed or did not start
    stdout: bytes  # its output; empty if it is too large
    stderr: str  # the end of its error output
    seconds: float  # the time from its start to its end
    killed: str | None = None  # why it was killed, or did not start; ``None`` if neither


def run_programs(
    commands: Iterable[tuple[str, Sequence[str]]],
    stdin: bytes,
    *,
    at_once: int,
    timeout: float,
    most_output: int,
) -> Iterator[tuple[str, ProgramResult]]:
    """Run programs, and yield the name and the result of each as it ends.

    Args:
        commands: The name of each program, with its words.
        stdin: The input of every program.
        at_once: The most programs that run at the same time.
        timeout: The time limit of each program in seconds.
        most_output: The most bytes of its stdout.

    The programs that still run end with the iterator. Those for which descriptors or processes are
    short wait for others to end.
    """
    waiting: Iterator[tuple[str, Sequence[str]]] = iter(commands)
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = most - len(os.listdir("/proc/self/fd")) - _RESERVED
    at_once = max(1, min(at_once, free // _DESCRIPTORS))
    running: dict[str, _Running] = {}
    with tempfile.TemporaryFile() as data, _ended(running):
        data.write(stdin)
        data.flush()
        while True:
            while len(running) < at_once and (following := next(waiting, None)) is not None:
                name, command = following
                try:
                    running[name] = _Running(command, f"/proc/self/fd/{data.fileno()}")
                except OSError as error:
                    if error.errno in _SHORTAGES and running:
                        waiting, at_once = chain([following], waiting), len(running)
                        break
                    reason = f"{error.filename or command[0]}: {error.strerror}"
                    yield name, ProgramResult(None, b"", "", 0.0, reason)
            if not running:
                return
            ended = [
                (name, result)
                for name, each in running.items()
                if (result := each.result(timeout, most_output)) is not None
            ]
            for name, _ in ended:
                running.pop(name).end()
            yield from ended
            if not ended:
                _read_errors([*running.values()])


def _read_errors(running: Sequence[_Running]) -> None:
    """Read what programs write to stderr, for a moment."""
    poll = select.poll()
    by_descriptor = {each.errors.fileno(): each for each in running if not each.errors.closed}
    for descriptor in by_descriptor:
        poll.register(descriptor, select.POLLIN)
    for descriptor, _ in poll.poll(_INTERVAL * 1000):
        by_descriptor[descriptor].read_errors()


@contextmanager
def _ended(running: dict[str, _Running]) -> Iterator[None]:
    """End the programs that still run when the context is left: in order, if they react to it."""
    try:
        yield
    finally:
        try:
            for each in running.values():
                each.ask_to_end()
            while any(each.is_ending() for each in running.values()):
                _read_errors([*running.values()])
        finally:
            for each in running.values():
                each.end()


class _Running:
    """A running program, with a file for its output and a pipe for its stderr.

    Args:
        stdin: The path of its input, which it opens for itself: it has an offset of its own.
    """

    def __init__(self, command: Sequence[str], stdin: str) -> None:
        self._tail = bytearray()
        self._killed: str | None = None
        self._asked: float | None = None
        self._stdout: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `end`
        reading, errors = os.pipe()
        os.set_blocking(reading, False)
        # The pipe that its stderr is read from; closed at the end of it.
        self.errors = os.fdopen(reading, "rb", buffering=0)
        try:
            with open(stdin, "rb") as file:
                self._program = SupervisedProgram(
                    command, stdin=file.fileno(), stdout=self._stdout.fileno(), stderr=errors
                )
        except OSError:
            self.errors.close()
            self._stdout.close()
            raise
        finally:
            os.close(errors)

    def result(self, timeout: float, most_output: int) -> ProgramResult | None:
        """Return the result of a program that has ended, or must; ``None`` while it runs."""
        status = self._program.status()
        size = os.fstat(self._stdout.fileno()).st_size
        if size > most_output:
            self._killed = f"its output exceeds {most_output >> 20} MiB"
        elif status is None:
            if self._program.seconds > timeout:
                self._killed = f"timed out after {timeout:g} s"
                self.ask_to_end()
            if self._killed is None or self.is_ending():
                return None
        seconds = self._program.seconds
        self._program.end()
        self.read_errors()
        return ProgramResult(
            None if self._killed else status,
            b"" if self._killed else os.pread(self._stdout.fileno(), size, 0),
            self._tail.decode(errors="replace"),
            seconds,
            self._killed,
        )

    def read_errors(self) -> None:
        """Read what a full pipe has on stderr, and keep its end."""
        data = None if self.errors.closed else self.errors.read(_CHUNK)
        if data is not None:  # there was something, or the end
            self._tail = (self._tail + data)[-_MOST_ERRORS:]
        if data == b"":
            self.errors.close()

    def ask_to_end(self) -> None:
        """Send SIGTERM, once."""
        if self._asked is None:
            self._asked = time.monotonic()
            self._program.terminate()

    def is_ending(self) -> bool:
        """Return whether the program has been asked to end, and still has time for it."""
        asked = self._asked
        is_early = asked is not None and time.monotonic() - asked < _PATIENCE
        return is_early and self._program.status() is None

    def end(self) -> None:
        """Kill the program and close its files."""
        self._program.end()
        self._stdout.close()
        self.errors.close()
