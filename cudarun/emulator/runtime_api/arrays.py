"""CUDA arrays, texture and surface objects."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from typing import Any

from cuda.bindings import runtime as cudart

from cudarun.emulator.host.handles import Handle
from cudarun.emulator.runtime_api.calls import driver_call, of_bindings, runtime_call
from cudarun.emulator.runtime_api.conversions import array_description, channel_description
from cudarun.emulator.runtime_api.forwards import forward_calls

of_bindings("cudaCreateChannelDesc")

forward_calls(
    __name__,
    """
cudaGetMipmappedArrayLevel(mipmappedArray, level: int) -> cudaArray_t = cuMipmappedArrayGetLevel
    Return one level of a mipmapped array.
cudaFreeArray(array: or_null) = cuArrayDestroy
    Destroy an array; null is allowed.
cudaFreeMipmappedArray(mipmappedArray: or_null) = cuMipmappedArrayDestroy
    Destroy a mipmapped array; null is allowed.
cudaMemcpy2DToArray(dst: to.Array, wOffset: to.XInBytes, hOffset: to.Y, src: from.address,
        spitch: from.Pitch, width: int, height: int, kind) = cuMemcpy2DUnaligned(rectangle)
    Copy rows to an array; offset and width are in bytes.
cudaMemcpy2DFromArray(dst: to.address, dpitch: to.Pitch, src: from.Array, wOffset: from.XInBytes,
        hOffset: from.Y, width: int, height: int, kind) = cuMemcpy2DUnaligned(rectangle)
    Copy rows from an array; offset and width are in bytes.
cudaMemcpy3D(p: box)
    Copy a box.
cudaMemcpy3DAsync(p: box, stream)
    Copy a box, in a stream.
cudaCreateTextureObject(pResDesc: resource, pTexDesc: texture, pResViewDesc: view)
        -> cudaTextureObject_t = cuTexObjectCreate
    Create a texture object of an array, a mipmapped array, linear or pitched memory.
cudaCreateSurfaceObject(pResDesc: resource) -> cudaSurfaceObject_t = cuSurfObjectCreate
    Create a surface object of an array.
cudaDestroyTextureObject(texObject) = cuTexObjectDestroy
    Destroy a texture object, not its resource.
cudaDestroySurfaceObject(surfObject) = cuSurfObjectDestroy
    Destroy a surface object, not its resource.
""",
)


# --- arrays --------------------------------------------------------------------------------------


@runtime_call(1)
def cudaMallocArray(desc: Any, width: int, height: int, flags: int) -> Any:
    """Create an array of one or two dimensions."""
    description = array_description(desc, (width, height, 0), flags)
    return cudart.cudaArray_t(int(driver_call("cuArray3DCreate", description)))


@runtime_call(1)
def cudaMalloc3DArray(desc: Any, extent: Any, flags: int) -> Any:
    """Create an array of up to three dimensions, layered, of cubes, for surfaces or gathers."""
    description = array_description(desc, (extent.width, extent.height, extent.depth), flags)
    return cudart.cudaArray_t(int(driver_call("cuArray3DCreate", description)))


@runtime_call(1)
def cudaMallocMipmappedArray(desc: Any, extent: Any, numLevels: int, flags: int) -> Any:
    """Create an array with levels."""
    description = array_description(desc, (extent.width, extent.height, extent.depth), flags)
    return cudart.cudaMipmappedArray_t(
        int(driver_call("cuMipmappedArrayCreate", description, numLevels))
    )


@runtime_call(1)
def cudaGetChannelDesc(array: Handle) -> Any:
    """Return the channels of an array."""
    description = driver_call("cuArray3DGetDescriptor", array)
    return channel_description(description.Format, description.NumChannels)
