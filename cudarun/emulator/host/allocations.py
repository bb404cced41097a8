"""Allocations and registrations of a program, and copies and fills of them.

Driver API, sections 6.13 (memory) and 6.17 (unified addressing). The bytes
are in `emulator.memory`; here is what the driver records about them.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right, insort
from dataclasses import field
from enum import Enum

from cuda.bindings.driver import CUcontext, CUdeviceptr, CUmemorytype
from cuda.bindings.driver import CUpointer_attribute as Attribute

from cudarun.emulator.host.addresses import Bytes, host_bytes
from cudarun.emulator.host.contexts import Context
from cudarun.emulator.host.pools import Pool
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.memory import Memory
from cudarun.records import dataclass


class AllocationKind(Enum):
    """The call that an allocation was made by, which determines the call that frees it."""

    DEVICE = "cuMemAlloc"
    MANAGED = "cuMemAllocManaged"
    PAGE_LOCKED = "cuMemAllocHost"
    REGISTERED = "cuMemHostRegister"


DEVICE_KINDS = (AllocationKind.DEVICE, AllocationKind.MANAGED)  # accepted by cuMemFree


@dataclass(eq=False)
class DriverAllocation:
    """One allocation or registration; ``flags`` are those it was made with.

    Attributes:
        pool: The memory pool that it was allocated from.
    """

    address: int
    size: int
    kind: AllocationKind
    context: Context
    memory: Memory
    flags: int = 0
    pool: Pool | None = None
    number: int = field(default_factory=itertools.count(1).__next__)

    @property
    def on_device(self) -> bool:
        """True if the driver calls it device memory."""
        return self.kind in DEVICE_KINDS

    @property
    def on_host(self) -> bool:
        """True if the host can access its address."""
        return self.kind is not AllocationKind.DEVICE

    def attribute(self, attribute: Attribute, address: int) -> object:
        """Return a ``CUpointer_attribute`` of an address in it, as the bindings do.

        Raises:
            Refusal: The attribute is unknown, or not defined for this memory.
        """
        number = int(attribute)
        answer = self._attributes(address).get(number)
        if answer is None:
            raise Refusal(
                "INVALID_VALUE",
                f"pointer attribute {number} is not available for memory of {self.kind.value}",
            )
        return answer

    def _attributes(self, address: int) -> dict[int, object]:
        kind = CUmemorytype.CU_MEMORYTYPE_DEVICE if self.on_device else CUmemorytype(1)
        values: dict[Attribute, object] = {
            Attribute.CU_POINTER_ATTRIBUTE_CONTEXT: CUcontext(self.context.handle),
            Attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE: int(kind),
            Attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER: CUdeviceptr(address),
            Attribute.CU_POINTER_ATTRIBUTE_HOST_POINTER: address if self.on_host else None,
            Attribute.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: False,
            Attribute.CU_POINTER_ATTRIBUTE_BUFFER_ID: self.number,
            Attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED: self.kind is AllocationKind.MANAGED,
            Attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: self.context.device.ordinal,
            Attribute.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: False,
            Attribute.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: CUdeviceptr(self.address),
            Attribute.CU_POINTER_ATTRIBUTE_RANGE_SIZE: self.size,
            Attribute.CU_POINTER_ATTRIBUTE_MAPPED: True,
            Attribute.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: 0,
            Attribute.CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: 0,
            Attribute.CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: 3 if self.on_device else 0,
        }
        return {int(key): value for key, value in values.items()}


def attribute_of_nothing(attribute: Attribute) -> object:
    """Return what ``cuPointerGetAttributes`` reports for memory unknown to CUDA."""
    if int(attribute) == Attribute.CU_POINTER_ATTRIBUTE_CONTEXT:
        return CUcontext(0)
    if int(attribute) in (
        Attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        Attribute.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
    ):
        return CUdeviceptr(0)
    if int(attribute) == Attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        return -2  # CU_DEVICE_INVALID
    return 0


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

    def find(self, address: int) -> DriverAllocation | None:
        """Return the allocation that contains an address."""
        index = bisect_right(self._addresses, address) - 1
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


def fill(view: Bytes, value: int, width: int) -> None:
    """Fill memory with ``width``-byte items of ``value``, which is truncated to that width."""
    item = (value & (1 << 8 * width) - 1).to_bytes(width, "little")
    view.view(f"<u{width}")[:] = int.from_bytes(item, "little")


def bytes_anywhere(
    memory: Memory | None, address: int, size: int, *, to_write: bool = False
) -> Bytes:
    """Return the bytes at a device address or, if no device memory has it, a host address."""
    if memory is None:
        return host_bytes(address, size)
    return memory.bytes_at(address, size, to_write=to_write)
