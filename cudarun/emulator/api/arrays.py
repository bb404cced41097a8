"""CUDA arrays: driver API, section 6.13."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from cuda.bindings.driver import (
    CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_ARRAY_DESCRIPTOR,
    CUarray,
    CUmipmappedArray,
)

from cudarun.emulator.api.calls import call, enqueue
from cudarun.emulator.api.memory import copy_operation, device_bytes, given_host_bytes
from cudarun.emulator.host.addresses import Bytes, HostPointer
from cudarun.emulator.host.arrays import (
    CudaArray,
    MipmappedArray,
    create_array,
    create_array3d,
    create_mipmapped_array,
)
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal


@call(1)
def cuArrayCreate(pAllocateArray: CUDA_ARRAY_DESCRIPTOR) -> CUarray:
    """Create an array of one or two dimensions of integers, fractions or floats."""
    return CUarray(create_array(process.current(), pAllocateArray).handle)


@call(1)
def cuArray3DCreate(pAllocateArray: CUDA_ARRAY3D_DESCRIPTOR) -> CUarray:
    """Create an array of up to three dimensions, layered, of cubes, for surfaces or gathers."""
    return CUarray(create_array3d(process.current(), pAllocateArray).handle)


@call(waits=True)
def cuArrayDestroy(hArray: Handle) -> None:
    """Destroy an array; textures that read it become invalid."""
    process.current()
    array_of(hArray).destroy()


@call(1)
def cuArrayGetDescriptor(hArray: Handle) -> CUDA_ARRAY_DESCRIPTOR:
    """Return the descriptor that an array was created with."""
    process.current()
    array, descriptor = array_of(hArray), CUDA_ARRAY_DESCRIPTOR()
    descriptor.Format, descriptor.NumChannels = array.texel.format, array.texel.channels
    descriptor.Width, descriptor.Height = array.shape.width, array.shape.height
    return descriptor


@call(1)
def cuArray3DGetDescriptor(hArray: Handle) -> CUDA_ARRAY3D_DESCRIPTOR:
    """Return the descriptor that an array was created with, or that of a level."""
    process.current()
    array, descriptor = array_of(hArray), CUDA_ARRAY3D_DESCRIPTOR()
    descriptor.Format, descriptor.NumChannels = array.texel.format, array.texel.channels
    shape = array.shape
    descriptor.Width, descriptor.Height, descriptor.Depth = shape.width, shape.height, shape.depth
    descriptor.Flags = shape.flags
    return descriptor


def array_of(handle: Handle) -> CudaArray:
    """Return the array behind a handle; of a destroyed one the driver says its context is."""
    number = handle_value(handle)
    refusal = "CONTEXT_IS_DESTROYED" if process.handles.is_spent(number) else "INVALID_HANDLE"
    return process.handles.get(number, CudaArray, refusal)


# --- mipmapped arrays ----------------------------------------------------------------------------


@call(1)
def cuMipmappedArrayCreate(
    pMipmappedArrayDesc: CUDA_ARRAY3D_DESCRIPTOR, numMipmapLevels: int
) -> CUmipmappedArray:
    """Create an array with levels, each of half the size of the one before."""
    context = process.current()
    made = create_mipmapped_array(context, pMipmappedArrayDesc, numMipmapLevels)
    return CUmipmappedArray(made.handle)


@call(1)
def cuMipmappedArrayGetLevel(hMipmappedArray: Handle, level: int) -> CUarray:
    """Return one level, an array that exists as long as the mipmapped array."""
    process.current()
    return CUarray(mipmapped_array_of(hMipmappedArray).level(level).handle)


@call(waits=True)
def cuMipmappedArrayDestroy(hMipmappedArray: Handle) -> None:
    """Destroy a mipmapped array with its levels."""
    process.current()
    mipmapped_array_of(hMipmappedArray).destroy()


def mipmapped_array_of(handle: Handle) -> MipmappedArray:
    """Return the mipmapped array behind a handle."""
    number = handle_value(handle)
    refusal = "CONTEXT_IS_DESTROYED" if process.handles.is_spent(number) else "INVALID_HANDLE"
    return process.handles.get(number, MipmappedArray, refusal)


# --- copies --------------------------------------------------------------------------------------


def _part(handle: Handle, offset: int, size: int, *, to_write: bool = False) -> Bytes:
    """Return bytes of an array's first row, which need not be whole texels."""
    array = array_of(handle)
    width = array.size[2]
    if offset + size > width:
        raise Refusal(
            "INVALID_VALUE",
            f"{size} bytes at offset {offset} exceed the array's row of {width} bytes",
        )
    first = slice(1)
    part: Bytes = array.box((first, first, slice(offset, offset + size)), to_write=to_write)[0, 0]
    return part


def _copy(target: Bytes, source: Bytes) -> None:
    process.current()
    target[:] = source


@call(waits=True)
def cuMemcpyHtoA(dstArray: Handle, dstOffset: int, srcHost: HostPointer, ByteCount: int) -> None:
    """Copy from the host to an array of one dimension."""
    _copy(
        _part(dstArray, dstOffset, ByteCount, to_write=True), given_host_bytes(srcHost, ByteCount)
    )


@call(waits=True)
def cuMemcpyAtoH(dstHost: HostPointer, srcArray: Handle, srcOffset: int, ByteCount: int) -> None:
    """Copy from an array of one dimension to the host."""
    target = given_host_bytes(dstHost, ByteCount, to_write=True)
    _copy(target, _part(srcArray, srcOffset, ByteCount))


@call(waits=True)
def cuMemcpyDtoA(dstArray: Handle, dstOffset: int, srcDevice: Handle, ByteCount: int) -> None:
    """Copy from device memory to an array of one dimension."""
    _copy(_part(dstArray, dstOffset, ByteCount, to_write=True), device_bytes(srcDevice, ByteCount))


@call(waits=True)
def cuMemcpyAtoD(dstDevice: Handle, srcArray: Handle, srcOffset: int, ByteCount: int) -> None:
    """Copy from an array of one dimension to device memory."""
    source = _part(srcArray, srcOffset, ByteCount)
    _copy(device_bytes(dstDevice, ByteCount, to_write=True), source)


@call(waits=True)
def cuMemcpyAtoA(
    dstArray: Handle, dstOffset: int, srcArray: Handle, srcOffset: int, ByteCount: int
) -> None:
    """Copy from an array of one dimension to another."""
    _copy(
        _part(dstArray, dstOffset, ByteCount, to_write=True), _part(srcArray, srcOffset, ByteCount)
    )


@enqueue()
def cuMemcpyHtoAAsync(
    dstArray: Handle, dstOffset: int, srcHost: HostPointer, ByteCount: int, hStream: Handle
) -> None:
    """Copy from the host to an array of one dimension, in a stream."""
    target = _part(dstArray, dstOffset, ByteCount, to_write=True)
    _copy_in_stream(target, given_host_bytes(srcHost, ByteCount), hStream)


@enqueue()
def cuMemcpyAtoHAsync(
    dstHost: HostPointer, srcArray: Handle, srcOffset: int, ByteCount: int, hStream: Handle
) -> None:
    """Copy from an array of one dimension to the host, in a stream."""
    source = _part(srcArray, srcOffset, ByteCount)
    _copy_in_stream(given_host_bytes(dstHost, ByteCount, to_write=True), source, hStream)


def _copy_in_stream(target: Bytes, source: Bytes, stream: Handle) -> None:
    def work() -> None:
        target[:] = source

    process.submit(process.stream(stream), copy_operation(work))
