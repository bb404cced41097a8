"""Processes that tests start: whether they live, and waiting for what they do.

A test waits for an event, never for a time. `PATIENCE` only ends what would wait for ever, and is
so long that no machine is too busy for it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PYTHON_PATH = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
"""For processes that need the package and its tests, wherever they run."""

PATIENCE = 300.0
"""Seconds after which a test gives up."""


def wait_until(holds: Callable[[], bool], event: str, patience: float = PATIENCE) -> None:
    """Wait for an event.

    Raises:
        TimeoutError: It did not happen within so many seconds.
    """
    limit = time.monotonic() + patience
    while not holds():
        if time.monotonic() > limit:
            raise TimeoutError(f"no {event} within {patience:g} s")
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Return whether there is such a process and it is no zombie."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return _status(pid)[0] not in "ZX"
    return False


def wait_for_end(pid: int) -> None:
    """Wait until a process has ended; a zombie has."""
    wait_until(lambda: not is_alive(pid), f"end of process {pid}")


def children(pid: int) -> list[int]:
    """Return the children of a process, which has one thread."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def parents() -> Iterator[tuple[int, int]]:
    """Yield every process of the machine and its parent."""
    for pid, status in _statuses():
        yield pid, int(status[1])


def of_session(session: int) -> list[int]:
    """Return the processes that live and belong to a session (setsid(2))."""
    return [
        pid for pid, status in _statuses() if int(status[3]) == session and status[0] not in "ZX"
    ]


def _statuses() -> Iterator[tuple[int, list[str]]]:
    """Yield every process of the machine and its status from its state on (proc_pid_stat(5))."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):
                yield int(entry.name), _status(int(entry.name))


def _status(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def marked(mark: str) -> list[int]:
    """Return the processes that live and have been started with ``NAME=VALUE`` set.

    A process that is forked and runs no other program shows its parent's variables: `of_session`.
    """
    found = []
    for pid, _ in parents():
        with suppress(OSError):
            variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            if mark.encode() in variables and is_alive(pid):
                found.append(pid)
    return found
