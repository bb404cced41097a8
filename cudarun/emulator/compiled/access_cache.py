"""The cache entries of a launch: the region that each access of compiled code found last."""

from __future__ import annotations

import numpy as np

from cudarun.emulator.compiled.kernels import CompiledKernel
from cudarun.emulator.compiled.observation import ObservedLaunch
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.patterns import HALF
from cudarun.emulator.machine.access import Access
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.spaces import Region, Section

_BYTE = np.dtype(np.uint8)


class AccessCache:
    """The cache entries of the blocks that run at the same time.

    Args:
        slots: The number of these blocks.
        shared: Their shared memory.
        observed: The memory that detectors observe; ``None`` without detectors.
    """

    def __init__(
        self,
        kernel: CompiledKernel,
        launch: Launch,
        slots: int,
        shared: Section,
        observed: ObservedLaunch | None,
    ) -> None:
        self._kernel = kernel
        self._launch = launch
        self._slots = slots
        self._shared = shared
        self._observed = observed
        rows = self._recent_rows()
        self.memory = np.array([rows] * slots, dtype=np.uint64)  # by slot and number
        for entries in kernel.shared:
            self._place_parts(entries, shared)

    def _recent_rows(self) -> list[list[int]]:
        """Return the rows of shared memory, and of what accesses found in earlier launches."""
        accesses, memories = self._kernel.code.sites.entries, self._launch.memories
        rows = [[0] * (layout.CACHE_BYTES // 8)] * max(len(accesses), 1)
        for entries in self._kernel.shared:
            row = self._row(accesses[entries[0]], self._shared)
            for entry in entries:
                rows[entry] = row
        found: dict[tuple[int, int], list[int]] = {}
        for entry, address in self._kernel.recent.copy().items():  # other threads add to it
            access = accesses[entry]
            if (key := (address, access.bytes)) not in found:
                for allocation in filter(None, (each.find(address) for each in memories)):
                    found[key] = self._row(access, allocation)
            rows[entry] = found.get(key, rows[entry])
        return rows

    def enter(self, entry: int, access: Access, region: Region) -> None:
        """Change the cache entry of an access; it is the first one in later launches."""
        self.memory[:, entry] = np.array(self._row(access, region), dtype=np.uint64)
        if isinstance(region, Section):
            self._place_parts([entry], region)
        else:
            self._kernel.recent[entry] = region.base

    def _row(self, access: Access, region: Region) -> list[int]:
        """Return the cache entry of an access to a region, of the first slot."""
        launch = self._launch
        stride = 0  # bytes from a lane's part of it to the next
        if isinstance(region, Section) and region.starts is not None and region.name != "shared":
            stride = launch.local_stride
        start, last = access.bounds(launch, region)
        count, unwritten = max(last - start + 1, 0), region.unwritten
        values = {
            layout.BASE: access.first_address(region) + start,
            layout.COUNT: count,
            layout.HOST: region.view(_BYTE).ctypes.data + start,
            layout.LANE_STRIDE: stride,
            layout.UNWRITTEN: 0 if unwritten is None else unwritten.ctypes.data + start,
            layout.SHARED_COUNT: 0 if stride else count,
            layout.CLUSTER_STRIDE: launch.shared_stride if region is self._shared else 0,
            layout.ROW_COUNT: 0 if stride else max(count - (HALF - 1) * access.bytes, 0),
            layout.SHADOW: self._observed.shadow(region, start) if self._observed else 0,
        }
        return [values[8 * n] for n in range(len(values))]

    def _place_parts(self, entries: list[int], section: Section) -> None:
        """Change cache entries to the parts of a section that belong to the blocks of the slots."""
        launch = self._launch
        if section.ranks is not None:
            ranks = section.ranks[:: launch.block_threads, None][: self._slots]
            self.memory[:, entries, layout.BASE // 8] += ranks
        if section.starts is not None and self._slots > 1:
            stride = launch.shared_stride
            if section.name != "shared":
                stride = launch.local_stride * launch.block_threads
            strides = np.arange(0, stride * self._slots, stride, dtype=np.uint64)
            self.memory[:, entries, layout.HOST // 8] += strides[:, None]
