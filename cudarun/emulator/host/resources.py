"""Resource and texture descriptors of the driver's structures, copied and checked."""

from __future__ import annotations

from cuda.bindings.driver import (
    CUDA_RESOURCE_DESC,
    CUDA_RESOURCE_VIEW_DESC,
    CUDA_TEXTURE_DESC,
    CUaddress_mode,
    CUarray,
    CUdeviceptr,
    CUmipmappedArray,
    CUresourcetype,
)

from cudarun.bindings import enum_field
from cudarun.emulator.host.handles import handle_value
from cudarun.emulator.host.refusal import Refusal


def copy_of_resource(given: CUDA_RESOURCE_DESC) -> CUDA_RESOURCE_DESC:
    """Return a copy of a ``CUDA_RESOURCE_DESC``.

    Raises:
        Refusal: A field has no value that it may have.
    """
    made = CUDA_RESOURCE_DESC()
    try:
        made.resType = given.resType
        if given.resType == CUresourcetype.CU_RESOURCE_TYPE_ARRAY:
            made.res.array.hArray = CUarray(handle_value(given.res.array.hArray))
        elif given.resType == CUresourcetype.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
            handle = handle_value(given.res.mipmap.hMipmappedArray)
            made.res.mipmap.hMipmappedArray = CUmipmappedArray(handle)
        elif given.resType == CUresourcetype.CU_RESOURCE_TYPE_LINEAR:
            _copy_fields(made.res.linear, given.res.linear, "format numChannels sizeInBytes")
            made.res.linear.devPtr = CUdeviceptr(handle_value(given.res.linear.devPtr))
        elif given.resType == CUresourcetype.CU_RESOURCE_TYPE_PITCH2D:
            names = "format numChannels width height pitchInBytes"
            _copy_fields(made.res.pitch2D, given.res.pitch2D, names)
            made.res.pitch2D.devPtr = CUdeviceptr(handle_value(given.res.pitch2D.devPtr))
    except ValueError as error:  # the bindings make enums of numbers
        raise Refusal("INVALID_VALUE", str(error)) from None
    return made


def copy_of_description(given: CUDA_TEXTURE_DESC) -> CUDA_TEXTURE_DESC:
    """Return a copy of a ``CUDA_TEXTURE_DESC``.

    Raises:
        Refusal: A field has no value that it may have.
    """
    made = CUDA_TEXTURE_DESC()
    try:
        made.addressMode = [CUaddress_mode(int(mode)) for mode in given.addressMode]
        made.borderColor = list(given.borderColor)
        names = "filterMode flags maxAnisotropy mipmapFilterMode mipmapLevelBias"
        _copy_fields(made, given, f"{names} minMipmapLevelClamp maxMipmapLevelClamp")
    except ValueError as error:
        raise Refusal("INVALID_VALUE", str(error)) from None
    return made


def copy_of_view(given: CUDA_RESOURCE_VIEW_DESC) -> CUDA_RESOURCE_VIEW_DESC:
    """Return a copy of a ``CUDA_RESOURCE_VIEW_DESC``.

    Raises:
        Refusal: A field has no value that it may have.
    """
    made = CUDA_RESOURCE_VIEW_DESC()
    names = "format width height depth firstMipmapLevel lastMipmapLevel firstLayer lastLayer"
    try:
        _copy_fields(made, given, names)
    except ValueError as error:
        raise Refusal("INVALID_VALUE", str(error)) from None
    return made


def _copy_fields(made: object, given: object, names: str) -> None:
    for name in names.split():
        setattr(made, name, enum_field(given, name))
