"""Resource views of texture objects: driver API, ``CUDA_RESOURCE_VIEW_DESC``."""

from __future__ import annotations

from cuda.bindings.driver import CUDA_RESOURCE_VIEW_DESC
from cuda.bindings.driver import CUarray_format as Format
from cuda.bindings.driver import CUresourceViewFormat as ViewFormat

from cudarun.base.records import dataclass
from cudarun.emulator.host.arrays import LAYERED, ArrayShape, TexelFormat
from cudarun.emulator.host.refusal import Refusal

_KINDS = {
    "UINT": {8: "UNSIGNED_INT8", 16: "UNSIGNED_INT16", 32: "UNSIGNED_INT32"},
    "SINT": {8: "SIGNED_INT8", 16: "SIGNED_INT16", 32: "SIGNED_INT32"},
    "FLOAT": {16: "HALF", 32: "FLOAT"},
}
_BLOCKS = {"UNSIGNED": ("UNORM", "UF16"), "SIGNED": ("SNORM", "SF16")}
"""The endings of the names of formats of blocks, and those of BC6H."""


@dataclass(frozen=True)
class View:
    """The part of an array that a texture shows.

    Attributes:
        texel: The format as which texels are read.
        shape: The shape of the array in such texels.
        levels: The levels of a mipmapped array.
        first_layer: The first layer.
        layers: The number of layers.
    """

    texel: TexelFormat
    shape: ArrayShape
    levels: slice
    first_layer: int
    layers: int


def viewed(
    view: CUDA_RESOURCE_VIEW_DESC, shape: ArrayShape, texel: TexelFormat, levels: int
) -> View:
    """Return the view of an array, or of a mipmapped array with several levels.

    Raises:
        Refusal: The view does not match the array.
    """
    shown = _view_format(view.format)
    if shown.bytes != texel.bytes:
        raise Refusal("INVALID_VALUE", f"{view.format.name} has {shown.bytes} bytes per texel")
    if shown.packing and texel.format != Format.CU_AD_FORMAT_UNSIGNED_INT32:
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
    return View(shown, shape, slice(first, last + 1), start, end - start + 1)


def _view_format(view_format: ViewFormat) -> TexelFormat:
    """Return the format of texels, ``4X8`` with four channels of 8 bits.

    Raises:
        Refusal: It is not one.
    """
    kind, _, layout = view_format.name.removeprefix("CU_RES_VIEW_FORMAT_").partition("_")
    if kind == "NONE":
        raise Refusal("INVALID_VALUE", "the view has no format")
    if kind in _BLOCKS:
        name = f"{layout}_{_BLOCKS[kind][layout == 'BC6H']}"
        return TexelFormat(getattr(Format, f"CU_AD_FORMAT_{name}"), 4)
    channels, _, bits = layout.partition("X")
    name = _KINDS[kind][int(bits)]
    return TexelFormat(getattr(Format, f"CU_AD_FORMAT_{name}"), int(channels))
