"""Operations on integers, and those on bits that numpy lacks or defines differently from PTX."""

from __future__ import annotations

import numpy as np

from cudarun.emulator.numerics.arrays import Array

INTEGER_OPERATIONS: dict[str, np.ufunc] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""The operations of reductions and atomic operations on integers."""


def shift_left(a: Array, amount: Array) -> Array:
    """Return ``a << amount``; an amount beyond the width gives 0."""
    return np.left_shift(a, _as(amount, a))


def shift_right(a: Array, amount: Array) -> Array:
    """Return ``a >> amount``; an amount beyond the width gives 0, or the sign for signed arrays."""
    return np.right_shift(a, _as(amount, a))


def _as(amount: Array, like: Array) -> Array:
    """Convert shift amounts to the shifted type; for 16 bits, large ones stay large."""
    if like.dtype.itemsize < 4:
        amount = np.minimum(amount, np.uint32(64))
    return amount.astype(like.dtype, copy=False)


def field_mask(position: Array, length: Array, width: int) -> Array:
    """Return masks of ``length`` ones from bit ``position`` on, truncated to ``width``."""
    ones = np.array((1 << width) - 1, dtype=f"u{width // 8}")
    above = np.where(
        length >= width, ones, ~shift_left(np.broadcast_to(ones, length.shape), length)
    )
    return shift_left(above, position)


def bit_fields(a: Array, width: int, count: int) -> Array:
    """Return ``count`` numbers of up to 8 bits that rows of bytes begin with, the lowest first."""
    bits = np.unpackbits(a, axis=-1, bitorder="little")[..., : count * width]
    fields = bits.reshape(*a.shape[:-1], count, width)
    return np.packbits(fields, axis=-1, bitorder="little")[..., 0]


def population(a: Array) -> Array:
    """Return the number of set bits, as ``uint32``."""
    a = a.view(f"u{a.dtype.itemsize}").astype(np.uint64)
    a = a - ((a >> np.uint64(1)) & np.uint64(0x5555555555555555))
    low = np.uint64(0x3333333333333333)
    a = (a & low) + ((a >> np.uint64(2)) & low)
    a = (a + (a >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return ((a * np.uint64(0x0101010101010101)) >> np.uint64(56)).astype(np.uint32)


def leading_zeros(a: Array) -> Array:
    """Return the number of zeros above the highest set bit, as ``uint32``."""
    width = a.dtype.itemsize * 8
    a = a.view(f"u{a.dtype.itemsize}").copy()
    for step in (1, 2, 4, 8, 16, 32):
        if step < width:
            a |= a >> np.array(step, dtype=a.dtype)
    return np.uint32(width) - population(a)


def reversed_bits(a: Array) -> Array:
    """Return the bits in reverse order."""
    width = a.dtype.itemsize * 8
    step = 1
    while step < width:
        mask = np.array(sum(((1 << step) - 1) << at for at in range(0, width, 2 * step)), a.dtype)
        shift = np.array(step, dtype=a.dtype)
        a = ((a & mask) << shift) | ((a >> shift) & mask)
        step *= 2
    return a
