"""Blocks of BC6H and BC7: Khronos Data Format Specification, chapter 20 ("BPTC").

A block of 128 bits has a mode, ends of colors, and an index per texel, which divides the line
between both ends of the texel's subset. The tables are those of the specification. An H200 computes
the same (``tests/golden``).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import numpy as np

from cudarun.emulator.numerics.arrays import Array

# By partition: the subset of each texel, with a bit for two subsets and two bits for three.
_TWO = bytes.fromhex(
    "cccc8888eeeeecc8c880feecfec8ec80c800ffecfe80e800ffe8ff00fff0f000"
    "f710008e710008ce008c731031008cce088c31106666366c17e80ff0718e399c"
    "aaaaf0f05a5a33cc3c3c55aa9696a55a73ce13c8324c3bdc6996c33c99660660"
    "027204e44e402720c936936c39c6639c93369cc6817ee718ccf00fcc7744ee22"
)
_THREE = bytes.fromhex(
    "aa6850506a5a50405a5a42005450a0a8a5a50000a0a050505555a0a05a5a5050"
    "aa550000aa555500aaaa55009090909094949494a4a4a4a4a9a594502a0a4250"
    "a59450400a425054a5a5a50055a0a0a0a8a854546a6a4040a4a450001a1a0500"
    "0050a4a4aaa590901469691469691400a08585a0aa82141450a4a4506a5a0200"
    "a9a580005090a0a8a8a090502424242400aa5500249249242449922450a50a50"
    "500aa550aaaa444466660000a5a0a5a050a050a06928692844aaaa4466666600"
    "aa44444454a854a89580958096969600a85454a880959580aa14141496960000"
    "aaaa1414a05050a0a0a5a5a09600000040804080a9a8a9a8aaaaaa442a4a5254"
)
_SUBSETS = {2: np.frombuffer(_TWO, ">u2").astype(int), 3: np.frombuffer(_THREE, ">u4").astype(int)}
# By partition: the texels whose index has one bit less, beside the first one.
_ANCHORS = {
    subsets: [np.array([int(digit, 16) for digit in digits]) for digits in tables]
    for subsets, tables in {
        2: ["fffffffffffffffff282288f28228822ff6828ff28222ff66268ff22fffff22f"],
        3: ["33ff83ff88666533338f336a588685ff8f356a8ff3f5ffff3f55585a5a8dfc33",
            "f883ff38fffffff8f8f3f8f83f6affa8f3faa89a6f8f3668f3ffffffffff3ff8"],
    }.items()
}  # fmt: skip
_WEIGHTS = {
    2: np.array([0, 21, 43, 64]),
    3: np.array([0, 9, 18, 27, 37, 46, 55, 64]),
    4: np.array([0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64]),
}
"""Shares of the second end by index, of 64, by the bits of an index."""
_TEXELS = 16


def bits_of(blocks: Array) -> Array:
    """Return the bits of rows of bytes, the least significant one first."""
    return np.unpackbits(np.ascontiguousarray(blocks), axis=1, bitorder="little").astype(np.int64)


def bit_field(bits: Array, start: int, width: int) -> Array:
    """Return numbers of some bits per row."""
    number: Array = bits[:, start : start + width] @ (1 << np.arange(width))
    return number


def _subsets(count: int, partition: Array) -> tuple[Array, Array]:
    """Return the subset of each texel, and where the index of a texel has one bit less."""
    texels = np.arange(_TEXELS)
    short = np.repeat(texels[None] == 0, len(partition), axis=0)
    if count == 1:
        return np.zeros(short.shape, dtype=np.int64), short
    for anchors in _ANCHORS[count]:
        short |= anchors[partition][:, None] == texels
    width = count - 1
    return _SUBSETS[count][partition][:, None] >> width * texels & (1 << width) - 1, short


def _indices(bits: Array, start: int, width: int, short: Array) -> Array:
    """Return the index of each texel; all follow each other from a bit on."""
    widths = width - short
    first = start + np.cumsum(widths, axis=1) - widths
    found = np.zeros(first.shape, dtype=np.int64)
    for place in range(width):
        bit = np.take_along_axis(bits, np.minimum(first + place, bits.shape[1] - 1), axis=1)
        found |= np.where(place < widths, bit << place, 0)
    return found


def _between(ends: Array, subset: Array, weights: Array) -> Array:
    """Return the color of each texel.

    Args:
        ends: By block, end and channel; each subset has two of them.
        subset: By block and texel.
        weights: Of the second end, of 64, by block and texel, or also by channel.
    """
    first, second = (
        np.take_along_axis(ends, (2 * subset + number)[:, :, None], axis=1) for number in (0, 1)
    )
    colors: Array = first * (64 - weights) + second * weights + 32 >> 6
    return colors


# --- BC7 -----------------------------------------------------------------------------------------

# Subsets; bits of the partition, the rotation and the index selection, of a color and of alpha;
# last bits for each end (2) or for both (1); bits of an index and of a second one.
_MODES = (
    (3, 4, 0, 0, 4, 0, 2, 3, 0),
    (2, 6, 0, 0, 6, 0, 1, 3, 0),
    (3, 6, 0, 0, 5, 0, 0, 2, 0),
    (2, 6, 0, 0, 7, 0, 2, 2, 0),
    (1, 0, 2, 1, 5, 6, 0, 2, 3),
    (1, 0, 2, 0, 7, 8, 0, 2, 2),
    (1, 0, 0, 0, 7, 7, 2, 4, 0),
    (2, 6, 0, 0, 5, 5, 2, 2, 0),
)


def bptc_colors(blocks: Array) -> Array:
    """Return the colors of blocks of BC7: bytes, by block, texel and channel.

    A block without a mode is transparent and black.
    """
    bits = bits_of(blocks)
    found = np.zeros((len(blocks), _TEXELS, 4), dtype=np.int64)
    modes = np.where(bits[:, :8].any(axis=1), np.argmax(bits[:, :8], axis=1), -1)
    for mode in range(len(_MODES)):
        chosen = modes == mode
        if chosen.any():
            found[chosen] = _of_mode(bits[chosen], mode)
    return found


def _of_mode(bits: Array, mode: int) -> Array:
    count, *widths, color, alpha, last, width, second_width = _MODES[mode]
    at = mode + 1
    heads = []
    for size in widths:
        heads.append(bit_field(bits, at, size))
        at += size
    partition, rotation, selection = heads
    ends = np.zeros((len(bits), 2 * count, 4), dtype=np.int64)
    for channel, size in enumerate((color, color, color, alpha)):
        for end in range(2 * count):
            ends[:, end, channel] = bit_field(bits, at, size)
            at += size
    if last:
        shared = bits[:, at : at + last * count]
        ends = ends << 1 | np.repeat(shared, 2 // last, axis=1)[:, :, None]
        at += last * count
    sizes = np.array([color, color, color, alpha]) + (last > 0)
    ends = ends << 8 - sizes
    ends |= ends >> sizes
    if not alpha:
        ends[:, :, 3] = 255
    subset, short = _subsets(count, partition)
    weights = _WEIGHTS[width][_indices(bits, at, width, short)]
    by_channel = np.repeat(weights[:, :, None], 4, axis=2)
    if second_width:
        at += _TEXELS * width - 1
        other = _WEIGHTS[second_width][_indices(bits, at, second_width, short)]
        swapped = selection[:, None] > 0
        by_channel[:, :, :3] = np.where(swapped, other, weights)[:, :, None]
        by_channel[:, :, 3] = np.where(swapped, weights, other)
    found = _between(ends, subset, by_channel)
    for channel in range(3):  # a rotation exchanges alpha and a color
        lanes = rotation == channel + 1
        found[lanes, :, channel], found[lanes, :, 3] = (
            found[lanes, :, 3], found[lanes, :, channel].copy(),
        )  # fmt: skip
    return found


# --- BC6H ----------------------------------------------------------------------------------------

# By mode: the bits of the ends in the order of the block. "rw:10" is the first ten bits of red of
# end w of w, x, y and z; "rw10" is the next one.
_LAYOUTS = dict(
    line.strip().split(": ")
    for line in """
    00: gy4 by4 bz4 rw:10 gw:10 bw:10 rx:5 gz4 gy:4 gx:5 bz0 gz:4 bx:5 bz1 by:4 ry:5 bz2 rz:5 bz3
    01: gy5 gz4 gz5 rw:7 bz0 bz1 by4 gw:7 by5 bz2 gy4 bw:7 bz3 bz5 bz4 rx:6 gy:4 gx:6 gz:4 bx:6 \
    by:4 ry:6 rz:6
    00010: rw:10 gw:10 bw:10 rx:5 rw10 gy:4 gx:4 gw10 bz0 gz:4 bx:4 bw10 bz1 by:4 ry:5 bz2 rz:5 bz3
    00110: rw:10 gw:10 bw:10 rx:4 rw10 gz4 gy:4 gx:5 gw10 gz:4 bx:4 bw10 bz1 by:4 ry:4 bz0 bz2 \
    rz:4 gy4 bz3
    01010: rw:10 gw:10 bw:10 rx:4 rw10 by4 gy:4 gx:4 gw10 bz0 gz:4 bx:5 bw10 by:4 ry:4 bz1 bz2 \
    rz:4 bz4 bz3
    01110: rw:9 by4 gw:9 gy4 bw:9 bz4 rx:5 gz4 gy:4 gx:5 bz0 gz:4 bx:5 bz1 by:4 ry:5 bz2 rz:5 bz3
    10010: rw:8 gz4 by4 gw:8 bz2 gy4 bw:8 bz3 bz4 rx:6 gy:4 gx:5 bz0 gz:4 bx:5 bz1 by:4 ry:6 rz:6
    10110: rw:8 bz0 by4 gw:8 gy5 gy4 bw:8 gz5 bz4 rx:5 gz4 gy:4 gx:6 gz:4 bx:5 bz1 by:4 ry:5 bz2 \
    rz:5 bz3
    11010: rw:8 bz1 by4 gw:8 by5 gy4 bw:8 bz5 bz4 rx:5 gz4 gy:4 gx:5 bz0 gz:4 bx:6 by:4 ry:5 bz2 \
    rz:5 bz3
    11110: rw:6 gz4 bz0 bz1 by4 gw:6 gy5 by5 bz2 gy4 bw:6 gz5 bz3 bz5 bz4 rx:6 gy:4 gx:6 gz:4 \
    bx:6 by:4 ry:6 rz:6
    00011: rw:10 gw:10 bw:10 rx:10 gx:10 bx:10
    00111: rw:10 gw:10 bw:10 rx:9 rw10 gx:9 gw10 bx:9 bw10
    01011: rw:10 gw:10 bw:10 rx:8 rw11 rw10 gx:8 gw11 gw10 bx:8 bw11 bw10
    01111: rw:10 gw:10 bw:10 rx:4 rw15 rw14 rw13 rw12 rw11 rw10 gx:4 gw15 gw14 gw13 gw12 gw11 \
    gw10 bx:4 bw15 bw14 bw13 bw12 bw11 bw10
    """.strip().splitlines()
)
_WITHOUT_DIFFERENCES = ("11110", "00011")  # modes whose ends are independent


@cache
def _layout(mode: str) -> Array:
    """Return the worth of each bit after the mode for each end, by bit, end and channel."""
    rows = []
    for channel, end, run, number in re.findall(r"([rgb])([wxyz])(:?)(\d+)", _LAYOUTS[mode]):
        for bit in range(0 if run else int(number), int(number) + (not run)):
            rows.append(np.zeros((4, 3), dtype=np.int64))
            rows[-1]["wxyz".index(end), "rgb".index(channel)] = 1 << bit
    return np.stack(rows)


def bptc_halves(*, signed: bool) -> Callable[[Array], Array]:
    """Return the decoder of blocks of BC6H, with or without signs: halves; alpha is one.

    A block without a valid mode is black.
    """

    def decode(blocks: Array) -> Array:
        bits = bits_of(blocks)
        found = np.zeros((len(blocks), _TEXELS, 4), dtype=np.float16)
        found[:, :, 3] = 1
        for mode in _LAYOUTS:
            digits = np.array([int(digit) for digit in reversed(mode)])
            chosen = (bits[:, : len(mode)] == digits).all(axis=1)
            if chosen.any():
                found[chosen, :, :3] = _halves(bits[chosen], mode, signed=signed)
        return found

    return decode


def _halves(bits: Array, mode: str, *, signed: bool) -> Array:
    layout, at = _layout(mode), len(mode)
    ends = np.tensordot(bits[:, at : at + len(layout)], layout, axes=1)
    at += len(layout)
    count = 2 if layout[:, 2].any() else 1
    signs = np.max(layout, axis=0)  # of each end, its first bit
    most = 2 * int(signs[0, 0]) - 1
    differences = mode not in _WITHOUT_DIFFERENCES
    for end in range(2 * count):
        if signed or (end and differences):
            ends[:, end] = (ends[:, end] ^ signs[end]) - signs[end]
        if end and differences:
            ends[:, end] = ends[:, 0] + ends[:, end] & most
            if signed:
                ends[:, end] = (ends[:, end] ^ signs[0]) - signs[0]
    partition = bit_field(bits, at, 5) * (count - 1)
    at += 5 * (count - 1)
    subset, short = _subsets(count, partition)
    width = 5 - count
    weights = _WEIGHTS[width][_indices(bits, at, width, short)]
    magnitudes = _unquantized(np.abs(ends), most >> signed, signed=signed) * np.sign(ends)
    numbers = _between(magnitudes, subset, weights[:, :, None])
    words = np.abs(numbers) * 31 >> 6 - signed | np.where(numbers < 0, 0x8000, 0)
    return words.astype(np.uint16).view(np.float16)


def _unquantized(ends: Array, most: int, *, signed: bool) -> Array:
    """Return ends with 16 bits, or with 15 beside a sign."""
    digits, all_bits = most.bit_length(), 0xFFFF >> signed
    if digits >= 15:
        return ends
    wide = (ends * (all_bits + 1) + (all_bits + 1 >> 1)) >> digits
    return np.where(ends >= most, all_bits, np.where(ends == 0, 0, wide))
