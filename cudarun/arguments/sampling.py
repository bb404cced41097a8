"""The options of texture and surface objects: the form of their array, and the way it is read.

CUDA driver API, sections 6.13 (``CUDA_ARRAY3D_DESCRIPTOR``) and 6.28 (``CUDA_TEXTURE_DESC``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from cudarun.arguments.types import ScalarType, Type, VectorType, by_times
from cudarun.base.records import dataclass

FILTERS = ("point", "linear")
ADDRESS_MODES = ("wrap", "clamp", "mirror", "border")
READ_MODES = ("element", "normalized")
FACES = 6
TEXELS = {
    "u8": 0x01, "i8": 0x08, "u16": 0x02, "i16": 0x09, "u32": 0x03, "i32": 0x0A, "f16": 0x10,
    "f32": 0x20,
}  # fmt: skip
"""The types of the components of a texel, with their ``CUarray_format``."""
LAYERED, SURFACE, CUBEMAP, GATHER = 0x01, 0x02, 0x04, 0x08  # cuda.h: CUDA_ARRAY3D_*
CHANNELS = (1, 2, 4)
MOST_AXES = 3


@dataclass(frozen=True, slots=True)
class ArrayForm:
    """The form of a CUDA array."""

    layered: bool = False  # the first axis is that of layers
    cube: bool = False  # the six faces of a cube, or of cubes in layers
    gather: bool = False  # the array is created for gathers (``tex2Dgather``)
    linear: bool = False  # the texture shows linear memory instead of an array
    levels: int = 1  # the number of levels to compute from level 0; 0 for all of them

    @property
    def texts(self) -> list[str]:
        """The options in the grammar."""
        return [text.replace("levels=0", "levels=all") for text in _texts(self)]

    @property
    def outer_axes(self) -> int:
        """The axes of layers and faces."""
        return self.layered + self.cube

    def misshape(self, element: Type, shape: tuple[int, ...]) -> str | None:
        """Return the reason why no array of this form has a shape; ``None`` if one can have it."""
        if problem := self.problem(element, len(shape)):
            return problem
        if 0 in shape:
            return "an array has at least one texel"
        faces, rows, columns = (1, 1, *shape)[-3:]
        if self.cube and (faces != FACES or rows != columns):
            return f"a cube has 6 square faces, got {by_times(shape)}"
        return None

    def most_levels(self, shape: tuple[int, ...]) -> int:
        """Return the number of levels down to a single texel."""
        return max(shape[self.outer_axes :]).bit_length()

    def level_shape(self, shape: tuple[int, ...], level: int) -> tuple[int, ...]:
        """Return the shape of a level of an array."""
        outer = self.outer_axes
        return (*shape[:outer], *(max(size >> level, 1) for size in shape[outer:]))

    def problem(self, element: Type, axes: int) -> str | None:
        """Return the reason why no array has this form; ``None`` if one can have it.

        Args:
            axes: The number of axes, including those of layers and faces.
        """
        scalar, count = texel(element)
        if scalar is None or scalar.name not in TEXELS or count not in CHANNELS:
            return (
                f"a texel is {', '.join(TEXELS)}, or a vector of 2 or 4 of them, such as uchar4; "
                f"not {element}"
            )
        inner = axes - self.outer_axes
        if self.cube and inner != 2:
            shape = "[layers,6,n,n]" if self.layered else "[6,n,n]"
            return f"a cube has the dimensions {shape}, got {axes}"
        if self.layered and not self.cube and inner not in (1, 2):
            return f"a layered array has 2 or 3 dimensions, the first for its layers, got {axes}"
        if not 1 <= inner <= MOST_AXES:
            return f"an array has 1 to 3 dimensions, got {axes}"
        if self.gather and (inner != 2 or self.outer_axes):
            return "gather requires an array of 2 dimensions"
        if self.linear and axes > 2:
            return f"linear memory has 1 or 2 dimensions, got {axes}"
        return None


@dataclass(frozen=True, slots=True)
class Sampling:
    """The way a texture is read; the fields of ``cudaTextureDesc``."""

    filter: str = "point"  # ``filterMode``
    # ``addressMode``, a mode for all axes, or one for each in row-major order.
    address: tuple[str, ...] = ()
    normalized: bool = False  # ``normalizedCoords``
    srgb: bool = False  # ``sRGB``
    seamless: bool = False  # ``seamlessCubemap``
    read: str = "element"  # ``readMode``; the driver has it as ``CU_TRSF_READ_AS_INTEGER``
    border: tuple[float, ...] = ()  # ``borderColor``; empty without one
    mip_filter: str = "point"  # ``mipmapFilterMode``
    mip_bias: float = 0.0  # ``mipmapLevelBias``
    # ``minMipmapLevelClamp`` and ``maxMipmapLevelClamp``; empty for all levels.
    mip_clamp: tuple[float, ...] = ()
    anisotropy: int = 0  # ``maxAnisotropy``

    @property
    def texts(self) -> list[str]:
        """The options in the grammar, without those that have their default."""
        return _texts(self)

    @property
    def problem(self) -> str | None:
        """The reason why the options exclude each other; ``None`` if they do not."""
        if self.border and "border" not in self.address:
            return "border requires address=border"
        unnormalized = [mode for mode in self.address if mode in ("wrap", "mirror")]
        if unnormalized and not self.normalized:
            return f"address={unnormalized[0]} requires normalized"
        if self.srgb and self.read != "normalized":
            return "srgb requires read=normalized"
        if len(self.mip_clamp) == 2 and self.mip_clamp[0] > self.mip_clamp[1]:
            return "mip_clamp is [smallest, largest]"
        return None

    def mismatch(self, element: Type, form: ArrayForm, levels: int, axes: int) -> str | None:
        """Return the reason why an array cannot be read in this way; ``None`` if it can.

        Args:
            axes: The number of its axes, including those of layers and faces.
        """
        scalar, _ = texel(element)
        assert scalar is not None, "the array exists"
        small = scalar.is_integer and scalar.size < 4
        if self.read == "normalized" and not small:
            return f"read=normalized requires integers of 8 or 16 bits, not {scalar}"
        if self.srgb and scalar.name != "u8":
            return f"srgb requires u8, not {scalar}"
        for option in ("filter", "mip_filter"):
            integers = scalar.is_integer and self.read == "element"
            if getattr(self, option) == "linear" and integers:
                hint = "read=normalized or " if small else ""
                return f"{option}=linear requires {hint}floating-point texels"
        inner = axes - form.outer_axes
        if len(self.address) > 1 and len(self.address) != inner:
            return f"address has {len(self.address)} modes, the array has {inner} dimensions"
        if self.seamless and not form.cube:
            return "seamless requires a cube"
        if levels == 1:
            for name in ("mip_bias", "mip_clamp"):
                if getattr(self, name):
                    return f"{name} requires levels"
            if self.mip_filter != "point":
                return "mip_filter requires levels"
        if levels > 1 and not self.normalized:
            return "levels require normalized coordinates"
        if form.linear and axes == 1 and self.texts not in ([], ["read=normalized"]):
            return f"linear memory of 1 dimension has no {self.texts[0].partition('=')[0]}"
        return None


def texel(element: Type) -> tuple[ScalarType | None, int]:
    """Return the type of a texel's components, if it can be one, and their number."""
    match element:
        case ScalarType():
            return element, 1
        case VectorType():
            return element.element, element.count
        case _:
            return None, 0


def _texts(options: ArrayForm | Sampling) -> list[str]:
    """Return the options in the grammar, without those that have their default."""
    given = [(field.name, getattr(options, field.name), field.default) for field in fields(options)]
    return [
        name if value is True else f"{name}={_listed(value)}"
        for name, value, default in given
        if value != default
    ]


def _listed(value: object) -> str:
    if not isinstance(value, tuple):
        return str(value)
    return str(value[0]) if len(value) == 1 else f"[{', '.join(map(str, value))}]"


def object_word(sampling: Sampling | None) -> str:
    """Return the word of an object in the grammar."""
    return "surface" if sampling is None else "texture"


def object_text(levels: Sequence[str], form: ArrayForm, sampling: Sampling | None) -> str:
    """Return an object in the grammar, by the texts of its levels or the name of its array."""
    source = levels[0] if len(levels) == 1 else f"[{', '.join(levels)}]"
    options = form.texts + ([] if sampling is None else sampling.texts)
    return f"{object_word(sampling)}({', '.join([source, *options])})"
