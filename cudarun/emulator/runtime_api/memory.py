"""Memory: allocation, copies, fills."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from typing import Any

from cuda.bindings import runtime as cudart
from cuda.bindings.driver import (
    CUmem_advise,
    CUmemLocation,
    CUmemLocationType,
    CUpointer_attribute,
)

from cudarun.emulator.host.addresses import HostPointer, address_of
from cudarun.emulator.host.handles import Handle
from cudarun.emulator.runtime_api.calls import (
    checked_device,
    driver_call,
    primary_context,
    runtime_call,
)
from cudarun.emulator.runtime_api.conversions import (
    DEVICE_TO_DEVICE,
    DEVICE_TO_HOST,
    HOST_TO_DEVICE,
    copy_kind,
    rectangle,
)

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


# --- allocation ----------------------------------------------------------------------------------


@runtime_call(1)
def cudaMalloc(size: int) -> int:
    """Allocate device memory; null for 0 bytes."""
    return int(driver_call("cuMemAlloc", size)) if size else 0


@runtime_call(2)
def cudaMallocPitch(width: int, height: int) -> tuple[int, int]:
    """Allocate device memory for rows; return the address and the pitch, zeros for 0 bytes."""
    if not width * height:
        return 0, 0
    pointer, pitch = driver_call("cuMemAllocPitch", width, height, _ELEMENT_BYTES)
    return int(pointer), int(pitch)


@runtime_call(1)
def cudaMalloc3D(extent: Any) -> Any:
    """Allocate device memory for slices of rows; the width is in bytes."""
    rows = extent.height * extent.depth
    pointer = pitch = 0
    if extent.width * rows:
        pointer, pitch = driver_call("cuMemAllocPitch", extent.width, rows, _ELEMENT_BYTES)
    return cudart.make_cudaPitchedPtr(int(pointer), int(pitch), extent.width, extent.height)


@runtime_call(1)
def cudaMallocManaged(size: int, flags: int) -> int:
    """Allocate memory with one address for the host and every device."""
    return int(driver_call("cuMemAllocManaged", size, flags)) if size else 0


@runtime_call()
def cudaFree(devPtr: HostPointer) -> None:
    """Free device or managed memory; null is allowed."""
    driver_call("cuMemFree", address_of(devPtr))


@runtime_call(1)
def cudaMallocHost(size: int) -> int:
    """Allocate page-locked host memory; null for 0 bytes."""
    return int(driver_call("cuMemAllocHost", size))


@runtime_call(1)
def cudaHostAlloc(size: int, flags: int) -> int:
    """Allocate page-locked host memory with flags."""
    return int(driver_call("cuMemHostAlloc", size, flags))


@runtime_call()
def cudaFreeHost(ptr: HostPointer) -> None:
    """Free page-locked host memory; null is allowed."""
    driver_call("cuMemFreeHost", address_of(ptr))


@runtime_call()
def cudaHostRegister(ptr: HostPointer, size: int, flags: int) -> None:
    """Register the program's own host memory for access by kernels."""
    driver_call("cuMemHostRegister", address_of(ptr), size, flags)


@runtime_call()
def cudaHostUnregister(ptr: HostPointer) -> None:
    """Undo `cudaHostRegister`."""
    driver_call("cuMemHostUnregister", address_of(ptr))


@runtime_call(1)
def cudaHostGetDevicePointer(pHost: HostPointer, flags: int) -> int:
    """Return the device address of page-locked memory: the same as the host's."""
    return int(driver_call("cuMemHostGetDevicePointer", address_of(pHost), flags))


@runtime_call(1)
def cudaHostGetFlags(pHost: HostPointer) -> int:
    """Return the flags of page-locked or managed memory: it is mapped, whatever they were."""
    return int(driver_call("cuMemHostGetFlags", address_of(pHost)))


@runtime_call(2)
def cudaMemGetInfo() -> tuple[int, int]:
    """Return free and total bytes of the current device."""
    free, total = driver_call("cuMemGetInfo")
    return int(free), int(total)


@runtime_call(1)
def cudaPointerGetAttributes(ptr: HostPointer) -> Any:
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
def cudaMemcpy(dst: HostPointer, src: HostPointer, count: int, kind: Any) -> None:
    """Copy between the host and devices."""
    driver_call(_copy(kind), address_of(dst), address_of(src), count)


@runtime_call()
def cudaMemcpyAsync(
    dst: HostPointer, src: HostPointer, count: int, kind: Any, stream: Handle
) -> None:
    """Copy between the host and devices, in a stream."""
    driver_call(f"{_copy(kind)}Async", address_of(dst), address_of(src), count, stream)


def _copy(kind: Any) -> str:
    """Return the driver call of a copy; ``HostToHost`` does not restrict the addresses."""
    return _COPIES.get(copy_kind(kind), "cuMemcpy")


@runtime_call()
def cudaMemcpyPeer(
    dst: HostPointer, dstDevice: int, src: HostPointer, srcDevice: int, count: int
) -> None:
    """Copy from a device's memory to another's."""
    target = address_of(dst), primary_context(checked_device(dstDevice))
    source = address_of(src), primary_context(checked_device(srcDevice))
    driver_call("cuMemcpyPeer", *target, *source, count)


@runtime_call()
def cudaMemcpyPeerAsync(
    dst: HostPointer, dstDevice: int, src: HostPointer, srcDevice: int, count: int, stream: Handle
) -> None:
    """Copy from a device's memory to another's, in a stream."""
    target = address_of(dst), primary_context(checked_device(dstDevice))
    source = address_of(src), primary_context(checked_device(srcDevice))
    driver_call("cuMemcpyPeerAsync", *target, *source, count, stream)


@runtime_call()
def cudaMemcpy2D(
    dst: HostPointer,
    dpitch: int,
    src: HostPointer,
    spitch: int,
    width: int,
    height: int,
    kind: Any,
) -> None:
    """Copy rows; the width is in bytes."""
    target, source = _rows(dst, dpitch), _rows(src, spitch)
    driver_call("cuMemcpy2DUnaligned", rectangle(target, source, width, height, kind))


@runtime_call()
def cudaMemcpy2DAsync(
    dst: HostPointer,
    dpitch: int,
    src: HostPointer,
    spitch: int,
    width: int,
    height: int,
    kind: Any,
    stream: Handle,
) -> None:
    """Copy rows, in a stream; the width is in bytes."""
    target, source = _rows(dst, dpitch), _rows(src, spitch)
    driver_call("cuMemcpy2DAsync", rectangle(target, source, width, height, kind), stream)


def _rows(pointer: HostPointer, pitch: int) -> dict[str, int]:
    return {"at": address_of(pointer), "Pitch": pitch}


# --- fills ---------------------------------------------------------------------------------------


@runtime_call()
def cudaMemset(devPtr: HostPointer, value: int, count: int) -> None:
    """Set ``count`` bytes."""
    driver_call("cuMemsetD8", address_of(devPtr), value & 0xFF, count)


@runtime_call()
def cudaMemsetAsync(devPtr: HostPointer, value: int, count: int, stream: Handle) -> None:
    """Set ``count`` bytes, in a stream."""
    driver_call("cuMemsetD8Async", address_of(devPtr), value & 0xFF, count, stream)


@runtime_call()
def cudaMemset2D(devPtr: HostPointer, pitch: int, value: int, width: int, height: int) -> None:
    """Set ``height`` rows of ``width`` bytes."""
    driver_call("cuMemsetD2D8", address_of(devPtr), pitch, value & 0xFF, width, height)


@runtime_call()
def cudaMemset2DAsync(
    devPtr: HostPointer, pitch: int, value: int, width: int, height: int, stream: Handle
) -> None:
    """Set ``height`` rows of ``width`` bytes, in a stream."""
    driver_call("cuMemsetD2D8Async", address_of(devPtr), pitch, value & 0xFF, width, height, stream)


# --- managed memory ------------------------------------------------------------------------------


@runtime_call()
def cudaMemPrefetchAsync(
    devPtr: HostPointer, count: int, location: Any, *flags_and_stream: Any
) -> None:
    """Prefetch managed memory to a device or to the host.

    CUDA 12 has a device instead of the location, and no flags.
    """
    driver_call(
        "cuMemPrefetchAsync", address_of(devPtr), count, _location(location), *flags_and_stream
    )


@runtime_call()
def cudaMemAdvise(devPtr: HostPointer, count: int, advice: Any, location: Any) -> None:
    """Advise the driver on the use of managed memory; CUDA 12 has a device as the location."""
    kind = CUmem_advise(int(advice))
    driver_call("cuMemAdvise", address_of(devPtr), count, kind, _location(location))


def _location(given: Any) -> Any:
    if not hasattr(given, "type"):  # the device of CUDA 12
        return given
    location = CUmemLocation()
    location.type, location.id = CUmemLocationType(int(given.type)), given.id
    return location


@runtime_call()
def cudaStreamAttachMemAsync(stream: Handle, devPtr: HostPointer, length: int, flags: int) -> None:
    """Attach managed memory to a stream."""
    driver_call("cuStreamAttachMemAsync", stream, address_of(devPtr), length, flags)
