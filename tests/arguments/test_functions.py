"""The functions of expressions, against numpy and the standard library."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from cudarun.arguments.expressions.evaluation import Evaluator
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.base.errors import ArgumentSyntaxError, RequestError

X = np.float32([[0.25, -0.5, 2.5], [3.5, -1.5, 0.75]])
Y = np.float32([[1, -2, 0.5], [0, 7, -3]])
N = np.int32([[3, -1, 4], [1, -5, 9]])
U = np.uint8([250, 3, 7])
B = X.astype(ml_dtypes.bfloat16)
D, E = X.astype(float), Y.astype(float)


def value(text: str) -> object:
    values = {"x": X, "y": Y, "n": N, "u": U, "b": B}
    return Evaluator(parse_expression(text), values, {}).result()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("maximum(x, y)", np.maximum(D, E)),
        ("minimum(n, 2)", np.minimum(N, 2)),
        ("maximum(u, n[0])", np.maximum(U.astype(int), N[0])),
        ("fmax(x, nan)", D),
        ("clip(x, -1, 1)", np.clip(D, -1, 1)),
        ("clip(n, 0, 4)", np.clip(N, 0, 4)),
        ("floor(x)", np.floor(D)),
        ("ceil(x)", np.ceil(D)),
        ("trunc(x)", np.trunc(D)),
        ("rint(x)", np.rint(D)),
        ("round(x)", np.rint(D)),
        ("round(x, 1)", np.round(D, 1)),
        ("floor(n)", N),
        ("sign(x)", np.sign(D)),
        ("sign(n)", np.sign(N)),
        ("square(u)", U * U),
        ("erf(x)", np.vectorize(math.erf)(D)),
        ("erfc(0.5)", math.erfc(0.5)),
        ("exp2(x)", np.exp2(D)),
        ("log2(abs(x))", np.log2(np.abs(D))),
        ("log1p(x[0, 0])", np.log1p(0.25)),
        ("rsqrt(abs(x))", 1 / np.sqrt(np.abs(D))),
        ("arctan2(y, x)", np.arctan2(E, D)),
        ("pow(x, 2)", D**2),
        ("pow(abs(n), 3)", np.abs(N) ** 3),
        ("fmod(x, 2)", np.fmod(D, 2)),
        ("isfinite(x / 0)", np.zeros((2, 3), bool)),
        ("std(x)", D.std()),
        ("var(x, axis=0, ddof=1)", D.var(axis=0, ddof=1)),
        ("median(b)", np.median(D)),
        ("argmax(x)", 3),
        ("argmin(n, axis=1)", N.argmin(axis=1)),
        ("count_nonzero(y)", 5),
        ("cumprod(n, axis=0)", N.cumprod(axis=0)),
        ("diff(x)", np.diff(D)),
        ("diff(u)", np.diff(U)),
        ("argsort(x, axis=1)", D.argsort(axis=1)),
        ("flip(n, axis=1)", N[:, ::-1]),
        ("roll(n, 1)", np.roll(N, 1)),
        ("roll(b, -1, axis=1)", np.roll(D, -1, axis=1)),
        ("repeat(u, 2)", np.repeat(U, 2)),
        ("tile(u, 2, 3)", np.tile(U, (2, 3))),
        ("tril(x)", np.tril(D)),
        ("triu(n, 1)", np.triu(N, 1)),
        ("diag(u)", np.diag(U)),
        ("trace(n)", -2),
        ("outer(u, [1, 2])", np.outer(U.astype(int), [1, 2])),
        ("concatenate([x[0], y[1]])", np.concatenate([D[0], E[1]])),
        ("concatenate((x, n), axis=1)", np.concatenate([D, N], axis=1)),
        ("stack([u, u], axis=1)", np.stack([U, U], axis=1)),
        ("linspace(0, 1, 5)", np.linspace(0, 1, 5)),
        ("zeros(2, 3)", np.zeros((2, 3))),
        ("full((2, 2), 7)", np.full((2, 2), 7)),
        ("eye(3)", np.eye(3)),
        ("ravel(x)", D.ravel()),
        ("unique([3, 1, 3])", [1, 3]),
        ("squeeze([[1], [2]], axis=1)", [1, 2]),
        ("einsum('ij,kj->ik', x, y)", np.einsum("ij,kj->ik", D, E)),
        ("einsum('ii', x @ y.T)", np.trace(D @ E.T)),
        ("einsum('ij->j', u[:1] * n)", (250 * N).sum(axis=0)),
        ("isclose(x, x + 1e-9)", np.ones((2, 3), bool)),
        ("allclose(x, x + 1e-3)", False),
        ("allclose(x, x + 1e-3, rtol=0, atol=0.01)", True),
        ("allclose(x * nan, x * nan, equal_nan=true)", True),
        ("array_equal(n, n)", True),
        ("array_equal(n, n[0])", False),
        ("x.T", D.T),
        ("(x @ y.T).T[0]", (D @ E.T).T[0]),
        ("x[0].T.T", D[0]),
    ],
)
def test_values(text: str, expected: object) -> None:
    found = np.asarray(value(text))
    assert found.shape == np.shape(expected)
    if found.dtype.kind == "f":
        assert np.allclose(found, np.asarray(expected, float), rtol=1e-6, atol=0)
    else:
        assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("maximum(u, 300)", "int64"),
        ("minimum(u, u)", "uint8"),
        ("square(u)", "uint8"),
        ("floor(n)", "int32"),
        ("trace(u * eye(3))", "float64"),
        ("einsum('i,i', u, u)", "uint64"),
        ("argmax(x)", "int64"),
    ],
)
def test_types(text: str, dtype: str) -> None:
    assert np.asarray(value(text)).dtype == dtype


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("concatenate(x)", "concatenate takes a list of arrays"),
        ("einsum('ij,jk', x, u)", "einsum: 'ij,jk' does not match arrays of shape"),
        ("round(x, x)", "the number of decimals is one integer"),
        ("zeros(1 << 20, 1 << 20)", "an array of"),
        ("outer(arange(1 << 20), arange(1 << 20))", "an array of"),
        ("diag(arange(1 << 20))", "an array of"),
        ("einsum('i,j->ij', arange(1 << 20), arange(1 << 20))", "an array of"),
        ("tile(u, 1 << 40)", "an array of"),
        ("eye(1 << 20)", "an array of"),
        ("linspace(0, 1, 1 << 40)", "an array of"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        value(text)


@pytest.mark.parametrize(
    "text", ["einsum(x, y)", "einsum('i...', x)", "einsum('ij' x)", "x.S", "x.shape", "'ij' == x"]
)
def test_what_is_no_expression(text: str) -> None:
    with pytest.raises(ArgumentSyntaxError):
        value(text)
