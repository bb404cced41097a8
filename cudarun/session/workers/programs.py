"""Many external programs with the same input, some of them at once."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from cudarun.records import dataclass
from cudarun.session.workers.program import SupervisedProgram

_INTERVAL = 0.01
"""Seconds between two looks at the running programs."""
_MOST_ERRORS = 2000
"""The bytes at the end of a program's stderr that are kept."""


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The end of a program.

    Attributes:
        status: Its status; ``None`` if it was killed or did not start.
        stdout: Its output; empty if it is too large.
        stderr: The end of its error output.
        seconds: The time from its start to its end.
        killed: Why it was killed, or did not start; ``None`` if neither.
    """

    status: int | None
    stdout: bytes
    stderr: str
    seconds: float
    killed: str | None = None


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

    The programs that still run end with the iterator.
    """
    waiting = iter(commands)
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
                time.sleep(_INTERVAL)


@contextmanager
def _ended(running: dict[str, _Running]) -> Iterator[None]:
    """End the programs that still run when the context is left."""
    try:
        yield
    finally:
        for each in running.values():
            each.end()


class _Running:
    """A running program, with files for its output.

    Args:
        command: Its words.
        stdin: The path of its input, which it opens for itself: it has an offset of its own.
    """

    def __init__(self, command: Sequence[str], stdin: str) -> None:
        self._stdout: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `end`
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `end`
        with open(stdin, "rb") as file:
            self._program = SupervisedProgram(
                command,
                stdin=file.fileno(),
                stdout=self._stdout.fileno(),
                stderr=self._stderr.fileno(),
            )

    def result(self, timeout: float, most_output: int) -> ProgramResult | None:
        """Return the result of a program that has ended, or must; ``None`` while it runs."""
        status = self._program.status()
        killed = None
        if os.fstat(self._stdout.fileno()).st_size > most_output:
            killed = f"its output exceeds {most_output >> 20} MiB"
        elif status is None and self._program.seconds > timeout:
            killed = f"timed out after {timeout:g} s"
        if status is None and killed is None:
            return None
        seconds = self._program.seconds
        self._program.end()
        return ProgramResult(
            None if killed else status,
            b"" if killed else _contents(self._stdout, 0),
            _contents(self._stderr, _MOST_ERRORS).decode(errors="replace"),
            seconds,
            killed,
        )

    def end(self) -> None:
        """Kill the program and close its files."""
        self._program.end()
        self._stdout.close()
        self._stderr.close()


def _contents(file: IO[bytes], most: int) -> bytes:
    """Return the contents of a file; its last ``most`` bytes, unless that is 0."""
    size = os.fstat(file.fileno()).st_size
    start = max(0, size - most) if most else 0
    return os.pread(file.fileno(), size - start, start)
