"""Time in a launch: a number for every access, and what a thread knows of other threads' pasts.

Every access that is watched gets the next number as its **moment**. What a thread knows of another
is the moment up to which all that the other did comes before what it does itself now. A `Clock`
holds such knowledge about threads, warps and blocks of the whole grid: only those that are there,
because most threads never hear of most others.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from cudarun.emulator.code import Site
    from cudarun.emulator.machine.access import AccessKind

Array = npt.NDArray[Any]

# Kinds of keys in a clock: the number of a thread, of a warp, of a block in the grid.
THREAD, WARP, BLOCK = 0, 1 << 40, 1 << 41


class Timeline:
    """The moments of a launch so far, and the instruction of each."""

    def __init__(self) -> None:
        self.now = 0
        self._numbers: dict[tuple[Site, AccessKind], int] = {}
        self._sites: list[tuple[Site, AccessKind]] = []
        self._site_at = array("I", [0])

    def site_number(self, site: Site, kind: AccessKind) -> int:
        """A number for an instruction that accesses memory."""
        key = site, kind
        if key not in self._numbers:
            self._numbers[key] = len(self._sites)
            self._sites.append(key)
        return self._numbers[key]

    def next(self, site_number: int) -> int:
        """The moment of an access."""
        self.now += 1
        self._site_at.append(site_number)
        return self.now

    def site_numbers(self, moments: Array) -> Array:
        """The numbers of the instructions of some moments."""
        return np.frombuffer(self._site_at, dtype=np.uint32)[moments]

    def site(self, number: int) -> tuple[Site, AccessKind]:
        """The instruction of a number, and what it does to memory."""
        return self._sites[number]


class Clock:
    """What is known of some threads, warps and blocks: immutable."""

    __slots__ = ("_keys", "_moments")

    def __init__(self, keys: Array, moments: Array) -> None:
        self._keys = keys
        self._moments = moments

    @classmethod
    def of(cls, known: Iterable[tuple[int, int]]) -> Clock:
        """A clock of pairs of a key and a moment; of one key the latest counts."""
        pairs = np.array([*known], dtype=np.int64).reshape(-1, 2)
        return cls.latest(pairs[:, 0], pairs[:, 1])

    @classmethod
    def latest(cls, keys: Array, moments: Array) -> Clock:
        """A clock of the latest moment of each key."""
        order = np.lexsort((moments, keys))
        keys, moments = keys[order], moments[order]
        last = np.append(keys[1:] != keys[:-1], True)[: len(keys)]
        return cls(keys[last], moments[last])

    def __len__(self) -> int:
        return len(self._keys)

    def get(self, keys: Array) -> Array:
        """The moment of each key; 0 where it is not known."""
        if not len(self._keys):
            return np.zeros(len(keys), dtype=np.int64)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        found: Array = np.where(self._keys[places] == keys, self._moments[places], 0)
        return found

    def covers(self, other: Clock) -> bool:
        """Whether it knows all that the other one does."""
        return len(other) <= len(self) and bool((self.get(other._keys) >= other._moments).all())

    def joined(self, other: Clock) -> Clock:
        """What either knows; one of the two itself where that is all."""
        if other is self or self.covers(other):
            return self
        if other.covers(self):
            return other
        return Clock.latest(
            np.concatenate([self._keys, other._keys]),
            np.concatenate([self._moments, other._moments]),
        )


NOTHING = Clock(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
