"""The memory that an access touches, for observers; the access is known to be valid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cudarun.emulator.machine.access import Section
from cudarun.emulator.machine.clusters import other_blocks
from cudarun.emulator.machine.lanes import Indices
from cudarun.emulator.machine.spaces import WINDOW_BYTES, WINDOWS, WINDOWS_END
from cudarun.emulator.memory import Allocation
from cudarun.emulator.numerics.arrays import Array

if TYPE_CHECKING:
    from cudarun.emulator.machine.access import Access
    from cudarun.emulator.machine.active import Active


class Footprint(NamedTuple):
    """Part of an access: the memory of some lanes in one allocation or section.

    Attributes:
        region: The allocation or section.
        offsets: Per lane, the first byte, from the start of ``region.bytes``.
        positions: The positions of the lanes among the active ones; ``None`` for all of them.
    """

    region: Allocation | Section
    offsets: Array
    positions: Indices | None

    @property
    def space(self) -> str:
        """The state space."""
        return self.region.name if isinstance(self.region, Section) else "global"


def footprints(access: Access, active: Active, addresses: Array) -> list[Footprint]:
    """Return the parts of an access of the active lanes to these addresses."""
    if addresses.dtype.itemsize == 4:
        wide = (addresses + np.uint32(access.offset % (1 << 32))).astype(np.uint64)
    else:
        wide = addresses + np.uint64(access.offset % (1 << 64))
    if access.space in WINDOWS:
        section = active.batch.section(access.space)
        return [_in_section(section, active, wide - np.uint64(access.first_address(section)), None)]
    whole = _in_one_allocation(active.batch.recent.get(access), wide)
    return [whole] if whole is not None else [*_anywhere(active, wide)]


def _in_one_allocation(region: object, wide: Array) -> Footprint | None:
    """Return the footprint if all lanes access the allocation of the last time."""
    if not isinstance(region, Allocation):
        return None
    offsets = wide - np.uint64(region.base)
    if int(offsets.max()) >= region.size:
        return None
    return Footprint(region, offsets.view(np.int64), None)


def _in_section(
    section: Section, active: Active, offsets: Array, positions: Indices | None
) -> Footprint:
    starts = None if section.starts is None else active.per_lane(section.starts)
    if section.name == "shared" and int(offsets.max()) >= section.size:  # it contains a rank
        if positions is not None:
            active = active.some(positions)
        offsets, starts = other_blocks(active, offsets)
    elif starts is not None and positions is not None:
        starts = starts[positions]
    places = offsets.view(np.int64)
    return Footprint(section, places if starts is None else places + starts, positions)


def _anywhere(active: Active, wide: Array) -> Iterator[Footprint]:
    if int(wide.min()) < WINDOWS_END:
        for name in ("shared", "local", "param"):
            inside = (wide - np.uint64(WINDOWS[name]) < WINDOW_BYTES).nonzero()[0]
            if len(inside):
                section = active.batch.section(name)
                offsets = wide[inside] - np.uint64(section.base)
                yield _in_section(section, active, offsets, inside)
    for memory in active.batch.launch.memories:
        inside = memory.reserves(wide).nonzero()[0]
        while len(inside):
            allocation = memory.find(int(wide[inside[0]]))
            assert allocation is not None, "the access is allowed"
            offsets = wide[inside] - np.uint64(allocation.base)
            here = offsets < allocation.size
            yield Footprint(allocation, offsets[here].view(np.int64), inside[here])
            inside = inside[~here]
