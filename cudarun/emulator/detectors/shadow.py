"""Shadow memory of the race detector: the last accesses to every unit of memory.

Memory is divided into units of the size of the smallest access so far. For each unit three accesses
are recorded, as words with the timestamp above and the thread below: the last plain write, and of
the other accesses (reads, atomic operations) the last one and one by another thread.
"""

from __future__ import annotations

import numpy as np

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
        reads: Per unit, the last other access.
        others: Per unit, one other access by another thread than that of ``reads``.
    """

    def __init__(self, size: int, base: int, unit: int) -> None:
        self._before = base % _ALIGNMENT
        self.unit = unit
        self._bytes = size + self._before
        self._allocate()

    def _allocate(self) -> None:
        units = -(-self._bytes // self.unit)
        self.writes = np.zeros(units, dtype=np.int64)
        self.reads = np.zeros(units, dtype=np.int64)
        self.others = np.zeros(units, dtype=np.int64)

    def clear(self) -> None:
        """Forget every access."""
        self._allocate()

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
        for name in ("writes", "reads", "others"):
            setattr(self, name, np.repeat(getattr(self, name), ratio))
