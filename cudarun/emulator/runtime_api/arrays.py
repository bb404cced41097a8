"""CUDA arrays, texture and surface objects."""
# ruff: noqa: N802 - the names are CUDA's

from __future__ import annotations

from cuda.bindings import runtime as cudart

from cudarun.emulator.host.handles import Handle
from cudarun.emulator.runtime_api.calls import driver_call, runtime_call
from cudarun.emulator.runtime_api.conversions import channel_description
from cudarun.emulator.runtime_api.forwards import forward_calls

forward_calls(
    __name__,
    """
cudaMallocArray(desc, width: int, height: int, flags: int) -> cudaArray_t
        = cuArray3DCreate(description)
    Create an array of one or two dimensions.
cudaMalloc3DArray(desc, extent, flags: int) -> cudaArray_t = cuArray3DCreate(description)
cudaMallocMipmappedArray(desc, extent, numLevels: int, flags: int) -> cudaMipmappedArray_t
        = cuMipmappedArrayCreate(description, numLevels)
cudaGetChannelDesc(array) -> cudaChannelFormatDesc = cuArray3DGetDescriptor
    Return the channels of an array.
cudaGetMipmappedArrayLevel(mipmappedArray, level: int) -> cudaArray_t = cuMipmappedArrayGetLevel
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
cudaMemcpy2DToArrayAsync(dst: to.Array, wOffset: to.XInBytes, hOffset: to.Y, src: from.address,
        spitch: from.Pitch, width: int, height: int, kind, stream)
        = cuMemcpy2DAsync(rectangle, stream)
    Copy rows to an array, in a stream.
cudaMemcpy2DFromArrayAsync(dst: to.address, dpitch: to.Pitch, src: from.Array,
        wOffset: from.XInBytes, hOffset: from.Y, width: int, height: int, kind, stream)
        = cuMemcpy2DAsync(rectangle, stream)
    Copy rows from an array, in a stream.
cudaMemcpy3D(p: box)
cudaMemcpy3DAsync(p: box, stream)
cudaCreateTextureObject(pResDesc: resource, pTexDesc: texture, pResViewDesc: view)
        -> cudaTextureObject_t = cuTexObjectCreate
cudaCreateSurfaceObject(pResDesc: resource) -> cudaSurfaceObject_t = cuSurfObjectCreate
cudaDestroyTextureObject(texObject) = cuTexObjectDestroy
cudaDestroySurfaceObject(surfObject) = cuSurfObjectDestroy
""",
)


@runtime_call(3)
def cudaArrayGetInfo(array: Handle) -> tuple[object, cudart.cudaExtent, int]:
    """Return channels, extent and flags of an array; without rows or slices, sizes are 0."""
    found, extent = driver_call("cuArray3DGetDescriptor", array), cudart.cudaExtent()
    extent.width, extent.height, extent.depth = found.Width, found.Height, found.Depth
    return channel_description(found), extent, int(found.Flags)
