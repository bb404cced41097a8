"""The driver's rules for tensor maps: driver API, section 6.30 (tensor map objects).

The driver of an H200 refuses the same arguments: ``tests/golden/tensor_maps.py``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from cudarun.base.records import dataclass

_BITS = (8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 8, 8)
"""Bits of an element in shared memory, by the number of ``CUtensorMapDataType``."""

_FIRST_FLOAT, _PACKED, _PADDED_4, _PADDED_6 = 6, 13, 14, 15
_MULTIPLES = {_PACKED: 2, _PADDED_4: 128, _PADDED_6: 128}  # of which a row of elements is one
_PADDED_BOX = 128
_MOST_SIDE = 256
_MOST_BYTES = 228 << 10  # the shared memory of a multiprocessor
_WIDEST = 3  # the swizzle of 128 bytes; those after it differ by their atoms
_CORNERS = {3: 1 << 15, 4: 1 << 7, 5: 1 << 4}  # by the number of dimensions


@dataclass(frozen=True, slots=True)
class PixelBox:
    """The mode `im2col` in numbers; the corners in row-major order."""

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    channels: int
    pixels: int


@dataclass(frozen=True, slots=True)
class EncodedTensor:
    """The arguments of ``cuTensorMapEncode*``, in row-major order; enumerators as numbers.

    There are up to 5 dimensions, and with an interleaved layout or `PixelBox` at least 3.
    """

    type: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]  # bytes, of all dimensions but the last
    steps: tuple[int, ...]  # the element strides
    box: tuple[int, ...] | PixelBox
    interleave: int
    swizzle: int
    fill: bool  # True if elements outside the tensor are NaN

    @property
    def unit(self) -> int:
        """The alignment of the address and of strides in bytes."""
        return 32 if self.interleave == 2 or self.type >= _PADDED_4 else 16


def broken_rules(tensor: EncodedTensor) -> Iterator[tuple[str, list[int]]]:
    """Yield the name of each rule that a tensor map breaks, and the numbers that explain it."""
    is_padded, box = tensor.type >= _PADDED_4, tensor.box
    inner = box.channels if isinstance(box, PixelBox) else box[-1]
    size = inner * _BITS[tensor.type] // 8
    span = 16 << min(tensor.swizzle, _WIDEST)
    if tensor.fill and not _FIRST_FLOAT <= tensor.type < _PACKED:
        yield "fill", []
    yield from _out_of_range("shape", tensor.shape, 1 << 32)
    multiple = _MULTIPLES.get(tensor.type, 1)
    if tensor.shape[-1] % multiple:
        yield "multiple", [tensor.shape[-1], multiple]
    for axis, stride in enumerate(tensor.strides):
        if stride % tensor.unit:
            yield "unit", [axis, stride, tensor.unit]
        if stride >= 1 << 40:
            yield "stride", [axis, stride, tensor.unit]
    yield from _out_of_range("steps", tensor.steps, 8)
    yield from _out_of_range("inner", (inner,), _MOST_SIDE)
    if is_padded and inner != _PADDED_BOX:
        yield "padded", [inner, _PADDED_BOX]
    if size % 16:
        yield "chunks", [inner, size]
    if tensor.swizzle and not tensor.interleave and size > span:
        yield "span", [inner, size, span]
    if is_padded and tensor.interleave:
        yield "padded interleave", []
    atoms = (0, _WIDEST, _WIDEST + 1, *((_WIDEST + 3,) if tensor.type == _PADDED_6 else ()))
    if is_padded and tensor.swizzle not in atoms:
        yield "padded swizzle", []
    if isinstance(box, PixelBox):
        limit = _CORNERS[len(tensor.shape)]
        for name, corner in (("lower", box.lower), ("upper", box.upper)):
            for value in corner:
                if not -limit <= value < limit:
                    yield name, [value, -limit, limit - 1]
        # With an interleaved layout the driver takes the last dimensions as those of pixels.
        sizes = tensor.shape[2:] if tensor.interleave else tensor.shape[1:-1]
        for size, low, high in zip(sizes, box.lower, box.upper, strict=True):
            end = (size + high + (1 << 31)) % (1 << 32) - (1 << 31)  # the driver has 32 bits for it
            if low >= end:
                yield "columns", [low, end, size]
        yield from _out_of_range("pixels", (box.pixels,), 1024)
        count = box.channels * box.pixels
    else:
        yield from _out_of_range("box", box, _MOST_SIDE)
        count = math.prod(side // step for side, step in zip(box, tensor.steps, strict=True))
    total = count * _BITS[tensor.type] // 8
    if total > _MOST_BYTES:
        yield "bytes", [total, _MOST_BYTES]


def _out_of_range(name: str, values: Sequence[int], most: int) -> Iterator[tuple[str, list[int]]]:
    return ((name, [value, most]) for value in values if not 1 <= value <= most)
