"""Logical time of a launch: a timestamp for every access, and vector clocks of threads.

Every observed access gets the next number as its **timestamp**. For each other thread, a thread has
a timestamp up to which the other's accesses happen before its own next one. A `VectorClock` holds
such timestamps of threads, warps and blocks of the whole grid; it is sparse, as most threads never
synchronize with most others.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from weakref import ref

import numpy as np

from cudarun.emulator.code import Site
from cudarun.emulator.detectors.agents import FIRST_AGENT, NUMBERED, kinds_of, of_thread
from cudarun.emulator.machine.access import Access
from cudarun.emulator.machine.lanes import Indices, Lanes, distinct, groups
from cudarun.emulator.machine.threads import WARP as WARP_SIZE
from cudarun.emulator.numerics.arrays import Array

# Kinds of keys in a clock: the index of a thread or an agent, of a warp, of a block in the grid. A
# key of what a fence has made visible to the async proxy is above the number for its space; to the
# proxy of tensor maps, and as initialized objects to the async proxy, likewise.
THREAD, WARP, BLOCK = 0, 1 << 32, 2 << 32
VISIBLE = {"shared": 1 << 34, "global": 2 << 34, "tensormap": 3 << 34, "mbarrier": 4 << 34}

AFTER_GRIDS = 5 << 34  # the key that a clock has after a wait for the grids before

_KEY_BITS = 37
THREAD_BITS = 32
"""An access is recorded as a word: the timestamp above these bits, the thread in them."""

THREAD_MASK = (1 << THREAD_BITS) - 1


class LogicalClock:
    """The timestamps of a launch so far, and the instruction and the grid of each.

    Attributes:
        now: The last timestamp.
        grid: The number of the grid that runs.
    """

    def __init__(self) -> None:
        self.now = self.grid = 0
        self._grid_at = array("I", [0])
        self._numbers: dict[tuple[Site, Access], int] = {}
        self._sites: list[tuple[Site, Access]] = []
        self._site_at = array("I", [0])

    def site_number(self, site: Site, access: Access) -> int:
        """Return a number for an access of an instruction."""
        key = site, access
        if key not in self._numbers:
            self._numbers[key] = len(self._sites)
            self._sites.append(key)
        return self._numbers[key]

    def next(self, site_number: int) -> int:
        """Return the timestamp of an access."""
        self.now += 1
        self._site_at.append(site_number)
        self._grid_at.append(self.grid)
        return self.now

    def grids(self, timestamps: Array) -> Array:
        """Return the grids of some timestamps."""
        return np.frombuffer(self._grid_at, dtype=np.uint32)[timestamps]

    def by_site(self, words: Array) -> Iterator[tuple[Site, Access, Indices]]:
        """Yield each instruction of some accesses, its access, and the positions of its words."""
        numbers = np.frombuffer(self._site_at, dtype=np.uint32)[words >> THREAD_BITS]
        for number, positions in groups(numbers):
            yield *self._sites[number], positions


class VectorClock:
    """An immutable vector clock of some threads, warps and blocks."""

    __slots__ = ("__weakref__", "_covered", "keys", "timestamps")

    def __init__(self, keys: Array, timestamps: Array) -> None:
        self.keys = keys
        self.timestamps = timestamps
        # A clock that this one covers: loops that wait acquire the same one again and again.
        self._covered: ref[VectorClock] | None = None

    @classmethod
    def latest(cls, keys: Array, timestamps: Array) -> VectorClock:
        """Return a clock of the latest timestamp of each key; 0 is none."""
        order = keys.argsort(kind="stable")
        keys = keys[order]
        new = np.empty(len(keys), dtype=np.bool_)
        new[:1] = True
        np.not_equal(keys[1:], keys[:-1], out=new[1:])
        starts = new.nonzero()[0]
        latest = np.maximum.reduceat(timestamps[order], starts)
        known = latest.nonzero()[0]
        return cls(keys[starts[known]], latest[known])

    def __len__(self) -> int:
        return len(self.keys)

    def get(self, keys: Array) -> Array:
        """Return the timestamp of each key; 0 if it has none."""
        if not len(self.keys):
            return np.zeros(keys.shape, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[places] == keys, self.timestamps[places], 0)

    def made_visible(self, spaces: Iterable[str]) -> VectorClock:
        """Return the clock of what the async proxy sees after a fence."""
        known = np.searchsorted(self.keys, VISIBLE["shared"])
        keys = [self.keys[:known] + VISIBLE[space] for space in spaces]
        times = np.tile(self.timestamps[:known], len(keys))
        return VectorClock.latest(np.concatenate(keys), times)

    def knows_block(self, block: int, threads: int) -> bool:
        """Return whether there is a timestamp of a thread, a warp or the whole of a block."""
        warps = -(-threads // WARP_SIZE)
        for kind, first, count in ((THREAD, threads, threads), (WARP, warps, warps), (BLOCK, 1, 1)):
            start = kind + block * first
            if np.searchsorted(self.keys, start) < np.searchsorted(self.keys, start + count):
                return True
        return False

    def covers(self, other: VectorClock) -> bool:
        """Return whether no timestamp of the other clock is later."""
        return len(other) <= len(self) and bool((self.get(other.keys) >= other.timestamps).all())

    def joined(self, other: VectorClock) -> VectorClock:
        """Return the join of two clocks, which may be one of the two itself."""
        if other is self or other is NOTHING:
            return self
        if self._covered is not None and self._covered() is other:
            return self
        if self.covers(other):
            self._covered = ref(other)
            return self
        if other.covers(self):
            return other
        return VectorClock.latest(
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.timestamps, other.timestamps]),
        )


NOTHING = VectorClock(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
AFTER_WAIT = VectorClock(np.array([AFTER_GRIDS]), np.ones(1, dtype=np.int64))
"""The clock of a wait for the grids before."""


class ClockTable:
    """Clocks with numbers; 0 is that of a clock without timestamps."""

    def __init__(self) -> None:
        self.clocks = [NOTHING]
        self.kept = 1  # the clocks that were in use when others were forgotten last
        self._used = 0  # the timestamps in the table, of as many clocks as are in it
        self._in_table = 1
        self._keys, self._timestamps = np.zeros((2, 0), dtype=np.int64)

    def add(self, clock: VectorClock) -> int:
        """Return the number of a clock."""
        self.clocks.append(clock)
        return len(self.clocks) - 1

    def keep(self, numbers: Array) -> Array:
        """Forget the clocks that have none of some numbers; return the new numbers."""
        used = np.union1d(numbers, [0])
        self.clocks = [self.clocks[number] for number in used.tolist()]
        self.kept = len(self.clocks)
        self._used, self._in_table = 0, 1
        return np.searchsorted(used, numbers)

    def get(self, numbers: Array, keys: Array) -> Array:
        """Return the timestamps of keys; 0 if a clock has none.

        Args:
            numbers: The number of a clock for each column of keys.
        """
        for number in range(self._in_table, len(self.clocks)):
            clock = self.clocks[number]
            end = self._used + len(clock)
            if end > len(self._keys):
                room = np.zeros((2, 2 * end), dtype=np.int64)
                room[:, : self._used] = self._keys[: self._used], self._timestamps[: self._used]
                self._keys, self._timestamps = room
            self._keys[self._used : end] = clock.keys + (number << _KEY_BITS)
            self._timestamps[self._used : end] = clock.timestamps
            self._used = end
        self._in_table = len(self.clocks)
        table = VectorClock(self._keys[: self._used], self._timestamps[: self._used])
        return table.get(keys + (numbers << _KEY_BITS))


_KIND_BITS = 29
_KINDS = NUMBERED - FIRST_AGENT >> _KIND_BITS


class Completions:
    """Per lane, the timestamps up to which operations of its agents are known to be complete.

    A thread knows of its own agents by its waits. A barrier of the block makes this known to the
    block, and is frequent in pipelines of copies: therefore it needs no vector clock.
    """

    def __init__(self, lanes: int, threads: int, first_thread: int) -> None:
        self._threads = threads
        self._first = first_thread
        # Those known to the thread itself, and those known to the threads of its block.
        self._own, self._of_block = np.zeros((2, _KINDS, lanes), dtype=np.int64)
        # Per lane, whether others in its block may not know what it knows.
        self.news = np.zeros(lanes, dtype=np.bool_)
        self.is_used = False  # True after the first wait

    def complete(self, lanes: Indices, kind: int, timestamps: Array) -> None:
        """Note operations of an agent of each lane, up to a timestamp."""
        known = self._own[kind - FIRST_AGENT >> _KIND_BITS]
        known[lanes] = np.maximum(known[lanes], timestamps)
        self.news[lanes] = self.is_used = True

    def blocks_synchronize(self, lanes: Lanes) -> None:
        """Make known to whole blocks what each of their lanes knows."""
        if self.is_used:
            self._of_block[:, lanes] = self._own[:, lanes]
            self.news[lanes] = False

    def known(self, lanes: Indices, others: Array) -> Array:
        """Return the timestamp up to which each lane knows of an agent in its block."""
        kinds = kinds_of(others)
        places = (kinds - FIRST_AGENT >> _KIND_BITS) % (_KINDS + 1)
        slots = others - kinds - self._first
        here = (kinds > 0) & (places < _KINDS) & (slots // self._threads == lanes // self._threads)
        places, slots = np.where(here, places, 0), np.where(here, slots, 0)
        own = np.where(slots == lanes, self._own[places, slots], 0)
        return np.where(here, np.maximum(own, self._of_block[places, slots]), 0)

    def clock(self, lanes: Indices) -> VectorClock:
        """Return what lanes know of agents in their block."""
        if not self.is_used:
            return NOTHING
        advanced = lanes[self.news[lanes]]
        found = VectorClock.latest(self._keys(advanced).ravel(), self._own[:, advanced].ravel())
        return found.joined(self._of_blocks(lanes))

    def _keys(self, lanes: Indices) -> Array:
        """Return the keys of the agents of lanes, a row for each kind."""
        kinds = FIRST_AGENT + (np.arange(_KINDS)[:, None] << _KIND_BITS)
        return of_thread(kinds, self._first + lanes)

    def _of_blocks(self, lanes: Indices) -> VectorClock:
        """Return what the blocks of lanes know: a timestamp for each, and later ones."""
        keys, times = [], []
        for block in distinct(lanes // self._threads):
            members = np.arange(block * self._threads, (block + 1) * self._threads)
            agents, own = self._keys(members), self._of_block[:, members]
            lowest = own.min(axis=1)
            later = own > lowest[:, None]
            number = self._first // self._threads + block
            keys += [BLOCK + of_thread(kinds_of(agents[:, 0]), number), agents[later]]
            times += [lowest, own[later]]
        return VectorClock.latest(np.concatenate(keys), np.concatenate(times))
