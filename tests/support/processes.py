"""Processes that tests start: whether they live, and waiting for what they do.

A test waits for an event, never for a time. `PATIENCE` only ends what would wait for ever, and is
so long that no machine is too busy for it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 600.0
"""Seconds after which a test gives up."""


def wait_until(holds: Callable[[], bool], event: str) -> None:
    """Wait for an event.

    Raises:
        TimeoutError: It did not happen within `PATIENCE`.
    """
    limit = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > limit:
            raise TimeoutError(f"no {event} within {PATIENCE:g} s")
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Return whether there is such a process and it is no zombie."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def wait_for_end(pid: int) -> None:
    """Wait until a process has ended; a zombie has."""
    wait_until(lambda: not is_alive(pid), f"end of process {pid}")


def children(pid: int) -> list[int]:
    """Return the children of a process, which has one thread."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
