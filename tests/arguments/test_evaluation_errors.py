"""Expressions without a value: the errors of their evaluation."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.arguments.expressions import deferral
from cudarun.arguments.expressions.evaluation import Evaluator
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.base.errors import ArgumentSyntaxError, RequestError
from tests.arguments.evaluated import POINTS, H, M, X, value


def test_rows_without_elements_are_bounded():
    rows = np.zeros((1 << 32, 0), np.float32)
    with pytest.raises(RequestError, match="exceeds the limit of"):
        Evaluator(parse_expression("sum(x, axis=1)"), {"x": rows}, {}).result()


LIMIT = f"exceeds the limit of {deferral.MAX_ELEMENTS} elements in expressions"


def test_a_struct_in_a_list_is_refused() -> None:
    with pytest.raises(RequestError, match="a struct has no single value"):
        value("[0, p]", p=POINTS)


@pytest.mark.parametrize(
    "text",
    ["mean(x[:0])", "median(x[:0])", "std(x[:0])", "var(x, ddof=8)", "mean(m[:0], axis=0)"],
)
def test_a_mean_of_nothing_is_an_error_and_no_warning(text) -> None:
    with pytest.raises(RequestError, match="there are too few elements"):
        value(text, x=X, m=M)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x + m", "the shapes (8,) and (2, 3) cannot be broadcast together"),
        ("x == m", "the shapes (8,) and (2, 3) cannot be broadcast together"),
        ("x & 1", "'&' requires integers, not floats"),
        ("~x", "'~' requires integers, not floats"),
        ("h // 0", "'//': integer division by zero"),
        ("h % (h - h)", "'%': integer division by zero"),
        ("1 // 0", "1 // 0: division by zero"),
        ("h ** (i8(h) - 100)", "'**': the right side has negative integers"),
        ("h << [-1, 0]", "'<<': the right side has negative integers"),
        ("9**9**9", "9 ** 387420489 exceeds 64 bits"),
        ("1 << 10**15", "1 << 1000000000000000 exceeds 64 bits"),
        ("n * 10**18 * 100", "8000000000000000000 * 100 exceeds 64 bits"),
        ("arange(10**12)", f"an array of {10**12} elements {LIMIT}"),
        ("arange(2**31)", f"an array of {2**31} elements {LIMIT}"),
        ("zeros(2**31)", f"an array of {2**31} elements {LIMIT}"),
        ("sum(x, keepdims=x)", "keepdims= must be true or false"),
        ("isclose(x, x, equal_nan=x)", "equal_nan= must be true or false"),
        ("arange(0, 1, 0)", "arange: the step is 0"),
        ("arange(0, 1.5, 0)", "arange: the step is 0"),
        ("arange(0, 1, 1e-300)", None),
        ("arange(0, inf)", None),
        ("arange(0, nan)", None),
        ("arange(x)", "arange requires scalars"),
        ("bincount([10**15])", "bincount requires integers from 0 to 67108863"),
        ("bincount([-1])", "bincount requires integers from 0 to 67108863"),
        ("bincount(x)", "bincount requires integers"),
        ("bincount(h, minlength=10**15)", "bincount: minlength=1000000000000000"),
        ("reshape(arange(10**6), (10**6, 1)) + arange(10**6)", None),
        ("reshape(arange(10**6), (10**6, 1)) @ reshape(arange(10**6), (1, 10**6))", None),
        ("x[reshape(arange(10**6), (10**6, 1)), arange(10**6)]", None),
        ("x @ m", "'@': the shapes (8,) and (2, 3) do not match"),
        ("n @ x", "'@' requires vectors or matrices; use '*' for scalars"),
        ("dot(y, x)", "dot requires vectors or matrices; use '@' for stacks of matrices"),
        ("x[8]", "[…]: index 8 is out of bounds for axis 0 with size 8"),
        ("x[1.5]", "[…]: an index must be an integer, not float64"),
        ("x[::0]", "[…]: slice step cannot be zero"),
        ("n[0]", "[…]: a scalar has no elements"),
        ("x[0, 0]", None),
        ("sum(x, axis=3)", "sum: axis 3 is out of bounds for array of dimension 1"),
        ("sum(x, axis=0.5)", "a shape, an axis or a bound must be one integer"),
        ("reshape(x, 3, 3)", "reshape: cannot reshape array of size 8 into shape (3,3)"),
        ("max(x[:0])", None),
        ("[1, [2, 3]]", None),
        ("p + 1", 'a struct has no single value; select a member: ["n"], ["v"]'),
        ("p == p", 'a struct has no single value; select a member: ["n"], ["v"]'),
        ("sum(p)", 'sum: a struct has no single value; select a member: ["…"]'),
        ('p["x"]', '["x"]: its members are n, v'),
        ('x["x"]', '["x"]: it is not a struct'),
        ("old(x)", "old(x): it has no initial value"),
        ("z", "z contains complex128, which expressions do not support"),
        ("load('nowhere.npy')", "cannot read nowhere.npy: No such file or directory"),
    ],
)  # fmt: skip
def test_impossible(text, message):
    with pytest.raises(RequestError) as refused:
        value(
            text, x=X, y=X.reshape(2, 2, 2), m=M, h=H, n=np.int32(8), p=POINTS, z=np.complex128(1)
        )
    assert not isinstance(refused.value, ArgumentSyntaxError)
    if message is None:  # numpy's own words, or a number that says little
        assert refused.value.message.startswith(f"{text}: ")
    else:
        assert refused.value.message == f"{text}: {message}"


def test_more_than_memory_holds():
    huge = np.broadcast_to(np.float32(1), (1 << 46,))
    with pytest.raises(RequestError, match="huge \\+ 1: Unable to allocate"):
        value("huge + 1", huge=huge)


def test_unknown_names_have_their_column():
    with pytest.raises(ArgumentSyntaxError) as refused:
        value("x + old(yy)", x=X, old={"x": X, "yyy": X})
    assert refused.value.message == "unknown name 'yy'; known names: x, yyy"
    assert refused.value.column == 8
    assert refused.value.hint == "did you mean yyy?"
