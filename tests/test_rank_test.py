"""The rank test, compared with tables, with all orders of small samples, and with simulations."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from cudarun.comparison.rank_test import time_ratio


def test_the_estimate_is_the_median_of_all_quotients() -> None:
    first, second = [1.0, 2.0, 4.0, 5.0], [3.0, 6.0, 7.0, 9.0, 20.0]
    quotients = sorted(other / one for one in first for other in second)
    found = time_ratio(first, second)
    assert found.ratio == pytest.approx((quotients[9] * quotients[10]) ** 0.5)
    assert time_ratio(second, first).ratio == pytest.approx(1 / found.ratio)
    # Tables of the test (two-sided, 5 %): the critical number of pairs of 4 and 5 times is 1.
    assert found.low == pytest.approx(quotients[1])
    assert found.high == pytest.approx(quotients[-2])


@pytest.mark.parametrize(
    ("count", "other", "critical"), [(4, 4, 0), (5, 5, 2), (8, 8, 13), (10, 12, 29), (20, 20, 127)]
)
def test_significance_is_that_of_the_tables(count: int, other: int, critical: int) -> None:
    """The published critical values of U, two-sided, 5 %."""
    for pairs, significant in ((critical, True), (critical + 1, False)):
        # Of `other` later times, as many as needed are moved before those of the first sample.
        whole, part = divmod(pairs, count)
        second = [0.001 * (1 + index) for index in range(whole)]
        second += [1 + (count - part) - 0.5] if part else []
        second += [1000.0 + index for index in range(other - len(second))]
        first = [1.0 + index for index in range(count)]
        assert sum(a > b for a in first for b in second) == pairs
        assert time_ratio(first, second).is_significant is significant


def test_the_exact_probability_is_that_of_all_orders() -> None:
    first, second = [1.0, 2.0, 3.5, 4.5], [3.0, 4.0, 5.0]
    below = sum(a > b for a in first for b in second)
    extreme = min(below, 12 - below)
    orders = [
        sum(a > b for a in chosen for b in {*range(7)} - {*chosen})
        for chosen in combinations(range(7), 4)
    ]
    expected = 2 * sum(each <= extreme for each in orders) / len(orders)
    assert time_ratio(first, second).p_value == pytest.approx(expected)


def test_three_runs_are_too_few_for_an_interval() -> None:
    found = time_ratio([1, 2, 3], [10, 11, 12])
    assert (found.low, found.high, found.is_significant) == (None, None, False)
    assert time_ratio([1, 2, 3, 4], [10, 11, 12, 13]).is_significant


@pytest.mark.parametrize("count", [12, 60])
def test_the_interval_contains_the_ratio_as_often_as_it_claims(count: int) -> None:
    random = np.random.default_rng(7)
    covered = significant = 0
    for _ in range(200):
        first = random.lognormal(0, 0.3, count)
        found = time_ratio(first, 1.5 * random.lognormal(0, 0.3, count))
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 1.5 <= found.high
        significant += time_ratio(first, random.lognormal(0, 0.3, count)).is_significant
    assert 0.92 <= covered / 200 <= 0.985
    assert significant / 200 <= 0.08


def test_equal_times_do_not_differ() -> None:
    found = time_ratio([2.0] * 30, [2.0] * 30)
    assert found.p_value == 1
    assert found.ratio == pytest.approx(1)
    tied = time_ratio([1.0, 2.0, 2.0] * 10, [2.0, 2.0, 3.0] * 10)
    assert tied.is_significant


def test_a_time_of_zero_is_a_short_one() -> None:
    assert time_ratio([0.0] * 5, [1.0] * 5).ratio == pytest.approx(1e6)


def test_an_outlier_does_not_matter() -> None:
    random = np.random.default_rng(3)
    first, second = random.normal(1, 0.01, 50), random.normal(2, 0.01, 50)
    first[:3] = 1000
    assert time_ratio(first.tolist(), second.tolist()).ratio == pytest.approx(2, rel=0.02)
