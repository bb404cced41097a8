"""Host memory that kernels can access: managed, page-locked and registered.

Under unified addressing such memory has one address for the host and every device, so here the
addresses are the host's own, which host code can dereference. That of another process is an arena
which both map.
"""

from __future__ import annotations

import mmap
from collections import defaultdict
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.host import addresses
from cudarun.emulator.host.addresses import HostAccess
from cudarun.emulator.host.advice import Advice
from cudarun.emulator.memory import Allocation, Memory, reserved_bytes

_ANY_BASE = 1 << 21  # until the actual one is known
_ALIGNMENT = 16  # of an arena's base: the widest access


class HostMemory(Memory):
    """Memory that the driver allocates for the host and all devices."""

    def __init__(self, capacity: int) -> None:
        super().__init__(_ANY_BASE, capacity)
        # The advice on allocations, by their addresses.
        self.advice: defaultdict[int, Advice] = defaultdict(Advice)

    def _give_back(self, allocation: Allocation) -> None:
        self.advice.pop(allocation.base, None)
        super()._give_back(allocation)

    def _reserve(self) -> None:
        shared = addresses.host.arena(reserved_bytes(self.capacity))
        if shared is None:
            super()._reserve()
            self.base = self._top = int(self._arena.ctypes.data)
            return
        self._map, self.base = shared
        self._top = self.base
        self._advice = mmap.MADV_REMOVE
        self._arena = np.frombuffer(self._map, np.uint8)
        self._reserved = len(self._map)


class RegisteredMemory(Memory):
    """A range of the program's own memory, as one allocation; reports have its label.

    Args:
        access: The access to it; by default that to the program.
    """

    def __init__(
        self, address: int, size: int, *, label: str, access: HostAccess | None = None
    ) -> None:
        super().__init__(_ANY_BASE, 0)
        self._access = access or addresses.host
        self.base = address // _ALIGNMENT * _ALIGNMENT
        before = address - self.base
        self._reserved = -(-(before + size) // _ALIGNMENT) * _ALIGNMENT
        self._arena = self._access.mapped(self.base, self._reserved)
        view = self._arena[before : before + size]
        self._live.append(Allocation(address, size, label, view))
        self.used = size
        self._range = np.uint64(address), size

    def reserves(self, addresses: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which addresses are in the range: its neighbour may begin in the same unit."""
        address, size = self._range
        inside: npt.NDArray[np.bool_] = addresses - address < size
        return inside

    def _give_back(self, allocation: Allocation) -> None:
        """Leave the memory as it is: it is the program's."""
        self._access.unmap(self.base, self._reserved)
