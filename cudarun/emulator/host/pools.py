"""Memory pools: driver API, section 6.15 (stream ordered memory allocator).

A pool only counts what is allocated from it: freed memory returns to the device at once, whatever
the release threshold.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum

from cuda.bindings.driver import CUmemPool_attribute as Attribute
from cuda.bindings.driver import cuuint64_t

from cudarun.base.records import dataclass
from cudarun.emulator.host.devices import EmulatedDevice
from cudarun.emulator.host.handles import HandleTable
from cudarun.emulator.host.refusal import Refusal, refuse_if

_SWITCHES = (
    Attribute.CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES,
    Attribute.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
    Attribute.CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
)
_CURRENT = (
    Attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
    Attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
)
_HIGH = (Attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, Attribute.CU_MEMPOOL_ATTR_USED_MEM_HIGH)


class AllocationKind(Enum):
    """The call that an allocation was made by, which determines the call that frees it."""

    DEVICE = "cuMemAlloc"
    MANAGED = "cuMemAllocManaged"
    PAGE_LOCKED = "cuMemAllocHost"
    REGISTERED = "cuMemHostRegister"


DEVICE_KINDS = (AllocationKind.DEVICE, AllocationKind.MANAGED)  # accepted by cuMemFree


@dataclass(eq=False)
class Pool:
    """A pool of a device; ``used`` bytes are allocated now, ``highest`` is the high-water mark.

    Attributes:
        accessing: The devices that a program has let access page-locked memory; none at first.
    """

    device: EmulatedDevice
    # The kind of its memory: of the device, managed or page-locked.
    kind: AllocationKind = AllocationKind.DEVICE
    most: int = 0  # the maximum size in bytes, 0 for the device's memory
    used: int = 0
    highest: int = 0
    handle: int = 0
    is_default: bool = False
    accessing: set[EmulatedDevice] = field(default_factory=set)
    _set: dict[int, int] = field(default_factory=lambda: {int(key): 1 for key in _SWITCHES})

    def take(self, size: int) -> None:
        """Count an allocation; `Refusal` if it exceeds the pool's maximum size."""
        words = f"{size} bytes requested; the pool's maximum size is {self.most}"
        refuse_if(self.most and self.used + size > self.most, words, "OUT_OF_MEMORY")
        self.used += size
        self.highest = max(self.highest, self.used)

    def give_back(self, size: int) -> None:
        """Count the end of an allocation."""
        self.used -= size

    def get(self, attribute: Attribute) -> cuuint64_t | int:
        """Return the value of a ``CUmemPool_attribute``, of the type that the bindings give it."""
        number = int(attribute)
        if number in map(int, _SWITCHES):
            return self._set[number]
        if number in map(int, _CURRENT):
            return cuuint64_t(self.used)
        if number in map(int, _HIGH):
            return cuuint64_t(self.highest)
        if number == Attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
            return cuuint64_t(self._set.get(number, 0))
        raise Refusal("INVALID_VALUE", f"unknown pool attribute {number}")

    def set(self, attribute: Attribute, value: int) -> None:
        """Set an attribute; high-water marks can only be reset to 0."""
        number = int(attribute)
        if number in map(int, _HIGH) and value == 0:
            self.highest = self.used
        elif number == Attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD or number in self._set:
            self._set[number] = value
        else:
            raise Refusal("INVALID_VALUE", f"pool attribute {number} cannot be set to {value}")


class DevicePools:
    """The pools of one device, or those of another kind of memory.

    Attributes:
        default: The pool that the device begins with.
        current: The pool that ``cuMemAllocAsync`` allocates from.
        graphs: The memory that nodes of graphs allocate.
    """

    def __init__(
        self,
        device: EmulatedDevice,
        handles: HandleTable,
        kind: AllocationKind = AllocationKind.DEVICE,
    ) -> None:
        self.default = self.current = Pool(device, kind, is_default=True)
        self.default.handle = handles.add(self.default)
        self.graphs = Pool(device)
