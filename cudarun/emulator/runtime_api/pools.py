"""Memory pools and allocation in the order of a stream."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from typing import Any

from cuda.bindings import runtime as cudart
from cuda.bindings.driver import (
    CUmemAllocationHandleType,
    CUmemAllocationType,
    CUmemLocationType,
    CUmemPoolProps,
)

from cudarun.emulator.runtime_api.calls import (
    RuntimeRefusal,
    driver_call,
    runtime_call,
)
from cudarun.emulator.runtime_api.conversions import INVALID_VALUE
from cudarun.emulator.runtime_api.forwards import forward_calls

forward_calls(
    __name__,
    """
cudaMallocAsync(size: int, hStream) -> int = cuMemAllocAsync
    Allocate memory from the device's current pool, in a stream; null for 0 bytes.
cudaMallocFromPoolAsync(size: int, memPool, stream) -> int = cuMemAllocFromPoolAsync
    Allocate device memory from a pool, in the order of a stream.
cudaFreeAsync(devPtr: address, hStream) = cuMemFreeAsync
    Free device memory, in the order of a stream; null is allowed.
cudaMemPoolDestroy(memPool)
    Destroy a pool; memory allocated from it lives on until it is freed.
cudaMemPoolGetAttribute(memPool, attr: CUmemPool_attribute) -> value
    Return the value of a ``cudaMemPoolAttr``.
cudaMemPoolSetAttribute(memPool, attr: CUmemPool_attribute, value)
    Set a ``cudaMemPoolAttr``; a high-water mark is reset by setting it to 0.
cudaMemPoolTrimTo(memPool, minBytesToKeep: int)
    Release unused memory of a pool; no effect here: a pool reserves none.
""",
)
forward_calls(
    __name__,
    """
cudaDeviceGetDefaultMemPool(device: device) -> cudaMemPool_t
    Return the default pool of a device.
cudaDeviceGetMemPool(device: device) -> cudaMemPool_t
    Return the pool that ``cudaMallocAsync`` allocates from.
cudaDeviceSetMemPool(device: device, memPool)
    Set the pool of a device that ``cudaMallocAsync`` allocates from.
""",
    uses_context=False,
)


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


def _pool(handle: Any) -> Any:
    return cudart.cudaMemPool_t(int(handle))
