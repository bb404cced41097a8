"""The level of detail: which levels of a mipmapped texture are read, and with which weights.

A level of detail has 8 bits of fraction. That of gradients follows an H200 (``tests/golden``): the
length of a gradient in texels is estimated without a square root, as its greatest component and
shares of the others, and its logarithm comes from a table of 256 entries. The lengths of their sum
and their difference count, too. All numbers have 10 significant bits and are truncated. A product
adds a carry first, for what its partial products lose and to round; a sum has one guard bit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.machine.textures.filters import STEPS, divided
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
    return np.clip(np.floor(finite * STEPS), _LEAST, _MOST).astype(np.int64)


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
    return np.trunc(number / unit) * unit


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


_LIMITS = {2: 256, 4: 512, 6: 656, 8: 768, 10: 848, 12: 912, 16: 1024}
"""The limits that hardware has, and their logarithms in steps, of 4 bits of fraction."""
_DIRECTION_DIGITS = 4  # significant bits of the components of a direction
_PARTS = 64  # of a texel, in a direction
_FRACTIONS = 2.0 ** (np.arange(STEPS) / STEPS)
_SAMPLE_SHARES = np.rint(STEPS / _FRACTIONS).astype(np.int64)
"""The weight of a sample, by the fraction of the logarithm of their number."""
_SPREADS = np.rint(2 * _PARTS * _FRACTIONS).astype(np.int64) // 2
"""The distance of samples in the first of two levels, by the fraction of the level of detail."""
_MOST_DIVIDED = 2  # N = 2 ** 2 and more have 4 times the steps of one sample, if not all exact


@dataclass(frozen=True, eq=False)
class AnisotropicFootprint:
    """The samples of each lane, which ``tex.grad`` averages along the longest gradient.

    They follow an H200 (``tests/golden``). The samples are pairs around the place, in a direction
    of 64ths of a texel. Their number N is that of lengths of the shorter gradient in the longer
    one, and at most the limit. All but the outermost pair have the weight 1 / N. The second of two
    levels has fewer samples, a texel apart, and the first one has them as far apart as the level of
    detail says.
    """

    steps: Array  # the level of detail, as steps
    number: Array  # the logarithm of the number of samples, as steps
    direction: list[Array]  # from a sample to the next one, in 64ths of a texel, for each axis

    def samples(
        self, share: Array, fraction: Array, *, second: bool
    ) -> Iterator[tuple[Array, Array, list[Array]]]:
        """Yield the samples of a level: weights, the steps of all of them, and distances in steps.

        Args:
            share: The weight of the level.
            fraction: Of the level of detail: the weight of the second level.
            second: Whether the level is the second one.
        """
        number = np.maximum(self.number + fraction - STEPS, 0) if second else self.number
        # a sample of 128 of 512 steps has 256 of 1024
        number = np.where(number == 2 * STEPS - 1, 2 * STEPS, number)
        power, one = number // STEPS, _SAMPLE_SHARES[number % STEPS]
        apart = np.where(power, STEPS, 2 * (STEPS - one))  # fewer than two are a closer pair
        one = np.where(power, one >> np.maximum(power - _MOST_DIVIDED, 0), STEPS)
        axes = [(axis * apart + STEPS // 2) // STEPS for axis in self.direction]
        if not second:
            axes = [axis * _SPREADS[fraction] // _PARTS for axis in axes]
        side = STEPS << np.clip(power - 1, 0, _MOST_DIVIDED - 1)
        distance = STEPS // 2 // _PARTS
        outer = np.zeros_like(side)
        while (outer < side).any():
            inner, outer = outer, np.minimum(outer + one, side)
            for sign, tie in ((1, 0), (-1, 1)):
                weight = divided(outer, share, tie=tie)[1] - divided(inner, share, tie=tie)[1]
                yield weight, 2 * side, [sign * distance * axis for axis in axes]
            distance += STEPS // _PARTS


def footprint(
    gradients: list[list[Array]],
    sizes: tuple[float, ...],
    anisotropy: int,
    apart: Array | bool = False,
) -> AnisotropicFootprint:
    """Return the samples for gradients, given as for a level of detail, and a limit.

    Where gradients are apart, there is one sample.
    """
    limit = _LIMITS[max(each for each in _LIMITS if each <= anisotropy)]
    first, second = in_texels(gradients, sizes)
    measured = lengths(first, second, apart)
    greatest = logarithm(np.stack(measured).max(axis=0))
    steps = greatest - limit
    if len(first) > 1:
        sides = [product(first[one], second[1 - one], CARRY_OF_SIZES) for one in (0, 1)]
        area = np.abs(diagonals([sides[0]], [sides[1]])[1][0])
        steps = np.where(area > 0, np.maximum(steps, logarithm(area) - greatest), steps)
    steps = np.where(apart, greatest, np.minimum(steps, greatest))
    number = np.clip(greatest - np.maximum(steps, 0), 0, limit)
    sum_, difference = (
        [product(part, SHARE_OF_BOTH) for part in parts] for parts in diagonals(first, second)
    )
    sign = np.where(measured[2] >= measured[0], -1, 1)  # the longer minus the shorter
    vectors = [first, sum_, second, [sign * part for part in difference]]
    longest = np.stack(measured).argmax(axis=0)
    axes = [np.choose(longest, [vector[axis] for vector in vectors]) for axis in range(len(first))]
    return AnisotropicFootprint(steps, number, _direction(axes))


def _direction(axes: list[Array]) -> list[Array]:
    """Return vectors of a texel's length, in 64ths."""
    greatest = np.abs(np.stack(axes)).max(axis=0)
    unit = np.ldexp(1.0, np.frexp(greatest)[1] - _DIRECTION_DIGITS)
    middles = [
        np.where(np.abs(axis) < unit / 4, 0.0, np.floor(np.abs(axis) / unit) + 0.5) for axis in axes
    ]
    norm = np.maximum(np.sqrt(sum(middle * middle for middle in middles)), 0.5)
    return [
        np.copysign(np.floor(_PARTS * middle / norm + 0.5), axis).astype(np.int64)
        for middle, axis in zip(middles, axes, strict=True)
    ]
