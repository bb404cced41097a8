"""What was done last to every part of a memory, for the race detector.

Memory is divided into units of as many bytes as the smallest access so far. Of each unit three
accesses are kept, as words with the moment above and the thread below: the last plain write, and of
what is no plain write (reads, atomic operations) the last one and one by another thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_ALIGNMENT = 16  # of the widest access; a memory's first byte can lie anywhere in that


class Shadow:
    """The last accesses of a memory of ``size`` bytes.

    Args:
        size: Bytes.
        base: Its first address, which says how it is aligned.
        unit: The bytes of the first access.

    Attributes:
        unit: The bytes of a unit.
        writes: Per unit, the last plain write.
        reads: Per unit, the last of the rest.
        others: Per unit, one of the rest by another thread than that of ``reads``.
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
        """The units that accesses of ``size`` bytes touch: the first ones, then the second ones."""
        if size < self.unit:
            self._divide(size)
        first = (offsets + self._before) >> (self.unit.bit_length() - 1)
        return [first + place if place else first for place in range(size // self.unit)]

    def first_bytes(self, units: Array) -> Array:
        """Where units begin in the memory."""
        first: Array = units * self.unit - self._before
        return first

    def _divide(self, unit: int) -> None:
        """Make the units smaller: what was done to one was done to all its bytes."""
        ratio = self.unit // unit
        self.unit = unit
        for name in ("writes", "reads", "others"):
            setattr(self, name, np.repeat(getattr(self, name), ratio))
