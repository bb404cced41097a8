"""Blocks of BC6H and BC7: Khronos Data Format Specification, chapter 20 ("BPTC").

A block of 128 bits has a mode, ends of colors, and an index per texel, which divides the line
between both ends of the texel's subset. The tables are those of the specification. An H200 computes
the same (``tests/golden``).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from cudarun.emulator.numerics.arrays import Array

_TEXELS = 16


@cache
def _tables() -> dict[str, list[str]]:
    """Return the words of ``bptc.txt``, by the first word of their lines."""
    tables: dict[str, list[str]] = {}
    for line in Path(__file__).with_suffix(".txt").read_text().splitlines():
        name, *words = line.split()
        tables.setdefault(name, []).extend(words)
    return tables


@cache
def _numbers(name: str, columns: int, base: int = 10) -> Array:
    return np.array([int(word, base) for word in _tables()[name]]).reshape(-1, columns)


def bits_of(blocks: Array) -> Array:
    """Return the bits of rows of bytes, the least significant one first."""
    return np.unpackbits(np.ascontiguousarray(blocks), axis=1, bitorder="little").astype(np.int64)


def bit_field(bits: Array, start: int, width: int) -> Array:
    """Return numbers of some bits per row."""
    number: Array = bits[:, start : start + width] @ (1 << np.arange(width))
    return number


def _subsets(count: int, partition: Array) -> tuple[Array, Array]:
    """Return the subset of each texel, and where the index of a texel has one bit less."""
    texels, width = np.arange(_TEXELS), count - 1
    short = np.repeat(texels[None] == 0, len(partition), axis=0)
    if count == 1:
        return np.zeros(short.shape, dtype=np.int64), short
    for anchors in _numbers(f"anchors{count}", 64):
        short |= anchors[partition][:, None] == texels
    subsets = _numbers(f"subsets{count}", 1, 16)[partition] >> width * texels
    return subsets & (1 << width) - 1, short


def _weights(bits: Array, start: int, width: int, short: Array) -> Array:
    """Return the share of the second end in each texel, of 64, by indices from a bit on."""
    widths = width - short
    first = start + np.cumsum(widths, axis=1) - widths
    index = np.zeros(first.shape, dtype=np.int64)
    for place in range(width):
        bit = np.take_along_axis(bits, np.minimum(first + place, bits.shape[1] - 1), axis=1)
        index |= np.where(place < widths, bit << place, 0)
    most = (1 << width) - 1
    return (64 * index + most // 2) // most


def _between(ends: Array, subset: Array, weights: Array) -> Array:
    """Return the colors of texels, by block, texel and channel, from two ends of each subset."""
    places = 2 * subset[:, :, None]
    first, second = (np.take_along_axis(ends, places + end, axis=1) for end in (0, 1))
    colors: Array = first * (64 - weights) + second * weights + 32 >> 6
    return colors


# --- BC7 -----------------------------------------------------------------------------------------


def bptc_colors(blocks: Array) -> Array:
    """Return the colors of blocks of BC7: bytes, by block, texel and channel.

    A block without a mode is transparent and black.
    """
    bits = bits_of(blocks)
    found = np.zeros((len(blocks), _TEXELS, 4), dtype=np.int64)
    modes = np.where(bits[:, :8].any(axis=1), np.argmax(bits[:, :8], axis=1), -1)
    for mode, fields in enumerate(_numbers("bc7", 9).tolist()):
        chosen = modes == mode
        if chosen.any():
            found[chosen] = _of_mode(bits[chosen], mode + 1, *fields)
    return found


def _of_mode(bits: Array, at: int, count: int, *fields: int) -> Array:
    *widths, color, alpha, last, width, second_width = fields

    def take(size: int) -> Array:
        nonlocal at
        at += size
        return bit_field(bits, at - size, size)

    partition, rotation, selection = (take(size) for size in widths)
    sizes = np.array([color, color, color, alpha])
    ends = np.array([[take(size) for _ in range(2 * count)] for size in sizes]).transpose(2, 1, 0)
    if last:
        lasts = np.array([take(1) for _ in range(last * count)]).T
        ends = ends << 1 | np.repeat(lasts, 2 // last, axis=1)[:, :, None]
        sizes += 1
    ends = ends << 8 - sizes | ends << 8 - sizes >> sizes
    if not alpha:
        ends[:, :, 3] = 255
    subset, short = _subsets(count, partition)
    first = second = _weights(bits, at, width, short)
    if second_width:
        second = _weights(bits, at + _TEXELS * width - 1, second_width, short)
    swapped = selection[:, None] > 0
    of_colors, of_alpha = np.where(swapped, second, first), np.where(swapped, first, second)
    found = _between(ends, subset, np.stack([of_colors] * 3 + [of_alpha], axis=2))
    for channel in range(3):  # a rotation exchanges alpha and a color
        some = rotation == channel + 1
        found[some, :, channel], found[some, :, 3] = found[some, :, 3], found[some, :, channel]
    return found


# --- BC6H ----------------------------------------------------------------------------------------

_WITHOUT_DIFFERENCES = ("11110", "00011")  # modes whose ends are independent


@cache
def _layouts() -> dict[str, Array]:
    """Return for each mode the worth of each bit that follows it, by bit, end and channel."""
    layouts = {}
    for name, words in _tables().items():
        worths = []
        for word in words if name.startswith("bc6h.") else ():
            number = int(word[2:].removeprefix(":"))
            for bit in range(number) if word[2] == ":" else (number,):
                worths.append(np.zeros((4, 3), dtype=np.int64))
                worths[-1]["wxyz".index(word[1]), "rgb".index(word[0])] = 1 << bit
        if worths:
            layouts[name.removeprefix("bc6h.")] = np.stack(worths)
    return layouts


def bptc_halves(blocks: Array, *, signed: bool) -> Array:
    """Return the colors of blocks of BC6H, with or without signs; without a mode they are black."""
    bits = bits_of(blocks)
    found = np.zeros((len(blocks), _TEXELS, 3), dtype=np.float16)
    for mode, layout in _layouts().items():
        chosen = (bits[:, : len(mode)] == [int(digit) for digit in reversed(mode)]).all(axis=1)
        if chosen.any():
            found[chosen] = _halves(bits[chosen], mode, layout, signed=signed)
    return found


def _halves(bits: Array, mode: str, layout: Array, *, signed: bool) -> Array:
    at = len(mode)
    ends = np.tensordot(bits[:, at : at + len(layout)], layout, axes=1)
    at += len(layout)
    count = 2 if layout[:, 2].any() else 1
    sign = np.max(layout, axis=0)  # the first bit of each end
    most = 2 * int(sign[0, 0]) - 1
    for end in range(2 * count):
        difference = end > 0 and mode not in _WITHOUT_DIFFERENCES
        if signed or difference:
            ends[:, end] = (ends[:, end] ^ sign[end]) - sign[end]
        if difference:
            ends[:, end] = ends[:, 0] + ends[:, end] & most
            if signed:
                ends[:, end] = (ends[:, end] ^ sign[0]) - sign[0]
    subset, short = _subsets(count, bit_field(bits, at, 5) * (count - 1))
    weights = _weights(bits, at + 5 * (count - 1), 5 - count, short)
    magnitudes = np.sign(ends) * _unquantized(np.abs(ends), most >> signed, 0xFFFF >> signed)
    numbers = _between(magnitudes, subset, weights[:, :, None])
    words = np.abs(numbers) * 31 >> 6 - signed | np.where(numbers < 0, 0x8000, 0)
    return words.astype(np.uint16).view(np.float16)


def _unquantized(ends: Array, most: int, all_bits: int) -> Array:
    """Return ends of few bits with more bits."""
    if most >= 0x7FFF:
        return ends
    wide = (2 * ends + 1) * (all_bits + 1) // (2 * most + 2)
    return np.where(ends >= most, all_bits, np.where(ends == 0, 0, wide))
