"""sRGB colors of textures: the numbers that bytes stand for.

They are those of an H200 (``tests/golden``), which rounds the standard's formula to few bits.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from cudarun.emulator.numerics.arrays import Array

_LAST_BITS = np.repeat(2.0 ** np.arange(-14, -6), (4, 2, 2, 4, 5, 6, 8, 1))
"""The values of the last bits of numbers, which 8 bytes have in common."""
_LINEAR_PART = 0.0031308
COLORS = {1: 1, 2: 1, 4: 3}
"""The number of channels of texels that are colors, by the number of channels."""


@cache
def _numbers() -> Array:
    """Return the number of each byte: that of the standard's formula, to nearest."""
    colors = np.arange(256)
    shares, unit = colors / 255, last_bits(colors)
    curve = ((shares + 0.055) / 1.055) ** 2.4
    light = np.where(shares <= _LINEAR_PART * 12.92, shares / 12.92, curve)
    numbers: Array = (np.rint(light / unit) * unit).astype(np.float32)
    return numbers


def linear_light(colors: Array) -> Array:
    """Return the numbers that bytes of a color stand for."""
    found: Array = _numbers()[colors]
    return found


def last_bits(colors: Array) -> Array:
    """Return the value of the last bit of the numbers that bytes stand for."""
    found: Array = _LAST_BITS[colors >> 3]
    return found


def encoded(light: Array) -> Array:
    """Return the bytes that are nearest to numbers, by the standard's formula."""
    numbers = np.clip(np.nan_to_num(light.astype(np.float64), nan=0.0), 0.0, 1.0)
    curve = 1.055 * numbers ** (1 / 2.4) - 0.055
    shares = np.where(numbers <= _LINEAR_PART, numbers * 12.92, curve)
    found: Array = np.rint(shares * 255).astype(np.uint32)
    return found
