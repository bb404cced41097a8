"""The accesses of lanes to units of memory, as the race detector checks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.machine.transfers import MemoryStore, split
from cudarun.emulator.numerics.arrays import Array, Arrays

if TYPE_CHECKING:
    from cudarun.emulator.code import Site
    from cudarun.emulator.detectors.shadow import Shadow
    from cudarun.emulator.machine.access import Access
    from cudarun.emulator.machine.lanes import Indices, Lanes
    from cudarun.emulator.machine.regions import Footprint


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
        found: Array = self.part.region.bytes[first[:, None] + np.arange(self.shadow.unit)]
        return found


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
