"""Memory pools and allocation in the order of a stream."""

from __future__ import annotations

from cudarun.emulator.runtime_api.forwards import forward_calls

forward_calls(
    __name__,
    """
cudaMallocAsync(size: int, hStream) -> int = cuMemAllocAsync
cudaMallocFromPoolAsync(size: int, memPool, stream) -> int = cuMemAllocFromPoolAsync
cudaFreeAsync(devPtr: address, hStream) = cuMemFreeAsync
cudaMemPoolDestroy(memPool)
cudaMemPoolSetAttribute(memPool, attr: enum, value)
cudaMemPoolTrimTo(memPool, minBytesToKeep: int)
""",
)
forward_calls(
    __name__,
    """
cudaMemPoolCreate(poolProps: pool) -> cudaMemPool_t
cudaMemPoolExportToShareableHandle(memPool, handleType: enum, flags: int) -> int
cudaMemPoolGetAttribute(memPool, attr: enum) -> value
    Return the value of a ``cudaMemPoolAttr``.
cudaDeviceGetDefaultMemPool(device: device) -> cudaMemPool_t
cudaDeviceGetMemPool(device: device) -> cudaMemPool_t
    Return the pool that ``cudaMallocAsync`` allocates from.
cudaDeviceGraphMemTrim(device: device)
cudaDeviceGetGraphMemAttribute(device: device, attr: enum) -> value
cudaDeviceSetGraphMemAttribute(device: device, attr: enum, value)
cudaDeviceSetMemPool(device: device, memPool)
    Set the pool of a device that ``cudaMallocAsync`` allocates from.
""",
    uses_context=False,
)
