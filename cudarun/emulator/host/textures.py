"""Texture and surface objects: the driver's checks of descriptors, and what kernels access.

Driver API, sections 6.28 (texture objects) and 6.29 (surface objects).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from cuda.bindings import driver as cuda

from cudarun.base.records import dataclass
from cudarun.emulator.host.arrays import (
    FACES,
    FORMATS,
    LAYERED,
    ArrayShape,
    CudaArray,
    MipmappedArray,
    TexelFormat,
    texel_format,
)
from cudarun.emulator.host.contexts import Context, ContextObject
from cudarun.emulator.host.devices import attribute_value
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import Process
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.host.resources import copied
from cudarun.emulator.machine.textures.addressing import AddressMode
from cudarun.emulator.machine.textures.filters import STEPS
from cudarun.emulator.machine.textures.levels import sampler_steps
from cudarun.emulator.machine.textures.texels import (
    COLORS,
    Surface,
    Texels,
    encoded,
    fractions,
    truncated,
)
from cudarun.emulator.machine.textures.texture import Sampler, Texture

_FLAGS = (
    cuda.CU_TRSF_READ_AS_INTEGER
    | cuda.CU_TRSF_NORMALIZED_COORDINATES
    | cuda.CU_TRSF_SRGB
    | cuda.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION
    | cuda.CU_TRSF_SEAMLESS_CUBEMAP
)

_ALIGNMENT = attribute_value("TEXTURE_ALIGNMENT")
_PITCH_ALIGNMENT = attribute_value("TEXTURE_PITCH_ALIGNMENT")
_MOST_LINEAR = 1 << 31  # bytes: accepted by an H200's driver, which refuses four times as many
_WIDEST = attribute_value("MAXIMUM_TEXTURE2D_LINEAR_WIDTH")
_HIGHEST = attribute_value("MAXIMUM_TEXTURE2D_LINEAR_HEIGHT")
_WIDEST_PITCH = attribute_value("MAXIMUM_TEXTURE2D_LINEAR_PITCH")
_MOST_BIAS = 16 * STEPS - 1  # the range of the level of detail's bias


@dataclass(eq=False)
class TextureObject(ContextObject):
    """A texture object and the descriptors that it was made from."""

    context: Context
    resource: cuda.CUDA_RESOURCE_DESC
    description: cuda.CUDA_TEXTURE_DESC
    view: cuda.CUDA_RESOURCE_VIEW_DESC | None
    texture: Texture

    def __post_init__(self) -> None:
        self.enter()
        self.context.textures[self.handle] = self.texture

    def end(self) -> None:
        """End the object, not its resource."""
        del self.context.textures[self.handle]
        ContextObject.end(self)


def create_texture(
    process: Process,
    resource: cuda.CUDA_RESOURCE_DESC,
    description: cuda.CUDA_TEXTURE_DESC,
    view: cuda.CUDA_RESOURCE_VIEW_DESC | None,
) -> TextureObject:
    """Create the texture that a resource, a texture and a resource view descriptor describe.

    Raises:
        Refusal: The description is invalid, or not implemented.
    """
    context = process.current()
    refuse_if(resource.flags, "CUDA_RESOURCE_DESC.flags must be 0")
    resource, description = copied(resource), copied(description)
    view = None if view is None else copied(view)
    kinds = cuda.CUresourcetype
    if resource.resType == kinds.CU_RESOURCE_TYPE_ARRAY:
        array = _array(process, resource.res.array.hArray)
        texture = _of_arrays((array,), array.shape, array.texel, description, view)
    elif resource.resType == kinds.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        handle = handle_value(resource.res.mipmap.hMipmappedArray)
        mipmapped = process.handles.get(handle, MipmappedArray, "INVALID_VALUE")
        texture = _of_arrays(mipmapped.levels, mipmapped.shape, mipmapped.texel, description, view)
    elif resource.resType == kinds.CU_RESOURCE_TYPE_LINEAR:
        texture = _of_linear(process, resource.res.linear, description)
    else:
        texture = _of_pitched(process, resource.res.pitch2D, description)
    return TextureObject(context, resource, description, view, texture)


# --- resources -----------------------------------------------------------------------------------


def _array(process: Process, handle: Handle) -> CudaArray:
    return process.handles.get(handle_value(handle), CudaArray, "INVALID_VALUE")


def _of_arrays(
    levels: tuple[CudaArray, ...],
    shape: ArrayShape,
    texel: TexelFormat,
    description: cuda.CUDA_TEXTURE_DESC,
    view: cuda.CUDA_RESOURCE_VIEW_DESC | None,
) -> Texture:
    """Return a texture of an array, or of the levels of a mipmapped array."""
    first_layer, layers = 0, shape.depth
    sizes = [array.shape.extent[::-1] for array in levels]
    if view is not None:
        texel, seen, chosen, first_layer, layers = viewed(view, shape, texel, len(levels))
        sizes = [seen.level(number).extent[::-1] for number in range(len(levels))][chosen]
        levels = levels[chosen]
    if texel.packing:
        _check_packed(texel, shape, description)

    def texels() -> tuple[Texels, ...] | None:
        every = [array.texels(texel) for array in levels]
        return None if any(one is None for one in every) else tuple(filter(None, every))

    cube = "cube" in shape.geometry
    per = FACES if cube else 1
    return Texture(
        texels,
        tuple(sizes),
        shape.geometry,
        _sampler(description, texel, cube=cube),
        layers=max(layers // per, 1) if shape.layered else 1,
        first_layer=first_layer // per,
        **_reading(int(description.flags), texel),
    )


def _check_packed(
    texel: TexelFormat, shape: ArrayShape, description: cuda.CUDA_TEXTURE_DESC
) -> None:
    """Refuse packed texels in textures that the driver refuses, or that were not recorded."""
    refuse_if(texel.format.name.endswith("_SRGB"), f"a texture of {texel.format.name}")
    unsupported = {
        "a .1d or .3d texture": texel.side > 1 and shape.geometry in ("1d", "a1d", "3d"),
        "CU_TRSF_SRGB": int(description.flags) & cuda.CU_TRSF_SRGB,
        "CU_TR_ADDRESS_MODE_BORDER": AddressMode.BORDER in map(int, description.addressMode),
    }
    for feature in (feature for feature, asked in unsupported.items() if asked):
        what = f"{feature} with {texel.format.name}"
        raise Refusal("NOT_SUPPORTED", f"the emulated device does not support {what}")


def _of_linear(process: Process, linear: Any, description: cuda.CUDA_TEXTURE_DESC) -> Texture:
    """Return a texture of linear memory; it has no address modes, no filter, no normalization.

    A partial texel at the end counts as one. The driver does not check that the memory exists.
    """
    texel = _format_in_memory(linear)
    size = linear.sizeInBytes
    refuse_if(size > _MOST_LINEAR, f"{size} bytes exceed the maximum for linear memory")
    texels = _texels_at(process, linear.devPtr, texel)
    flags, sampler = _checked_flags(description, cube=False), Sampler((AddressMode.CLAMP,) * 3)
    sizes = ((-(-size // texel.bytes), 1, 1),)
    return Texture(texels, sizes, "1d", sampler, **_reading(flags, texel), linear=True)


def _of_pitched(process: Process, pitched: Any, description: cuda.CUDA_TEXTURE_DESC) -> Texture:
    """Return a texture of pitched memory; rows may overlap, a size of 0 is the maximum."""
    texel = _format_in_memory(pitched)
    width, height, pitch = pitched.width, pitched.height, pitched.pitchInBytes
    if width > _WIDEST or height > _HIGHEST:
        raise Refusal("INVALID_VALUE", f"unsupported texture size: width {width}, height {height}")
    refuse_if(pitch % _PITCH_ALIGNMENT or pitch > _WIDEST_PITCH, f"invalid pitchInBytes: {pitch}")
    texels = _texels_at(process, pitched.devPtr, texel, pitch)
    sampler = _sampler(description, texel, cube=False)
    sizes = ((width or _WIDEST, height or _HIGHEST, 1),)
    return Texture(texels, sizes, "2d", sampler, **_reading(int(description.flags), texel))


def _format_in_memory(memory: Any) -> TexelFormat:
    """Return the format of linear or pitched memory; a normalized one is that of an array."""
    texel = texel_format(memory, "format", memory.numChannels)
    refuse_if(texel.normalized or texel.packing, f"{texel.format.name} requires a CUDA array")
    return texel


def _texels_at(
    process: Process, pointer: Handle, texel: TexelFormat, pitch: int = 0
) -> Callable[[], tuple[Texels] | None]:
    """Return what returns all texels up to the end of an allocation; ``None`` once it is freed."""
    address = handle_value(pointer)
    refuse_if(address % _ALIGNMENT, f"{address:#x} is not a multiple of {_ALIGNMENT}")
    memory = process.memory_at(address)
    allocation = memory.find(address) if memory is not None else None
    if allocation is None:
        raise Refusal("INVALID_VALUE", f"{address:#x} is not device memory")

    def texels() -> tuple[Texels] | None:
        part = allocation.bytes[address - allocation.base :]
        return (texel.texels(part, pitch),) if allocation.live else None

    return texels


# --- how they are read ---------------------------------------------------------------------------


def _checked_flags(description: cuda.CUDA_TEXTURE_DESC, *, cube: bool) -> int:
    flags = int(description.flags)
    refuse_if(flags & ~_FLAGS, f"{flags:#x} is not a combination of CU_TRSF flags")
    is_seamless = flags & cuda.CU_TRSF_SEAMLESS_CUBEMAP
    refuse_if(is_seamless and not cube, "CU_TRSF_SEAMLESS_CUBEMAP requires a cube")
    return flags


def _reading(flags: int, texel: TexelFormat) -> dict[str, bool]:
    """Return whether integers are read as fractions, and texels as sRGB colors.

    Integers of 32 bits never are, and of fractions only those of bytes are such colors.
    """
    is_narrow = texel.dtype.kind in "iu" and texel.dtype.itemsize < 4
    promoted = texel.normalized or (is_narrow and not flags & cuda.CU_TRSF_READ_AS_INTEGER)
    is_color = promoted and texel.dtype == np.dtype(np.uint8)
    return {"promoted": promoted, "srgb": is_color and bool(flags & cuda.CU_TRSF_SRGB)}


def _sampler(description: cuda.CUDA_TEXTURE_DESC, texel: TexelFormat, *, cube: bool) -> Sampler:
    """Return the sampler that a ``CUDA_TEXTURE_DESC`` describes."""
    flags = _checked_flags(description, cube=cube)
    normalized = bool(flags & cuda.CU_TRSF_NORMALIZED_COORDINATES)
    promoted = _reading(flags, texel)["promoted"]
    linear = description.filterMode == cuda.CUfilter_mode.CU_TR_FILTER_MODE_LINEAR
    between_levels = description.mipmapFilterMode == cuda.CUfilter_mode.CU_TR_FILTER_MODE_LINEAR
    words = "CU_TR_FILTER_MODE_LINEAR requires floating-point or normalized integer texels"
    refuse_if(linear and not promoted and texel.dtype.kind != "f", words, "NOT_SUPPORTED")
    modes = tuple(_mode(mode, normalized=normalized) for mode in description.addressMode)
    bias = sampler_steps(description.mipmapLevelBias)
    return Sampler(
        (modes[0], modes[1], modes[2]),
        linear=linear,
        between=between_levels,
        normalized=normalized,
        seamless=bool(flags & cuda.CU_TRSF_SEAMLESS_CUBEMAP),
        bias=min(max(bias, -_MOST_BIAS - 1), _MOST_BIAS),
        least=sampler_steps(description.minMipmapLevelClamp),
        most=sampler_steps(description.maxMipmapLevelClamp),
        anisotropy=description.maxAnisotropy,
        optimized=not flags & cuda.CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION,
        border=_border(description, modes, texel),
    )


def _mode(mode: cuda.CUaddress_mode, *, normalized: bool) -> AddressMode:
    """Return an address mode; unnormalized coordinates cannot be wrapped or mirrored."""
    chosen = AddressMode(int(mode))
    if not normalized and chosen in (AddressMode.WRAP, AddressMode.MIRROR):
        return AddressMode.CLAMP
    return chosen


def _border(
    description: cuda.CUDA_TEXTURE_DESC, modes: tuple[AddressMode, ...], texel: TexelFormat
) -> tuple[int, int, int, int]:
    """Return the channels of the border color in the texels' format, as words."""
    if AddressMode.BORDER not in modes:
        return (0, 0, 0, 0)
    color = np.array(description.borderColor, dtype=np.float32)
    bits, dtype = color.view(np.uint32), texel.dtype
    reading = _reading(int(description.flags), texel)
    if dtype.itemsize == 4:  # also of integers these are the bits
        words = bits
    elif dtype.kind == "f":
        words = truncated(bits).astype(np.float32).view(np.uint32)
    elif reading["promoted"]:
        words = fractions(bits, dtype).astype(np.int64).astype(np.uint32)
        if reading["srgb"]:
            colors = COLORS[texel.channels]
            words[:colors] = encoded(color[:colors])
    else:
        words = bits.astype(dtype).astype(np.int64).astype(np.uint32)
    first, second, third, fourth = (int(word) for word in words)
    return first, second, third, fourth


_KINDS = {"UINT": "u", "SINT": "i", "FLOAT": "f"}
_BLOCKS = {"UNSIGNED": ("UNORM", "UF16"), "SIGNED": ("SNORM", "SF16")}
"""The endings of the names of formats of blocks, and those of BC6H."""


def viewed(
    view: cuda.CUDA_RESOURCE_VIEW_DESC, shape: ArrayShape, texel: TexelFormat, levels: int
) -> tuple[TexelFormat, ArrayShape, slice, int, int]:
    """Return the view of an array, or of a mipmapped array with several levels.

    Returns:
        The format as which texels are read, the shape of the array in such texels, the levels of a
        mipmapped array, the first layer, and the number of layers.

    Raises:
        Refusal: The view does not match the array.
    """
    shown = _view_format(view.format)
    refuse_if(shown.bytes != texel.bytes, f"{view.format.name} has {shown.bytes} bytes per texel")
    if shown.packing and texel.format != cuda.CUarray_format.CU_AD_FORMAT_UNSIGNED_INT32:
        raise Refusal("INVALID_VALUE", f"{view.format.name} of {texel.format.name}")
    side = shown.side
    shape = ArrayShape(shape.width * side, shape.height * side, shape.depth, shape.flags)
    if (view.width, view.height, view.depth) != (shape.width, shape.height, shape.depth):
        extent = f"width {view.width}, height {view.height}, depth {view.depth}"
        raise Refusal("INVALID_VALUE", f"a view of another size than the array: {extent}")
    first, last = view.firstMipmapLevel, view.lastMipmapLevel
    if first > last or first >= max(levels, 1) + (levels > 1):
        raise Refusal("INVALID_VALUE", f"a view of the levels {first} to {last} of {levels}")
    start, end = view.firstLayer, view.lastLayer
    layered = bool(shape.flags & LAYERED)
    if start > end or end >= (shape.depth if layered else 1):
        raise Refusal("INVALID_VALUE", f"a view of the layers {start} to {end}")
    first = min(first, levels - 1)
    return shown, shape, slice(first, last + 1), start, end - start + 1


def _view_format(view_format: cuda.CUresourceViewFormat) -> TexelFormat:
    """Return the format of texels, ``4X8`` with four channels of 8 bits.

    Raises:
        Refusal: It is not one.
    """
    kind, _, layout = view_format.name.removeprefix("CU_RES_VIEW_FORMAT_").partition("_")
    refuse_if(kind == "NONE", "the view has no format")
    if kind in _BLOCKS:
        name = f"{layout}_{_BLOCKS[kind][layout == 'BC6H']}"
        return TexelFormat(getattr(cuda.CUarray_format, f"CU_AD_FORMAT_{name}"), 4)
    channels, _, bits = layout.partition("X")
    return TexelFormat(FORMATS[_KINDS[kind], int(bits)], int(channels))


# --- surfaces ------------------------------------------------------------------------------------


@dataclass(eq=False)
class SurfaceObject(ContextObject):
    """A surface object and the descriptor that it was made from."""

    context: Context
    resource: cuda.CUDA_RESOURCE_DESC
    surface: Surface

    def __post_init__(self) -> None:
        self.enter()
        self.context.surfaces[self.handle] = self.surface

    def end(self) -> None:
        """End the object, not its resource."""
        del self.context.surfaces[self.handle]
        ContextObject.end(self)


def create_surface(process: Process, resource: cuda.CUDA_RESOURCE_DESC) -> SurfaceObject:
    """Create the surface of the array in a ``CUDA_RESOURCE_DESC``.

    Raises:
        Refusal: The description is invalid.
    """
    context = process.current()
    refuse_if(resource.flags, "CUDA_RESOURCE_DESC.flags must be 0")
    resource = copied(resource)
    if resource.resType != cuda.CUresourcetype.CU_RESOURCE_TYPE_ARRAY:
        raise Refusal("INVALID_VALUE", "a surface requires a CUDA array")
    array = _array(process, resource.res.array.hArray)
    geometry = {"cube": "a2d", "acube": "a2d"}.get(array.shape.geometry, array.shape.geometry)
    texel = array.texel
    what = f"a surface of {texel.format.name}"
    refuse_if(texel.packing, f"the emulated device does not support {what}", "NOT_SUPPORTED")
    surface = Surface(
        geometry,
        array.address,
        array.shape.extent,
        array.pitch,
        texel.dtype,
        texel.channels,
        texel.normalized,
    )
    return SurfaceObject(context, resource, surface)
