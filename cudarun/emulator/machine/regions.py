"""Memory with bounds, and the parts of accesses in it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.machine.lanes import Indices
from cudarun.emulator.memory import Allocation, Memory
from cudarun.emulator.numerics.arrays import Array


class Piece(NamedTuple):
    """The part of an access in one array."""

    view: Array  # memory as an array of elements
    places: Indices  # per lane, the index of its first element in the view
    # The positions of the lanes among the active ones; ``None`` for all of them.
    positions: Indices | None
    region: Region | Memory  # the region, or the memory with the allocations that lanes access


class Footprint(NamedTuple):
    """Part of an access: the memory of some lanes in one allocation or section."""

    region: Region  # the allocation or section
    offsets: Array  # per lane, the first byte, from the start of ``region.bytes``
    # The positions of the lanes among the active ones; ``None`` for all of them.
    positions: Indices | None

    @property
    def space(self) -> str:
        """The state space."""
        return self.region.name if isinstance(self.region, Section) else "global"


@dataclass(slots=True, eq=False)
class Section:
    """Shared, local or parameter memory: lanes access parts of one array."""

    name: str  # the space
    base: int
    size: int
    bytes: Array
    # Per lane of the batch, the start of its part; ``None`` if all lanes share one.
    starts: Indices | None
    # Bytes from the part of one block to that of the next, of shared or tensor memory.
    stride: int = 0
    live: bool = True
    unwritten: Array | None = None  # the detector of uninitialized reads tracks them
    unchanged: Array | None = None

    def view(self, dtype: np.dtype[Any]) -> Array:
        """Return the memory of all lanes as an array."""
        return self.bytes.view(dtype)


Region = Allocation | Section
"""Memory with bounds: an allocation, or the part of a space that each lane accesses."""
