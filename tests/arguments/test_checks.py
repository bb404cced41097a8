"""Checks: what holds, what does not, and what is said about it."""

from __future__ import annotations

import math
import tracemalloc

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cudarun.arguments.dtypes import scalar_dtype
from cudarun.arguments.expressions.checks import run_check
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.arguments.expressions.tolerance import DEFAULT_TOLERANCES, Tolerance
from cudarun.arguments.types import SCALARS
from cudarun.base.errors import RequestError
from cudarun.model.checks import CheckResult, Mismatch


def check(text: str, tolerance: Tolerance | None = None, old: dict | None = None, **values):
    return run_check(parse_expression(text), values, old or {}, tolerance or Tolerance())


X = np.arange(8, dtype=np.float32)


# --- the outcome in full -------------------------------------------------------------------------


def test_a_check_that_holds():
    assert check("y == a*x + 1", x=X, y=2 * X + 1, a=np.float32(2)) == CheckResult(
        expression="y == a*x + 1",
        passed=True,
        elements=8,
        mismatches=0,
        max_abs_error=0.0,
        max_rel_error=0.0,
        rtol=1e-5,
        atol=1e-6,
    )


def test_a_check_that_fails():
    y = 2 * X
    y[2] += 0.5
    y[5] = np.nan
    assert check("y == 2*x", y=y, x=X) == CheckResult(
        expression="y == 2*x",
        passed=False,
        elements=8,
        mismatches=2,
        max_abs_error=0.5,
        max_rel_error=0.125,
        rtol=1e-5,
        atol=1e-6,
        first=(Mismatch((2,), "4.5", "4.0"), Mismatch((5,), "nan", "10.0")),
        worst=Mismatch((2,), "4.5", "4.0"),
    )


def test_the_first_mismatches_in_index_order():
    m = np.zeros((300, 400), np.int32)
    wrong = [(0, 7), (1, 0), (170, 399), (255, 3), (299, 398), (299, 399)]
    for index in wrong:
        m[index] = 9
    result = check("m == 0", m=m)
    assert result.mismatches == 6
    assert result.first == tuple(Mismatch(index, "9", "0") for index in wrong[:5])


def test_values_are_shown_in_the_precision_they_have():
    result = check("x == 0", x=np.float32([0.1]))
    assert result.first == (Mismatch((0,), "0.1", "0"),)
    assert check("x * 3 == 0", x=np.float32([0.1])).first[0].got == "0.3"
    assert check("x == 0", x=np.array([0.1])).first[0].got == "0.1"
    assert check("x == 9", x=np.array([0.5], ml_dtypes.bfloat16)).first[0].got == "0.5"
    assert check("x == true", x=np.array([False])).first == (Mismatch((0,), "false", "true"),)


def test_a_scalar_has_no_index():
    assert check("sum(x) == 27", x=X).first == (Mismatch((), "28.0", "27"),)


# --- equality of floats --------------------------------------------------------------------------


def _naive(left, right, rtol: float, atol: float, equal_nan: bool) -> bool:
    left, right = float(left), float(right)
    if math.isnan(left) or math.isnan(right):
        return equal_nan and math.isnan(left) and math.isnan(right)
    if math.isinf(left) or math.isinf(right):
        return left == right
    return abs(left - right) <= atol + rtol * abs(right)


near = st.sampled_from(
    [0.0, -0.0, 1.0, 1.0 + 2**-20, 1.001, -1.0, 1e-7, 3e38, np.nan, np.inf, -np.inf]
)


@given(
    st.sampled_from(["f64", "f32", "f16", "bf16"]),
    st.lists(st.tuples(near, near), max_size=8),
    st.sampled_from([None, 0.0, 1e-3, 2.0]),
    st.sampled_from([None, 0.0, 0.5]),
    st.booleans(),
)  # fmt: skip
def test_tolerance_against_a_loop(name, pairs, rtol, atol, equal_nan):
    with np.errstate(all="ignore"):
        left, right = (
            np.array([pair[side] for pair in pairs]).astype(scalar_dtype(SCALARS[name]))
            for side in (0, 1)
        )
    result = check("a == b", Tolerance(rtol, atol, equal_nan), a=left, b=right)
    used = tuple(
        default if given_ is None else given_
        for given_, default in zip((rtol, atol), DEFAULT_TOLERANCES[name], strict=True)
    )
    assert (result.rtol, result.atol) == used
    held = [_naive(*pair, *used, equal_nan) for pair in zip(left, right, strict=True)]
    assert result.mismatches == held.count(False)
    assert result.passed == all(held)
    assert [m.index for m in result.first] == [(i,) for i, ok in enumerate(held) if not ok][:5]
    errors = [
        0.0 if one == other else abs(one - other)
        for one, other in zip(map(float, left), map(float, right), strict=True)
        if not (math.isnan(one) or math.isnan(other))
    ]
    if equal_nan and any(math.isnan(a) and math.isnan(b) for a, b in zip(left, right, strict=True)):
        errors.append(0.0)
    assert result.max_abs_error == max(errors, default=None)


@pytest.mark.parametrize(
    ("left", "right", "equal"),
    [
        (np.inf, np.inf, True),
        (-np.inf, np.inf, False),
        (np.inf, 1e300, False),
        (1e300, np.inf, False),
        (np.nan, np.nan, False),
        (np.nan, 1.0, False),
        (0.0, -0.0, True),
    ],
)
def test_special_values(left, right, equal):
    values = {"a": np.array([left]), "b": np.array([right])}
    assert check("a == b", **values).passed is equal
    assert check("a == b", Tolerance(rtol=1.0), **values).passed is equal


@pytest.mark.parametrize("bad", [-1.0, math.inf, math.nan])
def test_tolerances_that_are_none(bad):
    with pytest.raises(RequestError, match=f"--rtol {bad}: a tolerance must be a number from 0"):
        Tolerance(rtol=bad)
    with pytest.raises(RequestError, match=f"--atol {bad}: a tolerance must be a number from 0"):
        Tolerance(atol=bad)


def test_equal_nan():
    x = np.float32([np.nan, 1])
    assert not check("x == x", x=x).passed
    assert check("x == x", Tolerance(equal_nan=True), x=x).passed
    assert not check("x == 1", Tolerance(equal_nan=True), x=x).passed


@pytest.mark.parametrize("name", DEFAULT_TOLERANCES)
def test_a_rounding_of_the_type_is_within_its_tolerance(name):
    dtype = scalar_dtype(SCALARS[name])
    exact = np.concatenate([np.linspace(-9, 9, 999), np.geomspace(1e-6, 400, 999)])
    rounded = exact.astype(dtype)
    assert check("rounded == exact", rounded=rounded, exact=exact).passed
    assert not check("rounded == exact * 1.6 + 0.1", rounded=rounded, exact=exact).passed


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("d == s", "f32"),
        ("s == d", "f32"),
        ("h == s", "f16"),
        ("d == b + h", "bf16"),
        ("s == f32(b)", "f32"),
        ("d == d", "f64"),
        ("i / 2 == i / 2", "f64"),
        ("s == i", "f32"),
        ("d == s == b", "bf16"),
    ],
)
def test_the_less_precise_side_chooses_the_tolerance(text, name):
    values = {
        "d": np.zeros(1),
        "s": np.float32([0]),
        "h": np.float16([0]),
        "b": np.zeros(1, ml_dtypes.bfloat16),
        "i": np.array([0]),
    }
    result = check(text, **values)
    assert (result.rtol, result.atol) == DEFAULT_TOLERANCES[name]


def test_relative_errors_are_not_taken_of_zero():
    result = check("a == b", a=np.float32([1, 3]), b=np.float32([0, 2]))
    assert (result.max_abs_error, result.max_rel_error) == (1.0, 0.5)
    assert check("a == 0", a=np.float32([1])).max_rel_error is None


# --- equality of integers ------------------------------------------------------------------------


def test_integers_compare_exactly():
    big = np.array([2**63 - 1, 5])
    result = check("a == b", Tolerance(rtol=1.0, atol=100.0), a=big, b=big - 1)
    assert (result.mismatches, result.max_abs_error) == (2, 1.0)
    assert (result.rtol, result.atol) == (0.0, 0.0)
    assert check("a == b", a=np.uint64([2**64 - 1]), b=np.int64([-1])).mismatches == 1
    assert check("h == n", h=np.uint8([8]), n=np.int64(8)).passed


@given(hnp.arrays(np.int8, 20), hnp.arrays(np.uint16, 20))
def test_integers_against_a_loop(left, right):
    result = check("a == b", a=left, b=right)
    differences = [abs(int(a) - int(b)) for a, b in zip(left, right, strict=True)]
    assert result.mismatches == sum(d != 0 for d in differences)
    assert result.max_abs_error == max(differences)


# --- other checks --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "failing"),
    [
        ("x >= 0", []),
        ("x > 1", [0, 1]),
        ("x != 3", [3]),
        ("2 <= x < 6", [0, 1, 6, 7]),
        ("x", [0]),
        ("x > 2 and x < 7", [0, 1, 2]),  # of the first comparison that fails
        ("not (x == 4)", [4]),
        ("all(x >= 0)", []),
        ("x == x == x", []),
        ("true", []),
    ],
)
def test_every_element_must_hold(text, failing):
    result = check(text, x=X)
    assert (result.passed, result.mismatches) == (not failing, len(failing))
    assert [m.index for m in result.first] == [(i,) for i in failing][:5]
    assert (result.rtol > 0) == (text == "x == x == x")
    assert (result.max_abs_error is None) == (text != "x == x == x")


def test_a_chain_shows_the_link_that_broke():
    assert check("2 <= x < 6", x=X).first[1:3] == (
        Mismatch((1,), "1.0", "2", ">="),
        Mismatch((6,), "6.0", "6", "<"),
    )


def test_what_is_not_true_is_shown():
    assert check("isnan(x)", x=X[:1]).first == (Mismatch((0,), "false", "true", ""),)


def test_sides_broadcast():
    m = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert check("m == m[:1] + [[0], [3]]", m=m).elements == 6
    assert check("m == m[:1]", m=m).mismatches == 3
    assert check("1 == m[0, 1] == n", m=m, n=np.int32(1)).passed


def test_old_values():
    assert check("x == old(x) + 1", x=X + 1, old={"x": X}).passed


def test_nothing_to_compare_holds():
    result = check("e == e + 1", e=X[:0])
    assert (result.passed, result.elements, result.max_abs_error) == (True, 0, None)


def test_sides_that_do_not_go_together():
    with pytest.raises(RequestError, match=r"x == y: the shapes \(8,\) and \(7,\) cannot be"):
        check("x == y", x=X, y=X[:7])


def test_large_arrays_are_compared_in_chunks():
    n = 1 << 21
    x = np.arange(n, dtype=np.float32)
    y = 2 * x + 1
    y[-1] = 0
    values = {"x": x, "y": y, "a": np.float32(2)}
    expression = parse_expression("y == a*x + 1")
    tracemalloc.start()
    try:
        result = run_check(expression, values, {}, Tolerance())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert [m.index for m in result.first] == [(n - 1,)]
    assert result.elements == n
    assert peak < x.nbytes
