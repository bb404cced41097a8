"""Grids that overlap: programmatic launches begin before the grid before them is complete.

With a schedule, a grid can pause, in a thread of its own, when dependent grids may begin. It goes
on to its end when a later grid waits for it, or has only polling threads, or has ended, or when the
host waits. One of the threads runs at a time, so that the results do not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Semaphore, Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudarun.emulator.machine.schedules.schedule import Schedule


class OverlappingGrid:
    """A grid with which later ones can overlap, until something has waited for it."""

    def __init__(self, before: OverlappingGrid | None = None) -> None:
        # The grid that may be incomplete when it begins; ``None`` for other launches.
        self.before = before
        self._triggered: set[int] = set()
        self._may_pause = self._is_paused = False
        self._failure: Exception | None = None
        self._stops = Semaphore(0)  # its thread pauses or ends
        self._goes_on = Semaphore(0)

    def run(self, work: Callable[[], None], *, pauses: bool) -> None:
        """Run the grid, until it pauses if it may do so; raise its fault."""
        if not pauses:
            work()
            self.complete_before()
            return

        def run() -> None:
            try:
                work()
                self.complete_before()
            except Exception as failure:  # the other thread raises it
                self._failure = failure
            finally:
                self._stops.release()

        self._may_pause = True
        Thread(target=run, daemon=True).start()
        self._wait()

    def trigger(self, blocks: set[int], living: set[int] | None, schedule: Schedule) -> None:
        """Note that dependent grids may begin after some blocks; pause after the last ones.

        Args:
            living: Those that have not ended; ``None`` if others have not begun.
        """
        before, self._triggered = self._triggered, self._triggered | blocks
        is_last = living is not None and living <= self._triggered and not blocks <= before
        if self._may_pause and is_last and schedule.is_late():
            self._is_paused = True
            self._stops.release()
            self._goes_on.acquire()

    def complete_before(self) -> None:
        """Run the grid before to its end; raise its fault."""
        before, self.before = self.before, None
        if before is not None:
            before.complete()

    def complete(self) -> None:
        """Run it to its end; raise its fault."""
        if self._is_paused:
            self._is_paused = False
            self._goes_on.release()
            self._wait()

    def _wait(self) -> None:
        self._stops.acquire()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
