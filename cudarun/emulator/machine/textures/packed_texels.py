"""Texels that share elements in memory: blocks of 4 by 4 texels, and channels of 10 bits.

The layout of the blocks BC1 to BC5 is that of the Khronos Data Format Specification;
`machine.textures.bptc` has that of BC6H and BC7. Between both ends of a block an H200
(``tests/golden``) computes in integers, from the nearer end, with weights that differ by format.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.machine.textures.bptc import bit_field, bits_of, bptc_colors, bptc_halves
from cudarun.emulator.machine.textures.texels import Texels
from cudarun.emulator.numerics.arrays import Array

_ALL, _COLORS, _ALPHA = slice(4), slice(3), 3
_ONE = {np.uint8: 0xFF, np.uint16: 0xFFFF, np.int16: 0x7FFF, np.float16: 1}


@dataclass(frozen=True, eq=False)
class Packing:
    """The layout of an element that holds several texels, or several channels in one number."""

    channels: int  # ``NumChannels`` of an array
    bytes: int  # size of an element
    dtype: type[np.generic]  # type of a decoded channel
    # The decoders of an element or of its halves, and the channels that they return; the first half
    # replaces channels of the second one.
    parts: tuple[tuple[Callable[[Array], Array], int | slice], ...]
    side: int = 4  # texels per row and per column of an element
    digits: tuple[int, ...] = ()  # bits of each channel, if those of its type repeat them

    def decoded(self, elements: Array, *, opaque: bool) -> Array:
        """Return the texels of elements, given as rows of bytes.

        Args:
            opaque: A missing alpha is 1, else 0.
        """
        found = np.zeros((len(elements), self.side**2, 4), dtype=self.dtype)
        if opaque:
            found[:, :, _ALPHA] = _ONE[self.dtype]
        halves = np.split(elements, len(self.parts), axis=1)
        for (decode, channels), half in reversed([*zip(self.parts, halves, strict=True)]):
            found[:, :, channels] = decode(half)
        return found


@dataclass(frozen=True, eq=False)
class PackedTexels(Texels):
    """Texels in elements, which are in rows of a given pitch."""

    packing: Packing | None = None  # the layout of the elements
    opaque: bool = True  # a missing alpha is 1, as an H200 has it in an array; in a view it is 0

    def at(self, columns: Array, rows: Array, slices: Array) -> Array:
        """Return texels, a row of channels for each; none is beyond the memory of an array."""
        assert self.packing
        side, size = self.packing.side, self.packing.bytes
        places = slices * self.slice_pitch + rows // side * self.pitch + columns // side * size
        unique, element = np.unique(places, return_inverse=True)
        decoded = self.packing.decoded(
            self.bytes[unique[:, None] + np.arange(size)], opaque=self.opaque
        )
        texels: Array = decoded[element, rows % side * side + columns % side]
        return texels

    def fractions(self, values: Array) -> Array:
        """Return channels as fractions of the largest."""
        if self.packing is None or not self.packing.digits:
            return Texels.fractions(self, values)
        digits = np.array(self.packing.digits)
        shares: Array = (values >> 16 - digits) / np.float64((1 << digits) - 1)
        return shares


def _tens(elements: Array) -> Array:
    bits = bits_of(elements)
    tens = np.stack([bit_field(bits, start, 10) for start in (0, 10, 20)], axis=1)
    return np.column_stack([tens << 6 | tens >> 4, bit_field(bits, 30, 2) * 0x5555])[:, None]


def _indices(bits: Array, start: int, width: int) -> Array:
    return np.stack([bit_field(bits, start + width * texel, width) for texel in range(16)], axis=1)


def _fours(blocks: Array) -> Array:
    """Return 16 numbers of 4 bits, repeated to have 8."""
    return _indices(bits_of(blocks), 0, 4) * 17


# --- colors of 5, 6 and 5 bits -------------------------------------------------------------------


def _colors(blocks: Array, *, opaque: bool = False) -> Array:
    """Return the colors of blocks.

    Unless opaque, a block whose first end is not larger has three colors and transparent black.
    """
    bits = bits_of(blocks)
    ends, wide = np.zeros((2, 2, len(blocks), 3), dtype=np.int64)
    for number in range(2):
        for channel, (start, width) in enumerate(((11, 5), (5, 6), (0, 5))):
            end = bit_field(bits, 16 * number + start, width)
            ends[number, :, channel] = end
            wide[number, :, channel] = end << 8 - width | end >> 2 * width - 8
    three = (bit_field(bits, 0, 16) <= bit_field(bits, 16, 16))[:, None] & (not opaque)
    palette = np.full((len(blocks), 4, 4), 255, dtype=np.int64)
    palette[:, :2, :3] = wide.transpose(1, 0, 2)
    for number, (near, far) in enumerate(((0, 1), (1, 0)), start=2):
        sums = np.where(three, (ends[near] + ends[far]) * 33, (2 * ends[near] + ends[far]) * 22)
        palette[:, number, :3] = sums >> 3
        green = wide[far, :, 1] - wide[near, :, 1]
        share = green * np.where(three[:, 0], 128, 80) + (green >> 2) + 128
        palette[:, number, 1] = wide[near, :, 1] + (share >> 8)
    palette[three[:, 0], 3] = 0
    return np.take_along_axis(palette, _indices(bits, 32, 2)[:, :, None], axis=1)


# --- numbers between two ends --------------------------------------------------------------------

# By index, if there are eight numbers or six: the end from which a number is computed, and its
# steps from there, which are sevenths or fifths of the way. Four sevenths are exact, not three.
_END = np.array([[0, 1, 0, 0, 1, 0, 1, 1], [0, 1, 0, 0, 1, 1, 0, 1]])
_STEPS = np.array([[0, 0, 1, 2, 4, 4, 2, 1], [0, 0, 1, 2, 2, 1, 0, 0]])


def _numbers(
    blocks: Array, kind: type[np.generic], one: int, step: tuple[int, int], shift: int = 0
) -> Array:
    """Return the numbers of blocks of two ends and an index of 3 bits per texel.

    Args:
        kind: The type of an end.
        one: The result of the greatest end.
        step: A seventh, and a fifth, of the way between ends whose difference is 1.
        shift: Bits of fraction of a step.
    """
    limits = np.array([0, 255] if kind is np.uint8 else [-127, 127])
    ends = np.maximum(blocks[:, :2].view(kind).astype(np.int64), limits[0])
    index = _indices(bits_of(blocks), 16, 3)
    six = (ends[:, 0] <= ends[:, 1]).astype(np.int64)[:, None]
    end = _END[six, index]
    difference = (ends[:, 1] - ends[:, 0])[:, None] * (1 - 2 * end)
    way: Array = _STEPS[six, index] * np.array(step)[six] * difference
    limited = (six > 0) & (index >= 6)
    start = np.where(limited, limits[end], np.take_along_axis(ends, end, axis=1))
    wide = np.rint(start * one / limits[1]).astype(np.int64)
    numbers: Array = wide + (way + (1 << shift >> 1) >> shift)
    return numbers


_bytes = partial(_numbers, kind=np.uint8, one=0xFF, step=(289, 385), shift=11)
_words = partial(_numbers, kind=np.uint8, one=0xFFFF, step=(36, 48))
_signed = partial(_numbers, kind=np.int8, one=0x7FFF, step=(36, 48))
_opaque = partial(_colors, opaque=True)
_unsigned_halves, _signed_halves = (partial(bptc_halves, signed=signed) for signed in (False, True))

PACKINGS = {
    "UNORM_INT_101010_2": Packing(4, 4, np.uint16, ((_tens, _ALL),), 1, (10, 10, 10, 2)),
    "BC1_UNORM": Packing(4, 8, np.uint8, ((_colors, _ALL),)),
    "BC2_UNORM": Packing(4, 16, np.uint8, ((_fours, _ALPHA), (_opaque, _ALL))),
    "BC3_UNORM": Packing(4, 16, np.uint8, ((_bytes, _ALPHA), (_opaque, _ALL))),
    "BC4_UNORM": Packing(1, 8, np.uint16, ((_words, 0),)),
    "BC4_SNORM": Packing(1, 8, np.int16, ((_signed, 0),)),
    "BC5_UNORM": Packing(2, 16, np.uint16, ((_words, 0), (_words, 1))),
    "BC5_SNORM": Packing(2, 16, np.int16, ((_signed, 0), (_signed, 1))),
    "BC6H_UF16": Packing(3, 16, np.float16, ((_unsigned_halves, _COLORS),)),
    "BC6H_SF16": Packing(3, 16, np.float16, ((_signed_halves, _COLORS),)),
    "BC7_UNORM": Packing(4, 16, np.uint8, ((bptc_colors, _ALL),)),
}
"""The packing of formats, by the name of ``CUarray_format``."""
