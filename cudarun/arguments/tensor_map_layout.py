"""Tensor maps resolved: dimensions, strides and box in numbers, checked by the driver's rules.

The rules are those of ``cuTensorMapEncodeTiled`` and ``cuTensorMapEncodeIm2col`` (driver API,
section 6.30), which itself answers only that a value is invalid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from cudarun.arguments.dimensions import evaluate_dimension, evaluate_index
from cudarun.arguments.scanner import counted
from cudarun.arguments.tensor_map_options import (
    ELEMENTS,
    INTERLEAVES,
    SWIZZLES,
    Im2col,
    Sizes,
    TensorElement,
    TensorMapOptions,
    element_name,
)
from cudarun.arguments.types import ScalarType, Type, inner_shape, innermost
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
from cudarun.base.tensor_map_rules import EncodedTensor, PixelBox, broken_rules

_MOST_RANKS = 5


@dataclass(frozen=True, slots=True)
class TensorMapLayout:
    """All arguments of the driver's call but the address, in row-major order."""

    type: str  # the data type, of `ELEMENTS`
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes from one index to the next, of all dimensions but the last
    box: tuple[int, ...]  # the sides of the box; of the mode `im2col` none
    element_strides: tuple[int, ...]  # the step in each dimension
    swizzle: str
    interleave: str
    l2: str  # the promotion of accesses to L2
    oob: str  # the value of elements outside the tensor
    pixel_box: PixelBox | None = None  # the mode `im2col`; ``None`` for tiles

    @property
    def element(self) -> TensorElement:
        """The data type."""
        return ELEMENTS[self.type]

    @property
    def nbytes(self) -> int:
        """Bytes from the first element to the end of the last."""
        if 0 in self.shape:
            return 0
        inner = -(-self.shape[-1] * self.element.bits // 8)
        sizes = zip(self.shape, self.strides, strict=False)
        return sum((size - 1) * stride for size, stride in sizes) + inner

    @property
    def element_strides_in_memory(self) -> tuple[int, ...]:
        """Elements from one index to the next, of every dimension."""
        return (*(stride * 8 // self.element.bits for stride in self.strides), 1)

    def __str__(self) -> str:
        parts = [f"{self.type}[{','.join(map(str, self.shape))}]"]
        dense = _dense(self.shape, self.element)
        if self.strides != dense:
            parts.append(f"strides={_by_x(self.element_strides_in_memory)}")
        if self.pixel_box is None:
            parts.append(f"box={_by_x(self.box)}")
        else:
            found = self.pixel_box
            parts.append(
                f"im2col(lower={_by_x(found.lower)}, upper={_by_x(found.upper)}, "
                f"channels={found.channels}, pixels={found.pixels})"
            )
        if any(step != 1 for step in self.element_strides):
            parts.append(f"element_strides={_by_x(self.element_strides)}")
        settings = (("swizzle", "none"), ("interleave", "none"), ("l2", "none"), ("oob", "zero"))
        for name, default in settings:
            value = getattr(self, name)
            if value != default:
                parts.append(f"{name}={value}")
        return ", ".join(parts)


def tensor_map_layout(
    options: TensorMapOptions, element: Type, shape: tuple[int, ...], integers: Mapping[str, int]
) -> TensorMapLayout:
    """Return the layout of a map of a tensor, checked.

    Args:
        shape: The dimensions of the buffer, in elements.

    Raises:
        RequestError: The driver would refuse it; the message names the rule.
    """
    scalar = innermost(element)
    if not isinstance(scalar, ScalarType):
        raise RequestError(f"a tensor map requires a tensor of numbers, not of {element}")
    name = options.type or element_name(scalar)
    found = ELEMENTS[name]
    if found.stored != scalar.size:
        raise RequestError(
            f"type={name} requires elements of {found.stored} bytes, {scalar} has {scalar.size}"
        )
    dims = (*shape, *inner_shape(element))
    dims = (*dims[:-1], dims[-1] * 8 * found.stored // found.bits)
    if options.shape is not None:
        dims = _evaluated(options.shape, integers)
    rank = len(dims)
    strides = _dense(dims, found)
    if options.strides is not None:
        *outer, last = _ranked("strides", options.strides, rank, integers)
        _demand(
            last == 1,
            f"strides: the last is {last}, and the last dimension is contiguous",
            "transpose the tensor, or step over elements with element_strides=",
        )
        strides = tuple(each * found.bits // 8 for each in outer)
    steps = (1,) * rank
    if options.element_strides is not None:
        steps = _ranked("element_strides", options.element_strides, rank, integers)
    box: tuple[int, ...] = ()
    if options.box is not None:
        box = _ranked("box", options.box, rank, integers)
    layout = TensorMapLayout(
        type=name, shape=dims, strides=strides, box=box, element_strides=steps,
        swizzle=options.swizzle, interleave=options.interleave, l2=options.l2, oob=options.oob,
        pixel_box=_pixel_box(options.im2col, rank, integers),
    )  # fmt: skip
    check_layout(layout)
    return layout


def check_address(layout: TensorMapLayout, offset: int, nbytes: int, buffer: str) -> None:
    """Check the place of a tensor in its buffer, whose address is aligned to 256 bytes."""
    unit = _encoded(layout).unit
    place = f"the tensor is at byte {offset} of {buffer}"
    _demand(offset % unit == 0, f"{place}, not a multiple of {unit} bytes")
    end = offset + layout.nbytes
    _demand(nbytes > 0, f"{buffer} is empty")
    _demand(end <= nbytes, f"the tensor ends at byte {end}, {buffer} has {nbytes} bytes")


# --- sizes ---------------------------------------------------------------------------------------


def _evaluated(sizes: Sizes, integers: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(evaluate_dimension(each, integers) for each in sizes)


def _ranked(name: str, sizes: Sizes, rank: int, integers: Mapping[str, int]) -> tuple[int, ...]:
    found = _evaluated(sizes, integers)
    values, dimensions = counted(len(found), "value"), counted(rank, "dimension")
    _demand(len(found) == rank, f"{name} has {values}, and the tensor has {dimensions}")
    return found


def _dense(dims: tuple[int, ...], element: TensorElement) -> tuple[int, ...]:
    """Return the strides of a dense tensor in bytes."""
    bits = [element.bits * math.prod(dims[axis + 1 :]) for axis in range(len(dims) - 1)]
    return tuple(each // 8 for each in bits)


def _pixel_box(im2col: Im2col | None, rank: int, integers: Mapping[str, int]) -> PixelBox | None:
    if im2col is None:
        return None
    _demand(rank >= 3, f"im2col requires 3 to 5 dimensions, the tensor has {rank}")
    corners = []
    for name, corner in (("lower", im2col.lower), ("upper", im2col.upper)):
        found = tuple(evaluate_index(each, integers) for each in corner)
        _demand(
            len(found) == rank - 2,
            f"{name} has {counted(len(found), 'value')}, and a tensor of {rank} dimensions has "
            f"{rank - 2} of pixels: all but the first and the last",
        )
        corners.append(found)
    channels, pixels = _evaluated((im2col.channels, im2col.pixels), integers)
    return PixelBox(corners[0], corners[1], channels, pixels)


# --- the rules of the driver ---------------------------------------------------------------------


def check_layout(layout: TensorMapLayout) -> None:
    """Check everything but the address."""
    rank, columns = len(layout.shape), layout.pixel_box
    _demand(
        1 <= rank <= _MOST_RANKS,
        f"the tensor has {counted(rank, 'dimension')}, not 1 to {_MOST_RANKS}",
    )
    _demand(
        layout.interleave == "none" or rank >= 3,
        f"interleave requires 3 to 5 dimensions, the tensor has {rank}",
    )
    what, inner = (
        ("channels", columns.channels) if columns else ("the last side of the box", layout.box[-1])
    )
    side = f"{what} is {counted(inner, 'element')} of {{1}} bytes"
    texts = {
        "fill": f"oob=nan requires floating elements, not {layout.type}",
        "shape": "the shape has {}, which is not 1 to {}",
        "multiple": f"the last dimension of {layout.type} is {{}}, not a multiple of {{}}",
        "unit": "the stride of dimension {} is {} bytes, not a multiple of {} bytes",
        "stride": "the stride of dimension {} is {} bytes, over 2^40",
        "steps": "element_strides has {}, which is not 1 to {}",
        "inner": f"{what} has {{}}, which is not 1 to {{}}",
        "padded": f"{what} is {{}}, and {layout.type} requires {{}}",
        "chunks": f"{side}, not a multiple of 16 bytes",
        "span": f"{side}, more than the {{2}} of swizzle={layout.swizzle}",
        "padded interleave": f"{layout.type} requires interleave=none",
        "padded swizzle": f"{layout.type} cannot be used with swizzle={layout.swizzle}",
        "box": "box has {}, which is not 1 to {}",
        "lower": "im2col: lower has {}, which is not {} to {}",
        "upper": "im2col: upper has {}, which is not {} to {}",
        "columns": "im2col: the box of pixels is from {} to {} in a dimension of {}",
        "pixels": "pixels has {}, which is not 1 to {}",
        "bytes": "the box has {} bytes, more than {}",
    }
    for rule, values in broken_rules(_encoded(layout)):
        hint = "pad the rows of the buffer, and set shape= and strides=" if rule == "unit" else None
        raise RequestError(texts[rule].format(*values), hint=hint)


def _encoded(layout: TensorMapLayout) -> EncodedTensor:
    return EncodedTensor(
        type=[*ELEMENTS].index(layout.type),
        shape=layout.shape,
        strides=layout.strides,
        steps=layout.element_strides,
        box=layout.pixel_box or layout.box,
        interleave=[*INTERLEAVES].index(layout.interleave),
        swizzle=[*SWIZZLES].index(layout.swizzle),
        fill=layout.oob == "nan",
    )


def _demand(holds: bool, message: str, hint: str | None = None) -> None:
    if not holds:
        raise RequestError(message, hint=hint)


def _by_x(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes))
