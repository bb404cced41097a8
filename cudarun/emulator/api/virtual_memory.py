"""Virtual memory management: driver API, section 6.14."""
# ruff: noqa: N802 - the names are CUDA's

from __future__ import annotations

from collections.abc import Sequence

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import call
from cudarun.emulator.host.devices import EmulatedDevice
from cudarun.emulator.host.process import Wait, process
from cudarun.emulator.host.refusal import Refusal, enum_field, refuse_if
from cudarun.emulator.host.resources import copied
from cudarun.emulator.host.virtual_memory import GRANULARITY, PhysicalMemory

_READ_WRITE = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
_NONE = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE
_OF_HOST = (2, 3)  # CU_MEM_LOCATION_TYPE_HOST, CU_MEM_LOCATION_TYPE_HOST_NUMA
_LARGEST_ALIGNMENT = 1 << 47


@call()
def cuMemGetAllocationGranularity(
    prop: cuda.CUmemAllocationProp, option: cuda.CUmemAllocationGranularity_flags
) -> int:
    """Return the granularity of sizes and addresses: 2 MiB, whatever the memory."""
    return GRANULARITY


@call()
def cuMemAddressReserve(size: int, alignment: int, addr: int, flags: int) -> cuda.CUdeviceptr:
    """Reserve addresses, if possible from ``addr`` on."""
    _check_granularity(size)
    if alignment & (alignment - 1) or alignment > _LARGEST_ALIGNMENT or flags:
        raise Refusal("INVALID_VALUE", "the alignment is not a power of two, or flags is not 0")
    refuse_if(addr % GRANULARITY, f"{addr:#x} is not a multiple of {GRANULARITY}")
    return cuda.CUdeviceptr(process.virtual.reserve(size, alignment, addr))


@call()
def cuMemAddressFree(ptr: int, size: int) -> None:
    """End a reservation without mappings."""
    process.virtual.release(ptr, size)


@call()
def cuMemCreate(
    size: int, prop: cuda.CUmemAllocationProp, flags: int
) -> cuda.CUmemGenericAllocationHandle:
    """Allocate memory of a device without an address."""
    pinned = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    refuse_if(enum_field(prop, "type") != pinned, "the type is not CU_MEM_ALLOCATION_TYPE_PINNED")
    device = _device_at(prop.location)
    _check_granularity(size)
    refuse_if(flags, "flags must be 0")
    words = "the emulated device does not share memory with other processes"
    refuse_if(int(enum_field(prop, "requestedHandleTypes")), words, "NOT_SUPPORTED")
    physical = PhysicalMemory(device, size, copied(prop))
    physical.handle = process.handles.add(physical)
    return cuda.CUmemGenericAllocationHandle(physical.handle)


@call()
def cuMemRelease(handle: int) -> None:
    """Release a handle; the memory is freed when it is not mapped."""
    physical = _physical(handle)
    physical.retained -= 1
    physical.end_if_unused(process.handles)


@call(waits=Wait.DEVICE)
def cuMemMap(ptr: int, size: int, offset: int, handle: int, flags: int) -> None:
    """Map all of an allocation at reserved addresses; no device can access it yet."""
    words = f"the address is not a multiple of {GRANULARITY}, or size is 0, or flags is not 0"
    refuse_if(not size or ptr % GRANULARITY or flags, words)
    physical = _physical(handle)
    words = f"the allocation has {physical.size} bytes; a part of it cannot be mapped"
    refuse_if(offset or size != physical.size, words, "NOT_SUPPORTED")
    process.virtual.map(ptr, physical)


@call(waits=Wait.DEVICE)
def cuMemUnmap(ptr: int, size: int) -> None:
    """End the mappings of a range; there may be none."""
    _check_granularity(size)
    process.virtual.unmap(ptr, size, process.handles)


@call(waits=Wait.DEVICE)
def cuMemSetAccess(ptr: int, size: int, desc: Sequence[cuda.CUmemAccessDesc], count: int) -> None:
    """Permit devices to access mapped memory, or forbid it; read-only access is unsupported."""
    accesses = [
        (_device_of_access(each.location), enum_field(each, "flags"))
        for each in list(desc or ())[:count]
    ]
    refuse_if(not accesses, "desc is empty")
    for _, flags in accesses:
        if flags not in (_READ_WRITE, _NONE):
            raise Refusal("NOT_SUPPORTED", "the emulated device does not support read-only memory")
    for device, flags in accesses:
        process.virtual.set_access(ptr, size, device.ordinal, permitted=flags == _READ_WRITE)


@call()
def cuMemGetAccess(location: cuda.CUmemLocation, ptr: int) -> int:
    """Return the ``CUmemAccess_flags`` of a device for an address; none of other allocations."""
    device = _device_at(location)
    if process.allocations.find(ptr) is not None:
        return int(_NONE)
    permitted = device.ordinal in process.virtual.mapping_at(ptr).devices
    return int(_READ_WRITE if permitted else _NONE)


@call()
def cuMemRetainAllocationHandle(addr: int) -> cuda.CUmemGenericAllocationHandle:
    """Return the handle of the memory that is mapped at an address; release it once more."""
    physical = process.virtual.mapping_at(addr).physical
    physical.retained += 1
    return cuda.CUmemGenericAllocationHandle(physical.handle)


@call()
def cuMemGetAllocationPropertiesFromHandle(handle: int) -> cuda.CUmemAllocationProp:
    """Return the properties that memory was allocated with."""
    return copied(process.handles.get(handle, PhysicalMemory, "INVALID_VALUE").properties)


def _physical(handle: int) -> PhysicalMemory:
    physical = process.handles.get(handle, PhysicalMemory, "INVALID_VALUE")
    refuse_if(not physical.retained, f"the handle {handle:#x} has been released")
    return physical


def _check_granularity(size: int) -> None:
    refuse_if(size <= 0 or size % GRANULARITY, f"the size is not a multiple of {GRANULARITY} bytes")


def _device_of_access(location: cuda.CUmemLocation) -> EmulatedDevice:
    """Return the device of a ``CUmemAccessDesc``."""
    is_device = enum_field(location, "type") not in _OF_HOST
    if is_device and not 0 <= location.id < len(process.devices):
        raise Refusal("INVALID_VALUE", f"device {location.id} does not exist")
    return _device_at(location)


def _device_at(location: cuda.CUmemLocation) -> EmulatedDevice:
    kind = enum_field(location, "type")
    words = "the emulated device supports virtual memory management of device memory only"
    refuse_if(kind in _OF_HOST, words, "NOT_SUPPORTED")
    if kind != cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE:
        raise Refusal("INVALID_VALUE", f"{kind.name} is not the type of a location here")
    return process.device(location.id)
