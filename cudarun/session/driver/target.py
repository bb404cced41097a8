"""The devices and contexts to work in: all that a worker needs to start.

This module is separate from the other requests, because workers start before those are parsed.
"""

from __future__ import annotations

from cudarun.base.records import dataclass
from cudarun.session.driver.contexts import ContextOptions
from cudarun.session.driver.selection import Selector


@dataclass(frozen=True, slots=True)
class Target:
    """The devices, the contexts, the number of workers and the time limit in seconds.

    Attributes:
        verbose: Log each step of the work on stderr.
        capture: Put kernel printf output into the report, not on stdout.
        escape: Show the control characters in it as escapes: stdout is a terminal.
        narrow: Make only the chosen GPUs visible to the driver, which then starts faster.
    """

    devices: tuple[Selector, ...]
    context: ContextOptions = ContextOptions()
    together: bool = False
    timeout: float | None = None
    trace: bool = False
    verbose: bool = False
    capture: bool = False
    escape: bool = False
    narrow: bool = True
