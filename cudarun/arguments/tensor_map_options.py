"""The options of a tensor map, as written in ``tensormap(x, box=64x64, swizzle=128B)``.

Sizes are in row-major order, as buffers are written: the last dimension is contiguous. The driver
has the opposite order (driver API, section 6.30, tensor map objects).
"""

from __future__ import annotations

from dataclasses import fields
from typing import TypeAlias

from cudarun.arguments.expressions.syntax import Expression, Number
from cudarun.arguments.types import ScalarType
from cudarun.base.records import dataclass

Sizes: TypeAlias = tuple[Expression, ...]  # a size of each dimension

_ATOMS = ("128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B")
SWIZZLES = {"none": "NONE", **{name: name for name in ("32B", "64B", "128B", *_ATOMS)}}
INTERLEAVES = {"none": "NONE", "16B": "16B", "32B": "32B"}
PROMOTIONS = {"none": "NONE", "64B": "L2_64B", "128B": "L2_128B", "256B": "L2_256B"}
FILLS = {"zero": "NONE", "nan": "NAN_REQUEST_ZERO_FMA"}
"""The values of options, with the last part of the name of the driver's enumerator."""


@dataclass(frozen=True, slots=True)
class TensorElement:
    """A data type of tensor maps."""

    enumerator: str  # the last part of the name in ``CUtensorMapDataType``
    bits: int  # bits of an element in global memory
    stored: int  # bytes of an element of the buffer
    is_float: bool = False  # whether elements outside the tensor can be NaN


ELEMENTS = {
    "u8": TensorElement("UINT8", 8, 1),
    "u16": TensorElement("UINT16", 16, 2),
    "u32": TensorElement("UINT32", 32, 4),
    "i32": TensorElement("INT32", 32, 4),
    "u64": TensorElement("UINT64", 64, 8),
    "i64": TensorElement("INT64", 64, 8),
    "f16": TensorElement("FLOAT16", 16, 2, True),
    "f32": TensorElement("FLOAT32", 32, 4, True),
    "f64": TensorElement("FLOAT64", 64, 8, True),
    "bf16": TensorElement("BFLOAT16", 16, 2, True),
    "f32_ftz": TensorElement("FLOAT32_FTZ", 32, 4, True),
    "tf32": TensorElement("TFLOAT32", 32, 4, True),
    "tf32_ftz": TensorElement("TFLOAT32_FTZ", 32, 4, True),
    "u4_align8B": TensorElement("16U4_ALIGN8B", 4, 1),
    "u4_align16B": TensorElement("16U4_ALIGN16B", 4, 1),
    "u6_align16B": TensorElement("16U6_ALIGN16B", 6, 1),
}
"""The data types by their names in the grammar."""

NEWER = {*_ATOMS, *(name for name in ELEMENTS if name.startswith(("u4", "u6")))}
"""Swizzles and data types that require compute capability 10.0."""

_OF_SCALARS = {"i8": "u8", "bool": "u8", "f8e4m3": "u8", "f8e5m2": "u8", "i16": "u16"}


def element_name(scalar: ScalarType) -> str:
    """Return the data type for the elements of a buffer: bits alone for those without one."""
    return _OF_SCALARS.get(scalar.name, scalar.name)


@dataclass(frozen=True, slots=True)
class Im2col:
    """The mode for convolutions."""

    # The lower corner of the box of pixels, in the dimensions between the first and the last.
    lower: Sizes
    upper: Sizes  # the upper corner, relative to the end of each dimension
    channels: Expression  # the channels of a pixel
    pixels: Expression  # the pixels of a column

    def __str__(self) -> str:
        return (
            f"im2col(lower={sizes_text(self.lower)}, upper={sizes_text(self.upper)}, "
            f"channels={self.channels}, pixels={self.pixels})"
        )


@dataclass(frozen=True, slots=True)
class TensorMapOptions:
    """The options, as given."""

    box: Sizes | None = None  # the box; ``None`` in the mode `im2col`
    im2col: Im2col | None = None  # the mode for convolutions
    shape: Sizes | None = None  # the dimensions of the tensor; ``None`` for those of the buffer
    # Elements from one index of each dimension to the next; ``None`` for a dense tensor.
    strides: Sizes | None = None
    # The step between the elements of a box, in each dimension.
    element_strides: Sizes | None = None
    type: str | None = None  # the data type; ``None`` for that of the buffer's elements
    swizzle: str = "none"
    interleave: str = "none"
    l2: str = "none"  # the promotion of accesses to L2
    oob: str = "zero"  # the value of elements outside the tensor

    def __str__(self) -> str:
        texts = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                text = sizes_text(value) if isinstance(value, tuple) else str(value)
                texts.append(text if field.name == "im2col" else f"{field.name}={text}")
        return ", ".join(texts)


def sizes_of(*values: int) -> Sizes:
    """Return constant sizes."""
    return tuple(Expression(str(value), Number(value), str(value)) for value in values)


def sizes_text(sizes: Sizes) -> str:
    """Return the text of sizes: ``64x32``, or ``[m, 2*k]`` if any is not a plain number."""
    if all(isinstance(each.node, Number) for each in sizes):
        return "x".join(map(str, sizes))
    return f"[{', '.join(map(str, sizes))}]"
