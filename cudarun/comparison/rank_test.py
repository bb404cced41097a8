"""The rank test of two samples of times: Mann and Whitney's, with an interval of their ratio.

Times of a kernel are not normally distributed: they have a lower bound and outliers above it. The
test uses only their order. The estimate of the ratio is that of Hodges and Lehmann on the
logarithms: the median of all quotients of a time of one sample and a time of the other. Its
confidence interval is between two of these quotients (Hollander, Wolfe and Chicken, "Nonparametric
Statistical Methods", 4.1 to 4.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from cudarun.base.records import dataclass

CONFIDENCE = 0.95  # the confidence of intervals

_EXACT_PAIRS = 400  # up to which the distribution is computed exactly
_LEAST = 1e-6  # ms: a time of zero is shorter than the clock's resolution
_HALVINGS = 100  # of an interval of floats; more do not change it

_Sample: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TimeRatio:
    """The ratio of the times of two samples."""

    ratio: float  # the second time divided by the first: over 1 if the first is faster
    # The lower bound of the interval; ``None`` if there are too few times for one.
    low: float | None
    high: float | None  # the upper bound, likewise
    p_value: float  # the probability of a difference at least as large if there is none

    @property
    def is_significant(self) -> bool:
        """True if the samples differ, by the test alone."""
        return self.p_value < 1 - CONFIDENCE


def time_ratio(first: Sequence[float], second: Sequence[float]) -> TimeRatio:
    """Compare two samples of times in milliseconds, of at least one each."""
    one, other = _logarithms(first), _logarithms(second)
    pairs = one.size * other.size
    lower, upper = (_difference(one, other, rank) for rank in ((pairs + 1) // 2, pairs // 2 + 1))
    cut = _pairs_cut(one.size, other.size)
    low, high = (
        math.exp(_difference(one, other, rank)) if cut else None for rank in (cut, pairs + 1 - cut)
    )
    return TimeRatio(math.exp((lower + upper) / 2), low, high, _p_value(one, other))


def _logarithms(times: Sequence[float]) -> _Sample:
    return np.sort(np.log(np.maximum(np.asarray(times, np.float64), _LEAST)))


def _difference(one: _Sample, other: _Sample, rank: int) -> float:
    """Return the difference ``other - one`` of a rank from 1 among those of all pairs."""
    low, high = float(other[0] - one[-1]), float(other[-1] - one[0])
    if rank == one.size * other.size:
        return high
    low -= 1e-12 + abs(low) * 1e-12
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if np.searchsorted(other, one + middle, "right").sum() < rank:
            low = middle
        else:
            high = middle
    return high


def _p_value(one: _Sample, other: _Sample) -> float:
    """Return the two-sided probability of ranks that differ at least as much."""
    below = int(np.searchsorted(other, one, "left").sum())
    not_above = int(np.searchsorted(other, one, "right").sum())
    pairs = one.size * other.size
    _, ties = np.unique(np.concatenate((one, other)), return_counts=True)
    if pairs <= _EXACT_PAIRS and ties.max() == 1:
        extreme = min(below, pairs - below)
        return min(1.0, 2 * _probabilities(one.size, other.size)[extreme])
    count = one.size + other.size
    tied = float((ties.astype(np.float64) ** 3 - ties).sum()) / (count * (count - 1))
    deviation = math.sqrt(max(0.0, pairs / 12 * (count + 1 - tied)))
    distance = abs((below + not_above) / 2 - pairs / 2) - 0.5  # corrected for continuity
    if deviation == 0 or distance <= 0:
        return 1.0
    return math.erfc(distance / deviation / math.sqrt(2))


def _pairs_cut(count: int, other: int) -> int:
    """Return the rank of the difference that bounds the interval; 0 if there is none."""
    tail, pairs = (1 - CONFIDENCE) / 2, count * other
    if pairs <= _EXACT_PAIRS:
        return sum(each <= tail for each in _probabilities(count, other))
    deviation = math.sqrt(pairs * (count + other + 1) / 12)
    return max(0, math.floor(pairs / 2 - NormalDist().inv_cdf(1 - tail) * deviation))


def _probabilities(count: int, other: int) -> list[float]:
    """Return the probability that at most 0, 1, … of all pairs are in one order, without ties.

    The numbers of orders are the coefficients of a Gaussian binomial, a product of
    ``(1 - q^(other + i)) / (1 - q^i)``.
    """
    orders = [1] + [0] * (count * other)
    for factor in range(1, count + 1):
        for power in range(count * other, other + factor - 1, -1):
            orders[power] -= orders[power - other - factor]
        for power in range(factor, count * other + 1):
            orders[power] += orders[power - factor]
    total, so_far, found = math.comb(count + other, count), 0, []
    for each in orders:
        so_far += each
        found.append(so_far / total)
    return found
