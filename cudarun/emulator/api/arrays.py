"""CUDA arrays: driver API, section 6.13."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import call
from cudarun.emulator.api.handles import ArrayHandle, MipmappedArrayHandle
from cudarun.emulator.host.arrays import create_array, create_mipmapped_array
from cudarun.emulator.host.captures import CaptureRule
from cudarun.emulator.host.process import Wait, process


@call(during_capture=CaptureRule.UNSAFE, needs_context=True)
def cuArrayCreate(pAllocateArray: cuda.CUDA_ARRAY_DESCRIPTOR) -> cuda.CUarray:
    """Create an array of one or two dimensions of integers, fractions or floats."""
    return cuda.CUarray(create_array(process.current(), pAllocateArray).handle)


@call(needs_context=True)
def cuArray3DCreate(pAllocateArray: cuda.CUDA_ARRAY3D_DESCRIPTOR) -> cuda.CUarray:
    """Create an array of up to three dimensions, layered, of cubes, for surfaces or gathers."""
    return cuda.CUarray(create_array(process.current(), pAllocateArray).handle)


@call(waits=Wait.DEVICE, during_capture=CaptureRule.UNSAFE, needs_context=True)
def cuArrayDestroy(hArray: ArrayHandle) -> None:
    """Destroy an array; textures that read it become invalid."""
    hArray.destroy()


@call(needs_context=True)
def cuArrayGetDescriptor(hArray: ArrayHandle) -> cuda.CUDA_ARRAY_DESCRIPTOR:
    """Return the descriptor that an array was created with."""
    descriptor = cuda.CUDA_ARRAY_DESCRIPTOR()
    descriptor.Format, descriptor.NumChannels = hArray.texel.format, hArray.texel.channels
    descriptor.Width, descriptor.Height = hArray.shape.width, hArray.shape.height
    return descriptor


@call(needs_context=True)
def cuArray3DGetDescriptor(hArray: ArrayHandle) -> cuda.CUDA_ARRAY3D_DESCRIPTOR:
    """Return the descriptor that an array was created with, or that of a level."""
    descriptor = cuda.CUDA_ARRAY3D_DESCRIPTOR()
    descriptor.Format, descriptor.NumChannels = hArray.texel.format, hArray.texel.channels
    shape = hArray.shape
    descriptor.Width, descriptor.Height, descriptor.Depth = shape.width, shape.height, shape.depth
    descriptor.Flags = shape.flags
    return descriptor


# --- mipmapped arrays ----------------------------------------------------------------------------


@call(during_capture=CaptureRule.UNSAFE, needs_context=True)
def cuMipmappedArrayCreate(
    pMipmappedArrayDesc: cuda.CUDA_ARRAY3D_DESCRIPTOR, numMipmapLevels: int
) -> cuda.CUmipmappedArray:
    """Create an array with levels, each of half the size of the one before."""
    context = process.current()
    made = create_mipmapped_array(context, pMipmappedArrayDesc, numMipmapLevels)
    return cuda.CUmipmappedArray(made.handle)


@call(needs_context=True)
def cuMipmappedArrayGetLevel(hMipmappedArray: MipmappedArrayHandle, level: int) -> cuda.CUarray:
    """Return one level, an array that exists as long as the mipmapped array."""
    return cuda.CUarray(hMipmappedArray.level(level).handle)


@call(waits=Wait.DEVICE, during_capture=CaptureRule.UNSAFE, needs_context=True)
def cuMipmappedArrayDestroy(hMipmappedArray: MipmappedArrayHandle) -> None:
    """Destroy a mipmapped array with its levels."""
    hMipmappedArray.destroy()
