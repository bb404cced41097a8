"""Conversion of f32 to half by truncation, which surfaces and border colors have in common."""

from __future__ import annotations

import numpy as np

from cudarun.emulator.numerics.arrays import Array


def truncated(words: Array) -> Array:
    """Return f32 values, given as words, as halves, rounded towards zero; NaN keeps its payload."""
    sign = words >> 16 & 0x8000
    magnitude = words & 0x7FFFFFFF
    exponent = (magnitude >> 23).astype(np.int64) - 112
    fraction = magnitude & 0x7FFFFF
    normal = (exponent << 10) + (fraction >> 13)
    shift = np.clip(14 - exponent, 0, 31)
    subnormal = (fraction | 0x800000).astype(np.int64) >> shift
    half = np.where(exponent > 0, normal, np.where(magnitude >> 23 > 0, subnormal, 0))
    half = np.where(exponent >= 31, 0x7BFF, half)
    half = np.where(magnitude >= 0x7F800000, 0x7C00 | fraction >> 13, half)
    return (sign | half).astype(np.uint16).view(np.float16)
