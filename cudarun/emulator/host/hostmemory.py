"""Host memory that kernels can access: managed, page-locked and registered.

Under unified addressing such memory has one address for the host and every device, so here the
addresses are the host's own, which host code can dereference. That of another process is an arena
which both map.
"""

from __future__ import annotations

import mmap
from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from cudarun.emulator.host import addresses
from cudarun.emulator.host.addresses import HostAccess
from cudarun.emulator.memory import Allocation, Memory, reserved_bytes
from cudarun.emulator.numerics.arrays import Array

_ANY_BASE = 1 << 21  # until the actual one is known
_ALIGNMENT = 16  # of an arena's base: the widest access


class Advice:
    """The advice on a managed allocation, and the requests to prefetch it, each on a range.

    Driver API, section 6.17. It has no effect here, but a program can ask for it.
    """

    def __init__(self) -> None:
        self._given: list[tuple[int, int, Hashable, Hashable]] = []

    def give(self, address: int, size: int, topic: Hashable, value: Hashable) -> None:
        """Note a value for a range; it replaces earlier ones."""
        end = address + size
        self._given = [
            each for each in self._given if each[2] != topic or each[0] < address or each[1] > end
        ]
        self._given.append((address, end, topic, value))

    def of(self, address: int, size: int, topic: Hashable) -> set[Hashable]:
        """Return the values within a range; ``None`` where there is none."""
        given = [each for each in self._given if each[2] == topic]
        edges = {edge for start, end, *_ in given for edge in (start, end)}
        starts = [address, *(edge for edge in edges if address < edge < address + size)]
        return {
            next((value for a, b, _, value in reversed(given) if a <= start < b), None)
            for start in starts
        }


class HostMemory(Memory):
    """Memory that the driver allocates for the host and all devices."""

    def __init__(self, capacity: int) -> None:
        super().__init__(_ANY_BASE, capacity)
        # The advice on allocations, by their addresses.
        self.advice: defaultdict[int, Advice] = defaultdict(Advice)

    def _give_back(self, allocation: Allocation) -> None:
        self.advice.pop(allocation.base, None)
        super()._give_back(allocation)

    def addresses(self) -> tuple[int, int]:
        """Return its addresses, which the system chooses when they are reserved."""
        if not self._reserved:
            self._reserve()
        return super().addresses()

    def move_from(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Reserve other addresses than those of ranges, if nothing is allocated yet.

        An arena that another process shares has one address.

        Args:
            ranges: Their addresses and sizes.
        """
        taken = []  # The system chooses others while it has these.
        start, end = self.addresses()
        while not self._live and any(at < end and start < at + size for at, size in ranges):
            taken.append(self._map)
            self._reserve()
            self._unused = 0
            before, (start, end) = start, self.addresses()
            if start == before:
                return

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

    def reserves(self, addresses: Array) -> npt.NDArray[np.bool_]:
        """Return which addresses are in the range: its neighbour may begin in the same unit."""
        address, size = self._range
        inside: npt.NDArray[np.bool_] = addresses - address < size
        return inside

    def _give_back(self, allocation: Allocation) -> None:
        """Leave the memory as it is: it is the program's."""
        self._access.unmap(self.base, self._reserved)
