"""``cvt`` from and to formats of 4 to 8 bits, on both engines, against ml_dtypes and fractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

from cudarun.emulator.engines import COMPILE, INTERPRET, Engines
from cudarun.emulator.execution import execute
from tests.emulator.device import run_lanes
from tests.emulator.reference import FORMATS, bits_of_all
from tests.support.tiers import eager

HEADER = ".version 9.5\n.target sm_100a\n.address_size 64\n"
Array = npt.NDArray[np.generic]
Lanes = Callable[..., list[Array]]
TYPES = {
    "e2m1": ml_dtypes.float4_e2m1fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
}
FOURS = ("e2m1", "e2m3", "e3m2")
# The largest finite value, bits of the fraction, the least exponent of normal numbers.
LIMITS = {
    "e2m1": (6.0, 1, 0),
    "e2m3": (7.5, 3, 0),
    "e3m2": (28.0, 2, -2),
    "e4m3": (448.0, 3, -6),
    "e5m2": (57344.0, 2, -14),
    "f16": (65504.0, 10, -14),
    "bf16": (3.3895e38, 7, -126),
}


def on(engine: str) -> Lanes:
    """`run_lanes` for sm_100a with an engine."""
    if engine == COMPILE:
        pytest.importorskip("llvmlite", reason="the extra cudarun[fast] is not installed")
    engines = Engines(engine, in_order=True, tiers=eager())
    return partial(run_lanes, header=HEADER, execute=partial(execute, engines=engines))


@pytest.fixture(params=[INTERPRET, COMPILE])
def lanes(request: pytest.FixtureRequest) -> Lanes:
    """`run_lanes` with either engine."""
    return on(request.param)


def formats(names: Iterable[str], compiled: str) -> pytest.MarkDecorator:
    """Tests of formats; compiled code, which takes longer, of one of them."""
    cases = [*((INTERPRET, name) for name in names), (COMPILE, compiled)]
    return pytest.mark.parametrize(("engine", "name"), cases)


def values(count: int = 192) -> Array:
    """Numbers of f32 of all sizes, many of them near those of narrow formats, and NaN."""
    some = np.random.default_rng(3).normal(0, 4, count - 64).astype("f4")
    halves = np.arange(-32, 32, dtype="f4") / 4  # the middles between numbers of e2m1 and others
    special = bits_of_all(FORMATS["f32"], 64, 1).view("f4")
    return np.concatenate([some, halves, special])


def to_format(a: Array, name: str) -> Array:
    """The bits of f32 values, rounded by ml_dtypes; larger ones are the largest, NaN positive."""
    largest, _, _ = LIMITS[name]
    nan = 0x7F if name in ("e4m3", "e5m2") else {"e2m1": 7}.get(name, 31)
    with np.errstate(invalid="ignore"):
        bits = np.clip(a, -largest, largest).astype(TYPES[name]).view("u1")
    return np.where(np.isnan(a), np.uint8(nan), bits)


def narrowed(name: str, source: str, how: str = "") -> str:
    """Convert %a and %b, or both halves of %a, to %d."""
    operands = "%a, %b" if source == "f32" else "%a"
    if name == "e2m1":
        return (f"{{ .reg .b8 %x; cvt.rn.satfinite{how}.e2m1x2.{source} %x, {operands};"
                " mov.b16 %d, {%x, 0}; }")  # fmt: skip
    return f"cvt.rn.satfinite{how}.{name}x2.{source} %d, {operands};"


@formats(FOURS, "e2m1")
def test_from_f32(engine: str, name: str) -> None:
    lanes = on(engine)
    a = values()
    b = a[::-1].copy()
    for how in ("", ".relu"):
        (got,) = lanes(
            narrowed(name, "f32", how), {"a": a.view("u4"), "b": b.view("u4")}, {"d": "u2"}
        )
        high, low = (to_format(np.where(x <= 0, 0, x) if how else x, name) for x in (a, b))
        width = 4 if name == "e2m1" else 8
        assert np.array_equal(got, low | high.astype("u2") << width)


@pytest.mark.parametrize(
    ("engine", "source"),
    [(INTERPRET, "f16x2"), (INTERPRET, "bf16x2"), (COMPILE, "bf16x2")],
)
def test_from_halves(engine: str, source: str) -> None:
    """Many numbers of 16 bits, two in a register."""
    lanes = on(engine)
    dtype = np.float16 if source == "f16x2" else ml_dtypes.bfloat16
    bits = np.arange(0, 1 << 16, 37, dtype="u2")
    bits = bits[: len(bits) // 2 * 2]
    wide = bits.view(dtype).astype("f4")
    names = [*FOURS, *(("e4m3", "e5m2") if source == "bf16x2" else ())]
    names = names[::2] if engine == COMPILE else names
    for name in names:
        (got,) = lanes(narrowed(name, source), {"a": bits.view("u4")}, {"d": "u2"})
        expected = to_format(wide, name).reshape(-1, 2).astype("u2")
        width = 4 if name == "e2m1" else 8
        assert np.array_equal(got, expected[:, 0] | expected[:, 1] << width), name


@formats(TYPES, "e2m1")
def test_to_halves(engine: str, name: str) -> None:
    """All values, the same in both halves but for the order, and with scale factors."""
    lanes = on(engine)
    count = {"e2m1": 16, "e2m3": 64, "e3m2": 64}.get(name, 256)
    low = np.arange(count, dtype="u2")
    high = low[::-1]
    packed = low | high << (4 if name == "e2m1" else 8)
    scale = np.resize(np.array([0x7F7F, 0x8085, 0x70FE, 0x0001, 0x7FFF], "u2"), count)
    operand = "%x" if name == "e2m1" else "%a"
    text = "{ .reg .b8 %x, %y; mov.b16 {%x, %y}, %a;" if name == "e2m1" else "{"
    kind = f"{name}x2"
    text += f""" cvt.rn.f16x2.{kind} %f, {operand}; cvt.rn.bf16x2.{kind} %d, {operand};
        cvt.rn.relu.satfinite.scaled::n2::ue8m0.bf16x2.{kind} %e, {operand}, %s; }}"""
    half, brain, scaled = lanes(text, {"a": packed, "s": scale}, {"f": "u4", "d": "u4", "e": "u4"})
    for place, source in enumerate((low, high)):
        exact = source.astype("u1").view(TYPES[name]).astype("f4")
        np.testing.assert_array_equal(half.view(np.float16)[place::2].astype("f4"), exact)
        assert np.array_equal(
            half.view("i2")[place::2] < 0, np.signbit(exact)[...] & ~np.isnan(exact)
        )
        np.testing.assert_array_equal(brain.view(ml_dtypes.bfloat16)[place::2].astype("f4"), exact)
        factor = (scale >> 8 * place).astype("u1").view(ml_dtypes.float8_e8m0fnu).astype("f8")
        product = exact.astype("f8") * factor
        largest = float(ml_dtypes.finfo(ml_dtypes.bfloat16).max)
        wanted = np.minimum(np.where(product <= 0, 0, product), largest).astype(ml_dtypes.bfloat16)
        np.testing.assert_array_equal(
            scaled.view(ml_dtypes.bfloat16)[place::2].astype("f4"), wanted.astype("f4")
        )


def test_exponents(lanes: Lanes) -> None:
    """Magnitudes are rounded to powers of two; infinity is a NaN without ``.satfinite``."""
    a = values()
    text = """cvt.rz.ue8m0x2.f32 %l, %a, %b; cvt.rp.satfinite.ue8m0x2.f32 %h, %a, %b;
        cvt.rp.ue8m0x2.bf16x2 %m, %a; cvt.rn.bf16x2.ue8m0x2 %n, %l;"""
    sources = {"a": a.view("u4"), "b": a[::-1].copy().view("u4")}
    low, high, halves, back = lanes(text, sources, {"l": "u2", "h": "u2", "m": "u2", "n": "u4"})

    def exponent(value: float, *, up: bool, finite: bool) -> int:
        if np.isnan(value):
            return 255
        if np.isinf(value):
            return 254 if finite else 255
        fraction, power = math.frexp(abs(value))  # of 0.5 to 1, or 0
        least = abs(value) <= 2.0**-127
        power = 0 if least else power + 126 + (up and fraction > 0.5)
        return min(power, 254) if finite else power

    for lane, value in enumerate(a.tolist()):
        assert low[lane] >> 8 == exponent(value, up=False, finite=False), value
        assert high[lane] >> 8 == exponent(value, up=True, finite=True), value
        assert low[-1 - lane] & 255 == exponent(value, up=False, finite=False), value
    for lane, value in enumerate(a.view(ml_dtypes.bfloat16).astype("f4").tolist()):
        assert halves.view("u1")[lane] == exponent(value, up=True, finite=False), value
    powers = low.view(ml_dtypes.float8_e8m0fnu).astype("f4")
    np.testing.assert_array_equal(back.view(ml_dtypes.bfloat16).astype("f4"), powers)


def test_fixed_point(lanes: Lanes) -> None:
    a = np.clip(np.nan_to_num(values()), -1e6, 1e6).astype("f4")
    scale = np.resize(np.array([0x7F7F, 0x8085, 0x7A81], "u2"), len(a))
    text = """cvt.rn.satfinite.s2f6x2.f32 %d, %a, %b;
        cvt.rn.satfinite.relu.scaled::n2::ue8m0.s2f6x2.f32 %e, %a, %b, %s;
        cvt.rn.bf16x2.s2f6x2 %f, %d; cvt.rn.satfinite.scaled::n2::ue8m0.bf16x2.s2f6x2 %g, %d, %s;"""
    sources = {"a": a.view("u4"), "b": a[::-1].copy().view("u4"), "s": scale}
    plain, scaled, back, up = lanes(text, sources, {"d": "u2", "e": "u2", "f": "u4", "g": "u4"})
    factor = 2.0 ** (scale.view("u1").astype("f8") - 127)
    both = np.stack([a[::-1], a], axis=1).reshape(-1).astype("f8")
    assert np.array_equal(plain.view("i1"), np.clip(np.rint(both * 64), -128, 127))
    limited = np.clip(np.rint(np.maximum(both, 0) / factor * 64), -128, 127)
    assert np.array_equal(scaled.view("i1"), limited)
    numbers = plain.view("i1") / 64
    assert np.array_equal(back.view(ml_dtypes.bfloat16).astype("f8"), numbers)
    assert np.array_equal(up.view(ml_dtypes.bfloat16).astype("f8"), numbers * factor)


def stochastic(value: float, name: str, random: int) -> float:
    """A number rounded away from zero if the random bits and those it loses have a carry."""
    largest, fraction, least = LIMITS[name]
    count = {"f16": 13, "bf16": 16}.get(name, 8)
    size = Fraction(abs(value))
    exponent = max(math.frexp(value)[1] - 1, least)
    unit = Fraction(2) ** (exponent - fraction)
    whole, rest = divmod(size, unit)
    lost = int(rest / unit * 2**count)
    whole += lost + random % 2**count >= 2**count
    return float(np.copysign(min(float(whole * unit), largest), value))


def test_random_bits_of_pairs(lanes: Lanes) -> None:
    a = np.nan_to_num(values(), posinf=1e3, neginf=-1e3)
    a = np.where(np.abs(a) > 6e4, np.float32(1.2345), a).astype("f4")
    a[:64] *= np.float32(2.0**-22)  # subnormal numbers of f16
    random = np.random.default_rng(5).integers(0, 2**32, len(a), "u4")
    text = """cvt.rs.f16x2.f32 %f, %a, %b, %r; cvt.rs.satfinite.bf16x2.f32 %g, %a, %b, %r;
        cvt.rs.relu.bf16x2.f32 %h, %a, %b, %r;"""
    sources = {"a": a.view("u4"), "b": a[::-1].copy().view("u4"), "r": random}
    results = lanes(text, sources, {"f": "u4", "g": "u4", "h": "u4"})
    half, brain, relu = (
        each.view(dtype).astype("f8")
        for each, dtype in zip(
            results, (np.float16, ml_dtypes.bfloat16, ml_dtypes.bfloat16), strict=True
        )
    )
    for lane, value in enumerate(a.tolist()):
        bits = int(random[lane]) >> 16
        assert half[2 * lane + 1] == stochastic(value, "f16", bits)
        assert brain[2 * lane + 1] == stochastic(value, "bf16", bits)
        assert relu[2 * lane + 1] == max(stochastic(value, "bf16", bits), 0)
        assert half[2 * (len(a) - 1 - lane)] == stochastic(
            value, "f16", int(random[len(a) - 1 - lane])
        )


@formats(TYPES, "e4m3")
def test_random_bits_of_four(engine: str, name: str) -> None:
    lanes = on(engine)
    a = np.nan_to_num(values(128), posinf=1e3, neginf=-1e3).astype("f4")
    random = np.random.default_rng(5).integers(0, 2**32, len(a), "u4")
    given = [np.roll(a, place) for place in range(4)]
    target = "%d" if name != "e2m1" else "%x"
    text = f"""{{ .reg .b16 %x; .reg .f32 %f<4>; mov.b32 %f0, %a; mov.b32 %f1, %b;
        mov.b32 %f2, %c; mov.b32 %f3, %e;
        cvt.rs.satfinite.{name}x4.f32 {target}, {{%f0, %f1, %f2, %f3}}, %r;
        {"cvt.u32.u16 %d, %x;" if name == "e2m1" else ""} }}"""
    sources = {letter: each.view("u4") for letter, each in zip("abce", given, strict=True)}
    (got,) = lanes(text, {**sources, "r": random}, {"d": "u4"})
    width = 4 if name == "e2m1" else 8
    shifts = (24, 8, 16, 0) if name == "e2m1" else (24, 16, 8, 0)
    for place, (each, shift) in enumerate(zip(given, shifts, strict=True)):
        bits = (got >> width * (3 - place) & (1 << width) - 1).astype("u1")
        found = bits.view(TYPES[name]).astype("f8")
        for lane, value in enumerate(each.tolist()):
            expected = stochastic(value, name, int(random[lane]) >> shift)
            assert found[lane] == expected, (place, lane, value)


def test_tf32_is_finite(lanes: Lanes) -> None:
    a = np.array([np.inf, -np.inf, 3.4028235e38, -3.4028235e38, 1.0, -2.0], "f4")
    text = """cvt.rn.satfinite.tf32.f32 %d, %a; cvt.rz.satfinite.relu.tf32.f32 %e, %a;
        cvt.rna.satfinite.tf32.f32 %f, %a;"""
    near, zero, away = lanes(text, {"a": a.view("u4")}, {"d": "u4", "e": "u4", "f": "u4"})
    largest = [0x7F7FE000, 0xFF7FE000, 0x7F7FE000, 0xFF7FE000, 0x3F800000, 0xC0000000]
    assert near.tolist() == away.tolist() == largest
    assert zero.tolist() == [each if each < 1 << 31 else 0 for each in largest]
