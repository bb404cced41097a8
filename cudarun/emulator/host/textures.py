"""Texture objects: the driver's checks of descriptors, and the textures that kernels read.

Driver API, section 6.28 (texture objects).
"""

from __future__ import annotations

import struct
from typing import Any

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
    CUresourcetype,
)

from cudarun.bindings import enum_field
from cudarun.emulator.host.arrays import CudaArray, TexelFormat, texel_format
from cudarun.emulator.host.contexts import Context
from cudarun.emulator.host.devices import attribute_value
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import Process
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.machine.textures import AddressMode, Texels, Texture
from cudarun.emulator.memory import Allocation
from cudarun.records import dataclass

_REFUSED_FLAGS = CU_TRSF_SRGB | CU_TRSF_SEAMLESS_CUBEMAP
_FLAGS = (
    CU_TRSF_READ_AS_INTEGER
    | CU_TRSF_NORMALIZED_COORDINATES
    | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
)

_ALIGNMENT = attribute_value("TEXTURE_ALIGNMENT")
_PITCH_ALIGNMENT = attribute_value("TEXTURE_PITCH_ALIGNMENT")
_MOST_LINEAR = 1 << 31  # bytes: accepted by an H200's driver, which refuses four times as many
_WIDEST = attribute_value("MAXIMUM_TEXTURE2D_LINEAR_WIDTH")
_HIGHEST = attribute_value("MAXIMUM_TEXTURE2D_LINEAR_HEIGHT")
_WIDEST_PITCH = attribute_value("MAXIMUM_TEXTURE2D_LINEAR_PITCH")


@dataclass(eq=False)
class TextureObject:
    """A texture object and the descriptors that it was made from."""

    context: Context
    resource: CUDA_RESOURCE_DESC
    description: CUDA_TEXTURE_DESC
    texture: Texture

    def __post_init__(self) -> None:
        self.handle = self.context.handles.add(self)
        self.context.textures[self.handle] = self.texture
        self.context.own(self.handle, self._end)

    def destroy(self) -> None:
        """Destroy the texture object, not its resource."""
        self.context.disown(self.handle)
        self._end()

    def _end(self) -> None:
        del self.context.textures[self.handle]
        self.context.handles.remove(self.handle)


def create_texture(
    process: Process,
    resource: CUDA_RESOURCE_DESC,
    description: CUDA_TEXTURE_DESC,
    view: CUDA_RESOURCE_VIEW_DESC | None,
) -> TextureObject:
    """Create the texture that a ``CUDA_RESOURCE_DESC`` and a ``CUDA_TEXTURE_DESC`` describe.

    Raises:
        Refusal: The description is invalid, or not implemented.
    """
    context = process.current()
    if not hasattr(resource, "resType") or not hasattr(description, "filterMode"):
        raise Refusal("INVALID_VALUE", "CUDA_RESOURCE_DESC or CUDA_TEXTURE_DESC is missing")
    if view is not None:
        raise Refusal("NOT_SUPPORTED", "the emulated device does not support resource views")
    if resource.flags:
        raise Refusal("INVALID_VALUE", "CUDA_RESOURCE_DESC.flags must be 0")
    resource, description = copy_of_resource(resource), copy_of_description(description)
    if resource.resType == CUresourcetype.CU_RESOURCE_TYPE_ARRAY:
        texture = _of_array(process, resource, description)
    elif resource.resType == CUresourcetype.CU_RESOURCE_TYPE_LINEAR:
        texture = _of_linear(process, resource.res.linear, description)
    elif resource.resType == CUresourcetype.CU_RESOURCE_TYPE_PITCH2D:
        texture = _of_pitched(process, resource.res.pitch2D, description)
    else:
        raise Refusal("NOT_SUPPORTED", "the emulated device does not support mipmapped arrays")
    return TextureObject(context, resource, description, texture)


# --- resources -----------------------------------------------------------------------------------


def _of_array(
    process: Process, resource: CUDA_RESOURCE_DESC, description: CUDA_TEXTURE_DESC
) -> Texture:
    handle = handle_value(resource.res.array.hArray)
    array = process.handles.get(handle, CudaArray, "INVALID_VALUE")
    sampling = _sampling(description, array.texel)
    return Texture(array.texels, array.width, array.height, **sampling)


def _of_linear(process: Process, linear: Any, description: CUDA_TEXTURE_DESC) -> Texture:
    """Return a texture of linear memory; it has no address modes and no filter.

    A partial texel at the end counts as one. The driver does not check that the memory exists.
    """
    texel = texel_format(linear, "format", linear.numChannels)
    size = linear.sizeInBytes
    if size > _MOST_LINEAR:
        raise Refusal("INVALID_VALUE", f"{size} bytes exceed the maximum for linear memory")
    memory = _TextureMemory(process, linear.devPtr, texel)
    flags = _checked_flags(description)
    if flags & CU_TRSF_NORMALIZED_COORDINATES:
        raise Refusal(
            "NOT_SUPPORTED",
            "the emulated device does not support normalized coordinates for linear memory",
        )
    count = -(-size // texel.bytes)
    modes = (AddressMode.CLAMP, AddressMode.CLAMP)
    promoted = _promoted(flags, texel)
    return Texture(memory.texels, count, 0, modes, promoted=promoted, fetch_only=True)


def _of_pitched(process: Process, pitched: Any, description: CUDA_TEXTURE_DESC) -> Texture:
    """Return a texture of pitched memory; rows may overlap, a size of 0 is the maximum."""
    texel = texel_format(pitched, "format", pitched.numChannels)
    width, height, pitch = pitched.width, pitched.height, pitched.pitchInBytes
    if width > _WIDEST or height > _HIGHEST:
        raise Refusal("INVALID_VALUE", f"unsupported texture size: width {width}, height {height}")
    if pitch % _PITCH_ALIGNMENT or pitch > _WIDEST_PITCH:
        raise Refusal("INVALID_VALUE", f"invalid pitchInBytes: {pitch}")
    memory = _TextureMemory(process, pitched.devPtr, texel, pitch)
    sampling = _sampling(description, texel)
    return Texture(memory.texels, width or _WIDEST, height or _HIGHEST, **sampling)


class _TextureMemory:
    """Device memory under a texture, which may be freed before the texture is destroyed."""

    def __init__(
        self, process: Process, pointer: Handle, texel: TexelFormat, pitch: int = 0
    ) -> None:
        address = handle_value(pointer)
        if address % _ALIGNMENT:
            raise Refusal("INVALID_VALUE", f"{address:#x} is not a multiple of {_ALIGNMENT}")
        memory = process.memory_at(address)
        held = memory.find(address) if memory is not None else None
        if not isinstance(held, Allocation):
            raise Refusal("INVALID_VALUE", f"{address:#x} is not device memory")
        self._held, self._start = held, address - held.base
        self._texel, self._pitch = texel, pitch

    def texels(self) -> Texels | None:
        """Return all texels up to the end of the allocation; ``None`` once it has been freed."""
        if not self._held.live:
            return None
        return self._texel.texels(self._held.bytes[self._start :], self._pitch)


# --- how they are read ---------------------------------------------------------------------------


def _checked_flags(description: CUDA_TEXTURE_DESC) -> int:
    flags = int(description.flags)
    if flags & _REFUSED_FLAGS:
        raise Refusal(
            "NOT_SUPPORTED",
            f"the emulated device does not support CU_TRSF flags {flags & _REFUSED_FLAGS:#x}",
        )
    if flags & ~_FLAGS:
        raise Refusal("INVALID_VALUE", f"{flags:#x} is not a combination of CU_TRSF flags")
    return flags


def _promoted(flags: int, texel: TexelFormat) -> bool:
    """Return whether integers are read as fractions; those of 32 bits never are."""
    return (
        texel.dtype.kind in "iu"
        and texel.dtype.itemsize < 4
        and not flags & CU_TRSF_READ_AS_INTEGER
    )


def _sampling(description: CUDA_TEXTURE_DESC, texel: TexelFormat) -> dict[str, Any]:
    """Return the fields of a `Texture` that a ``CUDA_TEXTURE_DESC`` sets."""
    flags = _checked_flags(description)
    if description.maxAnisotropy > 1:
        raise Refusal("NOT_SUPPORTED", "the emulated device does not support anisotropic filtering")
    normalized, promoted = bool(flags & CU_TRSF_NORMALIZED_COORDINATES), _promoted(flags, texel)
    linear = description.filterMode == CUfilter_mode.CU_TR_FILTER_MODE_LINEAR
    if linear and not promoted and texel.dtype.kind != "f":
        raise Refusal(
            "NOT_SUPPORTED",
            "CU_TR_FILTER_MODE_LINEAR requires floating-point or normalized integer texels",
        )
    modes = tuple(_mode(mode, normalized=normalized) for mode in description.addressMode[:2])
    return {
        "modes": modes,
        "linear": linear,
        "normalized": normalized,
        "promoted": promoted,
        "border": _border(description, modes, texel),
    }


def _mode(mode: CUaddress_mode, *, normalized: bool) -> AddressMode:
    """Return an address mode; unnormalized coordinates cannot be wrapped or mirrored."""
    chosen = AddressMode(int(mode))
    if not normalized and chosen in (AddressMode.WRAP, AddressMode.MIRROR):
        return AddressMode.CLAMP
    return chosen


def _border(
    description: CUDA_TEXTURE_DESC, modes: tuple[AddressMode, ...], texel: TexelFormat
) -> tuple[int, ...]:
    """Return the border color's channels as bits, the form in which 32-bit integers are given."""
    color = tuple(description.borderColor)
    if AddressMode.BORDER not in modes:
        return (0,) * 4
    words = struct.unpack("<4I", struct.pack("<4f", *color))
    if any(words) and texel.dtype.itemsize < 4:
        raise Refusal(
            "NOT_SUPPORTED", "the emulated device supports a border color only for 32-bit channels"
        )
    return words


# --- descriptors ---------------------------------------------------------------------------------


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


def _copy_fields(made: object, given: object, names: str) -> None:
    for name in names.split():
        setattr(made, name, enum_field(given, name))
