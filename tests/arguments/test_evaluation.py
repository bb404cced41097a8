"""What expressions come out as."""

from __future__ import annotations

import operator
import tracemalloc

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cudarun.arguments.dtypes import convert, scalar_dtype
from cudarun.arguments.expressions import evaluation
from cudarun.arguments.expressions.evaluation import Evaluator
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.arguments.expressions.syntax import CASTS, FUNCTIONS
from cudarun.arguments.types import SCALARS
from cudarun.base.errors import RequestError
from tests.arguments.evaluated import POINTS, H, M, X, value


def same(found, expected) -> None:
    """The same value in the same type and shape."""
    expected = np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(found, expected)


# --- arithmetic ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x + 1", X + 1),
        ("a * x", 2 * X),
        ("-x", -X),
        ("x[::-2]", X[::-2]),
        ("x[1:3]", X[1:3]),
        ("x[-1]", X[-1]),
        ("m[..., 1]", M[..., 1]),
        ("m[:, None, 1]", M[:, None, 1]),
        ("m[newaxis, True]", M[None, True]),
        ("all(m == m) == True", True),
        ("m[1, 2]", M[1, 2]),
        ("m[:, [2, 0]]", M[:, [2, 0]]),
        ("x[x > 5]", X[X > 5]),
        ("x > 2 and x < 5", (X > 2) & (X < 5)),
        ("x < 2 or x > 5", (X < 2) | (X > 5)),
        ("not x", X == 0),
        ("2 < x <= 5", (X > 2) & (X <= 5)),
        ("x // 3", X // 3),
        ("x % 3", X % 3),
        ("x ** 2", X**2),
        ("m + [10, 20, 30]", M + np.float32([10, 20, 30])),
        ("where(x > 3, x, -1)", np.where(X > 3, X, np.float32(-1))),
        ("abs(-x)", X),
        ("sqrt(x)", np.sqrt(X.astype(float)).astype(np.float32)),
        ("transpose(m)", M.T),
        ("transpose(m, 1, 0)", M.T),
        ("transpose(m, (1, 0))", M.T),
        ("reshape(x, 2, -1)", X.reshape(2, 4)),
        ("reshape(x, (n // 2, 2))", X.reshape(4, 2)),
        ("sum(m, axis=0)", M.sum(axis=0)),
        ("sum(m, axis=(0, 1))", M.sum()),
        ("mean(m, axis=1, keepdims=true)", M.mean(axis=1, keepdims=True)),
        ("max(m)", M.max()),
        ("min(m, axis=-1)", M.min(axis=-1)),
        ("prod(m + 1)", np.float32(720)),
        ("cumsum(x)", np.cumsum(X)),
        ("cumsum(m, axis=0)", np.cumsum(M, axis=0)),
        ("sort(-x)", np.sort(-X)),
        ("dot(x, x)", np.float32(140)),
        ("dot(m, 2)", 2 * M),
        ("m @ transpose(m)", M @ M.T),
        ("x @ x", np.float32(140)),
        ("all(x >= 0)", np.True_),
        ("any(x > 7)", np.False_),
        ("isnan(x / 0)", np.isnan([np.nan, 1, 1, 1, 1, 1, 1, 1])),
        ("arange(3)", np.arange(3)),
        ("arange(n)", np.arange(8)),
        ("arange(2, 8, 3)", np.arange(2, 8, 3)),
        ("arange(5, 0, -2)", np.arange(5, 0, -2)),
        ("arange(0)", np.arange(0)),
        ("arange(0, 1, 0.25)", np.arange(0, 1, 0.25)),
        ("bincount(h)[3]", np.int64(1)),
        ("bincount([1, 1], minlength=4)", np.array([0, 2, 0, 0])),
        ('p["n"]', POINTS["n"]),
        ('p["v"][1]', np.float32(4.5)),
        ("[[1, 2], [3, 4]]", np.array([[1, 2], [3, 4]])),
        ("[1, 2.5]", np.array([1, 2.5])),
        ("[true, false]", np.array([True, False])),
        ("pi", np.float64(np.pi)),
        ("inf", np.float64(np.inf)),
        ("true", np.True_),
        ("5", np.int64(5)),
        ("2.5", np.float64(2.5)),
        ("1 / 0", np.float64(np.inf)),
        ("n / 3", np.float64(8 / 3)),
    ],
)
def test_values(text, expected):
    found = value(text, x=X, m=M, h=H, p=POINTS, a=np.float32(2), n=np.int32(8))
    same(found, expected)


def test_old_values():
    same(value("x - old(x)", x=X, old={"x": X - 1}), np.ones(8, np.float32))
    same(value("old(x * a)", x=X, old={"x": X, "a": np.float32(2)}), 2 * X)


def test_an_argument_hides_a_constant_but_no_function():
    same(value("pi", pi=np.int32(3)), np.int32(3))
    same(value("sum(sum) + sum[0]", sum=np.array([5, 6])), np.int64(16))


def test_half_precision_neither_overflows_nor_rounds_half_way():
    x = np.array([300, 60000], np.float16)
    same(value("x * x", x=x), np.float32([90000, 3.6e9]))
    same(value("sum(x)", x=np.full(1000, 1000, np.float16)), np.float32(1e6))
    same(value("f16(x * x / x)", x=x), x)


def test_float64_stays_what_it_is():
    x = np.array([0.1, 0.2])
    same(value("x + x", x=x), x + x)
    same(value("x * f", x=x, f=np.float32(0.1)), np.float32(x * np.float64(np.float32(0.1))))


@given(hnp.arrays(np.float32, (2, 5), elements=st.floats(width=32)))
def test_a_cast_makes_single_precision_exact(pair):
    x, y = pair
    with np.errstate(all="ignore"):
        for symbol in "+-*/":
            function = {"+": operator.add, "-": operator.sub, "*": operator.mul}.get(
                symbol, operator.truediv
            )
            same(value(f"f32(x {symbol} y)", x=x, y=y), function(x, y))
        same(value("f32(sqrt(x))", x=x), np.sqrt(x))


@pytest.mark.parametrize("name", ["bf16", "f8e4m3", "f8e5m2", "f16"])
@given(st.floats(-400, 400))
def test_casts_to_small_floats_round_once(name, number):
    scalar = SCALARS[name]
    dtype = scalar_dtype(scalar)
    found = convert(number, scalar)
    with np.errstate(all="ignore"):
        everything = np.arange(1 << (8 * scalar.size), dtype=f"u{scalar.size}").view(dtype)
        distance = np.abs(everything.astype(np.float64) - number)
    assert abs(float(found) - number) == np.nanmin(distance)


def test_a_cast_that_two_roundings_would_get_wrong():
    number = 1 + 2**-8 + 2**-40  # just above the middle of two bf16, which float32 makes exact
    assert float(ml_dtypes.bfloat16(number)) == 1.0
    rounded = np.array([1.0078125, -1.0078125], ml_dtypes.bfloat16)
    same(value("bf16(x)", x=np.array([number, -number])), rounded)


# --- integers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("h * 2", np.uint8([6, 244])),
        ("2 * h", np.uint8([6, 244])),
        ("h + 300", np.int64([303, 550])),
        ("h - 4", np.uint8([255, 246])),
        ("h * -1", np.int64([-3, -250])),
        ("-h", np.uint8([253, 6])),
        ("~h", np.uint8([252, 5])),
        ("h + i", np.int32([2, 249])),
        ("u + i", np.uint64([0, 0])),
        ("u - 1", np.uint64([0, 0])),
        ("h << 1", np.uint8([6, 244])),
        ("h << 100", np.uint8([0, 0])),
        ("h >> 1", np.uint8([1, 125])),
        ("h & 1", np.uint8([1, 0])),
        ("h ^ h", np.uint8([0, 0])),
        ("(h > 5) | (h == 3)", np.array([True, True])),
        ("(h > 5) + (h > 100)", np.int32([0, 2])),
        ("h // 2", np.uint8([1, 125])),
        ("-i // 2", np.int32([0, 0])),
        ("-n // 3", np.int32(-3)),
        ("-n % 3", np.int32(1)),
        ("n * 1000000000", np.int64(8_000_000_000)),
        ("n * n", np.int32(64)),
        ("big * big", np.int64(1 << 60)),
        ("size - 10", np.int64(-2)),
        ("sum(h)", np.uint64(253)),
        ("sum(h > 5)", np.int64(1)),
        ("prod(h)", np.uint64(750)),
        ("cumsum(h)", np.uint64([3, 253])),
        ("mean(h)", np.float64(126.5)),
        ("h @ h", np.uint64(62509)),
        ("i @ h", np.uint64(2**64 - 253)),
        ("i8(i) @ i8(i)", np.int64(2)),
        ("h / 2", np.float64([1.5, 125])),
        ("i8(h)", np.int8([3, -6])),
        ("u8(-1)", np.uint8(255)),
        ("u64(-1)", np.uint64(2**64 - 1)),
        ("i32([1.9, -1.9, nan])", np.int32([1, -1, -(2**31)])),
        ("i32([3e9, -3e9, inf])", np.int32([2**31 - 1, -(2**31), 2**31 - 1])),
        ("u8([-1.0, 255.9, 256.0])", np.uint8([0, 255, 255])),
        ("i64([1e30, -1e30])", np.int64([2**63 - 1, -(2**63)])),
        ("u64(1e30)", np.uint64(2**64 - 1)),
        ("bool([0, 2, -1])", np.array([False, True, True])),
        ("abs(i8(-128))", np.int64(128)),
        ("abs([-3, 3])", np.array([3, 3])),
        ("abs(-3)", np.int64(3)),
        ("(n > 3) & true", np.True_),
        ("u @ i", np.uint64(2**64 - 2)),
        ("big * [1, 1] @ [big, big]", np.int64(1 << 61)),
        ("where(h > 5, h, 0)", np.uint8([0, 250])),
        ("where(true, 1, 2.5)", np.float64(1)),
        ("u == -1", np.array([False, False])),
        ("u == 18446744073709551615", np.array([False, False])),
        ("9007199254740993 == i64(9007199254740993)", np.True_),
        ("9007199254740993 == 9007199254740992.0", np.True_),  # compared as floats
    ],
)  # fmt: skip
def test_integers(text, expected):
    found = value(
        text,
        h=H,
        i=np.int32([-1, -1]),
        u=np.uint64([1, 1]),
        n=np.int32(8),
        big=np.int32(1 << 30),
        size=np.uint64(8),
    )
    same(found, expected)


@given(
    hnp.arrays(st.sampled_from([np.int8, np.uint8, np.int32, np.int64]), (3, 4)),
    hnp.arrays(st.sampled_from([np.int8, np.uint16, np.int32]), (4, 2)),
)
def test_integer_products_are_exact(left, right):
    exact = left.astype(object) @ right.astype(object)
    found = value("a @ b", a=left, b=right)
    np.testing.assert_array_equal(found.astype(object) % 2**64, exact % 2**64)


@given(
    st.sampled_from(["+", "-", "*", "&", "|", "^"]),
    hnp.arrays(np.int32, 4),
    hnp.arrays(np.int32, 4),
)
def test_arrays_wrap_as_on_the_device(symbol, left, right):
    function = {"+": np.add, "-": np.subtract, "*": np.multiply}.get(symbol) or {
        "&": np.bitwise_and,
        "|": np.bitwise_or,
        "^": np.bitwise_xor,
    }[symbol]
    same(value(f"a {symbol} b", a=left, b=right), function(left, right))


# --- shapes and chunks ---------------------------------------------------------------------------


def test_large_arrays_come_out_as_small_ones_do():
    n = 3 * (1 << 16) + 17
    x = np.arange(n, dtype=np.float32)
    same(value("2 * x + sum(x[:3])", x=x), 2 * x + np.float32(3))
    wide = x[: 1 << 16].reshape(256, 256)
    same(value("w + transpose(w) * r", w=wide, r=wide[:1]), wide + wide.T * wide[:1])


def test_broadcasting_of_columns_and_rows():
    column, row = np.arange(300, dtype=np.int32)[:, None], np.arange(500, dtype=np.int32)
    same(value("c * 1000 + r", c=column, r=row), column * np.int32(1000) + row)


def test_empty_arrays():
    empty = np.zeros((0, 3), np.float32)
    same(value("e * 2 + 1", e=empty), empty)
    same(value("sum(e, axis=0)", e=empty), np.zeros(3, np.float32))
    same(value("transpose(e) @ e", e=empty), np.zeros((3, 3), np.float32))
    same(value("e[:0] == 1", e=empty), np.zeros((0, 3), bool))


def test_elementwise_operations_keep_no_array_of_the_full_size():
    x = np.ones(1 << 21, np.float32)
    expression = parse_expression("all(((x*2 + 1)*(x + 3) - x) / (x + 1) > 0)")
    tracemalloc.start()
    try:
        assert Evaluator(expression, {"x": x}, {}).result()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * x.nbytes  # the answer is a byte an element; float64 would be eight


def test_views_that_are_not_contiguous():
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4)
    same(value("x[:, ::2, 1] + x[:, 1:, 2]", x=x), x[:, ::2, 1] + x[:, 1:, 2])


# --- special values and files --------------------------------------------------------------------


_NANS = {
    name: np.full(2, np.nan, scalar_dtype(SCALARS[name]))
    for name in ("f16", "bf16", "f32", "f64", "f8e4m3", "f8e5m2")
}


@pytest.mark.parametrize("target", ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"])
@pytest.mark.parametrize("source", list(_NANS))
def test_a_nan_cast_to_an_integer_is_that_of_cvt(source, target) -> None:
    """As recorded on hardware: 0 except to 64 bits and from f64."""
    bits = int(target[1:])
    highest = np.array(1 << (bits - 1), f"u{bits // 8}").view(scalar_dtype(SCALARS[target]))
    expected = highest if bits == 64 or source == "f64" else 0 * highest
    same(value(f"{target}({source})", **_NANS), np.full(2, expected))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i32(nan)", -(2**31)),  # a literal is a double
        ("i32(f32(nan))", 0),
        ("i32(f32[0] * 2)", 0),
        ("i32(2 * f32[0] + f64[0])", -(2**31)),
        ("i32(f16[0] * f32[0])", 0),
        ("i32(where(true, f32, 1)[0])", 0),
        ("i32(f32(f64[0]))", 0),
        ("i32(max(f32))", 0),
        ("i32(max(f64))", -(2**31)),
    ],
)
def test_a_nan_has_the_type_that_arithmetic_has_in_c(text, expected) -> None:
    same(value(text, **_NANS), np.int32(expected))


def test_the_longest_chain_is_evaluated():
    same(value("x" + " + x" * 149, x=X), 150 * X)
    same(value("-" * 49 + "x", x=X), -X)


def test_files(tmp_path):
    np.save(tmp_path / "ref.npy", X)
    np.save(tmp_path / "big.npy", X.astype(">f4"))
    np.save(tmp_path / "objects.npy", np.array([print, None]), allow_pickle=True)
    np.save(tmp_path / "complex.npy", np.array([1j]))
    (tmp_path / "raw.bin").write_bytes(b"1234")

    def load(name: str):
        return Evaluator(parse_expression(f"load('{name}')"), {}, {}, tmp_path).result()

    same(load("ref.npy"), X)
    same(load("big.npy"), X)
    assert load("big.npy").dtype.isnative
    for name, message in [
        ("objects.npy", "it contains Python objects, which are not unpickled"),
        ("complex.npy", "contains complex128"),
        ("raw.bin", "is not a .npy file"),
        (".", "Is a directory"),
    ]:
        with pytest.raises(RequestError, match=message):
            load(name)


# --- the tables agree ----------------------------------------------------------------------------


def test_every_function_is_implemented():
    examples = {
        "where": "where(x, x, x)",
        "dot": "dot(x, x)",
        "reshape": "reshape(x, 8)",
        "bincount": "bincount(h)",
        "arange": "arange(8)",
        "einsum": "einsum('i->', x)",
        "concatenate": "concatenate([x, x])",
        "stack": "stack([x, x])",
        "trace": "trace(outer(x, x))",
        **{name: f"{name}(3)" for name in ("zeros", "ones", "eye")},
        **{name: f"{name}(x, 2)" for name in ("roll", "repeat", "tile")},
        "full": "full(3, 1)",
        "linspace": "linspace(0, 1, 3)",
        "clip": "clip(x, 0, 1)",
    }
    for name, signature in FUNCTIONS.items():
        value(examples.get(name, f"{name}({', '.join(['x'] * signature.minimum)})"), x=X, h=H)


@pytest.mark.parametrize("name", CASTS)
def test_every_cast_is_implemented(name):
    same(value(f"{name}(x > 0)", x=X), (X > 0).astype(scalar_dtype(CASTS[name])))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("d", "f64"),
        ("d + s", "f32"),
        ("d * h * b", "bf16"),
        ("f32(b) + d", "f32"),
        ("f64(b)", "f64"),
        ("i32(b)", None),
        ("i + 1", None),
        ("i / 2", None),
        ("where(b > 0, s, d)", "f32"),
        ("b > 0", None),
        ("not b", None),
        ("sum(b)", "bf16"),
        ("isnan(b)", None),
        ("d[i]", "f64"),
        ("old(b) + s", "bf16"),
        ('p["v"]', "f32"),
        ("q", "f8e4m3"),
    ],
)
def test_precision_is_that_of_the_least_exact(text, expected):
    values = {
        "d": np.zeros(1),
        "s": np.float32([0]),
        "h": np.float16([0]),
        "b": np.zeros(1, ml_dtypes.bfloat16),
        "q": np.zeros(1, ml_dtypes.float8_e4m3fn),
        "i": np.array([0]),
        "p": POINTS,
    }
    expression = parse_expression(text)
    evaluator = evaluation.Evaluator(expression, values, dict(values))
    evaluator.value(expression.node)
    assert evaluator.precision(expression.node) == (expected and SCALARS[expected])
