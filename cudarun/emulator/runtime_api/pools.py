"""Memory pools and allocation in the order of a stream."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from typing import Any, SupportsInt

from cuda.bindings import runtime as cudart
from cuda.bindings.driver import (
    CUmemAllocationHandleType,
    CUmemAllocationType,
    CUmemLocationType,
    CUmemPool_attribute,
    CUmemPoolProps,
)

from cudarun.emulator.host.addresses import HostPointer, address_of
from cudarun.emulator.host.handles import Handle
from cudarun.emulator.runtime_api.calls import (
    RuntimeRefusal,
    checked_device,
    driver_call,
    runtime_call,
)
from cudarun.emulator.runtime_api.conversions import INVALID_VALUE


@runtime_call(1)
def cudaMallocAsync(size: int, hStream: Handle) -> int:
    """Allocate memory from the device's current pool, in a stream; null for 0 bytes."""
    return int(driver_call("cuMemAllocAsync", size, hStream))


@runtime_call(1)
def cudaMallocFromPoolAsync(size: int, memPool: Handle, stream: Handle) -> int:
    """Allocate device memory from a pool, in the order of a stream."""
    return int(driver_call("cuMemAllocFromPoolAsync", size, memPool, stream))


@runtime_call()
def cudaFreeAsync(devPtr: HostPointer, hStream: Handle) -> None:
    """Free device memory, in the order of a stream; null is allowed."""
    driver_call("cuMemFreeAsync", address_of(devPtr), hStream)


@runtime_call(1, uses_context=False)
def cudaDeviceGetDefaultMemPool(device: int) -> Any:
    """Return the default pool of a device."""
    return _pool(driver_call("cuDeviceGetDefaultMemPool", checked_device(device)))


@runtime_call(1, uses_context=False)
def cudaDeviceGetMemPool(device: int) -> Any:
    """Return the pool that ``cudaMallocAsync`` allocates from."""
    return _pool(driver_call("cuDeviceGetMemPool", checked_device(device)))


@runtime_call(uses_context=False)
def cudaDeviceSetMemPool(device: int, memPool: Handle) -> None:
    """Set the pool of a device that ``cudaMallocAsync`` allocates from."""
    driver_call("cuDeviceSetMemPool", checked_device(device), memPool)


@runtime_call(1)
def cudaMemPoolCreate(poolProps: Any) -> Any:
    """Create a pool of a device's memory."""
    if poolProps is None:
        raise RuntimeRefusal(INVALID_VALUE)
    given = CUmemPoolProps()
    given.allocType = CUmemAllocationType(int(poolProps.allocType))
    given.handleTypes = CUmemAllocationHandleType(int(poolProps.handleTypes))
    given.location.type = CUmemLocationType(int(poolProps.location.type))
    given.location.id = poolProps.location.id
    given.maxSize = poolProps.maxSize
    return _pool(driver_call("cuMemPoolCreate", given))


@runtime_call()
def cudaMemPoolDestroy(memPool: Handle) -> None:
    """Destroy a pool; memory allocated from it lives on until it is freed."""
    driver_call("cuMemPoolDestroy", memPool)


@runtime_call(1)
def cudaMemPoolGetAttribute(memPool: Handle, attr: Any) -> Any:
    """Return the value of a ``cudaMemPoolAttr``."""
    return driver_call("cuMemPoolGetAttribute", memPool, CUmemPool_attribute(int(attr)))


@runtime_call()
def cudaMemPoolSetAttribute(memPool: Handle, attr: Any, value: SupportsInt) -> None:
    """Set a ``cudaMemPoolAttr``; a high-water mark is reset by setting it to 0."""
    driver_call("cuMemPoolSetAttribute", memPool, CUmemPool_attribute(int(attr)), value)


@runtime_call()
def cudaMemPoolTrimTo(memPool: Handle, minBytesToKeep: int) -> None:
    """Release unused memory of a pool; no effect here: a pool reserves none."""
    driver_call("cuMemPoolTrimTo", memPool, minBytesToKeep)


def _pool(handle: Any) -> Any:
    return cudart.cudaMemPool_t(int(handle))
