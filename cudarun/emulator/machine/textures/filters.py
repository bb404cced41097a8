"""The linear filter of textures: programming guide, appendix "Texture Fetching".

The guide has the formula, ``(1 - a)(1 - b) T[j, i] + a (1 - b) T[j, i + 1] + …`` with 8 bits of
fraction for a and b, but not the rounding of weights and sums. It was derived from results of an
H200 (``tests/golden``) and reproduces them bit for bit:

- The weight of 256 steps is divided in two, first among two levels, then two slices, two columns,
  and two rows. The second part is rounded to nearest, a tie up, but down for slices and for the
  rows of the first column.
- Integers are summed without rounding. The sum becomes a fraction of 16 bits, rounded to nearest.
- The four floats of one slice of one level are truncated 4 bits below the last bit of the largest,
  sRGB colors at the greatest of their own last bits. All are then summed exactly. The sum is
  rounded to the texels' own format, a tie away from zero. Subnormal floats are zero, but not
  subnormal halves. A NaN is positive, with all bits set.
- A texel without a part in the weight is ignored, even if it is infinite or NaN. One whose part is
  rounded to 0 is not.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cudarun.emulator.numerics.arrays import Array, DType

STEPS = 256  # steps from the middle of a texel to that of the next: a weight has 8 bits of fraction

WHOLE = 4 * STEPS  # the sum of all weights: those of many samples have 10 bits of fraction

_GUARD = 4  # bits of floats that are kept below the last bit of the largest texel
NOTHING = -0.0  # the neutral element of a sum
_FLOAT = 4  # bytes
_SMALLEST = float(np.finfo(np.float32).tiny)
_NAN = {2: 0x7FFFE000, 4: 0x7FFFFFFF}  # words, by the bytes of a channel


def divided(weight: Array, steps: Array, *, tie: int = 0) -> tuple[Array, Array]:
    """Divide a weight among two neighbors, ``steps`` from the first to the second."""
    second = (weight * steps + STEPS // 2 - tie) // STEPS
    return weight - second, second


def corner_weights(weight: Array, steps: list[Array]) -> list[Array]:
    """Return the weights of the texels around a position, with x as the fastest axis.

    Args:
        weight: The weight of all of them together.
        steps: From the first to the second texel of x, y and, in three dimensions, z.
    """
    if not steps:
        return [weight]
    right, below, *behind = steps
    slices = divided(weight, behind[0], tie=1) if behind else (weight,)
    found = []
    for part in slices:
        first, second = divided(part, right)
        rows_of_first, rows_of_second = divided(first, below, tie=1), divided(second, below)
        found += [rows_of_first[0], rows_of_second[0], rows_of_first[1], rows_of_second[1]]
    return found


def without_unread(corners: list[Array], steps: list[Array], missing: list[Array]) -> None:
    """Replace texels that have no part in a weight by zeros.

    Args:
        corners: The texels around each place, and those at the corner of a cube.
        steps: From the first to the second texel of each axis.
        missing: For each texel around a place where it is beyond a corner.
    """
    around = 1 << len(steps)
    beyond = np.zeros(len(corners[0]), dtype=np.bool_)
    for corner, texels in enumerate(corners[:around]):
        unread = np.zeros_like(beyond)
        for axis, part in enumerate(steps):
            if corner >> axis & 1:
                unread |= part == 0
        if missing:
            beyond |= missing[corner] & ~unread
            unread |= missing[corner]
        texels[unread] = NOTHING
    for texels in corners[around:]:
        texels[~beyond] = NOTHING


def weighted(
    slices: Array, kind: np.dtype[np.generic], weights: Array, units: Array | None = None
) -> Array:
    """Return weighted sums of texels, as floats.

    Args:
        slices: Of each slice the texels that are read together, of each the lanes' channels.
        kind: The type of a channel in memory.
        weights: For each texel the weight per lane, a part of `WHOLE`.
        units: The last bits of floats that are kept, if not those of their format.
    """
    if kind.kind == "f":
        return _sums_of_floats(slices, weights[..., None], kind, units)
    total = (slices.astype(np.int64) * weights[..., None]).sum(axis=(0, 1))
    most = np.iinfo(np.uint16 if kind.kind == "u" else np.int16).max
    fractions: Array = np.maximum(_TO_16_BITS[kind.type](total), -most) / most
    return fractions.astype(np.float32)


def averaged(slices: Array, weights: Array) -> Array:
    """Return weighted sums of integers that stay integers, to nearest, a tie up."""
    total: Array = (slices.astype(np.int64) * weights[..., None]).sum(axis=(0, 1))
    return (total + WHOLE // 2) // WHOLE


# --- integers ------------------------------------------------------------------------------------

_TO_16_BITS: dict[type[np.generic], Callable[[Array], Array]] = {
    np.uint16: lambda total: (total + WHOLE // 2) // WHOLE,
    np.int16: lambda total: (total + WHOLE // 2) // WHOLE,
    np.uint8: lambda total: (total * 0x101 + WHOLE // 2) // WHOLE,
    # 127 becomes 32767 as its bits are repeated below themselves, 3 bits beyond the last
    np.int8: lambda total: ((total << 1) + (total >> 6) + (total >> 14) + 4) >> 3,
}
"""From a sum to one of 16 bits, to nearest."""


# --- floats --------------------------------------------------------------------------------------


def _sums_of_floats(
    slices: Array, weights: Array, kind: np.dtype[np.generic], units: Array | None
) -> Array:
    texels = slices.astype(np.float64)
    normal = _SMALLEST if kind.itemsize == _FLOAT else 0.0
    texels = np.where(np.abs(texels) < normal, np.copysign(0.0, texels), texels)
    finite = np.isfinite(texels).all(axis=(0, 1))
    numbers = np.where(finite & (weights > 0), texels, NOTHING)
    total = np.full(numbers.shape[2:], NOTHING)
    for number, (some, shares) in enumerate(zip(numbers, weights, strict=True)):
        if units is None:
            unit = np.ldexp(_last_bit(np.abs(some).max(axis=0), kind), -_GUARD)
        else:
            unit = units[number].max(axis=0, where=shares > 0, initial=_SMALLEST)
        parts = np.trunc(some / unit) * shares
        total += parts.sum(axis=0, initial=NOTHING) * (unit / WHOLE)
    last = _last_bit(np.abs(total), kind)
    rounded = np.copysign(np.floor(np.abs(total) / last + 0.5) * last, total)
    with np.errstate(invalid="ignore"):  # of opposite infinities
        special = texels.sum(axis=(0, 1))
    rounded = np.where(np.abs(rounded) < normal, np.copysign(0.0, rounded), rounded)
    sums = np.where(finite, rounded, special).astype(np.float32)
    words = np.where(np.isnan(sums), _NAN[kind.itemsize], sums.view(np.uint32))
    return words.astype(np.uint32).view(np.float32)


def _last_bit(magnitude: Array, kind: DType) -> Array:
    """Return the value of the last bit of a number in its format."""
    format_ = np.finfo(kind)
    exponent = np.maximum(np.frexp(magnitude)[1] - 1, format_.minexp)
    worth: Array = np.ldexp(1.0, exponent - format_.nmant)
    return worth
