"""``--prove``: a launch without each of its synchronizing instructions, within time limits."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from cudarun.session.workers.deadline import OVERDUE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cudarun.session.workers.progress import Progress

_SHORTEST = 10.0  # seconds of the default limit
_TIMES = 10.0  # the default limit, as a multiple of the time of the unmodified launch
_MARGIN = 5.0  # seconds after which the parent's limit ends a worker that did not stop by itself


class _Overdue(Exception):
    """The time limit of a variant has passed."""


class VariantLimit:
    """The time limit of the launches without a synchronizing instruction, in a worker.

    Args:
        progress: The worker's progress, whose phase each variant starts anew.
        seconds: The limit of ``--timeout``; by default, ten times as long as the unmodified launch
            with its buffers takes, at least 10 s.

    Attributes:
        spent: The seconds that variants have taken.
    """

    def __init__(self, progress: Progress, seconds: float | None) -> None:
        self._progress = progress
        self._seconds = seconds
        self._created = time.monotonic()
        self.spent = 0.0

    def __call__(self, run: Callable[[], None]) -> bool:
        """Run a variant; return whether it ended within the limit."""
        if self._seconds is None:
            self._seconds = max(_SHORTEST, _TIMES * (time.monotonic() - self._created))
        self._progress.start_phase(_MARGIN)
        started = time.monotonic()
        try:
            with _stopped_after(self._seconds):
                run()
        except _Overdue:
            return False
        finally:
            self.spent += time.monotonic() - started
        return True


@contextmanager
def _stopped_after(seconds: float) -> Iterator[None]:
    """Raise `_Overdue` after a time; for the main thread.

    The parent's signal, at its own limit and at Ctrl-C, keeps its meaning.
    """
    end = time.monotonic() + seconds

    def stop(number: int, frame: FrameType | None) -> None:
        if time.monotonic() >= end:
            raise _Overdue
        if callable(before):
            before(number, frame)

    before = signal.signal(OVERDUE, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(OVERDUE, before)
