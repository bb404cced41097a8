"""The parts of global memory that launches access, and the types of the accesses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cudarun.emulator.code import Site
from cudarun.emulator.detectors.instrumentation import Detector
from cudarun.emulator.machine.access import Access
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.spaces import Footprint
from cudarun.emulator.memory import Allocation
from cudarun.emulator.numerics.arrays import Array, DType

UNIT = 32  # bytes: a sector of the cache of a GPU; an access touches whole units

_NONE, _MIXED = 0, 255


class TouchedPart(NamedTuple):
    """A run of accessed units of an allocation."""

    offset: int  # its offset in the allocation
    size: int  # its size in bytes
    dtype: DType | None  # the type of all accesses; ``None`` if they have several


class TouchedMemory(Detector):
    """The accessed units of all allocations, of the launches that it observes."""

    def __init__(self) -> None:
        self._units: dict[int, Array] = {}  # by base: 0, or the number of the type of accesses
        self._sizes: dict[int, int] = {}
        self._dtypes: list[DType] = []

    def accessed(
        self, access: Access, site: Site, active: Active, parts: Sequence[Footprint]
    ) -> None:
        """See `Detector`."""
        for each in parts:
            if isinstance(each.region, Allocation):
                self._add(each.region, each.offsets, access)

    def refused(self, access: Access, active: Active, addresses: Array) -> None:
        """Note the valid lanes of an access: without their memory, others would fault first."""
        for address in np.unique(
            addresses.astype(np.uint64) + np.uint64(access.offset % (1 << 64))
        ):
            for memory in active.batch.launch.memories:
                allocation = memory.find(int(address))
                if allocation is not None:
                    offsets = np.array([int(address) - allocation.base])
                    self._add(allocation, offsets, access)

    def _add(self, allocation: Allocation, offsets: Array, access: Access) -> None:
        """Note an access from each of several offsets on."""
        units = self._units.get(allocation.base)
        if units is None:
            count = -(-allocation.size // UNIT)
            units = self._units[allocation.base] = np.zeros(count, np.uint8)
            self._sizes[allocation.base] = allocation.size
        code = self._code(access.dtype)
        first = offsets // UNIT
        last = np.minimum((offsets + (access.bytes - 1)) // UNIT, units.size - 1)
        for step in range(int((last - first).max()) + 1):
            places = np.minimum(first + step, last)
            known = units[places]
            units[places] = np.where((known == _NONE) | (known == code), code, _MIXED)

    def _code(self, dtype: DType) -> int:
        if dtype not in self._dtypes:
            self._dtypes.append(dtype)
        return min(self._dtypes.index(dtype) + 1, _MIXED)

    def parts(self, base: int, largest_gap: int) -> Iterator[TouchedPart]:
        """Yield the accessed parts of an allocation in order.

        Args:
            largest_gap: The most bytes between accesses that do not separate parts.
        """
        units = self._units.get(base)
        if units is None:
            return
        used = np.flatnonzero(units)
        is_apart = np.diff(used) - 1 > largest_gap // UNIT
        has_other_type = np.diff(units[used].astype(np.int16)) != 0
        if largest_gap == UNIT:  # larger ones are to make few parts
            is_apart |= has_other_type
        breaks = np.flatnonzero(is_apart) + 1
        for run in np.split(used, breaks):
            start, end = int(run[0]), int(run[-1]) + 1
            codes = np.unique(units[start:end])
            codes = codes[codes != _NONE]
            known = len(codes) == 1 and codes[0] != _MIXED
            dtype = self._dtypes[codes[0] - 1] if known else None
            size = min(end * UNIT, self._sizes[base]) - start * UNIT
            yield TouchedPart(start * UNIT, size, dtype)
