"""Memory pools and allocation in the order of a stream."""

from __future__ import annotations

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
cudaMemPoolCreate(poolProps: pool) -> cudaMemPool_t
    Create a pool of a device's memory.
cudaMemPoolDestroy(memPool)
    Destroy a pool; memory allocated from it lives on until it is freed.
cudaMemPoolGetAttribute(memPool, attr: enum) -> value
    Return the value of a ``cudaMemPoolAttr``.
cudaMemPoolSetAttribute(memPool, attr: enum, value)
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
cudaDeviceGraphMemTrim(device: device)
    Release unused memory of graphs; no effect here: none is reserved.
cudaDeviceGetGraphMemAttribute(device: device, attr: enum) -> value
    Return the number of bytes that graphs have allocated, or its high-water mark.
cudaDeviceSetGraphMemAttribute(device: device, attr: enum, value)
    Reset a high-water mark.
cudaDeviceSetMemPool(device: device, memPool)
    Set the pool of a device that ``cudaMallocAsync`` allocates from.
""",
    uses_context=False,
)
