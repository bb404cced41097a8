"""The standard streams of a service process, which belong to one command after the other."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from cudarun.base.process import reopen_standard_streams


class CommandStreams:
    """Files in memory for the output of commands; between commands stdin and stdout are nowhere."""

    def __init__(self) -> None:
        self.log = os.dup(2)  # the stderr of this process
        self._nowhere = os.open(os.devnull, os.O_RDWR)
        self._memory = [os.memfd_create(f"cudarun-{name}") for name in ("stdout", "stderr")]
        self._between = [self._nowhere, self._nowhere, self.log]
        self._use(self._between)

    @contextmanager
    def merged(self) -> Iterator[dict[str, str]]:
        """Write the output of a command to one file; yield a dictionary that gets it as ``stdout``.

        The lines of stdout and stderr come in order.
        """
        output = self._memory[0]
        texts: dict[str, str] = {}
        with self._of_command([self._nowhere, output, output], "utf-8", by_line=True):
            yield texts
        texts["stdout"] = _taken(output)

    @contextmanager
    def separate(self, stdin: str) -> Iterator[dict[str, str]]:
        """Write the output of a command to two files; yield a dictionary that gets their texts."""
        texts: dict[str, str] = {}
        given = os.memfd_create("cudarun-stdin") if stdin else os.dup(self._nowhere)
        try:
            if stdin:
                with os.fdopen(given, "w", encoding="utf-8", closefd=False) as stream:
                    stream.write(stdin)
                os.lseek(given, 0, os.SEEK_SET)
            with self._of_command([given, *self._memory], "utf-8", by_line=False):
                yield texts
        finally:
            os.close(given)
        texts |= zip(("stdout", "stderr"), map(_taken, self._memory), strict=True)

    @contextmanager
    def passed(self, files: Sequence[int], encoding: str) -> Iterator[dict[str, str]]:
        """Use the streams of a client."""
        with self._of_command(files, encoding, by_line=os.isatty(files[1])):
            yield {}

    @contextmanager
    def _of_command(self, files: Sequence[int], encoding: str, *, by_line: bool) -> Iterator[None]:
        self._use(files)
        reopen_standard_streams(encoding, by_line=by_line)
        try:
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError):  # the command has reported it
                    stream.flush()
            self._use(self._between)

    @staticmethod
    def _use(files: Sequence[int]) -> None:
        for number, file in enumerate(files):
            os.dup2(file, number)


def _taken(file: int) -> str:
    """Return the contents of a file, and empty it."""
    text = os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")
    os.ftruncate(file, 0)
    os.lseek(file, 0, os.SEEK_SET)
    return text
