"""Floating-point arithmetic against fractions: every result rounded once."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudarun.emulator.isa.approximations import of_unit
from cudarun.emulator.numerics import special_functions
from tests.emulator.device import run_lanes
from tests.emulator.reference import (
    FORMATS,
    added,
    bits_of_all,
    clamp,
    divided,
    flush,
    fused,
    multiplied,
    one_nan,
    root,
)

COUNT = 400
MODES = ("rn", "rz", "rm", "rp")
Reference = Callable[..., int]

OPERATIONS: dict[str, tuple[int, Reference]] = {
    "add": (2, added),
    "sub": (2, lambda f, a, b, mode: added(f, a, b ^ f.sign, mode)),
    "mul": (2, multiplied),
    "div": (2, divided),
    "fma": (3, fused),
    "rcp": (1, lambda f, a, mode: divided(f, f.rounded(Fraction(1)), a, mode)),
    "sqrt": (1, root),
}


def check(instruction: str, name: str, arity: int, reference: Reference, seed: int = 0) -> None:
    """Compare an instruction on many operands with a reference for one."""
    fmt = FORMATS[name]
    sources = {letter: bits_of_all(fmt, COUNT, seed + i) for i, letter in enumerate("abc"[:arity])}
    operands = ", ".join(f"%{letter}" for letter in ("d", *sources))
    (got,) = run_lanes(f"{instruction} {operands};", sources, {"d": f"u{fmt.width // 8}"})
    for lane in range(COUNT):
        values = [int(v[lane]) for v in sources.values()]
        result, expected = (
            one_nan(fmt, int(got[lane])),
            one_nan(fmt, reference(fmt, *values)),
        )
        assert result == expected, (
            instruction,
            [hex(v) for v in values],
            hex(result),
            hex(expected),
        )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("opcode", OPERATIONS)
def test_rounding_modes(opcode: str, name: str, mode: str) -> None:
    arity, reference = OPERATIONS[opcode]
    check(f"{opcode}.{mode}.{name}", name, arity, lambda f, *v: reference(f, *v, mode))


@pytest.mark.parametrize(
    "opcode", ["add", "sub", "mul", "div.rn", "fma.rz", "fma.rn", "rcp.rn", "sqrt.rn"]
)
def test_ftz(opcode: str) -> None:
    arity, reference = OPERATIONS[opcode.split(".")[0]]
    mode = [*opcode.split("."), "rn"][1]

    def flushing(fmt, *values):
        return flush(fmt, reference(fmt, *(flush(fmt, v) for v in values), mode))

    check(f"{opcode}.ftz.f32", "f32", arity, flushing, seed=10)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("opcode", ["mul", "fma", "div", "rcp"])
def test_ftz_rounds_with_an_unbounded_exponent(opcode: str, mode: str) -> None:
    fmt, (arity, reference) = FORMATS["f32"], OPERATIONS[opcode]
    generator = np.random.default_rng(31)
    x = generator.integers(40 << 23, 120 << 23, COUNT).astype("u4").view("f4")
    addend = np.float32([-0.0, -(2.0**-126), 2.0**-126]).take(generator.integers(0, 3, COUNT))
    given = {
        "mul": (np.float32(2.0**-126) / x, x),
        "fma": ((2.0**-126 - addend.astype("f8")) / x, x, addend),
        "div": (x, x * 2.0**126),
        "rcp": (np.full(COUNT, 2.0**126),),
    }[opcode]
    operands = [value.astype("f4").view("u4") for value in given]
    operands[0] += generator.integers(-3, 4, COUNT).astype("u4")
    negative = generator.integers(0, 2, COUNT).astype("u4") << np.uint32(31)
    for place in {0, 2} & set(range(arity)):
        operands[place] ^= negative
    sources = dict(zip("abc", operands, strict=False))
    *others, last = (f"%{name}" for name in sources)  # the destination is the last source
    text = f"mov.b32 %d, {last}; {opcode}.{mode}.ftz.f32 {', '.join(['%d', *others, '%d'])};"
    (got,) = run_lanes(text, sources, {"d": "u4"})
    up = -24 << 23 if opcode == "rcp" else 24 << 23
    flushed_only = True
    for lane in range(COUNT):
        values = [flush(fmt, int(value[lane])) for value in operands]
        result = reference(fmt, *values, mode)
        scaled = [v + up if i != 1 and v & ~fmt.sign else v for i, v in enumerate(values)]
        is_tiny = reference(fmt, *scaled, mode) & ~fmt.sign < 25 << 23
        expected = result & fmt.sign if is_tiny else result
        flushed_only &= expected == flush(fmt, result)
        assert int(got[lane]) == expected, [hex(value) for value in values]
    assert flushed_only == (mode == "rz" or f"{opcode}.{mode}" in {"rcp.rn", "div.rn"})


@pytest.mark.parametrize("opcode", ["add", "sub.rp", "mul", "fma.rn", "fma.rm"])
def test_saturation(opcode: str) -> None:
    arity, reference = OPERATIONS[opcode.split(".")[0]]
    mode = [*opcode.split("."), "rn"][1]
    check(
        f"{opcode}.sat.f32", "f32", arity, lambda f, *v: clamp(f, reference(f, *v, mode)), seed=20
    )


@pytest.mark.parametrize("name", ["f16", "bf16"])
@pytest.mark.parametrize("opcode", ["add", "sub", "mul", "fma.rn"])
def test_halves(opcode: str, name: str) -> None:
    arity, reference = OPERATIONS[opcode.split(".")[0]]
    check(f"{opcode}.{name}", name, arity, lambda f, *v: reference(f, *v, "rn"))


@pytest.mark.parametrize("opcode", ["add", "sub", "mul", "fma.rn"])
def test_halves_with_modifiers(opcode: str) -> None:
    arity, reference = OPERATIONS[opcode.split(".")[0]]

    def flushing(fmt, *values):
        return flush(fmt, reference(fmt, *(flush(fmt, v) for v in values), "rn"))

    check(f"{opcode}.ftz.f16", "f16", arity, flushing)
    check(f"{opcode}.sat.f16", "f16", arity, lambda f, *v: clamp(f, reference(f, *v, "rn")))


@pytest.mark.parametrize("name", ["f16x2", "bf16x2"])
def test_pairs_of_halves(name: str) -> None:
    fmt = FORMATS[name[:-2]]
    low = [bits_of_all(fmt, COUNT, seed).astype(np.uint32) for seed in (1, 2, 3)]
    high = [bits_of_all(fmt, COUNT, seed).astype(np.uint32) for seed in (4, 5, 6)]
    sources = {n: h << 16 | v for n, v, h in zip("abc", low, high, strict=True)}
    text = f"add.{name} %d, %a, %b; mul.{name} %e, %a, %b; fma.rn.{name} %f, %a, %b, %c;"
    got = run_lanes(text, sources, {"d": "u4", "e": "u4", "f": "u4"})
    for lane in range(COUNT):
        for shift, half in ((0, low), (16, high)):
            a, b, c = (int(values[lane]) for values in half)
            expected = [added(fmt, a, b), multiplied(fmt, a, b), fused(fmt, a, b, c)]
            assert [int(v[lane]) >> shift & 0xFFFF for v in got] == expected


@settings(max_examples=60)
@given(st.lists(st.tuples(*[st.integers(0, (1 << 32) - 1)] * 3), min_size=1, max_size=40))
def test_fma_of_any_f32(triples: list[tuple[int, int, int]]) -> None:
    values = np.array(triples, dtype=np.uint32)
    sources = {name: values[:, column].copy() for column, name in enumerate("abc")}
    (got,) = run_lanes("fma.rn.f32 %d, %a, %b, %c;", sources, {"d": "u4"})
    assert [int(v) for v in got] == [fused(FORMATS["f32"], *t) for t in triples]


@pytest.mark.parametrize("seed", range(4))
def test_fma_near_halfway(seed: int) -> None:
    """Sums that land on the halfway points between two f32 values, a little off or exactly."""
    generator = np.random.default_rng(seed)
    count = 4000
    a = (1 + generator.integers(0, 1 << 12, count) / 4096).astype("f4")
    b = (1 + generator.integers(0, 1 << 12, count) / 4096).astype("f4")
    product = a.astype("f8") * b
    halfway = (product.astype("f4").view("u4") & np.uint32(0xFFFFFFF0)).view("f4")
    c = (halfway.astype("f8") * 2.0 ** generator.integers(18, 30, count)).astype("f4")
    c *= np.where(generator.integers(0, 2, count), 1, -1).astype("f4")
    sources = {"a": a.view("u4"), "b": b.view("u4"), "c": c.view("u4")}
    (got,) = run_lanes("fma.rn.f32 %d, %a, %b, %c;", sources, {"d": "u4"})
    f32 = FORMATS["f32"]
    for lane in range(count):
        x, y, z = (int(v[lane]) for v in sources.values())
        assert int(got[lane]) == fused(f32, x, y, z), (hex(x), hex(y), hex(z))


# --- approximations ------------------------------------------------------------------------------

# Name, function, operands, and the manual's bound: absolute, or relative for those marked so.
APPROXIMATIONS = [
    ("sin", math.sin, (-math.pi, math.pi), 2.0**-20.5, False),
    ("cos", math.cos, (-math.pi, math.pi), 2.0**-20.5, False),
    ("ex2", lambda x: 2.0**x, (-100.0, 100.0), 2.0**-22, True),
    ("lg2", math.log2, (2.0**-60, 2.0**60), 2.0**-22, False),
    ("rcp", lambda x: 1 / x, (2.0**-60, 2.0**60), 2.0**-23, True),
    ("sqrt", math.sqrt, (0.0, 2.0**60), 2.0**-23, True),
    ("rsqrt", lambda x: 1 / math.sqrt(x), (2.0**-60, 2.0**60), 2.0**-22.9, True),
    ("tanh", math.tanh, (-10.0, 10.0), 2.0**-11, True),
]


@pytest.mark.parametrize(("name", "function", "interval", "bound", "relative"), APPROXIMATIONS)
def test_approximations(
    name: str,
    function: Callable[[float], float],
    interval: tuple[float, float],
    bound: float,
    relative: bool,
) -> None:
    generator = np.random.default_rng(7)
    a = generator.uniform(*interval, COUNT).astype("f4")
    (got,) = run_lanes(f"{name}.approx.f32 %d, %a;", {"a": a.view("u4")}, {"d": "u4"})
    for x, y in zip(a, got.view("f4"), strict=True):
        exact = function(float(x))
        allowed = bound * (abs(exact) if relative else max(1.0, abs(exact) * 2.0**-1))
        assert abs(float(y) - exact) <= allowed, (name, x)


SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, -2.0]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rcp", [math.inf, -math.inf, 0.0, -0.0, math.nan, -0.5]),
        ("sqrt", [0.0, -0.0, math.inf, math.nan, math.nan, math.nan]),
        ("rsqrt", [math.inf, -math.inf, 0.0, math.nan, math.nan, math.nan]),
        ("sin", [0.0, -0.0, math.nan, math.nan, math.nan]),
        ("cos", [1.0, 1.0, math.nan, math.nan, math.nan]),
        ("lg2", [-math.inf, -math.inf, math.inf, math.nan, math.nan, math.nan]),
        ("ex2", [1.0, 1.0, math.inf, 0.0, math.nan, 0.25]),
        ("tanh", [0.0, -0.0, 1.0, -1.0, math.nan]),
    ],
)
def test_approximations_of_special_values(name: str, expected: list[float]) -> None:
    """The tables of the manual's instruction pages."""
    a = np.array(SPECIAL, dtype="f4").view("u4")
    (got,) = run_lanes(
        f"{name}.approx.ftz.f32 %d, %a;".replace("tanh.approx.ftz", "tanh.approx"),
        {"a": a},
        {"d": "u4"},
    )
    for result, wanted in zip(got, np.array(expected, dtype="f4").view("u4"), strict=False):
        assert one_nan(FORMATS["f32"], int(result)) == one_nan(FORMATS["f32"], int(wanted)), name


def test_approximate_division() -> None:
    a = np.array([1, 6, 1, math.inf, 0, -1], dtype="f4")
    b = np.array([4, -3, 2.0**127, 2.0**127, 5, 0], dtype="f4")
    text = "div.approx.f32 %d, %a, %b; div.full.f32 %e, %a, %b;"
    got = run_lanes(text, {"a": a.view("u4"), "b": b.view("u4")}, {"d": "u4", "e": "u4"})
    d, e = (values.view("f4") for values in got)
    # div.approx gives 0 for divisors beyond 2**126, but NaN for infinity over one of them.
    assert list(d[:3]) == [0.25, -2.0, 0.0]
    assert math.isnan(d[3])
    assert list(d[4:]) == [0.0, -math.inf]
    assert list(e[:3]) == [0.25, -2.0, 2.0**-127]


# --- minimum, maximum and signs ------------------------------------------------------------------


def extreme(name: str, a: int, b: int, *, largest: bool, propagate: bool) -> int:
    fmt = FORMATS[name]
    if fmt.is_nan(a) or fmt.is_nan(b):
        if propagate or (fmt.is_nan(a) and fmt.is_nan(b)):
            return fmt.nan
        return b if fmt.is_nan(a) else a

    def order(bits: int) -> int:
        return -(bits & ~fmt.sign) - 1 if bits & fmt.sign else bits

    return max(a, b, key=order) if largest else min(a, b, key=order)


@pytest.mark.parametrize(
    ("opcode", "name"),
    [
        *product(["min", "max", "min.NaN", "max.NaN"], ["f16", "bf16", "f32"]),
        *product(["min", "max"], ["f64"]),  # which has no .NaN
    ],
)
def test_minimum_and_maximum(opcode: str, name: str) -> None:
    check(
        f"{opcode}.{name}",
        name,
        2,
        lambda _, a, b: extreme(name, a, b, largest="max" in opcode, propagate="NaN" in opcode),
    )


@pytest.mark.parametrize("lanes", [1, 16, 31])
@pytest.mark.parametrize(("name", "one", "nan"), [
    ("f32", 0x3F800000, 0x7F800001), ("f64", 0x3FF0000000000000, 0x7FF0000000000001),
    ("f16", 0x3C00, 0x7C01), ("bf16", 0x3F80, 0xFF81),
])  # fmt: skip
@pytest.mark.parametrize("opcode", ["min", "max"])
def test_a_signalling_nan_loses_in_every_lane(
    opcode: str, name: str, one: int, nan: int, lanes: int
) -> None:
    dtype = f"u{FORMATS[name].width // 8}"
    a, b = np.full(lanes, nan, dtype), np.full(lanes, one, dtype)
    sources = {"a": a, "b": b}
    for order in ("%a, %b", "%b, %a"):
        (got,) = run_lanes(f"{opcode}.{name} %d, {order};", sources, {"d": dtype})
        assert list(got) == [one] * lanes


def test_minimum_with_signs_combined() -> None:
    a = np.array([-3, 3, -3, 1], dtype="f4").view("u4")
    b = np.array([2, 2, -2, -5], dtype="f4").view("u4")
    (got,) = run_lanes("min.xorsign.abs.f32 %d, %a, %b;", {"a": a, "b": b}, {"d": "u4"})
    assert list(got.view("f4")) == [-2, 2, 2, -1]


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_signs(name: str) -> None:
    check(f"neg.{name}", name, 1, lambda f, a: a ^ f.sign)
    check(f"abs.{name}", name, 1, lambda f, a: a & ~f.sign)


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_copysign_and_testp(name: str) -> None:
    fmt = FORMATS[name]
    check(f"copysign.{name}", name, 2, lambda f, a, b: (b & ~f.sign) | (a & f.sign))
    a = bits_of_all(fmt, COUNT, 3)
    tests: dict[str, Callable[[int], bool]] = {
        "finite": lambda v: not fmt.is_nan(v) and not fmt.is_infinite(v),
        "infinite": fmt.is_infinite,
        "number": lambda v: not fmt.is_nan(v),
        "notanumber": fmt.is_nan,
        "normal": lambda v: 1 << fmt.fraction <= v & ~fmt.sign < fmt.infinity or v & ~fmt.sign == 0,
        "subnormal": lambda v: 0 < v & ~fmt.sign < 1 << fmt.fraction,
    }
    for op, test in tests.items():
        (got,) = run_lanes(f"testp.{op}.{name} %d, %a;", {"a": a}, {"d": "pred"})
        assert [bool(v) for v in got] == [test(int(v)) for v in a], op


def test_results_that_are_not_numbers_have_the_canonical_bits() -> None:
    nan, infinity = np.uint32(0xFF812345), np.uint32(0x7F800000)
    a = np.array([nan, infinity, nan, 0], dtype="u4")
    b = np.array([0, infinity | 1 << 31, nan, 0], dtype="u4")
    text = (
        "add.f32 %d, %a, %b; mul.f32 %e, %a, %b; div.rn.f32 %f, %a, %b; fma.rn.f32 %g, %a, %b, %a;"
    )
    d, e, f, g = run_lanes(text, {"a": a, "b": b}, dict.fromkeys("defg", "u4"))
    assert d[0] == d[1] == d[2] == 0x7FFFFFFF
    assert e[0] == e[2] == f[1] == f[3] == g[0] == g[2] == 0x7FFFFFFF


def test_approximations_of_many_lanes_are_those_of_each() -> None:
    a = np.random.default_rng(1).standard_normal(20_001).astype(np.float32)
    whole = special_functions.power(a.view(np.int32)).view(np.float32)
    assert np.array_equal(of_unit(special_functions.power, a), whole)
