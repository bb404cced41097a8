"""The level of detail: which levels of a mipmapped texture are read, and with which weights.

A level of detail has 8 bits of fraction. That of gradients follows an H200 (``tests/golden``): the
length of a gradient in texels is estimated without a square root, as its greatest component and
shares of the others, and its logarithm comes from a table of 256 entries. The lengths of their sum
and their difference count, too. All numbers have 10 significant bits and are truncated. A product
adds a carry first, for what its partial products lose and to round; a sum has one guard bit.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from cudarun.emulator.machine.textures.filters import STEPS
from cudarun.emulator.numerics.arrays import Array

_DIGITS = 10  # significant bits
_SHARES = (1, 11 / 32, 8 / 32)  # of the components in the estimated length, the greatest first
SHARE_OF_BOTH = 11 / 16  # of the sum or difference of both gradients
_FARTHEST = 1e30
_CARRY, CARRY_OF_SIZES = 4, 7  # of a product, in units of 2 ** -12
_PLACE = 15 / 32  # of the logarithm of a number, from its entry in the table to the next one
_SLOPES = ((8, 2.0), (4, 1.75), (2, 1.5))
"""How fast the second level gains weight if the filter is optimized, by a limit of anisotropy."""
_LEAST, _MOST = -1 << 20, 1 << 20  # steps beyond all levels


@cache
def _logarithms() -> Array:
    """Return the logarithms of 1 + n / 256, in steps: those of a place before the next entry."""
    steps = np.rint(STEPS * np.log2(1 + (np.arange(256) + _PLACE) / 256))
    steps[0], steps[-1] = 0, STEPS - 1
    found: Array = steps.astype(np.int64)
    return found


def lod_steps(lod: Array) -> Array:
    """Return levels of detail as steps, truncated; NaN is 0."""
    finite = np.nan_to_num(lod.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
    steps: Array = np.clip(np.floor(finite * STEPS), _LEAST, _MOST).astype(np.int64)
    return steps


def sampler_steps(number: float) -> int:
    """Return a number of a sampler as steps, truncated towards zero; NaN is the greatest."""
    limited = _MOST / STEPS if math.isnan(number) else number
    return math.trunc(min(max(limited, _LEAST / STEPS), _MOST / STEPS) * STEPS)


def optimized(steps: Array, anisotropy: int) -> Array:
    """Return levels of detail nearer to a whole level, the more the greater the limit."""
    slope = next((slope for limit, slope in _SLOPES if anisotropy >= limit), 1)
    level, fraction = steps // STEPS, steps % STEPS
    start = int(STEPS / 2 * (1 - 1 / slope))
    steeper: Array = np.clip(np.floor((fraction - start) * slope), 0, STEPS).astype(np.int64)
    return level * STEPS + steeper


def gradient_steps(
    gradients: list[list[Array]], sizes: tuple[float, ...], apart: Array | bool = False
) -> Array:
    """Return the levels of detail of gradients, as steps.

    Args:
        gradients: The derivatives of the coordinates in x, then those in y.
        sizes: Texels of each dimension, if coordinates are normalized; else ones.
        apart: Where the sum and the difference of both have no meaning.
    """
    first, second = in_texels(gradients, sizes)
    return logarithm(np.stack(lengths(first, second, apart)).max(axis=0))


def lengths(first: list[Array], second: list[Array], apart: Array | bool = False) -> list[Array]:
    """Return shares of the lengths of two vectors: of one, their sum, the other, their difference.

    Of equal lengths, the first counts as the longest.
    """
    both = [
        np.where(apart, 0.0, length(parts, SHARE_OF_BOTH)) for parts in diagonals(first, second)
    ]
    return [length(first), both[0], length(second), both[1]]


def in_texels(gradients: list[list[Array]], sizes: tuple[float, ...]) -> list[list[Array]]:
    """Return gradients of normalized coordinates in texels."""
    return [
        [
            product(_limited(part), size, CARRY_OF_SIZES)
            for part, size in zip(parts, sizes, strict=False)
        ]
        for parts in gradients
    ]


def diagonals(first: list[Array], second: list[Array]) -> list[list[Array]]:
    """Return the sum and the difference of two vectors."""
    pairs = list(zip(first, second, strict=True))
    return [[_sum(x, sign * y) for x, y in pairs] for sign in (1, -1)]


def _limited(part: Array) -> Array:
    finite = np.nan_to_num(part.astype(np.float64), posinf=_FARTHEST, neginf=-_FARTHEST)
    return cut(np.clip(finite, -_FARTHEST, _FARTHEST))


def _last_bit(number: Array) -> Array:
    """Return the value of the last of 10 significant bits."""
    unit: Array = np.ldexp(1.0, np.frexp(number)[1] - _DIGITS)
    return unit


def cut(number: Array) -> Array:
    """Return numbers truncated to 10 significant bits."""
    unit = _last_bit(number)
    cut: Array = np.trunc(number / unit) * unit
    return cut


def _sum(a: Array, b: Array) -> Array:
    unit = _last_bit(np.maximum(np.abs(a), np.abs(b))) / 2
    return cut((np.trunc(a / unit) + np.trunc(b / unit)) * unit)


def product(number: Array, factor: Array | float, carry: int = _CARRY) -> Array:
    """Return a product whose partial products are truncated after 12 bits of fraction.

    Args:
        number: Of 10 significant bits.
        factor: Of 17 significant bits.
        carry: What is added before the product is cut, in units of the last of the 12 bits.
    """
    significand, exponent = np.frexp(number)
    bits = np.abs(np.ldexp(significand, _DIGITS)).astype(np.int64)
    part, power = np.frexp(np.abs(factor))
    addend = np.ldexp(part, 17).astype(np.int64)
    partial = np.where(bits, carry, 0)
    for place in range(_DIGITS):
        partial = partial + (bits >> place & 1) * (addend << place >> 13)
    magnitude = np.ldexp(cut(partial.astype(np.float64)), exponent + (power - 14))
    signed: Array = np.copysign(magnitude, number) * np.sign(factor)
    return signed


def length(components: list[Array], share: float = 1.0) -> Array:
    """Return a share of the estimated lengths of vectors."""
    parts = np.sort(np.abs(np.stack(components)), axis=0)[::-1]
    products = [product(part, share * each) for part, each in zip(parts, _SHARES, strict=False)]
    return cut(np.stack(products).sum(axis=0))


def logarithm(number: Array) -> Array:
    """Return the logarithm of a length, as steps."""
    mantissa, exponent = np.frexp(np.maximum(number, 1e-30))
    place = np.floor((2 * mantissa - 1) * STEPS).astype(np.int64)
    steps: Array = (exponent.astype(np.int64) - 1) * STEPS + _logarithms()[place]
    return steps
