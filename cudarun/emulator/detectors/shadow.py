"""Shadow memory of the race detector: the last accesses to every unit of memory.

Memory is divided into units of the size of the smallest access so far. For each unit accesses are
recorded, as words with the timestamp above and the thread below: the last plain write, and of reads
and of atomic or volatile writes the last one and one by another thread.
"""

from __future__ import annotations

from enum import Enum, auto
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.decode.loops import polling_sites
from cudarun.emulator.machine.access import Access, AccessKind
from cudarun.emulator.machine.lanes import Indices
from cudarun.emulator.machine.transfers import MemoryStore, split
from cudarun.emulator.numerics.arrays import Array, Arrays

if TYPE_CHECKING:
    from cudarun.emulator.code import FunctionCode, Site
    from cudarun.emulator.machine.lanes import Lanes
    from cudarun.emulator.machine.spaces import Footprint


_ALIGNMENT = 16  # of the widest access; a memory need not begin at a multiple of it


class Shadow:
    """Shadow memory of ``size`` bytes.

    Args:
        base: The first address, which determines the alignment.
        unit: Bytes of the first access.

    Attributes:
        unit: Bytes per unit.
        writes: Per unit, the last plain write.
        reads: Per unit, the last read, and one by another thread.
        strong: The same of atomic and volatile writes; ``None`` until the first one.
    """

    strong: tuple[Array, Array] | None

    def __init__(self, size: int, base: int, unit: int) -> None:
        self._before = base % _ALIGNMENT
        self.unit = unit
        self._bytes = size + self._before
        self._allocate()

    def _allocate(self) -> None:
        self.writes = self._empty()
        self.reads = self._empty(), self._empty()
        self.strong = None

    def _empty(self) -> Array:
        return np.zeros(-(-self._bytes // self.unit), dtype=np.int64)

    def clear(self) -> None:
        """Forget every access."""
        self._allocate()

    def note(self, units: Array, words: Array, *, strong: bool) -> Indices:
        """Record reads, or atomic and volatile writes; return those that others of them replace."""
        if strong and self.strong is None:
            self.strong = self._empty(), self._empty()
        last, others = (strong and self.strong) or self.reads
        recorded = last[units]
        older = (threads(recorded) != threads(words)).nonzero()[0]
        older = older[recorded[older] != 0]
        if len(older):
            others[units[older]] = recorded[older]
        last[units] = words
        lost: Indices = (last[units] != words).nonzero()[0]
        if len(lost):
            others[units[lost]] = words[lost]
        return lost

    def units(self, offsets: Array, size: int) -> list[Array]:
        """Return the units of accesses of ``size`` bytes: the first ones, then the second ones."""
        if size < self.unit:
            self._divide(size)
        first = (offsets + self._before) >> (self.unit.bit_length() - 1)
        return [first + place if place else first for place in range(size // self.unit)]

    def first_bytes(self, units: Array) -> Array:
        """Return the offsets of units in the memory."""
        return units * self.unit - self._before

    def _divide(self, unit: int) -> None:
        """Divide the units: an access to one is an access to all its bytes."""
        ratio = self.unit // unit
        self.unit = unit
        self.writes = np.repeat(self.writes, ratio)
        self.reads = _repeated(self.reads, ratio)
        self.strong = self.strong and _repeated(self.strong, ratio)


def _repeated(pair: tuple[Array, Array], ratio: int) -> tuple[Array, Array]:
    last, others = pair
    return np.repeat(last, ratio), np.repeat(others, ratio)


def threads(words: Array) -> Array:
    """Return the lower halves of words."""
    return words.view(np.uint32)[::2]


@dataclass(frozen=True, slots=True)
class UnitAccess:
    """The access of each lane to one unit of memory."""

    access: Access
    site: Site
    part: Footprint
    shadow: Shadow
    lanes: Lanes  # the lanes of the batch
    words: Array  # timestamp and thread of each
    units: Array
    place: int  # the index of the unit in the access

    def bytes_at(self, chosen: Indices) -> Array:
        """Return the current bytes of some of the units, a row for each."""
        first = self.shadow.first_bytes(self.units[chosen])
        return self.part.region.bytes[first[:, None] + np.arange(self.shadow.unit)]


@dataclass(frozen=True, slots=True)
class Overwritten:
    """Plain writes over other threads' plain writes: races if they change a value."""

    step: UnitAccess
    chosen: Indices
    recorded: Array
    before: Array


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

    def __init__(self, functions: dict[str, FunctionCode]) -> None:
        self._functions = functions
        self._polling: set[Site] | None = None
        self.of = cache(self._of)

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
            each = map(polling_sites, self._functions.values())
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
