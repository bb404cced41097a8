"""Memory pools: driver API, section 6.15 (stream ordered memory allocator)."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsInt

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import call
from cudarun.emulator.api.handles import DeviceHandle, PoolHandle
from cudarun.emulator.api.memory import allocated_in_order
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.pools import AllocationKind, DevicePools, Pool
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal, enum_field, refuse_if

_MANAGED = 2  # CU_MEM_ALLOCATION_TYPE_MANAGED, since CUDA 13
_DEVICE = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
_READ_WRITE = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE


@call()
def cuDeviceGetDefaultMemPool(dev: Handle) -> cuda.CUmemoryPool:
    """Return the default pool of a device."""
    return cuda.CUmemoryPool(process.pools_of(dev).default.handle)


@call()
def cuDeviceGetMemPool(dev: Handle) -> cuda.CUmemoryPool:
    """Return the pool that ``cuMemAllocAsync`` allocates from."""
    return cuda.CUmemoryPool(process.pools_of(dev).current.handle)


@call()
def cuDeviceSetMemPool(dev: DeviceHandle, pool: PoolHandle) -> None:
    """Set the pool of a device that ``cuMemAllocAsync`` allocates from."""
    refuse_if(pool.device is not dev, "the pool belongs to another device")
    process.pools_of(dev.ordinal).current = pool


@call()
def cuMemGetDefaultMemPool(location: cuda.CUmemLocation, typename: int) -> cuda.CUmemoryPool:
    """Return the default pool of a device."""
    return cuda.CUmemoryPool(_pools_at(location, typename).default.handle)


@call()
def cuMemGetMemPool(location: cuda.CUmemLocation, typename: int) -> cuda.CUmemoryPool:
    """Return the pool of a device that ``cuMemAllocAsync`` allocates from."""
    return cuda.CUmemoryPool(_pools_at(location, typename).current.handle)


@call()
def cuMemSetMemPool(location: cuda.CUmemLocation, typename: int, pool: PoolHandle) -> None:
    """Set the pool that a call without a pool allocates from."""
    refuse_if(pool.kind is not _kind(location, typename), "the pool has memory of another kind")
    _pools_at(location, typename).current = pool


def _pools_at(location: cuda.CUmemLocation, typename: int) -> DevicePools:
    return process.pools_of_kind(_kind(location, typename), location.id)


def _kind(location: cuda.CUmemLocation, typename: SupportsInt) -> AllocationKind:
    """Return the kind of memory that an allocation type means at a location."""
    number, place = int(typename), enum_field(location, "type")
    if number == _MANAGED:
        return AllocationKind.MANAGED
    if number != cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED:
        raise Refusal("INVALID_VALUE", f"{number} is not a type of allocations of pools")
    refuse_if(place == cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_INVALID, "location is not set")
    return AllocationKind.DEVICE if place == _DEVICE else AllocationKind.PAGE_LOCKED


@call()
def cuMemPoolSetAccess(pool: PoolHandle, map: Sequence[cuda.CUmemAccessDesc], count: int) -> None:  # noqa: A002
    """Set which devices access page-locked memory; that of a device only this device accesses."""
    for each in (map or ())[:count]:
        location, flags = each.location, enum_field(each, "flags")
        if pool.kind is AllocationKind.PAGE_LOCKED and enum_field(location, "type") == _DEVICE:
            change = pool.accessing.add if flags == _READ_WRITE else pool.accessing.discard
            change(process.device(location.id))
            continue
        words = "only its own device accesses the memory of a pool"
        refuse_if(not _is_accessible(pool, location), words, "NOT_SUPPORTED")
        refuse_if(flags != _READ_WRITE, "the device of a pool always accesses its memory")


@call()
def cuMemPoolGetAccess(memPool: PoolHandle, location: cuda.CUmemLocation) -> cuda.CUmemAccess_flags:
    """Return how a device accesses the memory of a pool."""
    is_accessible = _is_accessible(memPool, location)
    return _READ_WRITE if is_accessible else cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE


def _is_accessible(pool: Pool, location: cuda.CUmemLocation) -> bool:
    """Return whether a device, or the host, accesses the memory of a pool."""
    if enum_field(location, "type") != _DEVICE:
        return pool.kind is not AllocationKind.DEVICE
    device = process.device(location.id)
    if pool.kind is AllocationKind.PAGE_LOCKED:
        return device in pool.accessing
    return pool.kind is AllocationKind.MANAGED or device is pool.device


@call()
def cuMemPoolCreate(poolProps: cuda.CUmemPoolProps) -> cuda.CUmemoryPool:
    """Create a pool of device memory, managed memory or page-locked memory."""
    kind = _kind(poolProps.location, enum_field(poolProps, "allocType"))
    words = "the emulated device does not share memory with other processes"
    refuse_if(int(enum_field(poolProps, "handleTypes")), words, "NOT_SUPPORTED")
    ordinal = poolProps.location.id if kind is AllocationKind.DEVICE else 0
    refuse_if(not 0 <= ordinal < len(process.devices), f"device {ordinal} does not exist")
    pool = Pool(process.device(ordinal), kind, most=poolProps.maxSize)
    pool.handle = process.handles.add(pool)
    return cuda.CUmemoryPool(pool.handle)


@call()
def cuMemPoolDestroy(pool: PoolHandle) -> None:
    """Destroy a pool; memory allocated from it lives on until it is freed."""
    refuse_if(pool.is_default, "a device's default pool cannot be destroyed")
    pools = process.pools_of_kind(pool.kind, pool.device.ordinal)
    if pools.current is pool:
        pools.current = pools.default
    process.handles.remove(pool.handle)


@call()
def cuMemPoolExportToShareableHandle(pool: PoolHandle, handleType: SupportsInt, flags: int) -> int:
    """Fail: no pool here has been created with a type of handles."""
    raise Refusal("INVALID_VALUE", "the pool was created without handles")


@call()
def cuMemPoolGetAttribute(
    pool: PoolHandle, attr: cuda.CUmemPool_attribute
) -> cuda.cuuint64_t | int:
    """Return the value of a ``CUmemPool_attribute``."""
    return pool.get(attr)


@call()
def cuMemPoolSetAttribute(
    pool: PoolHandle, attr: cuda.CUmemPool_attribute, value: SupportsInt
) -> None:
    """Set an attribute; a high-water mark is reset by setting it to 0."""
    pool.set(attr, int(value))


@call()
def cuMemPoolTrimTo(pool: PoolHandle, minBytesToKeep: int) -> None:
    """Release unused memory of the pool; no effect here: a pool reserves none."""


@call()
def cuMemAllocFromPoolAsync(bytesize: int, pool: Handle, hStream: Handle) -> cuda.CUdeviceptr:
    """Allocate device memory from a pool, in the order of a stream; null for 0 bytes."""
    chosen = process.handles.get(handle_value(pool), Pool, "INVALID_VALUE")
    stream = process.stream(hStream)
    return cuda.CUdeviceptr(allocated_in_order(stream, bytesize, chosen) if bytesize else 0)
