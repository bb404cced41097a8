"""The words of mbarrier objects, and the lanes that wait for them (PTX manual 9.7.13.15).

An object is 64 opaque bits: the expected count of arrivals, the pending count, the bytes of
outstanding transactions (relative to `NO_BYTES`), and in the highest bit the parity of the phase.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cudarun.emulator.code import Site
from cudarun.emulator.numerics.arrays import Array

COUNT = (1 << 20) - 1
PENDING, BYTES, PHASE = 20, 40, 63  # first bits of the fields; the expected count is the lowest
NO_BYTES = 1 << 21
ALL_BYTES = (1 << PHASE - BYTES) - 1


def packed(expected: int, pending: int, owed: int, phase: int) -> int:
    """Return an object; ``owed`` are the outstanding bytes."""
    counted = owed + NO_BYTES & ALL_BYTES  # of memory that is no object, the sum may be negative
    return expected | pending << PENDING | counted << BYTES | phase << PHASE


def after(expected: int, pending: int, owed: int, phase: int) -> int:
    """Return an object after an operation, in the next phase if this one is complete."""
    if pending == 0 and owed == 0:
        return packed(expected, expected, 0, phase ^ 1)
    return packed(expected, pending, owed, phase)


def fields(word: int) -> tuple[int, int, int, int]:
    """Return expected count, pending count, outstanding bytes and phase of an object."""
    owed = (word >> BYTES & ALL_BYTES) - NO_BYTES
    return word & COUNT, word >> PENDING & COUNT, owed, word >> PHASE


class FailedWait(NamedTuple):
    """The lanes that found the phase of an object incomplete when they tested it last."""

    lanes: Array  # by index in the batch
    objects: Array  # the memory with the objects
    places: Array  # the index of each lane's object in it
    phases: Array  # the phase that each lane waits for
    site: Site | None  # the instruction

    def incomplete(self) -> FailedWait:
        """Return the lanes whose phase is still incomplete."""
        words = self.objects.take(self.places)
        left = np.flatnonzero(words >> np.uint64(PHASE) == self.phases)
        return self._replace(
            lanes=self.lanes[left], places=self.places[left], phases=self.phases[left]
        )

    def outstanding(self) -> list[str]:
        """Return the arrivals and bytes that each different object waits for."""
        found = []
        for place in dict.fromkeys(self.places.tolist()):
            expected, pending, owed, _ = fields(int(self.objects[place]))
            if not expected:
                found.append("the mbarrier is invalidated or not initialized")
                continue
            more = f"; copies wrote {-owed} bytes more than it expects" if owed < 0 else ""
            bytes_left = f"{max(owed, 0)} bytes of copies"
            found.append(f"{pending} of {expected} arrivals and {bytes_left} are pending{more}")
        return list(dict.fromkeys(found))
