"""CUDA arrays: driver API, section 6.13."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from cuda.bindings.driver import (
    CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_ARRAY_DESCRIPTOR,
    CUarray,
    CUmipmappedArray,
)

from cudarun.emulator.api.calls import call
from cudarun.emulator.host.arrays import (
    CudaArray,
    MipmappedArray,
    create_array,
    create_array3d,
    create_mipmapped_array,
)
from cudarun.emulator.host.captures import CaptureRule
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import process


@call(1, during_capture=CaptureRule.UNSAFE)
def cuArrayCreate(pAllocateArray: CUDA_ARRAY_DESCRIPTOR) -> CUarray:
    """Create an array of one or two dimensions of integers, fractions or floats."""
    return CUarray(create_array(process.current(), pAllocateArray).handle)


@call(1)
def cuArray3DCreate(pAllocateArray: CUDA_ARRAY3D_DESCRIPTOR) -> CUarray:
    """Create an array of up to three dimensions, layered, of cubes, for surfaces or gathers."""
    return CUarray(create_array3d(process.current(), pAllocateArray).handle)


@call(waits=True, during_capture=CaptureRule.UNSAFE, needs_context=True)
def cuArrayDestroy(hArray: Handle) -> None:
    """Destroy an array; textures that read it become invalid."""
    array_of(hArray).destroy()


@call(1, needs_context=True)
def cuArrayGetDescriptor(hArray: Handle) -> CUDA_ARRAY_DESCRIPTOR:
    """Return the descriptor that an array was created with."""
    array, descriptor = array_of(hArray), CUDA_ARRAY_DESCRIPTOR()
    descriptor.Format, descriptor.NumChannels = array.texel.format, array.texel.channels
    descriptor.Width, descriptor.Height = array.shape.width, array.shape.height
    return descriptor


@call(1, needs_context=True)
def cuArray3DGetDescriptor(hArray: Handle) -> CUDA_ARRAY3D_DESCRIPTOR:
    """Return the descriptor that an array was created with, or that of a level."""
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


@call(1, during_capture=CaptureRule.UNSAFE)
def cuMipmappedArrayCreate(
    pMipmappedArrayDesc: CUDA_ARRAY3D_DESCRIPTOR, numMipmapLevels: int
) -> CUmipmappedArray:
    """Create an array with levels, each of half the size of the one before."""
    context = process.current()
    made = create_mipmapped_array(context, pMipmappedArrayDesc, numMipmapLevels)
    return CUmipmappedArray(made.handle)


@call(1, needs_context=True)
def cuMipmappedArrayGetLevel(hMipmappedArray: Handle, level: int) -> CUarray:
    """Return one level, an array that exists as long as the mipmapped array."""
    return CUarray(mipmapped_array_of(hMipmappedArray).level(level).handle)


@call(waits=True, during_capture=CaptureRule.UNSAFE, needs_context=True)
def cuMipmappedArrayDestroy(hMipmappedArray: Handle) -> None:
    """Destroy a mipmapped array with its levels."""
    mipmapped_array_of(hMipmappedArray).destroy()


def mipmapped_array_of(handle: Handle) -> MipmappedArray:
    """Return the mipmapped array behind a handle."""
    number = handle_value(handle)
    refusal = "CONTEXT_IS_DESTROYED" if process.handles.is_spent(number) else "INVALID_HANDLE"
    return process.handles.get(number, MipmappedArray, refusal)
