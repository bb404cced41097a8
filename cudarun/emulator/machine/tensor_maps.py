"""Tensor maps, the 128-byte descriptors of tensor memory access (PTX manual 5.5).

The manual calls them opaque. The layout is that of the driver of CUDA 13.0 for compute capability
9.0, derived from recordings: ``tests/golden/tensor_maps.py``. By 32-bit word:

======  ===========================================================================================
0, 1    global address
2       bit 0: im2col; from bit 4: rank - 1; 7: type; 11: interleave; 13: swizzle; 15: fill with
        NaN; 16: TF32; 17: L2 promotion
3 to 6  strides of dimensions 1 to 4, divided by 16; word 7 has four further bits of each
8 to 12 sizes of the dimensions, minus 1
13      from bit 0: element strides minus 1, three bits each; from bit 24: elements of the box, or
        channels, minus 1
14      tile: box sizes of dimensions 1 to 4, minus 1, eight bits each; im2col: the lower corner,
        and from bit 16 the upper one
15      im2col: pixels minus 1
16      bytes in shared memory, of which hardware makes no use
18      bytes after which the swizzle pattern repeats
======  ===========================================================================================
"""

from __future__ import annotations

import struct
from functools import lru_cache
from math import prod

from cudarun.records import dataclass

BYTES = 128
MOST_RANKS = 5

TYPES = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32", "f32", "f32")
"""The type of an element, by the number of ``CUtensorMapDataType``."""

FIRST_FLOAT = 6
_FLUSHED, _TF32, _TF32_FLUSHED = 10, 11, 12
_TF32_OF = {7: _TF32, 8: _TF32_FLUSHED}  # by the type in a map
_SIZES = {"u8": 1, "u16": 2, "f16": 2, "bf16": 2, "u64": 8, "s64": 8, "f64": 8}
# The type in a map, by that number; the two of TF32 have a bit of their own.
_CODES = (0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 7, 8)
_NUMBERS = {code: number for number, code in enumerate(_CODES[:_TF32])}
_CORNER_BITS = {3: 16, 4: 8, 5: 5}
_PATTERNS = (16, 256, 512, 1024)
_MAPS_KEPT = 64
_MOST_DIM = (1 << 31) - 1  # minus 1
_WORDS = struct.Struct("<32I")


@dataclass(frozen=True, slots=True)
class TensorMap:
    """A tensor map, as its fields.

    Attributes:
        type: The number of ``CUtensorMapDataType``.
        address: The address of the first element.
        dims: The number of elements in each dimension; the first is contiguous.
        strides: Bytes from one element to the next, of all dimensions but the first.
        steps: The element stride of each dimension.
        box: Elements of the box in each dimension; of im2col, the number of channels only.
        interleave: 0, 1 for slices of 16 bytes, 2 for slices of 32 bytes.
        swizzle: 0, or 1 to 3 for patterns of 32, 64 and 128 bytes.
        promotion: The L2 promotion, without effect.
        fill: True if elements outside the tensor are NaN.
        im2col: True for the im2col mode.
        lower: The lower corner of the box of pixels.
        upper: The upper corner, from the end of each dimension.
        pixels: The number of pixels.
    """

    type: int
    address: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    steps: tuple[int, ...]
    box: tuple[int, ...]
    interleave: int = 0
    swizzle: int = 0
    promotion: int = 0
    fill: bool = False
    im2col: bool = False
    lower: tuple[int, ...] = ()
    upper: tuple[int, ...] = ()
    pixels: int = 1

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dims)

    @property
    def element(self) -> str:
        """The PTX type of an element."""
        return TYPES[self.type]

    @property
    def element_bytes(self) -> int:
        """Bytes of an element."""
        return _SIZES.get(self.element, 4)

    @property
    def flushes(self) -> bool:
        """True if subnormal numbers become zero."""
        return self.type in (_FLUSHED, _TF32_FLUSHED)

    @property
    def tf32(self) -> bool:
        """True if elements are rounded to TF32."""
        return self.type in (_TF32, _TF32_FLUSHED)

    @property
    def shared_bytes(self) -> int:
        """Bytes in shared memory as the driver computes them, which rounds down."""
        if self.im2col:
            return self.element_bytes * self.box[0] * self.pixels
        sides = (side // step for side, step in zip(self.box, self.steps, strict=True))
        return self.element_bytes * prod(sides)

    def encode(self) -> bytes:
        """Return the 128 bytes."""
        words = [0] * 32
        words[0], words[1] = self.address & 0xFFFF_FFFF, self.address >> 32
        words[2] = (
            int(self.im2col)
            | (self.rank - 1) << 4
            | _CODES[self.type] << 7
            | self.interleave << 11
            | self.swizzle << 13
            | int(self.fill) << 15
            | int(self.tf32) << 16
            | self.promotion << 17
        )
        for place, stride in enumerate(self.strides):
            words[3 + place] = stride >> 4 & 0xFFFF_FFFF
            words[7] |= stride >> 36 << 4 * place
        for place, dim in enumerate(self.dims):
            words[8 + place] = dim - 1
        for place, step in enumerate(self.steps):
            words[13] |= step - 1 << 3 * place
        words[13] |= self.box[0] - 1 << 24
        if self.im2col:
            bits = _CORNER_BITS[self.rank]
            for start, corner in ((0, self.lower), (16, self.upper)):
                for place, value in enumerate(corner):
                    words[14] |= (value & (1 << bits) - 1) << start + bits * place
            words[15] = self.pixels - 1
        else:
            for place, side in enumerate(self.box[1:]):
                words[14] |= side - 1 << 8 * place
        words[16] = self.shared_bytes
        words[18] = _PATTERNS[self.swizzle]
        return _WORDS.pack(*words)


@lru_cache(maxsize=_MAPS_KEPT)
def decode(data: bytes) -> TensorMap | None:
    """Return the map in 128 bytes; ``None`` if hardware does not take it."""
    words = _WORDS.unpack(data)
    flags = words[2]
    rank, code, swizzle = (flags >> 4 & 7) + 1, flags >> 7 & 15, flags >> 13 & 3
    im2col = bool(flags & 1)
    if rank > MOST_RANKS or code not in _NUMBERS or (im2col and rank not in _CORNER_BITS):
        return None
    if any(words[8 + place] > _MOST_DIM for place in range(rank)):
        return None
    box: tuple[int, ...] = ((words[13] >> 24) + 1,)
    lower: tuple[int, ...] = ()
    upper: tuple[int, ...] = ()
    if im2col:
        bits = _CORNER_BITS[rank]
        lower = tuple(signed(words[14] >> bits * place, bits) for place in range(rank - 2))
        upper = tuple(signed(words[14] >> 16 + bits * place, bits) for place in range(rank - 2))
    else:
        box += tuple((words[14] >> 8 * place & 255) + 1 for place in range(rank - 1))
    return TensorMap(
        type=_TF32_OF.get(code, _NUMBERS[code]) if flags >> 16 & 1 else _NUMBERS[code],
        address=words[0] | words[1] << 32,
        dims=tuple(words[8 + place] + 1 for place in range(rank)),
        strides=tuple(
            (words[3 + place] | (words[7] >> 4 * place & 15) << 32) << 4
            for place in range(rank - 1)
        ),
        steps=tuple((words[13] >> 3 * place & 7) + 1 for place in range(rank)),
        box=box,
        interleave=flags >> 11 & 3,
        swizzle=swizzle,
        promotion=flags >> 17 & 3,
        fill=bool(flags >> 15 & 1),
        im2col=im2col,
        lower=lower,
        upper=upper,
        pixels=(words[15] & 1023) + 1,
    )


def signed(value: int, bits: int) -> int:
    """Return the lowest bits of a number as one with a sign."""
    value &= (1 << bits) - 1
    return value - (value >> bits - 1 << bits)
