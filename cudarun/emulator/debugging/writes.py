"""The writes of watched memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.detectors.instrumentation import Detector
from cudarun.emulator.machine import lanes as lane_sets

if TYPE_CHECKING:
    from cudarun.emulator.code import Site
    from cudarun.emulator.machine.access import Access
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.spaces import Footprint


@dataclass(frozen=True, slots=True)
class MemoryRange:
    """Bytes of memory."""

    space: str  # ``global``, ``shared`` or ``local``
    start: int  # the address; in shared and local memory the offset in that of its owner
    size: int  # the number of bytes
    # The number in the grid of the block of shared memory, or of the thread of local memory.
    owner: int = 0

    def offset(self, batch: Batch, base: int) -> int:
        """Return the first byte in a region whose first address is ``base``; negative outside."""
        if self.space == "global":
            return self.start - base
        launch = batch.launch
        first, stride = batch.first_block, launch.shared_stride
        if self.space == "local":
            first, stride = first * launch.block_threads, launch.local_stride
        return (self.owner - first) * stride + self.start


class WriteDetector(Detector):
    """Notes which lanes write watched bytes."""

    def __init__(self) -> None:
        self.ranges: Sequence[MemoryRange] = ()  # the watched bytes
        # The last lane of the batch that wrote each of them, since it was last cleared.
        self.written: dict[MemoryRange, int] = {}

    def accessed(
        self, access: Access, site: Site, active: Active, parts: Sequence[Footprint]
    ) -> None:
        """See `Detector`."""
        if not access.writes:
            return
        for part in parts:
            for watched in self.ranges:
                if watched.space != part.space:
                    continue
                start = watched.offset(active.batch, part.region.base)
                offsets = part.offsets.astype(np.int64)
                inside = (offsets < start + watched.size) & (offsets + access.bytes > start)
                found = np.flatnonzero(inside)
                if part.positions is not None:
                    found = part.positions[found]
                if len(found):
                    self.written[watched] = int(lane_sets.pick(active.lanes, found)[-1])
