"""Host memory that kernels reach: managed, page-locked and registered.

Under unified addressing such memory has one address for the host and every device, so here an
allocation keeps the host's own address, and the host may follow it like any pointer.
"""

from __future__ import annotations

import mmap
from bisect import bisect_right
from collections import deque

import numpy as np

from cudarun.emulator.host.addresses import host_bytes
from cudarun.emulator.memory import Allocation, Array, Freed, Memory

_ANY_BASE = 1 << 21  # the arena that Memory reserves stays unused


class HostMemory(Memory):
    """Allocations at their host addresses; `adopt` takes memory that someone else owns."""

    def __init__(self) -> None:
        super().__init__(base=_ANY_BASE, capacity=0)

    def allocate(self, size: int, *, alignment: int = 512, label: str = "cuMemAllocHost") -> int:
        """Reserve ``size`` zero bytes of host memory, page-aligned, and return their address."""
        if alignment > mmap.PAGESIZE:
            raise ValueError(f"an alignment of {alignment} bytes")
        owned = np.frombuffer(mmap.mmap(-1, size), dtype=np.uint8)
        return self._insert(owned, label)

    def adopt(self, address: int, size: int, *, label: str) -> int:
        """Make ``size`` bytes of the program's own memory an allocation."""
        return self._insert(host_bytes(address, size), label)

    def _insert(self, array: Array, label: str) -> int:
        address = int(array.ctypes.data)
        with self._lock:
            # A host address can come back after free; it is then no longer a freed one.
            end = address + array.size
            kept = (f for f in self._freed if f.base + f.size <= address or f.base >= end)
            self._freed = deque(kept, maxlen=self._freed.maxlen)
            allocation = Allocation(address, array.size, label, array)
            self._live.insert(bisect_right(self._live, address, key=_base), allocation)
            self.used += array.size
        return address

    def free(self, address: int) -> bool:
        """End the allocation that starts at ``address``; ``False`` where none does."""
        with self._lock:
            index = bisect_right(self._live, address, key=_base) - 1
            if index < 0 or self._live[index].base != address:
                return False
            allocation = self._live.pop(index)
            self.used -= allocation.size
            self._freed.append(Freed(allocation.base, allocation.size, allocation.label))
            return True


def _base(allocation: Allocation) -> int:
    return allocation.base
