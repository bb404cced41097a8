"""Anisotropic footprints: the samples that ``tex.grad`` averages along the longest gradient.

They follow an H200 (``tests/golden``). The samples are pairs around the place, in a direction of
64ths of a texel. Their number N is that of lengths of the shorter gradient in the longer one, and
at most the limit. All but the outermost pair have the weight 1 / N. The second of two levels has
fewer samples, a texel apart, and the first one has them as far apart as the level of detail says.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.machine.textures.filters import STEPS, divided
from cudarun.emulator.machine.textures.levels import (
    CARRY_OF_SIZES,
    SHARE_OF_BOTH,
    diagonals,
    in_texels,
    lengths,
    logarithm,
    product,
)
from cudarun.emulator.numerics.arrays import Array

_LIMITS = {2: 256, 4: 512, 6: 656, 8: 768, 10: 848, 12: 912, 16: 1024}
"""The limits that hardware has, and their logarithms in steps, of 4 bits of fraction."""
_DIGITS = 4  # significant bits of the components of a direction
_PARTS = 64  # of a texel, in a direction
_FRACTIONS = 2.0 ** (np.arange(STEPS) / STEPS)
_SHARES = np.rint(STEPS / _FRACTIONS).astype(np.int64)
"""The weight of a sample, by the fraction of the logarithm of their number."""
_SPREADS = np.rint(2 * _PARTS * _FRACTIONS).astype(np.int64) // 2
"""The distance of samples in the first of two levels, by the fraction of the level of detail."""
_MOST_DIVIDED = 2  # N = 2 ** 2 and more have 4 times the steps of one sample, if not all exact


@dataclass(frozen=True, eq=False)
class AnisotropicFootprint:
    """The samples of each lane."""

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
        power, one = number // STEPS, _SHARES[number % STEPS]
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
    unit = np.ldexp(1.0, np.frexp(greatest)[1] - _DIGITS)
    middles = [
        np.where(np.abs(axis) < unit / 4, 0.0, np.floor(np.abs(axis) / unit) + 0.5) for axis in axes
    ]
    norm = np.maximum(np.sqrt(sum(middle * middle for middle in middles)), 0.5)
    return [
        np.copysign(np.floor(_PARTS * middle / norm + 0.5), axis).astype(np.int64)
        for middle, axis in zip(middles, axes, strict=True)
    ]
