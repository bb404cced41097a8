"""Texels that share elements in memory: blocks of 4 by 4 texels, and channels of 10 bits.

The layout of the blocks BC1 to BC5 is that of the Khronos Data Format Specification; `machine.bptc`
has that of BC6H and BC7. Between both ends of a block an H200 (``tests/golden``) computes in
integers, with weights that differ by format, and from the nearer end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cudarun.emulator.machine.textures.bptc import bit_field, bits_of, bptc_colors, bptc_halves
from cudarun.emulator.machine.textures.texels import Texels
from cudarun.emulator.numerics.arrays import Array
from cudarun.records import dataclass

_CHANNELS = 4


@dataclass(frozen=True, eq=False)
class Packing:
    """The layout of texels that share an element.

    Attributes:
        decode: Returns four channels of each texel of elements, which are given as rows of bytes.
        bytes: Size of an element.
        dtype: Type of a decoded channel.
        side: Texels per row and per column of an element.
        digits: Bits of each channel, if those of its type repeat them.
    """

    decode: Callable[[Array], Array]
    bytes: int
    dtype: np.dtype[Any]
    side: int = 4
    digits: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class PackedTexels(Texels):
    """Texels in elements, which are in rows of a given pitch."""

    packing: Packing | None = None

    def at(self, columns: Array, rows: Array, slices: Array) -> Array:
        """Return texels, a row of channels for each; none is beyond the memory of an array."""
        assert self.packing is not None
        side, size = self.packing.side, self.packing.bytes
        places = slices * self.slice_pitch + rows // side * self.pitch + columns // side * size
        unique, element = np.unique(places, return_inverse=True)
        decoded = self.packing.decode(self.bytes[unique[:, None] + np.arange(size)])
        texels: Array = decoded[element, rows % side * side + columns % side]
        return texels

    def fractions(self, values: Array) -> Array:
        """Return channels as fractions of the largest."""
        if self.packing is None or not self.packing.digits:
            return super().fractions(values)
        digits = np.array(self.packing.digits)
        shares: Array = (values >> 16 - digits) / np.float64((1 << digits) - 1)
        return shares


def _tens(elements: Array) -> Array:
    bits = bits_of(elements)
    tens = np.stack([bit_field(bits, start, 10) for start in (0, 10, 20)], axis=1)
    twos = bit_field(bits, 30, 2) * 0x5555
    return np.column_stack([tens << 6 | tens >> 4, twos])[:, None]


def _indices(bits: Array, start: int, width: int) -> Array:
    return np.stack([bit_field(bits, start + width * texel, width) for texel in range(16)], axis=1)


# --- colors of 5, 6 and 5 bits -------------------------------------------------------------------


def _colors(blocks: Array, *, few: bool = True) -> Array:
    """Return the colors of BC1; ``few`` permits blocks of three colors and transparent black."""
    bits = bits_of(blocks)
    ends, wide = np.zeros((2, 2, len(blocks), 3), dtype=np.int64)
    for number in range(2):
        for channel, (start, width) in enumerate(((11, 5), (5, 6), (0, 5))):
            end = bit_field(bits, 16 * number + start, width)
            ends[number, :, channel] = end
            wide[number, :, channel] = end << 8 - width | end >> 2 * width - 8
    three = few & (bit_field(bits, 0, 16) <= bit_field(bits, 16, 16))[:, None]
    palette = np.zeros((len(blocks), 4, _CHANNELS), dtype=np.int64)
    palette[:, :2, :3] = wide.transpose(1, 0, 2)
    for number, (near, far) in enumerate(((0, 1), (1, 0)), start=2):
        sums = np.where(three, (ends[near] + ends[far]) * 33, (2 * ends[near] + ends[far]) * 22)
        palette[:, number, :3] = sums >> 3
        green = wide[far, :, 1] - wide[near, :, 1]
        share = green * np.where(three[:, 0], 128, 80) + (green >> 2) + 128
        palette[:, number, 1] = wide[near, :, 1] + (share >> 8)
    palette[:, :, 3] = 255
    palette[three[:, 0], 3] = 0
    return np.take_along_axis(palette, _indices(bits, 32, 2)[:, :, None], axis=1)


def _with_alpha(alpha: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Return the decoder of blocks whose first half has alpha."""

    def decode(blocks: Array) -> Array:
        found = _colors(blocks[:, 8:], few=False)
        found[:, :, 3] = alpha(blocks[:, :8])
        return found

    return decode


# --- numbers between two ends --------------------------------------------------------------------

# By index, if there are eight numbers or six: the end from which a number is computed, and its
# steps from there, which are sevenths or fifths of the way. Four sevenths are exact, not three.
_END = np.array([[0, 1, 0, 0, 1, 0, 1, 1], [0, 1, 0, 0, 1, 1, 0, 1]])
_STEPS = np.array([[0, 0, 1, 2, 4, 4, 2, 1], [0, 0, 1, 2, 2, 1, 0, 0]])


@dataclass(frozen=True, eq=False)
class _Numbers:
    """A decoder of blocks of two ends and an index of 3 bits per texel.

    Attributes:
        ends: The type of an end.
        wide: Returns a number of this type with all bits of the result.
        step: A seventh, and a fifth, of the difference of 1 between the ends.
        shift: Bits of fraction of a step.
    """

    ends: type[np.generic]
    wide: Callable[[Array], Array]
    step: tuple[int, int]
    shift: int = 0

    def __call__(self, blocks: Array) -> Array:
        """Return the 16 numbers of each block."""
        limits = np.array([0, 255] if self.ends is np.uint8 else [-127, 127])
        ends = np.maximum(blocks[:, :2].view(self.ends).astype(np.int64), limits[0])
        index = _indices(bits_of(blocks), 16, 3)
        six = (ends[:, 0] <= ends[:, 1]).astype(np.int64)[:, None]
        end = _END[six, index]
        difference = (ends[:, 1] - ends[:, 0])[:, None] * (1 - 2 * end)
        part: Array = _STEPS[six, index] * np.array(self.step)[six] * difference
        limited = (six > 0) & (index >= 6)
        start = np.where(limited, limits[end], np.take_along_axis(ends, end, axis=1))
        numbers: Array = self.wide(start) + np.right_shift(
            part + (1 << self.shift >> 1), self.shift
        )
        return numbers


_ALPHA = _Numbers(np.uint8, lambda end: end, (289, 385), shift=11)
_UNSIGNED = _Numbers(np.uint8, lambda end: end * 257, (36, 48))
_SIGNED = _Numbers(np.int8, lambda end: end * 258 + np.sign(end) * (np.abs(end) >> 6), (36, 48))


def _channels(numbers: _Numbers, count: int, one: int) -> Callable[[Array], Array]:
    """Return the decoder of blocks with a half for each channel; alpha is one."""

    def decode(blocks: Array) -> Array:
        found = np.zeros((len(blocks), 16, _CHANNELS), dtype=np.int64)
        found[:, :, 3] = one
        for channel in range(count):
            found[:, :, channel] = numbers(blocks[:, 8 * channel : 8 * channel + 8])
        return found

    return decode


def _sharp(blocks: Array) -> Array:
    """Return 16 numbers of 4 bits."""
    return _indices(bits_of(blocks), 0, 4) * 17


_BYTE, _UNSIGNED_WORD, _SIGNED_WORD = np.dtype(np.uint8), np.dtype(np.uint16), np.dtype(np.int16)
_HALF = np.dtype(np.float16)
PACKINGS: dict[str, tuple[int, Packing]] = {
    "UNORM_INT_101010_2": (4, Packing(_tens, 4, _UNSIGNED_WORD, 1, (10, 10, 10, 2))),
    "BC1_UNORM": (4, Packing(_colors, 8, _BYTE)),
    "BC2_UNORM": (4, Packing(_with_alpha(_sharp), 16, _BYTE)),
    "BC3_UNORM": (4, Packing(_with_alpha(_ALPHA), 16, _BYTE)),
    "BC4_UNORM": (1, Packing(_channels(_UNSIGNED, 1, 0xFFFF), 8, _UNSIGNED_WORD)),
    "BC4_SNORM": (1, Packing(_channels(_SIGNED, 1, 0x7FFF), 8, _SIGNED_WORD)),
    "BC5_UNORM": (2, Packing(_channels(_UNSIGNED, 2, 0xFFFF), 16, _UNSIGNED_WORD)),
    "BC5_SNORM": (2, Packing(_channels(_SIGNED, 2, 0x7FFF), 16, _SIGNED_WORD)),
    "BC6H_UF16": (3, Packing(bptc_halves(signed=False), 16, _HALF)),
    "BC6H_SF16": (3, Packing(bptc_halves(signed=True), 16, _HALF)),
    "BC7_UNORM": (4, Packing(bptc_colors, 16, _BYTE)),
}
"""``NumChannels`` and the packing of formats, by the name of ``CUarray_format``."""
