"""``cvt`` between all types against Python's integers and fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from cudarun.ptx.errors import PtxError
from tests.emulator.device import run_lanes
from tests.emulator.reference import (
    FORMATS,
    bits_of_all,
    clamp,
    flush,
    integers,
    one_nan,
    signed,
    unsigned,
)

COUNT = 200
INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")
MODES = ("rn", "rz", "rm", "rp")
WHOLE: dict[str, Callable[[Fraction], int]] = {
    "rni": round,
    "rzi": math.trunc,
    "rmi": math.floor,
    "rpi": math.ceil,
}


def width_of(name: str) -> int:
    return FORMATS[name].width if name in FORMATS else int(name[1:])


def register(name: str) -> str:
    return f"u{max(width_of(name), 16) // 8}"


def value(name: str, bits: int) -> int:
    return signed(bits, width_of(name)) if name[0] == "s" else unsigned(bits, width_of(name))


def bounds(name: str) -> tuple[int, int]:
    width = width_of(name)
    return (
        (-(1 << (width - 1)), (1 << (width - 1)) - 1) if name[0] == "s" else (0, (1 << width) - 1)
    )


def some(name: str, seed: int) -> np.ndarray:
    if name in FORMATS:
        return bits_of_all(FORMATS[name], COUNT, seed)
    return integers(width_of(name), COUNT, seed).astype(register(name))


def convert(modifiers: str, source: str, target: str, a: np.ndarray) -> list[int]:
    text = f"cvt{modifiers}.{target}.{source} %d, %a;"
    (got,) = run_lanes(text, {"a": a}, {"d": register(target)})
    return [int(v) for v in got]


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", INTEGERS)
def test_between_integers(source: str, target: str) -> None:
    a = some(source, 1)
    low, high = bounds(target)
    bits = 8 * np.dtype(register(target)).itemsize
    plain = [unsigned(value(target, value(source, int(v))), bits) for v in a]
    assert convert("", source, target, a) == plain
    if low <= bounds(source)[0] and bounds(source)[1] <= high:  # nothing to saturate
        with pytest.raises(PtxError, match=r"cvt\.sat"):
            convert(".sat", source, target, a)
        return
    clamped = [unsigned(min(max(value(source, int(v)), low), high), bits) for v in a]
    assert convert(".sat", source, target, a) == clamped


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", INTEGERS)
def test_integers_to_floating_point(source: str, target: str) -> None:
    a = some(source, 2)
    if target == "bf16" and width_of(source) == 8:
        with pytest.raises(PtxError, match="Arguments mismatch"):
            convert(".rn", source, target, a)
        return
    for mode in MODES:
        expected = [FORMATS[target].rounded(Fraction(value(source, int(v))), mode) for v in a]
        assert convert(f".{mode}", source, target, a) == expected, mode


def whole(source: str, target: str, mode: str, bits: int) -> int:
    fmt, width = FORMATS[source], width_of(target)
    low, high = bounds(target)
    if fmt.is_nan(bits):
        # The manual's rule for NaN.
        if source != "f64" and width < 64:
            return 0
        return low if target[0] == "s" else 1 << (width - 1)
    if fmt.is_infinite(bits):
        return low if bits & fmt.sign else high
    return min(max(WHOLE[mode](fmt.value(bits)), low), high)


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", FORMATS)
def test_floating_point_to_integers(source: str, target: str) -> None:
    a = some(source, 3)
    bits = 8 * np.dtype(register(target)).itemsize
    if source == "bf16" and width_of(target) == 8:
        with pytest.raises(PtxError, match="Arguments mismatch"):
            convert(".rni", source, target, a)
        return
    for mode in WHOLE:
        expected = [unsigned(whole(source, target, mode, int(v)), bits) for v in a]
        assert convert(f".{mode}", source, target, a) == expected, mode


def refloated(source: str, target: str, mode: str, bits: int) -> int:
    origin, fmt = FORMATS[source], FORMATS[target]
    sign = fmt.sign if bits & origin.sign else 0
    if origin.is_nan(bits):
        return fmt.nan
    if origin.is_infinite(bits):
        return sign | fmt.infinity
    exact = origin.value(bits)
    if mode in WHOLE:
        exact, mode = Fraction(WHOLE[mode](exact)), "rn"
    return fmt.rounded(exact, mode, negative_zero=bool(sign))


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", FORMATS)
def test_between_floating_point(source: str, target: str) -> None:
    a = some(source, 4)
    if (source, target) in (("f16", "f32"), ("f16", "f64"), ("f32", "f64")):
        modes = [""]  # nothing to round
    else:
        modes = [f".{mode}" for mode in (WHOLE if source == target else MODES)]
    for mode in modes:
        got = [one_nan(FORMATS[target], v) for v in convert(mode, source, target, a)]
        assert got == [refloated(source, target, mode[1:] or "rn", int(v)) for v in a], mode


def test_saturation_and_flushing() -> None:
    f32, f16 = FORMATS["f32"], FORMATS["f16"]
    a = some("f32", 5)
    assert convert(".sat", "f32", "f32", a) == [clamp(f32, int(v)) for v in a]
    expected = [clamp(f16, refloated("f32", "f16", "rn", int(v))) for v in a]
    assert convert(".rn.sat", "f32", "f16", a) == expected
    flushed = [flush(f32, int(v)) for v in a]
    assert convert(".rzi.ftz", "f32", "s32", a) == [
        unsigned(whole("f32", "s32", "rzi", v), 32) for v in flushed
    ]
    double = some("f64", 6)
    expected = [flush(f32, refloated("f64", "f32", "rn", int(v))) for v in double]
    got = [one_nan(f32, v) for v in convert(".rn.ftz", "f64", "f32", double)]
    assert got == expected


@pytest.mark.parametrize("name", ["f16", "bf16"])
@pytest.mark.parametrize("mode", ["rn", "rz", "rn.relu"])
def test_pairs(name: str, mode: str) -> None:
    a, b = some("f32", 7), some("f32", 8)
    text = f"cvt.{mode}.{name}x2.f32 %d, %a, %b;"
    (got,) = run_lanes(text, {"a": a, "b": b}, {"d": "u4"})
    fmt = FORMATS[name]

    def half(bits: int) -> int:
        result = refloated("f32", name, mode[:2], bits)
        negative = result & fmt.sign and not fmt.is_nan(result)  # -0 too
        return 0 if "relu" in mode and negative else result

    for lane in range(COUNT):
        high, low = half(int(a[lane])), half(int(b[lane]))
        assert int(got[lane]) == high << 16 | low, (hex(int(a[lane])), hex(int(b[lane])))


def test_tf32_rounds_ties_away() -> None:
    a = np.array([0x3F800000, 0x3F801000, 0x3F800FFF, 0xBF801000, 0x7F800000, 0x7F812345], "u4")
    (d,) = run_lanes("cvt.rna.tf32.f32 %d, %a;", {"a": a}, {"d": "u4"})
    assert [int(v) for v in d] == [
        0x3F800000, 0x3F802000, 0x3F800000, 0xBF802000, 0x7F800000, 0x7F812000,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "dtype"), [("e4m3", ml_dtypes.float8_e4m3fn), ("e5m2", ml_dtypes.float8_e5m2)]
)
def test_eight_bit_formats(name: str, dtype: type) -> None:
    a = np.array([0.0, 1.0, -1.5, 1e9, -1e9, 0.3, 2.0**-10, math.nan], "f4")
    largest = float(ml_dtypes.finfo(dtype).max)
    text = f"cvt.rn.satfinite.{name}x2.f32 %d, %a, %a; cvt.rn.f16x2.{name}x2 %e, %d;"
    d, e = run_lanes(text, {"a": a.view("u4")}, {"d": "u2", "e": "u4"})
    expected = np.clip(a, -largest, largest).astype(dtype)
    assert [int(v) & 0x7F for v in d[-1:]] == [0x7F]
    assert [int(v) & 0xFF for v in d[:-1]] == [int(v) for v in expected[:-1].view("u1")]
    assert [int(v) >> 8 for v in d[:-1]] == [int(v) for v in expected[:-1].view("u1")]
    back = (e & 0xFFFF).astype("u2").view("f2")
    assert list(back[:-1]) == list(expected[:-1].astype("f2"))
    assert math.isnan(back[-1])


@pytest.mark.parametrize("name", ["u4", "s4", "u2", "s2", "u8", "s8"])
def test_pack_of_narrow_integers(name: str) -> None:
    bits = int(name[1:])
    least, most = (-1 << bits - 1, (1 << bits - 1) - 1) if name[0] == "s" else (0, (1 << bits) - 1)
    a, b, c = (integers(32, 200, seed) for seed in (1, 2, 3))
    a[::2] %= np.uint32(20)
    b[::3] -= np.uint32(5)
    text = f"cvt.pack.sat.{name}.s32.b32 %d, %a, %b, %c;"
    (got,) = run_lanes(text, {"a": a, "b": b, "c": c}, {"d": "u4"})
    for x, y, z, result in zip(a, b, c, got, strict=True):
        high, low = (unsigned(max(least, min(signed(int(v), 32), most)), bits) for v in (x, y))
        assert int(result) == unsigned(int(z) << 2 * bits | high << bits | low, 32)


def test_pack() -> None:
    a = np.array([5, -5, 70000, -70000], "i4").view("u4")
    b = np.array([1, 2, 3, 300], "i4").view("u4")
    text = (
        "cvt.pack.sat.s16.s32 %d, %a, %b; cvt.pack.sat.u16.s32 %e, %a, %b;"
        "cvt.pack.sat.u8.s32.b32 %f, %a, %b, %b;"
    )
    d, e, f = run_lanes(text, {"a": a, "b": b}, {"d": "u4", "e": "u4", "f": "u4"})
    assert [hex(int(v)) for v in d] == ["0x50001", "0xfffb0002", "0x7fff0003", "0x8000012c"]
    assert [hex(int(v)) for v in e] == ["0x50001", "0x2", "0xffff0003", "0x12c"]
    assert [hex(int(v)) for v in f] == ["0x10501", "0x20002", "0x3ff03", "0x12c00ff"]
