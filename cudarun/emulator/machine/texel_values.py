"""Conversions of f32 to texels, which surfaces and border colors have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudarun.emulator.numerics.arrays import Array

_GUARD = 1 << 4  # parts of the last bit of a fraction before it is rounded


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


def fractions(words: Array, dtype: np.dtype[Any]) -> Array:
    """Return f32 values, given as words, as fractions of the largest integer of a type.

    They are truncated 4 bits below the last bit of the integer without its sign, and rounded to
    nearest; ties are rounded towards zero.
    """
    limits = np.iinfo(dtype)
    floats = np.nan_to_num(words.view(np.float32).astype(np.float64), nan=0.0)
    parts = float(_GUARD * (limits.max + 1))
    held = np.trunc(np.clip(floats, -1.0 if limits.min else 0.0, 1.0) * parts) / parts * limits.max
    nearest = np.copysign(np.ceil(np.abs(held) - 0.5), held)
    return nearest.astype(np.int64).astype(dtype)
