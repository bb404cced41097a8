"""A process beside this one, which ends it when its reader has left, and deletes its folder.

A killed process cleans up nothing, and one whose ssh has ended gets no signal: it would work on,
for an answer that nobody reads.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PATIENCE = 3.0
"""Seconds from SIGTERM to SIGKILL."""


@contextmanager
def guarded_folder(prefix: str, output: int, seconds: float | None) -> Iterator[str]:
    """Make a folder that is deleted at the end of the block, or of this process, however it ends.

    Args:
        prefix: The start of its name.
        output: A descriptor: where it is a pipe or a socket whose reader leaves, this process ends.
        seconds: The time after which it ends, too; ``None``: unlimited.

    Yields:
        The path.
    """
    folder = tempfile.mkdtemp(prefix=prefix)
    end, life = os.pipe()
    guarded = os.getpid()
    guardian = os.fork()
    if guardian == 0:
        try:
            os.close(life)
            _guard(guarded, end, output, seconds)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            os._exit(0)
    os.close(end)
    try:
        yield folder
    finally:
        os.write(life, b".")  # children of this process may keep the pipe open
        os.close(life)
        os.waitpid(guardian, 0)


def _guard(guarded: int, end: int, output: int, seconds: float | None) -> None:
    """Wait for the end of a process and its children, which keep the other end of a pipe open."""
    os.setsid()  # the group of the process may be killed
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    ends = select.poll()
    ends.register(end, select.POLLIN)
    either = select.poll()
    either.register(end, select.POLLIN)
    either.register(output, 0)  # its errors are reported anyway
    patience = None if seconds is None else seconds * 1000
    for number in (signal.SIGTERM, signal.SIGKILL):
        if any(descriptor == end for descriptor, _ in either.poll(patience)):
            break
        with suppress(ProcessLookupError):
            if os.getppid() == guarded:
                os.kill(guarded, number)
        either, patience = ends, _PATIENCE * 1000
    else:
        ends.poll()
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # a reader of them is not to wait for the folder
        os.dup2(null, descriptor)
