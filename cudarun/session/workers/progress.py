"""A worker's progress report, which its parent displays when the work takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, TypeAlias

from cudarun.base.machine import DeviceIdentity
from cudarun.base.terminal import visible
from cudarun.session.workers.connection import Page


class Progress:
    """The steps of a worker's work and its phases, written in the worker.

    Args:
        label: The worker's name in messages, where there are several.
        verbose: Log every step on stderr as it begins, with the seconds since ``started``.
        started: A time of `time.monotonic`; now by default.
    """

    def __init__(
        self,
        page: Page | None = None,
        *,
        label: str = "",
        verbose: bool = False,
        started: float | None = None,
    ) -> None:
        self._page = page or Page()
        self._label = label
        self._verbose = verbose
        self._started = time.monotonic() if started is None else started
        self._logged = self._states = ""

    def report(self, what: str, done: float = 0.0) -> None:
        """Report a step, and its completed part (0 to 1; 0 also means unknown)."""
        if what != self._logged:
            self._logged = what
            self.note(what)
            self._states = ""
        self._page.write("\n".join(filter(None, (what, self._states))), done)

    def add_states(self, states: str) -> None:
        """Report the states of the threads of a kernel that runs for long, with the step."""
        self._states = states
        self.note(states)
        self.report(self._logged)

    def note(self, what: str) -> None:
        """Log something about the step, if it is verbose."""
        if self._verbose:
            seconds = time.monotonic() - self._started
            line = "  ".join((f"{seconds:8.3f} s", what, self._label)).rstrip()
            print(visible(line) if sys.stderr.isatty() else line, file=sys.stderr)

    def identify(self, devices: Sequence[DeviceIdentity]) -> None:
        """Describe the worker's devices to the parent."""
        import pickle  # only documents need them

        self._page.devices = pickle.dumps(devices)

    def start_phase(self, after: float = 0.0) -> None:
        """Start a phase of the work: the time limit counts anew, ``after`` seconds from now."""
        self._page.start_phase(after)


# Reads, in the parent, the step, lines with the states of threads, and its completed part (0 to 1).
ReadProgress: TypeAlias = Callable[[], tuple[str, float]]


class ProgressDisplay(Protocol):
    """A display of the progress of workers."""

    def update(self, workers: Sequence[tuple[str, ReadProgress]]) -> None:
        """Display the progress of workers, each with its name; called several times a second."""

    def end(self) -> None:
        """Remove the display, before anything else is printed."""


class LastingDisplay:
    """A display that stays until the one that it is made of ends."""

    def __init__(self, display: ProgressDisplay) -> None:
        self.update = display.update

    def end(self) -> None:
        """Do nothing: more work follows."""


@contextmanager
def displayed(
    display: ProgressDisplay | None, workers: Sequence[tuple[str, ReadProgress]]
) -> Iterator[Callable[[], object] | None]:
    """Display workers' progress: yield a function to call meanwhile, ``None`` without a display."""
    if display is None:
        yield None
        return
    try:
        yield lambda: display.update(workers)
    finally:
        display.end()
