"""Memory: allocation, copies, fills."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from typing import SupportsInt

from cuda.bindings import runtime as cudart
from cuda.bindings.driver import CUpointer_attribute

from cudarun.emulator.host.addresses import HostPointer, address_of
from cudarun.emulator.host.handles import Handle
from cudarun.emulator.runtime_api.calls import driver_call, runtime_call
from cudarun.emulator.runtime_api.conversions import (
    DEVICE_TO_DEVICE,
    DEVICE_TO_HOST,
    HOST_TO_DEVICE,
    copy_kind,
)
from cudarun.emulator.runtime_api.conversions import location as as_location
from cudarun.emulator.runtime_api.forwards import forward_calls

_ELEMENT_BYTES = 4  # for the pitch: it is the same for all sizes of elements
_COPIES = {
    HOST_TO_DEVICE: "cuMemcpyHtoD",
    DEVICE_TO_HOST: "cuMemcpyDtoH",
    DEVICE_TO_DEVICE: "cuMemcpyDtoD",
}

_POINTER_ATTRIBUTES = [
    CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
    CUpointer_attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED,
    CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
    CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
]
_INVALID_DEVICE = -2  # cudaInvalidDeviceId
_MEMORY_TYPES = list(cudart.cudaMemoryType)[:3]  # the numbers of CUmemorytype; 0: unregistered

forward_calls(
    __name__,
    """
cudaMalloc(size: size) -> int = cuMemAlloc
    Allocate device memory; null for 0 bytes.
cudaMallocManaged(size: size, flags: int) -> int = cuMemAllocManaged
cudaFree(devPtr: address) = cuMemFree
cudaMallocHost(size: int) -> int = cuMemAllocHost
cudaHostAlloc(size: int, flags: int) -> int = cuMemHostAlloc
cudaFreeHost(ptr: address) = cuMemFreeHost
cudaHostRegister(ptr: address, size: int, flags: int) = cuMemHostRegister
cudaHostUnregister(ptr: address) = cuMemHostUnregister
    Undo `cudaHostRegister`.
cudaHostGetDevicePointer(pHost: address, flags: int) -> int = cuMemHostGetDevicePointer
cudaHostGetFlags(pHost: address) -> int = cuMemHostGetFlags
cudaMemGetInfo() -> int, int
cudaMemcpy2D(dst: to.address, dpitch: to.Pitch, src: from.address, spitch: from.Pitch,
        width: int, height: int, kind) = cuMemcpy2DUnaligned(rectangle)
    Copy rows; the width is in bytes.
cudaMemcpy2DAsync(dst: to.address, dpitch: to.Pitch, src: from.address, spitch: from.Pitch,
        width: int, height: int, kind, stream) = cuMemcpy2DAsync(rectangle, stream)
    Copy rows, in a stream; the width is in bytes.
cudaMemcpyPeer(dst: address, dstDevice: context, src: address, srcDevice: context, count: int)
cudaMemcpyPeerAsync(dst: address, dstDevice: context, src: address, srcDevice: context,
        count: int, stream)
cudaMemcpy3DPeer(p: peer_box) = cuMemcpy3D
    Copy a box between devices.
cudaMemcpy3DPeerAsync(p: peer_box, stream) = cuMemcpy3DAsync
    Copy a box between devices, in a stream.
cudaMemcpyBatchAsync(dsts, srcs, sizes, count: int, attrs, attrsIdxs, numAttrs: int, stream)
cudaMemcpy3DBatchAsync(numOps: int, opList, flags: int, stream)
cudaMemPrefetchBatchAsync(dptrs, sizes, count: int, prefetchLocs, prefetchLocIdxs,
        numPrefetchLocs: int, flags: int, stream)
cudaMemDiscardBatchAsync(dptrs, sizes, count: int, flags: int, stream)
cudaMemDiscardAndPrefetchBatchAsync(dptrs, sizes, count: int, prefetchLocs, prefetchLocIdxs,
        numPrefetchLocs: int, flags: int, stream)
    Discard and prefetch several ranges of managed memory.
cudaMemRangeGetAttribute(dataSize: int, attribute: enum, devPtr: address, count: int) -> value
cudaMemset(devPtr: address, value: byte, count: int) = cuMemsetD8
    Set ``count`` bytes.
cudaMemsetAsync(devPtr: address, value: byte, count: int, stream) = cuMemsetD8Async
    Set ``count`` bytes, in a stream.
cudaMemset2D(devPtr: address, pitch: int, value: byte, width: int, height: int) = cuMemsetD2D8
    Set ``height`` rows of ``width`` bytes.
cudaMemset2DAsync(devPtr: address, pitch: int, value: byte, width: int, height: int, stream)
        = cuMemsetD2D8Async
    Set ``height`` rows of ``width`` bytes, in a stream.
cudaMemAdvise(devPtr: address, count: int, advice: enum, location: location)
    Advise the driver on the use of managed memory; CUDA 12 has a device as the location.
cudaStreamAttachMemAsync(stream, devPtr: address, length: int, flags: int)
""",
)


# --- allocation ----------------------------------------------------------------------------------


@runtime_call(2)
def cudaMallocPitch(width: int, height: int) -> tuple[int, int]:
    """Allocate device memory for rows; return the address and the pitch, zeros for 0 bytes."""
    if not width * height:
        return 0, 0
    pointer, pitch = driver_call("cuMemAllocPitch", width, height, _ELEMENT_BYTES)
    return int(pointer), int(pitch)


@runtime_call(1)
def cudaMalloc3D(extent: cudart.cudaExtent) -> cudart.cudaPitchedPtr:
    """Allocate device memory for slices of rows; the width is in bytes."""
    rows = extent.height * extent.depth
    pointer = pitch = 0
    if extent.width * rows:
        pointer, pitch = driver_call("cuMemAllocPitch", extent.width, rows, _ELEMENT_BYTES)
    return cudart.make_cudaPitchedPtr(int(pointer), int(pitch), extent.width, extent.height)


@runtime_call(1)
def cudaPointerGetAttributes(ptr: HostPointer) -> cudart.cudaPointerAttributes:
    """Return type, device and addresses of memory; ``Unregistered`` for memory unknown to CUDA."""
    address = address_of(ptr)
    kind, managed, device, device_pointer = driver_call(
        "cuPointerGetAttributes", len(_POINTER_ATTRIBUTES), _POINTER_ATTRIBUTES, address
    )
    memory = cudart.cudaMemoryType.cudaMemoryTypeManaged if managed else _MEMORY_TYPES[int(kind)]
    attributes = cudart.cudaPointerAttributes()
    is_known = memory != cudart.cudaMemoryType.cudaMemoryTypeUnregistered
    attributes.type, attributes.device = memory, device if is_known else _INVALID_DEVICE
    attributes.devicePointer = int(device_pointer)
    attributes.hostPointer = 0 if memory == cudart.cudaMemoryType.cudaMemoryTypeDevice else address
    return attributes


# --- copies --------------------------------------------------------------------------------------


@runtime_call()
def cudaMemcpy(dst: HostPointer, src: HostPointer, count: int, kind: SupportsInt) -> None:
    """Copy between the host and devices."""
    driver_call(_copy(kind), address_of(dst), address_of(src), count)


@runtime_call()
def cudaMemcpyAsync(
    dst: HostPointer, src: HostPointer, count: int, kind: SupportsInt, stream: Handle
) -> None:
    """Copy between the host and devices, in a stream."""
    driver_call(f"{_copy(kind)}Async", address_of(dst), address_of(src), count, stream)


def _copy(kind: SupportsInt) -> str:
    """Return the driver call of a copy; ``HostToHost`` does not restrict the addresses."""
    return _COPIES.get(copy_kind(kind), "cuMemcpy")


# --- managed memory ------------------------------------------------------------------------------


@runtime_call()
def cudaMemPrefetchAsync(
    devPtr: HostPointer, count: int, location: object, *flags_and_stream: object
) -> None:
    """Prefetch managed memory to a device or to the host.

    CUDA 12 has a device instead of the location, and no flags.
    """
    driver_call(
        "cuMemPrefetchAsync", address_of(devPtr), count, as_location(location), *flags_and_stream
    )
