"""The choices in a launch that a GPU makes differently from run to run: the order of lanes, delays.

A path is the chain of basic blocks that lanes were called from, then their next block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Semaphore, Thread
from typing import Protocol

import numpy as np

from cudarun.emulator.code import Action, ActionFunction
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.lanes import Lanes
from cudarun.emulator.numerics.arrays import Array, distinct

_INCREMENT = 0x9E3779B97F4A7C15
_FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_WORD = (1 << 64) - 1
_LONGEST_DELAY = 10  # as a power of two, of accesses to memory


class IssuedOperations(Protocol):
    """The asynchronous operations of a batch that are not complete."""

    def instead_of(self, operation: Action) -> ActionFunction:
        """Return the action to execute instead of one that issues, awaits or meets operations."""

    def complete_all(self) -> None:
        """Complete all operations."""


class Schedule:
    """The schedule of the launches of a program: who runs next, and when operations complete.

    Its choices depend on its seed and on what the kernel does, so that a seed repeats a launch on
    every machine.

    Args:
        seed: Its seed; ``None`` to complete asynchronous operations at the last permitted time, and
            to run threads in the usual order.
    """

    def __init__(self, seed: int | None) -> None:
        self.interleaves = seed is not None  # whether it draws the order of threads
        self._state = _mixed((seed or 0) & _WORD)

    def draw(self, count: int) -> int:
        """Return a number below ``count`` (splitmix64)."""
        self._state = self._state + _INCREMENT & _WORD
        return (_mixed(self._state) >> 32) % count

    def delay(self) -> int | None:
        """Return after how many accesses to memory an asynchronous operation goes on.

        ``None`` if it does so at the last permitted time.
        """
        power = self.draw(_LONGEST_DELAY + 1) if self.interleaves else _LONGEST_DELAY
        return None if power == _LONGEST_DELAY else (1 << power) - 1

    def is_late(self) -> bool:
        """Return whether an operation completes at the last permitted time, or at the first."""
        return not self.interleaves or self.draw(2) == 1

    def clusters(self, most: int) -> int:
        """Return how many of at most ``most`` clusters begin together."""
        return 1 + self.draw(most) if self.interleaves and self.draw(2) else most


def _mixed(word: int) -> int:
    """Return the output of splitmix64 for a state."""
    for shift, factor in zip((30, 27), _FACTORS, strict=True):
        word = (word ^ word >> shift) * factor & _WORD
    return word ^ word >> 31


Path = tuple[int, ...]

# A jump back to a loop has the polling cost of its block: high if the loop could be waiting for
# other threads. When a group has used up the budget while others wait, the group that has waited
# longest, with those it diverges into, runs some blocks before the lowest path is dispatched again.
_POLLING_BUDGET = 4096
_PREEMPTION_BLOCKS = 256
_GROUPS = 16
_LONGEST_TURN = 8  # as a power of two, of basic blocks


class Turns:
    """The usual order: the lowest path runs first, so that diverged lanes reconverge.

    Lanes in a loop are preempted after a while, so that a thread that spins on a lock does not
    starve its owner.
    """

    def __init__(self, waiting: dict[Path, list[Lanes]]) -> None:
        self._waiting = waiting  # the lanes that wait, by their paths
        self._polling_budget = _POLLING_BUDGET
        self._preemption_blocks = 0
        self._hidden: set[Path] = set()  # the others, while lanes that waited long run

    def begin(self) -> None:
        """Begin with other blocks."""

    def stalled(self) -> None:
        """Go on in an order that depends on nothing but the state of lanes and memory.

        Otherwise a state that repeats does not show that no lane makes progress.
        """

    def next_lanes(self) -> tuple[Path, Lanes]:
        """Remove the lanes that run next from those that wait at a path, and return both."""
        path = self._select_path()
        return path, lane_sets.union(self._waiting.pop(path))

    def _select_path(self) -> Path:
        if self._preemption_blocks > 0 and (left := self._waiting.keys() - self._hidden):
            return min(left)
        self._preemption_blocks = 0
        self._hidden.clear()
        if self._polling_budget <= 0 and len(self._waiting) > 1:
            self._polling_budget = _POLLING_BUDGET
            self._preemption_blocks = _PREEMPTION_BLOCKS
            longest, *others = self._waiting
            self._hidden.update(others)
            return longest
        return min(self._waiting)

    def polled(self, cost: int) -> None:
        """Count the polling cost of a jump back."""
        if self._waiting:
            self._polling_budget -= cost

    def must_wait(self, path: Path, *, backward: bool) -> bool:
        """Return whether lanes that reach a path wait: to reconverge, or when preempted."""
        if path in self._waiting:
            return True
        if self._preemption_blocks > 0:
            self._preemption_blocks -= 1
            return any(each < path for each in self._waiting.keys() - self._hidden)
        return (backward and self._polling_budget <= 0) or min(self._waiting) < path


class DrawnTurns(Turns):
    """An order that a schedule draws: groups of lanes take turns of different lengths.

    Blocks whose lanes have been in loops for long go on in the usual order.

    Args:
        places: The block, the warp, and the number in its warp of each lane.
    """

    def __init__(
        self, waiting: dict[Path, list[Lanes]], places: Sequence[Array], schedule: Schedule
    ) -> None:
        super().__init__(waiting)
        self._places = places
        self._schedule = schedule
        self._order = list(range(_GROUPS))
        self._groups = np.zeros(len(places[0]), dtype=np.int64)
        self._turn = 1
        self._has_stalled = False

    def begin(self) -> None:
        """Draw the groups of blocks, of their warps, and of the first lanes of these."""
        self._has_stalled = False
        schedule = self._schedule
        of_block, of_warp = map(self._drawn, self._places[:2])
        self._shuffle()
        self._turn = 1 << schedule.draw(_LONGEST_TURN)
        splits = schedule.draw(2)  # warps: not in all batches, as they mostly run together
        first = self._places[2] < splits * (of_warp >> 2) % 32
        self._groups = of_block % 2 << 3 | of_warp % 4 << 1 | first

    def stalled(self) -> None:
        """See `Turns`."""
        self._has_stalled = True

    def _drawn(self, places: Array) -> Array:
        """Draw a number for each block, or for each warp, and return that of each lane."""
        numbers = [self._schedule.draw(1 << 16) for _ in range(int(places[-1]) + 1)]
        return np.array(numbers, dtype=np.int64)[places]

    def next_lanes(self) -> tuple[Path, Lanes]:
        """Remove the lanes of one group from those that wait at a path, mostly at the lowest."""
        if self._has_stalled:
            return super().next_lanes()
        present: dict[int, list[Path]] = {}
        for path in sorted(self._waiting):
            lanes = lane_sets.union(self._waiting[path])
            self._waiting[path] = [lanes]
            for group in distinct(self._groups[lanes]).tolist():
                present.setdefault(group, []).append(path)
        group = next(each for each in self._order if each in present)
        paths, draw = present[group], self._schedule.draw
        path = paths[0] if draw(4) else paths[draw(len(paths))]
        (lanes,) = self._waiting.pop(path)
        chosen = self._groups[lanes] == group
        if not chosen.all():
            self._waiting[path] = [lane_sets.select(lanes, ~chosen)]
            lanes = lane_sets.select(lanes, chosen)
        return path, lanes

    def must_wait(self, path: Path, *, backward: bool) -> bool:
        """Return whether lanes that reach a path wait: to reconverge, or as their turn is over."""
        if self._has_stalled:
            return super().must_wait(path, backward=backward)
        if self._schedule.draw(self._turn):
            return path in self._waiting or min(self._waiting) < path
        self._shuffle()
        return True

    def _shuffle(self) -> None:
        for last in range(_GROUPS - 1, 0, -1):
            other, order = self._schedule.draw(last + 1), self._order
            order[last], order[other] = order[other], order[last]


def turns(
    waiting: dict[Path, list[Lanes]],
    places: Callable[[], Sequence[Array]],
    schedule: Schedule | None,
) -> Turns:
    """Return the order of the lanes of a batch; ``places`` returns those of `DrawnTurns`."""
    if schedule is None or not schedule.interleaves:
        return Turns(waiting)
    return DrawnTurns(waiting, places(), schedule)


class OverlappingGrid:
    """A grid with which later ones can overlap, until something has waited for it.

    Programmatic launches begin before the grid before them is complete. With a schedule, a grid can
    pause, in a thread of its own, when dependent grids may begin. It goes on to its end when a
    later grid waits for it, or has only polling threads, or has ended, or when the host waits. One
    of the threads runs at a time, so that the results do not depend on them.
    """

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
