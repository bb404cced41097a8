"""CUDA arrays, texture and surface objects."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from typing import Any

from cuda.bindings import runtime as cudart
from cuda.bindings.driver import (
    CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION,
    CU_TRSF_NORMALIZED_COORDINATES,
    CU_TRSF_READ_AS_INTEGER,
    CU_TRSF_SEAMLESS_CUBEMAP,
    CU_TRSF_SRGB,
    CUDA_RESOURCE_DESC,
    CUDA_RESOURCE_VIEW_DESC,
    CUDA_TEXTURE_DESC,
    CUaddress_mode,
    CUarray,
    CUdeviceptr,
    CUfilter_mode,
    CUmipmappedArray,
    CUresourcetype,
    CUresourceViewFormat,
)

from cudarun.emulator.host.addresses import HostPointer, address_of
from cudarun.emulator.host.handles import Handle
from cudarun.emulator.runtime_api.calls import (
    RuntimeRefusal,
    driver_call,
    of_bindings,
    runtime_call,
)
from cudarun.emulator.runtime_api.conversions import (
    INVALID_VALUE,
    array_description,
    array_format,
    channel_description,
    rectangle,
)
from cudarun.emulator.runtime_api.forwards import forward_calls

_ARRAY, _MIPMAPPED, _LINEAR, _PITCHED = range(4)  # cudaResourceType
_VIEW_SIZES = (
    *("width", "height", "depth"),
    *("firstMipmapLevel", "lastMipmapLevel", "firstLayer", "lastLayer"),
)

of_bindings("cudaCreateChannelDesc")

forward_calls(
    __name__,
    """
cudaGetMipmappedArrayLevel(mipmappedArray, level: int) -> cudaArray_t = cuMipmappedArrayGetLevel
    Return one level of a mipmapped array.
cudaMemcpy3D(p: box)
    Copy a box.
cudaMemcpy3DAsync(p: box, stream)
    Copy a box, in a stream.
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


@runtime_call()
def cudaFreeArray(array: Handle) -> None:
    """Destroy an array; null is allowed."""
    if array is not None and int(array):
        driver_call("cuArrayDestroy", array)


@runtime_call()
def cudaFreeMipmappedArray(mipmappedArray: Handle) -> None:
    """Destroy a mipmapped array; null is allowed."""
    if mipmappedArray is not None and int(mipmappedArray):
        driver_call("cuMipmappedArrayDestroy", mipmappedArray)


@runtime_call(1)
def cudaGetChannelDesc(array: Handle) -> Any:
    """Return the channels of an array."""
    description = driver_call("cuArray3DGetDescriptor", array)
    return channel_description(description.Format, description.NumChannels)


@runtime_call()
def cudaMemcpy2DToArray(
    dst: Handle,
    wOffset: int,
    hOffset: int,
    src: HostPointer,
    spitch: int,
    width: int,
    height: int,
    kind: Any,
) -> None:
    """Copy rows to an array; offset and width are in bytes."""
    target = {"Array": dst, "XInBytes": wOffset, "Y": hOffset}
    source = {"at": address_of(src), "Pitch": spitch}
    driver_call("cuMemcpy2DUnaligned", rectangle(target, source, width, height, kind))


@runtime_call()
def cudaMemcpy2DFromArray(
    dst: HostPointer,
    dpitch: int,
    src: Handle,
    wOffset: int,
    hOffset: int,
    width: int,
    height: int,
    kind: Any,
) -> None:
    """Copy rows from an array; offset and width are in bytes."""
    target = {"at": address_of(dst), "Pitch": dpitch}
    source = {"Array": src, "XInBytes": wOffset, "Y": hOffset}
    driver_call("cuMemcpy2DUnaligned", rectangle(target, source, width, height, kind))


# --- texture and surface objects -----------------------------------------------------------------


@runtime_call(1)
def cudaCreateTextureObject(pResDesc: Any, pTexDesc: Any, pResViewDesc: Any) -> Any:
    """Create a texture object of an array, a mipmapped array, linear or pitched memory."""
    if pResDesc is None or pTexDesc is None:
        raise RuntimeRefusal(INVALID_VALUE)
    arguments = _resource(pResDesc), _texture(pTexDesc), _view(pResViewDesc)
    return cudart.cudaTextureObject_t(int(driver_call("cuTexObjectCreate", *arguments)))


@runtime_call(1)
def cudaCreateSurfaceObject(pResDesc: Any) -> Any:
    """Create a surface object of an array."""
    if pResDesc is None:
        raise RuntimeRefusal(INVALID_VALUE)
    return cudart.cudaSurfaceObject_t(int(driver_call("cuSurfObjectCreate", _resource(pResDesc))))


def _resource(description: Any) -> CUDA_RESOURCE_DESC:
    """Return the driver's form of a ``cudaResourceDesc``."""
    kind, union = int(description.resType), description.res
    resource = CUDA_RESOURCE_DESC()
    resource.resType = CUresourcetype(kind)
    if kind == _ARRAY:
        resource.res.array.hArray = CUarray(int(union.array.array))
    elif kind == _MIPMAPPED:
        resource.res.mipmap.hMipmappedArray = CUmipmappedArray(int(union.mipmap.mipmap))
    elif kind == _LINEAR:
        linear = resource.res.linear
        linear.devPtr = CUdeviceptr(int(union.linear.devPtr))
        linear.format, linear.numChannels = array_format(union.linear.desc)
        linear.sizeInBytes = union.linear.sizeInBytes
    else:
        pitched = resource.res.pitch2D
        pitched.devPtr = CUdeviceptr(int(union.pitch2D.devPtr))
        pitched.format, pitched.numChannels = array_format(union.pitch2D.desc)
        pitched.width, pitched.height = union.pitch2D.width, union.pitch2D.height
        pitched.pitchInBytes = union.pitch2D.pitchInBytes
    return resource


def _texture(description: Any) -> CUDA_TEXTURE_DESC:
    """Return the driver's form of a ``cudaTextureDesc``."""
    texture = CUDA_TEXTURE_DESC()
    texture.addressMode = [CUaddress_mode(int(mode)) for mode in description.addressMode]
    texture.filterMode = CUfilter_mode(int(description.filterMode))
    texture.mipmapFilterMode = CUfilter_mode(int(description.mipmapFilterMode))
    flags = {
        CU_TRSF_READ_AS_INTEGER: description.readMode
        == cudart.cudaTextureReadMode.cudaReadModeElementType,
        CU_TRSF_NORMALIZED_COORDINATES: description.normalizedCoords,
        CU_TRSF_SRGB: description.sRGB,
        CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION: description.disableTrilinearOptimization,
        CU_TRSF_SEAMLESS_CUBEMAP: description.seamlessCubemap,
    }
    texture.flags = sum(flag for flag, is_set in flags.items() if is_set)
    texture.maxAnisotropy = description.maxAnisotropy
    texture.mipmapLevelBias = description.mipmapLevelBias
    texture.minMipmapLevelClamp = description.minMipmapLevelClamp
    texture.maxMipmapLevelClamp = description.maxMipmapLevelClamp
    texture.borderColor = list(description.borderColor)
    return texture


def _view(description: Any) -> CUDA_RESOURCE_VIEW_DESC | None:
    """Return the driver's form of a ``cudaResourceViewDesc``."""
    if description is None:
        return None
    view = CUDA_RESOURCE_VIEW_DESC()
    view.format = CUresourceViewFormat(int(description.format))
    for field in _VIEW_SIZES:
        setattr(view, field, getattr(description, field))
    return view
