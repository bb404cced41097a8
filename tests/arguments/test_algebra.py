"""Checks with ``--algebra``: arithmetic of floats modulo a prime."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.arguments.expressions.checks import run_check
from cudarun.arguments.expressions.statements import claimed_check, parse_check
from cudarun.arguments.expressions.tolerance import Tolerance
from cudarun.base.errors import RequestError
from cudarun.base.residues import representative

RANDOM = np.random.default_rng(2)
X = RANDOM.standard_normal((6, 5)).astype(np.float32)
Y = RANDOM.standard_normal((6, 5)).astype(np.float32)
VALUES = {"x": X, "y": Y, "n": np.int32(7), "a": np.float32(0.1), "i": np.arange(30).reshape(6, 5)}


def passes(text: str) -> bool:
    check = claimed_check(parse_check(text))
    return run_check(check.expression, VALUES, VALUES, Tolerance(algebra=True)).passed


@pytest.mark.parametrize(
    "text",
    [
        *("(x + y) * (x - y) == x*x - y*y", "x / y * y == x", "(x / n) * 7 == x"),
        *("mean(x) == sum(x) / 30", "mean(x, axis=1) == sum(x, axis=1) / 5", "a == 0.1"),
        *("var(x) == mean(x*x) - mean(x) * mean(x)", "x @ y.T == transpose(y @ x.T)"),
        "var(x, axis=0, ddof=1) * 5 == 6 * mean(x*x, axis=0) - 6 * mean(x, axis=0) ** 2",
        *("f16(x) * bf16(y) == y * x", "f32(i) / 2 == i * 0.5", "square(x) == x * x"),
        *("where(i > 3, x, y) - y == (i > 3) * (x - y)", "sum(old(x)) == sum(x.T)"),
        "einsum('ij,ij->i', x, y) == sum(x*y, axis=1)",
        *("maximum(x, y) + minimum(x, y) == x + y", "cumsum(x[0])[4] == sum(x[0])", "-x == 0 - x"),
        *("x ** 3 == x*x*x", "x ** 0 == 1", "x ** 4095 == x ** 3"),  # by Fermat's theorem
        "i == reshape(arange(30), 6, 5)",
    ],
)  # fmt: skip
def test_identities_are_exact(text: str) -> None:
    assert passes(text)


@pytest.mark.parametrize(
    "text", ["x == x * 1.0000001", "x == y", "x / 3 == x * 0.333333", "x + 1e-20 == x"]
)
def test_what_is_almost_equal_is_not(text: str) -> None:
    assert not passes(text)


@pytest.mark.parametrize("text", ["y == exp(x)", "y == x // 2", "y == x ** 0.5", "i == i32(x)"])
def test_what_has_no_image_is_refused(text: str) -> None:
    with pytest.raises(RequestError, match="not arithmetic modulo a prime"):
        passes(text)


def test_numbers_are_those_of_the_buffers() -> None:
    check = claimed_check(parse_check("d == 0.1"))
    wide = {"d": np.full(3, 0.1)}
    assert run_check(check.expression, wide, wide, Tolerance(algebra=True)).passed
    assert representative(np.float64(np.float32(0.1))) != representative(np.float64(0.1))
