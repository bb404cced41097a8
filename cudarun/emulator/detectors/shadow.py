"""Shadow memory of the race detector: the last accesses to every unit of memory.

Memory is divided into units of the size of the smallest access so far. For each unit accesses are
recorded, as words with the timestamp above and the thread below: the last plain write, and of reads
and of atomic or volatile writes the last one and one by another thread.
"""

from __future__ import annotations

from enum import Enum, IntEnum, auto
from functools import cache

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import Site
from cudarun.emulator.decode.loops import polling_sites
from cudarun.emulator.detectors.happens_before import HappensBefore
from cudarun.emulator.detectors.vector_clocks import LogicalClock
from cudarun.emulator.machine.access import Access, AccessKind
from cudarun.emulator.machine.lanes import Indices, Lanes
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.spaces import Footprint
from cudarun.emulator.machine.transfers import MemoryStore, split
from cudarun.emulator.numerics.arrays import Array, Arrays, Mask

NO_POSITIONS = np.zeros(0, dtype=np.intp)
_ALIGNMENT = 16  # of the widest access; a memory need not begin at a multiple of it


class Row(IntEnum):
    """The accesses that are recorded for a unit; those that a write can conflict with are first."""

    LAST_READ = 0
    OTHER_READ = 1  # one by another thread
    WRITE = 2  # the last plain write
    LAST_STRONG = 3  # the last atomic or volatile write
    OTHER_STRONG = 4  # one by another thread


Units = slice | Array
"""Units of lanes: a slice if they have equal distances."""


class Shadow:
    """Shadow memory of ``size`` bytes.

    Args:
        base: The first address, which determines the alignment.
        unit: Bytes of the first access.

    Attributes:
        unit: Bytes per unit.
        words: Per `Row` and unit an access, 0: none; those of strong writes from the first one on.
        changes: How often writes have been recorded.
    """

    def __init__(self, size: int, base: int, unit: int) -> None:
        self._before = base % _ALIGNMENT
        self.unit = unit
        self._bytes = size + self._before
        self.changes = 0
        self.clear()

    def clear(self) -> None:
        """Forget every access."""
        self.words = [self._empty() for _ in range(Row.LAST_STRONG)]
        self.changes += 1

    def _empty(self) -> Array:
        return np.zeros(-(-self._bytes // self.unit), dtype=np.int64)

    @property
    def has_strong(self) -> bool:
        """True after the first atomic or volatile write."""
        return len(self.words) == len(Row)

    def note(self, units: Units, words: Array, *, strong: bool) -> Indices:
        """Record reads, or atomic and volatile writes; return those that others of them replace."""
        if strong and not self.has_strong:
            self.words += [self._empty(), self._empty()]
        row = Row.LAST_STRONG if strong else Row.LAST_READ
        last, others = self.words[row], self.words[row + 1]
        recorded = last[units]
        if np.count_nonzero(recorded):
            older = (threads(recorded ^ words) != 0) & (recorded != 0)
            replaced = older.nonzero()[0]
            if len(replaced):
                others[picked(units, replaced)] = recorded[replaced]
        lost = self.replace(row, units, words)
        if len(lost):
            others[picked(units, lost)] = words[lost]
        return lost

    def replace(self, row: Row, units: Units, words: Array) -> Indices:
        """Record accesses in a row; return those that others of them replace."""
        recorded = self.words[row]
        recorded[units] = words
        self.changes += row >= Row.WRITE
        if isinstance(units, slice):
            return NO_POSITIONS
        lost: Indices = (recorded[units] != words).nonzero()[0]
        return lost

    def units(self, offsets: Array, size: int) -> list[Units]:
        """Return the units of accesses of ``size`` bytes: the first ones, then the second ones."""
        if size < self.unit:  # an access to a unit is one to all its bytes
            self.words = [np.repeat(row, self.unit // size) for row in self.words]
            self.unit = size
        first = (offsets + self._before) >> (self.unit.bit_length() - 1)
        places = range(size // self.unit)
        start, last = (int(first[0]), int(first[-1])) if len(first) else (0, -1)
        step = (last - start) // (len(first) - 1) if len(first) > 1 else len(first)
        if step > 0 and (first[1:] - first[:-1] == step).all():
            return [slice(start + place, last + place + 1, step) for place in places]
        return [first + place if place else first for place in places]

    def first_bytes(self, units: Array) -> Array:
        """Return the offsets of units in the memory."""
        return units * self.unit - self._before


def picked(units: Units, chosen: Indices) -> Array:
    """Return the units at some positions."""
    return units.start + chosen * units.step if isinstance(units, slice) else units[chosen]


def threads(words: Array) -> Array:
    """Return the lower halves of words."""
    return words.view(np.uint32)[..., ::2]


@dataclass(frozen=True, slots=True)
class UnitAccess:
    """The access of each lane to one unit of memory."""

    access: Access
    site: Site
    part: Footprint
    shadow: Shadow
    order: HappensBefore
    lanes: Lanes  # the lanes of the batch
    words: Array  # timestamp and thread of each
    units: Units
    place: int  # the index of the unit in the access

    def units_at(self, chosen: Indices) -> Array:
        """Return the units of some lanes."""
        return picked(self.units, chosen)

    def bytes_at(self, chosen: Indices) -> Array:
        """Return the current bytes of some of the units, a row for each."""
        first = self.shadow.first_bytes(self.units_at(chosen))
        return self.part.region.bytes[first[:, None] + np.arange(self.shadow.unit)]


@dataclass(frozen=True, slots=True)
class Overwritten:
    """Plain writes of several threads to the same memory: races if their values differ."""

    step: UnitAccess
    chosen: Indices
    recorded: Array  # the writes of the other threads
    expected: Array  # the bytes afterwards if they have equal values


def stored(action: MemoryStore, sources: Arrays, rows: Indices) -> Array:
    """Return the bytes that lanes store, a row each."""
    columns = split(sources[1 : 1 + action.count], action.elements)
    values = np.empty((len(rows), len(columns)), dtype=action.accesses[0].dtype)
    for place, column in enumerate(columns):
        values[:, place] = column[rows]
    return values.view(np.uint8)


class Conflict(Enum):
    """The kind of a pair of accesses, at least one of them a write.

    Attributes:
        NONE: No race.
        PROVED: No race; in a launch without a synchronizing instruction it is one, unless the
            unmodified launch has it.
        APART: A race if the threads are not in one thread block, or not in one cluster.
        RACE: A race.
    """

    NONE = auto()
    PROVED = auto()
    APART = auto()
    RACE = auto()


NARROW = ("cta", "cluster")  # the scopes that do not contain all threads of a grid


class Conflicts:
    """The rules for pairs of accesses of a launch."""

    def __init__(self, launch: Launch, clock: LogicalClock) -> None:
        self._launch = launch
        self._clock = clock
        self._polling: set[Site] | None = None
        self.of = cache(self._of)

    def observe(self, words: Array) -> Mask:
        """Return which accesses are atomic operations that observe others' writes.

        A write precedes what follows the operation that observes it (PTX manual 8.8), as where the
        last block of a grid resets the counter by which it knows that it is the last.
        """
        found = np.zeros(len(words), dtype=np.bool_)
        for _, access, those in self._clock.by_site(words):
            found[those] = access.observes and access.scope not in NARROW
        return found

    def are_apart(self, words: Array, others: Array, pair: tuple[tuple[Site, Access], ...]) -> Mask:
        """Return which threads of pairs of accesses are outside of the scope of one of these."""
        size = self._launch.block_threads
        if not any(access.scope == "cta" for _, access in pair):
            size *= self._launch.cluster_blocks
        found: Mask = threads(words) // size != threads(others) // size
        return found

    def is_weak(self, access: Access, site: Site, space: str) -> bool:
        """Return whether a read can get an old value without any harm to the model.

        Volatile reads of shared memory are weak, too, except in loops that wait for the value: the
        lanes of a warp do not run in lockstep.
        """
        if not access.strong:
            return True
        if access.order != "volatile" or space != "shared":
            return False
        if self._polling is None:
            each = map(polling_sites, self._launch.functions.values())
            self._polling = set().union(*each)
        return site not in self._polling

    def _of(self, one: tuple[Site, Access], other: tuple[Site, Access], space: str) -> Conflict:
        """Return what a pair is."""
        accesses = one[1], other[1]
        if not any(access.writes for access in accesses):
            return Conflict.NONE
        if any(access.writes and not access.strong for access in accesses):
            return Conflict.RACE
        if any(access.kind is AccessKind.MBARRIER for access in accesses):
            return Conflict.PROVED
        reads = [(access, site) for site, access in (one, other) if not access.writes]
        weak = any(self.is_weak(access, site, space) for access, site in reads)
        if weak and not any(access.swaps for access in accesses):
            return Conflict.RACE
        if not weak and any(access.scope in NARROW for access in accesses):
            return Conflict.APART
        return Conflict.PROVED if reads else Conflict.NONE
