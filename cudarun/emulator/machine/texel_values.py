"""Conversions of f32 to texels, which surfaces and border colors have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudarun.emulator.numerics import rounding
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.formats import from_f32

_GUARD = 1 << 4  # parts of the last bit of a fraction before it is rounded


def truncated(words: Array) -> Array:
    """Return f32 values, given as words, as halves, rounded towards zero; NaN keeps its payload."""
    with np.errstate(over="ignore", invalid="ignore"):
        half = from_f32(words.view(np.float32), "f16", rounding.ZERO).view(np.uint16)
    payload = (words >> 16 & 0x8000 | 0x7C00 | (words & 0x7FFFFF) >> 13).astype(np.uint16)
    found: Array = np.where(words & 0x7FFFFFFF > 0x7F800000, payload, half).view(np.float16)
    return found


def fractions(words: Array, dtype: np.dtype[Any]) -> Array:
    """Return f32 values, given as words, as fractions of the largest integer of a type.

    They are truncated 4 bits below the last bit of the integer without its sign, and rounded to
    nearest; ties are rounded towards zero.
    """
    limits = np.iinfo(dtype)
    floats = np.nan_to_num(words.view(np.float32).astype(np.float64), nan=0.0)
    parts = float(_GUARD * (limits.max + 1))
    exact = np.trunc(np.clip(floats, -1.0 if limits.min else 0.0, 1.0) * parts) / parts * limits.max
    nearest = np.copysign(np.ceil(np.abs(exact) - 0.5), exact)
    return nearest.astype(np.int64).astype(dtype)
