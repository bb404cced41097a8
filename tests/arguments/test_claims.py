"""What a check may claim, the tolerance within it, and the digits of its mismatches."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.arguments.expressions.checks import run_check
from cudarun.arguments.expressions.statements import claimed_check, parse_check, parse_let
from cudarun.arguments.expressions.tolerance import Tolerance
from cudarun.base.errors import ArgumentSyntaxError
from cudarun.model.checks import failure_lines
from cudarun.session.driver.fill_pattern import fill_pattern

X = np.arange(1, 9, dtype=np.float32)
VALUES = {"x": X, "near": X * np.float32(1 + 1e-6), "far": X + 1, "n": np.int32(8)}


def result(text, values=VALUES, tolerance=None, unwritten=lambda name: None, lets=()):
    check = claimed_check(parse_check(text), [*map(parse_let, lets)])
    tolerance = (tolerance or Tolerance()).overridden(check.rtol, check.atol)
    return run_check(check.expression, values, values, tolerance, unwritten=unwritten)


@pytest.mark.parametrize(
    "text",
    [
        *("x", "1", "true", "max(x)", "x + 1", "sum(x == far)", "count_nonzero(x == x)", "x[0]"),
        *("all(x)", "any(x)", "not x", "x == near and n", "(x == x) | n", "where(x == x, x, n)"),
        *("where(x == x, x, true)", "all(x == x) + 0", "old(x)", "-(x == x)", "[x == x]"),
        *("1 == 1", "pi > 3", "all(arange(3) < 5)"),
        *("x == x", "0 < x <= x", "x == near and far + 1 == far + 1", "not isclose(x, x)"),
    ],
)
def test_a_check_that_compares_nothing(text):
    with pytest.raises(ArgumentSyntaxError, match="compares nothing") as refused:
        result(text)
    assert refused.value.hint


def test_a_let_is_a_claim_or_none():
    assert result("same", lets=["same=x == near"]).passed
    with pytest.raises(ArgumentSyntaxError, match="'most' compares nothing"):
        result("most", lets=["most=max(x)"])


def test_two_names_of_a_value_are_not_compared():
    """Two names of one buffer are expanded like ``--let``."""
    with pytest.raises(ArgumentSyntaxError, match="'y == x' compares nothing") as refused:
        result("y == x", lets=["y=x"])
    assert refused.value.hint is not None
    assert "old(…) is the value from before the launch, and isnan(x) tests for NaN" in (
        refused.value.hint
    )
    assert result("old(x) == x").passed


@pytest.mark.parametrize(
    "text",
    [
        *(
            "x == near",
            "all(x == near)",
            "any(x == near)",
            "x == near and n == 8",
            "not (x == far)",
        ),
        *("(x == near) & (n == 8)", "(x == far) | (near == x)", "~(x == far)", "(x == near)[2]"),
        *("where(x == far, x == far, x == near)", "reshape(x == near, (2, 4))", "old(x == near)"),
        *("0 < x == near", "isfinite(x)", "allclose(x, near)", "not any(isnan(x))"),
        "where(x > 3, x == near, true)",
    ],
)
def test_claims_have_a_tolerance(text):
    assert result(text).passed
    assert not result(f"not ({text})").passed


def test_without_a_tolerance_claims_are_exact():
    exact = Tolerance(rtol=0.0, atol=0.0)
    assert not result("all(x == near)", tolerance=exact).passed
    assert not result("x == near and n == 8", tolerance=exact).passed
    assert result("not (x == near)", tolerance=exact).passed


def test_a_tolerance_of_its_own_reaches_every_claim():
    assert not result("all(x == near) and n == 8, rtol=1e-9, atol=0").passed
    assert result("all(x == far) and n == 8, rtol=0, atol=1").passed
    assert (result("all(x == near)").rtol, result("x < far").rtol) == (1e-5, 0.0)
    with pytest.raises(ArgumentSyntaxError, match="a tolerance requires a check with =="):
        result("where(x == 1, 1, 2) < 3, rtol=1")
    with pytest.raises(ArgumentSyntaxError) as caught:
        result(f"{'':12}maximum(x, far) < 3, rtol=1")
    assert caught.value.text[caught.value.column :] == " rtol=1"


def test_masks_are_exact():
    assert result("sum(where(x == near, 1, 0)) == 0").passed


def unwritten_last(**dtypes):
    """Return values of which the last element has the fill pattern, and the function of these."""
    values = {"x": np.arange(4)}
    for name, dtype in dtypes.items():
        pattern = np.frombuffer(fill_pattern(np.dtype(dtype)), dtype)
        values[name] = np.concatenate([np.arange(3).astype(dtype), pattern])
    mask = np.array([False, False, False, True])
    return values, dict.fromkeys(dtypes, mask).get


UNWRITTEN = unwritten_last(y="f4", i="i4", u="u1", h="f2")


@pytest.mark.parametrize(
    "text",
    [
        *("isnan(y) | (x < 3)", "y != 7", "not (y > 2)", "not (y < 0)", "not isinf(y)"),
        *(
            "not any(y > 64)",
            "i != 7",
            "i < 3",
            "i > -2**31",
            "u >= 0 and u != 0 or u < 1 and 0 < 1",
        ),
        *("y == where(x < 3, x, nan)", "sum(i) < 0", "max(u) > 2", "(h != 5)[1:]", "y[3] != 3"),
    ],
)
def test_a_check_that_unwritten_elements_pass(text):
    values, mask = UNWRITTEN
    tolerance = Tolerance(equal_nan=True)
    assert result(text, values, tolerance).passed or text in ("not isinf(y)",)
    assert not result(text, values, tolerance, unwritten=mask).passed


@pytest.mark.parametrize(
    "text",
    [
        *("y[:3] == x[:3]", "(x == 3) | (y == x)", "where(x < 3, i == x, true)", "sum(u[:3]) == 3"),
        *("not (y[:3] > 64)", "x == arange(4)", "where(x < 3, y, 3) == x"),
    ],
)
def test_a_check_of_written_elements(text):
    values, mask = UNWRITTEN
    assert result(text, values, unwritten=mask).passed


def test_integers_that_only_seem_unwritten():
    values, mask = UNWRITTEN
    check = claimed_check(parse_check("u != 7 and i != 7")).expression
    assert run_check(check, values, values, unwritten=mask, only_floats=True).passed
    check = claimed_check(parse_check("u != 7 and h != 7")).expression
    assert not run_check(check, values, values, unwritten=mask, only_floats=True).passed


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("all(x == far)", "[0]: got 1.0, expected 2.0"),
        ("n == 8 and (x == far)[2:]", None),
        ("n == 8 and all(far[5:] == x[5:])", "[0]: got 7.0, expected 6.0"),
        ("(x < 9) & (near < 7)", "[6]: got 7.0000067, expected < 7"),
        ("n == 7 and x == near", "got 8, expected 7"),
        ("not all(x == near)", "got false, expected true"),
        ("(x == far) | (n == 7)", "[0]: got false, expected true"),
    ],
)
def test_a_composed_check_shows_the_part_that_fails(text, line):
    found = result(text)
    assert (found.passed, found.expression) == (False, text)
    assert any((line or "[0]: got false") in each for each in failure_lines(found))


def test_a_mismatch_of_what_was_computed_from_unwritten_elements():
    values, mask = UNWRITTEN
    for text in ("2*y + 1 == 2*x + 1", "isfinite(y)", "f32(i)[1:] == x[1:]"):
        [mismatch] = result(text, values, unwritten=mask).first
        assert mismatch.got is None


def test_a_claim_about_unwritten_elements():
    unwritten = np.array([False] * 7 + [True])
    mask = {"near": unwritten}.get
    texts = ("all(near == x)", "all(x == x + 0)")
    assert [result(text, unwritten=mask).passed for text in texts] == [False, True]


@pytest.mark.parametrize(
    ("got", "expected", "text"),
    [
        (np.float32(1), np.float64(1 + 1e-9), "got 1.0, expected 1.000000001"),
        (np.float16(0.1), np.float64(0.1), "got 0.0999755859375, expected 0.1"),
        (np.float32(1), np.nextafter(np.float32(1), np.float32(2)), "got 1.0, expected 1.0000001"),
        (np.float64(0.1), np.float64(0.1) + 2**-56, "got 0.1, expected 0.10000000000000002"),
    ],
)
def test_unequal_values_have_unequal_texts(got, expected, text):
    values = {"got": np.array([got]), "expected": np.array([expected])}
    found = result("got == expected, rtol=0, atol=0", values)
    assert any(text in line for line in failure_lines(found))


# --- long sums -----------------------------------------------------------------------------------

TERMS = 4096
RANDOM = np.random.default_rng(1)
A = RANDOM.standard_normal((3, TERMS)).astype(np.float32)
CANCELING = np.hstack([A, -A[:, ::-1]])
ONES = np.ones(2 * TERMS, np.float32)


def accumulated(terms):
    total = np.zeros(terms.shape[0], np.float32)
    for column in terms.T:
        total += column
    return total


@pytest.mark.parametrize(
    ("text", "values", "kind"),
    [
        ("y == a @ b", {"y": accumulated(CANCELING), "a": CANCELING, "b": ONES}, "atol"),
        ("y == sum(a, axis=1)", {"y": accumulated(CANCELING), "a": CANCELING}, "atol"),
        ("2*y == 2*sum(a, axis=1)", {"y": accumulated(abs(A)), "a": abs(A)}, "rtol"),
    ],
)
def test_rounding_of_a_long_sum(text, values, kind):
    tolerance = Tolerance(rtol=1e-7, atol=1e-9)
    found = result(text, values, tolerance)
    assert not found.passed
    terms, _, sufficient = found.long_sum.partition("; it passes with ")
    assert terms == f"{values['a'].shape[1]} terms in f32"
    assert sufficient.startswith(f"{kind}=")
    assert result(f"{text}, {sufficient}", values, tolerance).passed
    assert any(found.long_sum in line for line in failure_lines(found))


def test_a_wrong_sum_is_no_rounding():
    values = {"y": accumulated(A) + np.float32([0, 0.1, 0]), "a": A, "b": ONES[:TERMS]}
    assert result("y == a @ b", values).long_sum is None
    values = {"y": np.float32([np.nan] * 3), "a": A, "b": ONES[:TERMS]}
    assert result("y == a @ b", values).long_sum is None
    assert result("near == x, rtol=0, atol=0").long_sum is None
