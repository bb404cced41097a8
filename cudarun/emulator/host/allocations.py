"""Allocations and registrations of a program, and copies and fills of them.

Driver API, sections 6.13 (memory) and 6.17 (unified addressing). The bytes
are in `emulator.memory`; here is what the driver records about them.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import field

from cudarun.base.records import dataclass
from cudarun.emulator.host.contexts import Context
from cudarun.emulator.host.pools import DEVICE_KINDS, AllocationKind, Pool
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.host.virtual_memory import next_number
from cudarun.emulator.memory import Memory


@dataclass(eq=False)
class DriverAllocation:
    """One allocation or registration; ``flags`` are those it was made with."""

    address: int
    size: int
    kind: AllocationKind
    context: Context
    memory: Memory
    flags: int = 0
    pool: Pool | None = None  # the memory pool that it was allocated from
    number: int = field(default_factory=next_number)

    @property
    def on_device(self) -> bool:
        """True if the driver calls it device memory."""
        return self.kind in DEVICE_KINDS

    @property
    def on_host(self) -> bool:
        """True if the host can access its address."""
        return self.kind is not AllocationKind.DEVICE


class DriverAllocations:
    """All allocations of the process, by address."""

    def __init__(self) -> None:
        self._by_address: dict[int, DriverAllocation] = {}
        self._addresses: list[int] = []

    def add(self, buffer: DriverAllocation) -> DriverAllocation:
        """Record an allocation; it is freed with its context."""
        self._by_address[buffer.address] = buffer
        insort(self._addresses, buffer.address)
        buffer.context.own(buffer.address, lambda: self._end(buffer))
        return buffer

    def find(self, address: int, size: int = 1) -> DriverAllocation | None:
        """Return the allocation that contains an address, or the last one in a range."""
        index = bisect_left(self._addresses, address + size) - 1
        if index < 0:
            return None
        buffer = self._by_address[self._addresses[index]]
        return buffer if address < buffer.address + buffer.size else None

    def release(self, address: int, *kinds: AllocationKind, refusal: str = "INVALID_VALUE") -> None:
        """End the allocation that starts at ``address`` and is one of ``kinds``.

        Raises:
            Refusal: There is no such allocation.
        """
        buffer = self._by_address.get(address)
        if buffer is None or buffer.kind not in kinds:
            calls = " or ".join(kind.value for kind in kinds)
            raise Refusal(refusal, f"{address:#x} is not the start of an allocation of {calls}")
        buffer.context.disown(address)
        self._end(buffer)

    def _end(self, buffer: DriverAllocation) -> None:
        del self._by_address[buffer.address]
        self._addresses.remove(buffer.address)
        buffer.memory.free(buffer.address)
        if buffer.pool is not None:
            buffer.pool.give_back(buffer.size)
