"""Shadow memory of the race detector: the last accesses to every unit of memory.

Memory is divided into units of the size of the smallest access so far. For each unit accesses are
recorded, as words with the timestamp above and the thread below: the last plain write, and of reads
and of atomic or volatile writes the last one and one by another thread.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.machine.lanes import Indices
from cudarun.emulator.numerics.arrays import Array

_ALIGNMENT = 16  # of the widest access; a memory need not begin at a multiple of it


class Shadow:
    """Shadow memory of ``size`` bytes.

    Args:
        size: Bytes.
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
        first: Array = units * self.unit - self._before
        return first

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
