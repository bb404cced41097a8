"""The level of detail: which levels of a mipmapped texture are read, and with which weights.

A level of detail has 8 bits of fraction. That of gradients follows an H200 (``tests/golden``): the
length of a gradient in texels is estimated without a square root, as its greatest component and
shares of the others, and its logarithm comes from a table of 256 entries. The lengths of their sum
and their difference count, too. The rounding of these sums has not been found out: the result may
be two steps off.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.machine.filters import STEPS

Array = npt.NDArray[Any]

_SHARES = (11 / 32, 8 / 32)  # of the second and the third component, in the estimated length
_SHARE_OF_BOTH = 11 / 16  # of the sum or difference of both gradients
_FARTHEST = 1e30
_SUMMED = 1 << 9  # steps of a mantissa of a component
_LEAST, _MOST = -1 << 20, 1 << 20  # steps beyond all levels

# The logarithm of 1 + n / 256, in steps: each digit is the difference from the entry before.
_DIFFERENCES = (
    "0221121211212112112112112112112111211121112111211112111121111121111121111111211111111112"
    "1111111111111111111111112110111111111111111111111111101111111111101111111101111111011111"
    "11011111011111011111011110111101111011110111011110111011101110111011101110110110"
)


def _table() -> Array:
    return np.array(list(accumulate(map(int, _DIFFERENCES))), dtype=np.int64)


def lod_steps(lod: Array) -> Array:
    """Return levels of detail as steps, truncated; NaN is 0."""
    finite = np.nan_to_num(lod.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
    steps: Array = np.clip(np.floor(finite * STEPS), _LEAST, _MOST).astype(np.int64)
    return steps


def sampler_steps(number: float) -> int:
    """Return a number of a sampler as steps, truncated towards zero; NaN is the greatest."""
    limited = _MOST / STEPS if math.isnan(number) else number
    return math.trunc(min(max(limited, _LEAST / STEPS), _MOST / STEPS) * STEPS)


def gradient_steps(gradients: list[list[Array]], sizes: tuple[int, ...]) -> Array:
    """Return the levels of detail of gradients, as steps.

    Args:
        gradients: The derivatives of the coordinates in x, then those in y.
        sizes: Texels of each dimension, if coordinates are normalized; else ones.
    """
    first, second = (
        [part.astype(np.float64) * size for part, size in zip(parts, sizes, strict=False)]
        for parts in gradients
    )
    with np.errstate(invalid="ignore"):
        diagonals = [
            [x + sign * y for x, y in zip(first, second, strict=True)] for sign in (1.0, -1.0)
        ]
    longest = np.fmax(_length(first), _length(second))
    for diagonal in diagonals:
        longest = np.fmax(longest, _length(diagonal) * _SHARE_OF_BOTH)
    return _logarithm(longest)


def _length(components: list[Array]) -> Array:
    """Return estimated lengths of vectors."""
    finite = np.nan_to_num(np.abs(np.stack(components)), nan=0.0, posinf=_FARTHEST)
    parts = np.sort(np.minimum(finite, _FARTHEST), axis=0)
    unit = np.exp2(np.frexp(parts[-1])[1] - 1.0) / _SUMMED
    shares = np.floor(parts[-1] / unit)
    for part, share in zip(parts[-2::-1], _SHARES, strict=False):
        shares = shares + np.floor(part * share / unit)
    length: Array = shares * unit
    return length


def _logarithm(length: Array) -> Array:
    mantissa, exponent = np.frexp(np.maximum(length, 1e-30))
    place = np.floor((2 * mantissa - 1) * STEPS).astype(np.int64)
    steps: Array = (exponent.astype(np.int64) - 1) * STEPS + _table()[place]
    return steps
