"""The search for coefficients: it finds those of a row again, and no others."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.numerics import special_functions as unit
from tools import derive_approximations


@pytest.mark.parametrize(("name", "row"), [("rcp", 77), ("lg2", 5)])
def test_a_row_has_one_solution(name: str, row: int) -> None:
    bits, shift, square_shift, bias, doubled = unit.FORMATS[name]
    start, slope, curvature = unit.coefficients()[name][row].tolist()
    x = np.arange(1 << bits)
    square = unit.squares().take(x << doubled)
    total = (start << shift) + slope * x + (curvature * square << square_shift) + bias
    low = total >> 15 << 15  # what a result tells of it
    found = list(derive_approximations.solutions(name, x, low, low + (1 << 15) - 1))
    assert found == [(start, slope, curvature)]


def test_results_that_no_row_has() -> None:
    x = np.arange(1 << 16)
    low = np.where(x == 40_000, 1 << 40, 1 << 30)
    assert list(derive_approximations.solutions("rcp", x, low, low + 100)) == []
