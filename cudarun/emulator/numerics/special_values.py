"""NaN, signed zeros and subnormal values, and results clamped to [0, 1], in place or as copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def canonical(d: Array) -> None:
    """Make every NaN of an f32 array the hardware's one."""
    lowest = np.minimum.reduce(d, axis=None)  # NaN if there is one
    if lowest != lowest:
        d.view(np.uint32)[np.isnan(d)] = 0x7FFFFFFF


def flushed(a: Array) -> Array:
    """An f32 array with subnormal values replaced by zeros of their sign; itself without any."""
    doubled = np.left_shift(a.view(np.uint32), np.uint32(1))
    doubled -= np.uint32(1)  # a zero becomes the largest number
    if doubled.min() >= 0xFFFFFF:
        return a
    return np.where(doubled < 0xFFFFFF, np.copysign(np.float32(0), a), a)


def saturate(d: Array) -> None:
    """Clamp to [0, 1]; NaN becomes +0."""
    np.fmax(d, 0, out=d)
    np.fmin(d, 1, out=d)
    np.abs(d, out=d)  # -0 is below +0


def least(a: Array, b: Array) -> Array:
    """The smaller of two numbers, where one is a NaN the other: of signalling NaN, too.

    ``np.fmin`` takes those for the smaller one in some lanes of an array, and not in others.
    """
    return _without_nan(np.minimum(a, b), a, b)


def greatest(a: Array, b: Array) -> Array:
    """The larger of two numbers, where one is a NaN the other."""
    return _without_nan(np.maximum(a, b), a, b)


def _without_nan(result: Array, a: Array, b: Array) -> Array:
    nan = np.isnan(result)
    if not nan.any():
        return result
    return np.where(nan, np.where(np.isnan(b), a, b), result)
