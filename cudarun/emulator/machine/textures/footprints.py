"""Anisotropic footprints: the samples that ``tex.grad`` averages along the longest gradient.

They follow an H200 (``tests/golden``). The samples are pairs around the place, a texel of the level
apart, in a direction of 64ths of a texel. Their number N is that of lengths of the shorter gradient
in the longer one, and at most the limit. All but the outermost pair have the weight 1 / N.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.machine.textures.filters import STEPS
from cudarun.emulator.machine.textures.levels import (
    CARRY_OF_SIZES,
    SHARE_OF_BOTH,
    diagonals,
    in_texels,
    length,
    logarithm,
    product,
)
from cudarun.emulator.numerics.arrays import Array

_LIMITS = {2: 256, 4: 512, 6: 656, 8: 768, 10: 848, 12: 912, 16: 1024}
"""The limits that hardware has, and their logarithms in steps, of 4 bits of fraction."""
_DIGITS = 4  # significant bits of the components of a direction
_PARTS = 64  # of a texel, in a direction
_SHARES = np.rint(STEPS * 2.0 ** (-np.arange(STEPS) / STEPS)).astype(np.int64)
"""The weight of a sample, by the fraction of the logarithm of their number."""
_MOST_DIVIDED = 2  # N = 2 ** 2 and more have 4 times the steps of one sample, if not all exact


@dataclass(frozen=True, eq=False)
class AnisotropicFootprint:
    """The samples of each lane.

    Attributes:
        steps: The level of detail, as steps.
        number: The logarithm of the number of samples, as steps.
        direction: From a sample to the next one, in 64ths of a texel, for each axis.
    """

    steps: Array
    number: Array
    direction: list[Array]

    def samples(self) -> Iterator[tuple[Array, list[Array]]]:
        """Yield the weights of samples, and their distances from the place in steps."""
        power, share = self.number // STEPS, _SHARES[self.number % STEPS]
        one = share >> np.maximum(power - _MOST_DIVIDED, 0)
        one = np.where(power, one, STEPS)  # fewer than two are a pair, closer to each other
        apart = np.where(power, STEPS, 2 * (STEPS - share))
        axes = [(axis * apart + STEPS // 2) // STEPS for axis in self.direction]
        rest = STEPS << np.clip(power - 1, 0, _MOST_DIVIDED - 1)  # at each side of the place
        distance = STEPS // 2 // _PARTS
        while rest.any():
            weight = np.minimum(one, rest)
            for sign in (1, -1):
                yield weight, [sign * distance * axis for axis in axes]
            rest = rest - weight
            distance += STEPS // _PARTS


def footprint(
    gradients: list[list[Array]], sizes: tuple[float, ...], anisotropy: int
) -> AnisotropicFootprint:
    """Return the samples for gradients, given as for a level of detail, and a limit."""
    limit = limit_steps(anisotropy)
    first, second = in_texels(gradients, sizes)
    lengths = [length(first), length(second)]
    sign = np.where(lengths[1] > lengths[0], -1, 1)  # the longer minus the shorter
    vectors = [first, second]
    for parts, turned in zip(diagonals(first, second), (1, sign), strict=True):
        lengths.append(length(parts, SHARE_OF_BOTH))
        vectors.append([turned * product(part, SHARE_OF_BOTH) for part in parts])
    greatest = logarithm(np.stack(lengths).max(axis=0))
    steps = greatest - limit
    if len(first) > 1:
        sides = [product(first[one], second[1 - one], CARRY_OF_SIZES) for one in (0, 1)]
        area = np.abs(diagonals([sides[0]], [sides[1]])[1][0])
        steps = np.where(area > 0, np.maximum(steps, logarithm(area) - greatest), steps)
    number = np.clip(greatest - np.maximum(steps, 0), 0, limit)
    # a sample of 128 of 512 steps has 256 of 1024
    number = np.where(number == 2 * STEPS - 1, 2 * STEPS, number)
    longest = np.stack(lengths).argmax(axis=0)
    axes = [np.choose(longest, [vector[axis] for vector in vectors]) for axis in range(len(first))]
    return AnisotropicFootprint(steps, number, _direction(axes))


def limit_steps(anisotropy: int) -> int:
    """Return the logarithm of the most samples, as steps."""
    return _LIMITS[max(each for each in _LIMITS if each <= anisotropy)]


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
