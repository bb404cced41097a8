"""Tensor maps, the 128-byte descriptors of tensor memory access (PTX manual 5.5).

The manual calls them opaque. The layout is that of the driver of CUDA 13.0 for compute capability
9.0, derived from recordings: ``tests/golden/tensor_maps.py``. It consists of the fields of
`field_parts`; the bytes in shared memory, of which hardware makes no use, in word 16; and the bytes
after which the swizzle pattern repeats in word 18.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from functools import lru_cache
from math import prod
from typing import NamedTuple

from cudarun.base.records import dataclass

BYTES = 128
MOST_RANKS = 5

TYPES = ("u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32", "f32", "f32",
         "u64", "b128", "b128")  # fmt: skip
"""The type of an element, or of a group, by the number of ``CUtensorMapDataType``."""

PACKED, PADDED_4, PADDED_6 = 13, 14, 15
"""The types of groups of 16 packed elements, which need compute capability 10 (PTX manual 5.5.1).

Their codes are the manual's numbers. The second and the third, of 4 and 6 bits, have gaps in shared
memory, where each group has 16 bytes.
"""

_GROUP = 16

_FLUSHED, _TF32, _TF32_FLUSHED = 10, 11, 12
_TF32_OF = {7: _TF32, 8: _TF32_FLUSHED}  # by the type in a map
_SIZES = {"u8": 1, "u16": 2, "f16": 2, "bf16": 2, "u64": 8, "s64": 8, "f64": 8, "b128": 16}
# The type in a map, by that number; the two of TF32 have a bit of their own.
_CODES = (0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 7, 8, PACKED, PADDED_4, PADDED_6)
_NUMBERS = {code: number for number, code in enumerate(_CODES) if number not in (11, 12)}
_CORNER_BITS = {3: 16, 4: 8, 5: 5}
_PATTERNS = (16, 256, 512, 1024, 256)
_WITH_ATOMS = 3  # the swizzle that can have atoms of several chunks
_MAPS_KEPT = 64
_MOST_DIM = 1 << 31
_WORDS = struct.Struct("<32I")


@dataclass(frozen=True, slots=True)
class TensorMap:
    """A tensor map, as its fields."""

    type: int  # the number of ``CUtensorMapDataType``
    address: int  # the address of the first element
    dims: tuple[int, ...]  # the number of elements in each dimension; the first is contiguous
    strides: tuple[int, ...]  # bytes from one element to the next, of all dimensions but the first
    steps: tuple[int, ...]  # the element stride of each dimension
    # Elements of the box in each dimension; of im2col, the number of channels only.
    box: tuple[int, ...]
    interleave: int = 0  # 0, 1 for slices of 16 bytes, 2 for slices of 32 bytes
    swizzle: int = 0  # 0, 1 to 3 for rows of 32, 64 and 128 bytes, 4 for 96 bytes (sm_103)
    # The atomicity of the pattern of 128 bytes: 0 for chunks of 16 bytes, 1 for 32, 2 for 32 whose
    # lines alternately have the halves of 16 bytes exchanged, 3 for 64.
    atomicity: int = 0
    promotion: int = 0  # the L2 promotion, without effect
    fill: bool = False  # True if elements outside the tensor are NaN
    im2col: bool = False  # True for the im2col mode
    lower: tuple[int, ...] = ()  # the lower corner of the box of pixels
    upper: tuple[int, ...] = ()  # the upper corner, from the end of each dimension
    pixels: int = 1  # the number of pixels

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
        """Bytes of an element, or of a group, in shared memory."""
        return _SIZES.get(self.element, 4)

    @property
    def global_bytes(self) -> int:
        """Bytes of an element, or of a group, in global memory."""
        return {PADDED_4: 8, PADDED_6: 12}.get(self.type, self.element_bytes)

    @property
    def is_padded(self) -> bool:
        """True if groups have gaps in shared memory."""
        return self.type >= PADDED_4

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

    @property
    def group(self) -> int:
        """The number of elements that coordinates count, and that are copied as one."""
        return _GROUP if self.type >= PACKED else 1

    def in_groups(self) -> TensorMap:
        """Return the same tensor with groups for packed elements."""
        first, side = self.dims[0] // self.group, self.box[0] // self.group
        return replace(self, dims=(first, *self.dims[1:]), box=(side, *self.box[1:]))

    def encode(self) -> bytes:
        """Return the 128 bytes; of packed elements that are not yet in groups."""
        words = [0] * 32
        fields: dict[str, tuple[int, ...]] = {
            "global_address": (self.address,),
            "im2col": (self.im2col,),
            "rank": (self.rank - 1,),
            "elemtype": (_CODES[self.type],),
            "interleave_layout": (self.interleave,),
            "swizzle_mode": (self.swizzle,),
            "swizzle_atomicity": (self.atomicity,),
            "fill_mode": (self.fill,),
            "tf32": (self.tf32,),
            "promotion": (self.promotion,),
            "global_stride": self.strides,
            "global_dim": self.dims,
            "element_stride": self.steps,
            "box_dim": self.box,
            f"lower_{self.rank}": self.lower,
            f"upper_{self.rank}": self.upper,
            "pixels": (self.pixels,),
        }
        for name, values in fields.items():
            for place, value in enumerate(values):
                for part in field_parts(name, place):
                    words[part.word] |= (
                        value - part.less >> part.skipped & part.most
                    ) << part.start
        words[16] = self.in_groups().shared_bytes
        words[18] = _PATTERNS[self.swizzle]
        return _WORDS.pack(*words)


@lru_cache(maxsize=_MAPS_KEPT)
def decode(data: bytes) -> TensorMap | None:
    """Return the map in 128 bytes, in groups; ``None`` if hardware does not take it."""
    words = _WORDS.unpack(data)

    def field(name: str, place: int = 0) -> int:
        return sum(
            ((words[part.word] >> part.start & part.most) << part.skipped) + part.less
            for part in field_parts(name, place)
        )

    def fields(name: str, count: int) -> tuple[int, ...]:
        return tuple(field(name, place) for place in range(count))

    rank, code, im2col = field("rank") + 1, field("elemtype"), bool(field("im2col"))
    if rank > MOST_RANKS or code not in _NUMBERS or (im2col and rank not in _CORNER_BITS):
        return None
    dims, swizzle = fields("global_dim", rank), field("swizzle_mode")
    atomicity = field("swizzle_atomicity")
    if max(dims) > _MOST_DIM or swizzle >= len(_PATTERNS):
        return None
    if atomicity and swizzle != _WITH_ATOMS:
        return None
    corners = [
        tuple(signed(value, _CORNER_BITS[rank]) for value in fields(f"{which}_{rank}", rank - 2))
        for which in (("lower", "upper") if im2col else ())
    ]
    return TensorMap(
        type=_TF32_OF.get(code, _NUMBERS[code]) if field("tf32") else _NUMBERS[code],
        address=field("global_address"),
        dims=dims,
        strides=fields("global_stride", rank - 1),
        steps=fields("element_stride", rank),
        box=fields("box_dim", 1 if im2col else rank),
        interleave=field("interleave_layout"),
        swizzle=swizzle,
        atomicity=atomicity,
        promotion=field("promotion"),
        fill=bool(field("fill_mode")),
        im2col=im2col,
        lower=corners[0] if im2col else (),
        upper=corners[1] if im2col else (),
        pixels=field("pixels"),
    ).in_groups()


class FieldPart(NamedTuple):
    """Bits of a field in one word of a map."""

    word: int  # the word
    start: int  # its first bit there
    bits: int  # the number of bits
    less: int = 0  # what is subtracted from the value
    skipped: int = 0  # the lowest bits of the value, which are elsewhere or nowhere

    @property
    def most(self) -> int:
        """The largest number in these bits."""
        return (1 << self.bits) - 1


_FIELDS = {
    "global_address": (FieldPart(0, 0, 32), FieldPart(1, 0, 32, skipped=32)),
    "im2col": (FieldPart(2, 0, 1),),
    "rank": (FieldPart(2, 4, 3),),
    "elemtype": (FieldPart(2, 7, 4),),
    "interleave_layout": (FieldPart(2, 11, 2),),
    "swizzle_mode": (FieldPart(2, 13, 2), FieldPart(2, 21, 1, skipped=2)),  # its third bit is ours
    "fill_mode": (FieldPart(2, 15, 1),),
    "tf32": (FieldPart(2, 16, 1),),
    "promotion": (FieldPart(2, 17, 2),),
    "swizzle_atomicity": (FieldPart(2, 19, 2),),  # of compute capability 10; its place is ours
    "pixels": (FieldPart(15, 0, 10, 1),),
}


def field_parts(name: str, place: int) -> tuple[FieldPart, ...]:
    """Return the parts of a field, by the name that it has in ``tensormap.replace`` if it has one.

    Args:
        name: The name; of the corners of im2col, with the rank.
        place: The dimension, where there is one.
    """
    match name.split("_"):
        case "box", "dim":
            return (FieldPart(13, 24, 8, 1) if place == 0 else FieldPart(14, 8 * place - 8, 8, 1),)
        case "global", "dim":
            return (FieldPart(8 + place, 0, 32, 1),)
        case "element", "stride":
            return (FieldPart(13, 3 * place, 3, 1),)
        case "global", "stride":
            low, high = FieldPart(3 + place, 0, 32, 0, 4), FieldPart(7, 4 * place, 4, 0, 36)
            return low, high
        case "lower" | "upper" as which, rank:
            bits = _CORNER_BITS[int(rank)]
            return (FieldPart(14, (0 if which == "lower" else 16) + bits * place, bits),)
    return _FIELDS[name]


def signed(value: int, bits: int) -> int:
    """Return the lowest bits of a number as one with a sign."""
    value &= (1 << bits) - 1
    return value - (value >> bits - 1 << bits)
