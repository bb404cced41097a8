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
from cudarun.emulator.host.pools import DevicePools, Pool
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal

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
    if pool.device is not dev:
        raise Refusal("INVALID_VALUE", "the pool belongs to another device")
    process.pools_of(dev.ordinal).current = pool


@call()
def cuMemGetDefaultMemPool(location: cuda.CUmemLocation, typename: int) -> cuda.CUmemoryPool:
    """Return the default pool of a device."""
    return cuda.CUmemoryPool(_pools_at(location, typename).default.handle)


@call()
def cuMemGetMemPool(location: cuda.CUmemLocation, typename: int) -> cuda.CUmemoryPool:
    """Return the pool of a device that ``cuMemAllocAsync`` allocates from."""
    return cuda.CUmemoryPool(_pools_at(location, typename).current.handle)


def _pools_at(location: cuda.CUmemLocation, kind: int) -> DevicePools:
    is_of_device = location.type == cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    if not is_of_device or kind != cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED:
        raise Refusal("NOT_SUPPORTED", "the emulated device has memory pools of devices only")
    return process.pools_of(location.id)


@call()
def cuMemPoolSetAccess(pool: PoolHandle, map: Sequence[cuda.CUmemAccessDesc], count: int) -> None:  # noqa: A002
    """Accept that the device of a pool accesses its memory; no other one can."""
    for each in (map or ())[:count]:
        if process.device(each.location.id) is not pool.device:
            raise Refusal("NOT_SUPPORTED", "only its own device accesses the memory of a pool")
        if each.flags != _READ_WRITE:
            raise Refusal("INVALID_VALUE", "the device of a pool always accesses its memory")


@call()
def cuMemPoolGetAccess(memPool: PoolHandle, location: cuda.CUmemLocation) -> cuda.CUmemAccess_flags:
    """Return how a device accesses the memory of a pool."""
    is_own = process.device(location.id) is memPool.device
    return _READ_WRITE if is_own else cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE


@call()
def cuMemPoolCreate(poolProps: cuda.CUmemPoolProps) -> cuda.CUmemoryPool:
    """Create a pool of a device's memory."""
    if poolProps.allocType != cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED:
        raise Refusal("INVALID_VALUE", "allocType is not CU_MEM_ALLOCATION_TYPE_PINNED")
    if poolProps.location.type == cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_INVALID:
        raise Refusal("INVALID_VALUE", "location is not set")
    if poolProps.location.type != cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE:
        raise Refusal(
            "NOT_SUPPORTED", "the emulated device supports memory pools for device memory only"
        )
    if int(poolProps.handleTypes):
        raise Refusal(
            "NOT_SUPPORTED", "the emulated device does not share memory with other processes"
        )
    ordinal = poolProps.location.id
    if not 0 <= ordinal < len(process.devices):
        raise Refusal("INVALID_VALUE", f"device {ordinal} does not exist")
    pool = Pool(process.device(ordinal), most=poolProps.maxSize)
    pool.handle = process.handles.add(pool)
    return cuda.CUmemoryPool(pool.handle)


@call()
def cuMemPoolDestroy(pool: PoolHandle) -> None:
    """Destroy a pool; memory allocated from it lives on until it is freed."""
    if pool.is_default:
        raise Refusal("INVALID_VALUE", "a device's default pool cannot be destroyed")
    pools = process.pools_of(pool.device.ordinal)
    if pools.current is pool:
        pools.current = pools.default
    process.handles.remove(pool.handle)


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
