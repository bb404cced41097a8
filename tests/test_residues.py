"""Floats as numbers modulo a prime, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from cudarun.base.residues import MOST, PRIME, inverse, of_integers, opaque, representative

ALL = np.arange(-MOST, MOST + 1, dtype=np.float64)


def number(value: Fraction) -> int:
    """Return the representative of a fraction."""
    found = value.numerator * pow(value.denominator, -1, PRIME) % PRIME
    return found - PRIME if found > MOST else found


def test_representatives_are_those_of_fractions() -> None:
    random = np.random.default_rng(1)
    scales = np.ldexp(1.0, random.integers(-1070, 1000, 4000))
    values = np.concatenate([random.standard_normal(4000) * scales, [5e-324, 0.0, -0.0, 1e308]])
    found = representative(values)
    assert found.tolist() == [number(Fraction(each)) for each in values.tolist()]
    assert not np.signbit(representative(np.array([-0.0]))).any()


def test_what_is_no_number_remains() -> None:
    values = np.array([np.inf, -np.inf, np.nan, 0.5])
    assert np.array_equal(representative(values)[:3], values[:3], equal_nan=True)
    assert np.array_equal(inverse(values[:3]), [0.0, 0.0, np.nan], equal_nan=True)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integers_are_numbers(dtype: str) -> None:
    limits = np.iinfo(dtype)
    values = np.array([limits.min, limits.max, 0, 1, 100], dtype)
    assert of_integers(values).tolist() == [number(Fraction(int(each))) for each in values]


def test_products_with_inverses_are_one() -> None:
    products = representative(ALL * inverse(ALL))
    assert products[ALL != 0].tolist() == [1.0] * (PRIME - 1)
    assert inverse(np.zeros(1)).tolist() == [0.0]


def test_opaque_functions_depend_on_their_name_and_all_operands() -> None:
    found = opaque("sin", ALL)
    assert np.array_equal(found, opaque("sin", ALL.copy()))
    assert np.abs(found).max() <= MOST
    for other in (opaque("cos", ALL), opaque("sin", ALL, ALL), opaque("sin", ALL + 1)):
        assert np.count_nonzero(found == other) < 20
