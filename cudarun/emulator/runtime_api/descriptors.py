"""The descriptors of texture and surface objects as those of the driver."""

from __future__ import annotations

from collections.abc import Iterable

from cuda.bindings import driver as cuda
from cuda.bindings import runtime as cudart

from cudarun.emulator.host.refusal import enum_field
from cudarun.emulator.runtime_api.conversions import array_format, check_given

_ARRAY, _MIPMAPPED, _LINEAR, _PITCHED = range(4)  # cudaResourceType
_MEMORY = {
    _LINEAR: ("linear", ("sizeInBytes",)),
    _PITCHED: ("pitch2D", ("width", "height", "pitchInBytes")),
}
_LEVELS = ("maxAnisotropy", "mipmapLevelBias", "minMipmapLevelClamp", "maxMipmapLevelClamp")
_VIEW_SIZES = (
    *("width", "height", "depth"),
    *("firstMipmapLevel", "lastMipmapLevel", "firstLayer", "lastLayer"),
)


def resource(description: cudart.cudaResourceDesc) -> cuda.CUDA_RESOURCE_DESC:
    """Return the driver's form of a ``cudaResourceDesc``."""
    check_given(description)
    kind, union = int(enum_field(description, "resType")), description.res
    made = cuda.CUDA_RESOURCE_DESC()
    made.resType = cuda.CUresourcetype(kind)
    if kind == _ARRAY:
        made.res.array.hArray = cuda.CUarray(int(union.array.array))
    elif kind == _MIPMAPPED:
        made.res.mipmap.hMipmappedArray = cuda.CUmipmappedArray(int(union.mipmap.mipmap))
    else:
        name, sizes = _MEMORY[kind]
        memory, given = getattr(made.res, name), getattr(union, name)
        memory.devPtr = cuda.CUdeviceptr(int(given.devPtr))
        memory.format, memory.numChannels = array_format(given.desc)
        _copy_fields(memory, given, sizes)
    return made


def _copy_fields(target: object, source: object, names: Iterable[str]) -> None:
    for name in names:
        setattr(target, name, getattr(source, name))


def texture(description: cudart.cudaTextureDesc) -> cuda.CUDA_TEXTURE_DESC:
    """Return the driver's form of a ``cudaTextureDesc``."""
    check_given(description)
    made = cuda.CUDA_TEXTURE_DESC()
    made.addressMode = [
        cuda.CUaddress_mode(int(mode)) for mode in enum_field(description, "addressMode")
    ]
    made.filterMode = cuda.CUfilter_mode(int(enum_field(description, "filterMode")))
    made.mipmapFilterMode = cuda.CUfilter_mode(int(enum_field(description, "mipmapFilterMode")))
    flags = {
        cuda.CU_TRSF_READ_AS_INTEGER: enum_field(description, "readMode")
        == cudart.cudaTextureReadMode.cudaReadModeElementType,
        cuda.CU_TRSF_NORMALIZED_COORDINATES: description.normalizedCoords,
        cuda.CU_TRSF_SRGB: description.sRGB,
        cuda.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION: description.disableTrilinearOptimization,
        cuda.CU_TRSF_SEAMLESS_CUBEMAP: description.seamlessCubemap,
    }
    made.flags = sum(flag for flag, is_set in flags.items() if is_set)
    _copy_fields(made, description, _LEVELS)
    made.borderColor = list(description.borderColor)
    return made


def view(description: cudart.cudaResourceViewDesc | None) -> cuda.CUDA_RESOURCE_VIEW_DESC | None:
    """Return the driver's form of a ``cudaResourceViewDesc``."""
    if description is None:
        return None
    made = cuda.CUDA_RESOURCE_VIEW_DESC()
    made.format = cuda.CUresourceViewFormat(int(enum_field(description, "format")))
    _copy_fields(made, description, _VIEW_SIZES)
    return made
