"""The linear filter of textures: programming guide, appendix "Texture Fetching".

The guide has the formula, ``(1 - a)(1 - b) T[j, i] + a (1 - b) T[j, i + 1] + …`` with 8 bits of
fraction for a and b, but not the rounding of weights and sums. It was derived from results of an
H200 (``tests/golden/textures-h200.xz``) and reproduces them bit for bit:

- ``ab`` is rounded to 8 bits; the other three weights are the remainders of a, of b and of 1.
- Integers are summed without rounding. The sum becomes a fraction of 16 bits, rounded to nearest.
- Floats are truncated 4 bits below the last bit of the largest, then summed exactly. The sum
  is rounded to the texels' own format, a tie away from zero.

The largest exponent when the largest texel has no weight, subnormals and NaN payloads have not been
measured.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

STEPS = 256
"""Steps from the middle of a texel to that of the next: a weight has 8 bits of fraction."""

_GUARD = 4  # bits kept below the last bit of the largest texel


def filtered(corners: Array, kind: np.dtype[np.generic], right: Array, below: Array) -> Array:
    """Return weighted sums of four texels, as floats.

    Args:
        corners: T[j, i], T[j, i + 1], T[j + 1, i], T[j + 1, i + 1]: for each a row of channels per
            lane.
        kind: The type of a channel in memory.
        right: Steps from i towards i + 1.
        below: Steps from j towards j + 1.
    """
    both = (right * below + STEPS // 2) // STEPS
    parts = (STEPS - right - below + both, right - both, below - both, both)
    weights = np.stack(parts)[:, :, None]
    sums = _sums_of_floats if kind.kind == "f" else _sums_of_integers
    return sums(corners, weights, kind)


# --- integers ------------------------------------------------------------------------------------

_TO_16_BITS: dict[type[np.generic], Callable[[Array], Array]] = {
    np.uint16: lambda total: (total + 0x80) >> 8,
    np.int16: lambda total: (total + 0x80) >> 8,
    np.uint8: lambda total: (total * 0x101 + 0x80) >> 8,
    # 127 becomes 32767 as its bits are repeated below themselves, 3 bits beyond the last
    np.int8: lambda total: ((total << 3) + (total >> 4) + (total >> 12) + 4) >> 3,
}
"""From a sum with 8 bits of fraction to one of 16 bits, to nearest."""


def _sums_of_integers(corners: Array, weights: Array, kind: np.dtype[np.generic]) -> Array:
    total = (corners.astype(np.int64) * weights).sum(axis=0)
    most = np.iinfo(np.uint16 if kind.kind == "u" else np.int16).max
    fractions: Array = np.maximum(_TO_16_BITS[kind.type](total), -most) / most
    return fractions.astype(np.float32)


# --- floats --------------------------------------------------------------------------------------


def _sums_of_floats(corners: Array, weights: Array, kind: np.dtype[np.generic]) -> Array:
    # Texels of weight 0 are ignored, even infinite ones or NaN.
    held = np.where(weights > 0, corners.astype(np.float64), 0.0)
    finite = np.isfinite(held).all(axis=0)
    numbers = np.where(finite, held, 0.0)
    last = _last_bit(np.abs(numbers).max(axis=0), kind)
    unit = np.ldexp(last, -_GUARD)
    total = (np.trunc(numbers / unit) * weights).sum(axis=0) * (unit / STEPS)
    last = _last_bit(np.abs(total), kind)
    rounded = np.copysign(np.floor(np.abs(total) / last + 0.5) * last, total)
    with np.errstate(invalid="ignore"):  # of opposite infinities
        special = (held * weights).sum(axis=0)
    sums: Array = np.where(finite, rounded, special)
    return sums.astype(np.float32)


def _last_bit(magnitude: Array, kind: np.dtype[Any]) -> Array:
    """Return the value of the last bit of a number in its format."""
    format_ = np.finfo(kind)
    exponent = np.maximum(np.frexp(magnitude)[1] - 1, format_.minexp)
    worth: Array = np.ldexp(1.0, exponent - format_.nmant)
    return worth
