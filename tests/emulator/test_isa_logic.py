"""Logic, shifts, permutation, comparison, selection and moves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from tests.emulator.device import run_lanes
from tests.emulator.reference import FORMATS, bits_of_all, flush, integers, signed, unsigned

COUNT = 300


@pytest.mark.parametrize("width", [16, 32, 64])
def test_logic(width: int) -> None:
    a, b = integers(width, COUNT, 1), integers(width, COUNT, 2)
    text = "".join(
        f"{op}.b{width} %{d}, %a, %b;" for op, d in (("and", "d"), ("or", "e"), ("xor", "f"))
    )
    text += f"not.b{width} %g, %a; cnot.b{width} %h, %a;"
    got = run_lanes(text, {"a": a, "b": b}, dict.fromkeys("defgh", f"u{width // 8}"))
    expected = (a & b, a | b, a ^ b, ~a, a == 0)
    for result, wanted in zip(got, expected, strict=True):
        assert (result == wanted).all()


def test_logic_of_predicates() -> None:
    a = np.array([0, 0, 1, 1], "u4")
    b = np.array([0, 1, 0, 1], "u4")
    text = (
        "setp.ne.u32 %p1, %a, 0; setp.ne.u32 %p2, %b, 0; and.pred %d, %p1, %p2;"
        "or.pred %e, %p1, %p2;"
        "xor.pred %f, %p1, %p2; not.pred %g, %p1; and.pred %h, %p1, !%p2; mov.pred %i, %p1;"
    )
    got = run_lanes(text, {"a": a, "b": b}, dict.fromkeys("defghi", "pred"))
    assert [list(v) for v in got] == [
        [0, 0, 0, 1], [0, 1, 1, 1], [0, 1, 1, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1],
    ]  # fmt: skip


@pytest.mark.parametrize("table", [*range(0, 256, 13), 0xCA, 0xE8, 0x96, 0xF8, 0xEA, 0x78, 0x6A])
def test_lop3(table: int) -> None:
    combinations = list(itertools.product((0, 0xFFFFFFFF), repeat=3))
    a, b, c = (np.array(column, "u4") for column in zip(*combinations, strict=True))
    a, b, c = (np.concatenate([v, integers(32, 40, i)]) for i, v in enumerate((a, b, c)))
    text = f"lop3.b32 %d, %a, %b, %c, {table}; setp.eq.u32 %p0, %a, 0;"
    text += (
        f"lop3.or.b32 %e|%f, %a, %b, %c, {table}, %p0; lop3.and.b32 _|%g, %a, %b, %c, {table}, %p0;"
    )
    results = {"d": "u4", "e": "u4", "f": "pred", "g": "pred"}
    d, e, f, g = run_lanes(text, {"a": a, "b": b, "c": c}, results)
    for lane in range(len(a)):
        x, y, z = (int(v[lane]) for v in (a, b, c))
        bits = [
            table >> ((x >> i & 1) << 2 | (y >> i & 1) << 1 | z >> i & 1) & 1 for i in range(32)
        ]
        expected = sum(bit << i for i, bit in enumerate(bits))
        assert int(d[lane]) == int(e[lane]) == expected
        assert bool(f[lane]) == (expected != 0 or x == 0)
        assert bool(g[lane]) == (expected != 0 and x == 0)


@pytest.mark.parametrize("width", [16, 32, 64])
def test_shifts(width: int) -> None:
    """Amounts beyond the width are clamped to it."""
    a, b = integers(width, COUNT, 1), integers(32, COUNT, 2)
    b[: COUNT // 2] %= 70
    text = f"shl.b{width} %d, %a, %b; shr.u{width} %e, %a, %b; shr.s{width} %f, %a, %b;"
    got = run_lanes(text, {"a": a, "b": b}, dict.fromkeys("def", f"u{width // 8}"))
    for lane in range(COUNT):
        value, amount = int(a[lane]), min(int(b[lane]), width)
        expected = [value << amount, value >> amount, signed(value, width) >> amount]
        assert [int(v[lane]) for v in got] == [unsigned(v, width) for v in expected], (
            value,
            amount,
        )


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_funnel_shifts(mode: str) -> None:
    a, b, c = (integers(32, COUNT, seed) for seed in (1, 2, 3))
    c[: COUNT // 2] %= 40
    text = f"shf.l.{mode}.b32 %d, %a, %b, %c; shf.r.{mode}.b32 %e, %a, %b, %c;"
    left, right = run_lanes(text, {"a": a, "b": b, "c": c}, {"d": "u4", "e": "u4"})
    for lane in range(COUNT):
        n = int(c[lane]) & 31 if mode == "wrap" else min(int(c[lane]), 32)
        both = int(b[lane]) << 32 | int(a[lane])
        assert int(left[lane]) == unsigned(both << n >> 32, 32)
        assert int(right[lane]) == unsigned(both >> n, 32)


def test_prmt() -> None:
    a, b, c = (integers(32, COUNT, seed) for seed in (1, 2, 3))
    (got,) = run_lanes("prmt.b32 %d, %a, %b, %c;", {"a": a, "b": b, "c": c}, {"d": "u4"})
    for lane in range(COUNT):
        both = (int(b[lane]) << 32 | int(a[lane])).to_bytes(8, "little")
        picked = []
        for place in range(4):
            nibble = int(c[lane]) >> 4 * place & 15
            byte = both[nibble & 7]
            picked.append((0xFF if byte & 0x80 else 0) if nibble & 8 else byte)
        assert int(got[lane]) == int.from_bytes(bytes(picked), "little")


# The tables of the manual for the modes of prmt: bytes b3 b2 b1 b0 for selectors 0 to 3.
PRMT_MODES = {
    "f4e": ["3210", "4321", "5432", "6543"],
    "b4e": ["5670", "6701", "7012", "0123"],
    "rc8": ["0000", "1111", "2222", "3333"],
    "ecl": ["3210", "3211", "3222", "3333"],
    "ecr": ["0000", "1110", "2210", "3210"],
    "rc16": ["1010", "3232", "1010", "3232"],
}


@pytest.mark.parametrize("mode", PRMT_MODES)
def test_prmt_modes(mode: str) -> None:
    text = f"prmt.b32.{mode} %d, 0x03020100, 0x07060504, %a;"
    (got,) = run_lanes(text, {"a": np.arange(4, dtype="u4")}, {"d": "u4"})
    assert [f"{int(v):08x}"[1::2] for v in got] == PRMT_MODES[mode]


# --- comparison ----------------------------------------------------------------------------------

TESTS: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
UNSIGNED_NAMES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


@pytest.mark.parametrize("name", ["u16", "s16", "b16", "u32", "s32", "b32", "u64", "s64", "b64"])
def test_integer_comparison(name: str) -> None:
    width = int(name[1:])
    a, b = integers(width, COUNT, 1), integers(width, COUNT, 2)
    b[::3] = a[::3]
    convert = signed if name[0] == "s" else unsigned
    names = {"b": ["eq", "ne"], "s": list(TESTS), "u": [*TESTS, *UNSIGNED_NAMES]}[name[0]]
    for test in names:
        (got,) = run_lanes(f"setp.{test}.{name} %d, %a, %b;", {"a": a, "b": b}, {"d": "pred"})
        reference = TESTS[UNSIGNED_NAMES.get(test, test)]
        expected = [
            reference(convert(int(x), width), convert(int(y), width))
            for x, y in zip(a, b, strict=True)
        ]
        assert [bool(v) for v in got] == expected, test


def float_value(name: str, bits: int) -> float | None:
    """A number that compares as the value does; ``None`` for NaN."""
    fmt = FORMATS[name]
    if fmt.is_nan(bits):
        return None
    if fmt.is_infinite(bits):
        return -math.inf if bits & fmt.sign else math.inf
    return fmt.value(bits)  # type: ignore[return-value]


@pytest.mark.parametrize("to", ["u32", "s32"])
@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_masks_of_halves(name: str, to: str) -> None:
    """``set`` of a pair into an integer: all bits of a half where it is true of that half."""
    halves = [bits_of_all(FORMATS[name], 2 * COUNT, seed) for seed in (1, 2)]
    halves[1][::3] = halves[0][::3]
    a, b = (half.view("u4") for half in halves)
    c = np.arange(COUNT, dtype="u4") % np.uint32(2)
    values = [[float_value(name, int(bits)) for bits in half] for half in halves]
    for test, reference in TESTS.items():
        text = (
            f"setp.ne.u32 %p0, %c, 0; set.{test}.{to}.{name}x2 %d, %a, %b;"
            f"set.{test}u.xor.{to}.{name}x2 %e, %a, %b, %p0;"
        )
        got = run_lanes(text, {"a": a, "b": b, "c": c}, {"d": "u4", "e": "u4"})
        nan = [x is None or y is None for x, y in zip(*values, strict=True)]
        truth = [
            not n and reference(x, y)  # type: ignore[arg-type]
            for x, y, n in zip(*values, nan, strict=True)
        ]
        either = [t or n for t, n in zip(truth, nan, strict=True)]
        other = [each != bool(c[lane // 2]) for lane, each in enumerate(either)]
        for result, expected in zip(got, (truth, other), strict=True):
            assert list(result.view("u2")) == [0xFFFF if each else 0 for each in expected], test


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_float_comparison(name: str) -> None:
    a, b = bits_of_all(FORMATS[name], COUNT, 1), bits_of_all(FORMATS[name], COUNT, 2)
    b[::3] = a[::3]
    pairs = [
        (float_value(name, int(x)), float_value(name, int(y))) for x, y in zip(a, b, strict=True)
    ]
    for test, reference in TESTS.items():
        text = f"setp.{test}.{name} %d, %a, %b; setp.{test}u.{name} %e, %a, %b;"
        ordered, unordered = run_lanes(text, {"a": a, "b": b}, {"d": "pred", "e": "pred"})
        nan = [x is None or y is None for x, y in pairs]
        truth = [not n and reference(x, y) for (x, y), n in zip(pairs, nan, strict=True)]
        assert [bool(v) for v in ordered] == truth, test
        assert [bool(v) for v in unordered] == [t or n for t, n in zip(truth, nan, strict=True)]
    text = f"setp.num.{name} %d, %a, %b; setp.nan.{name} %e, %a, %b;"
    number, not_number = run_lanes(text, {"a": a, "b": b}, {"d": "pred", "e": "pred"})
    assert [bool(v) for v in not_number] == nan
    assert [bool(v) for v in number] == [not n for n in nan]


def test_comparison_flushes_subnormal_values() -> None:
    a = bits_of_all(FORMATS["f32"], COUNT, 1)
    b = np.zeros(COUNT, "u4")
    (got,) = run_lanes("setp.gt.ftz.f32 %d, %a, %b;", {"a": a, "b": b}, {"d": "pred"})
    values = [float_value("f32", flush(FORMATS["f32"], int(v))) for v in a]
    assert [bool(v) for v in got] == [v is not None and v > 0 for v in values]


def test_comparison_with_a_second_predicate() -> None:
    a = np.array([1, 1, 5, 5], "u4")
    b = np.array([0, 1, 0, 1], "u4")
    text = (
        "setp.ne.u32 %p0, %b, 0; setp.lt.u32 %d|%e, %a, 3; setp.lt.and.u32 %f|%g, %a, 3, %p0;"
        "setp.lt.or.u32 %h, %a, 3, !%p0; setp.lt.xor.u32 %i, %a, 3, %p0;"
    )
    got = run_lanes(text, {"a": a, "b": b}, dict.fromkeys("defghi", "pred"))
    assert [list(v) for v in got] == [
        [1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 0], [0, 0, 0, 1], [1, 1, 1, 0], [1, 0, 0, 1],
    ]  # fmt: skip


def test_comparison_of_pairs() -> None:
    f16 = {1.0: 0x3C00, 2.0: 0x4000}
    a = np.array([f16[1.0] | f16[2.0] << 16, f16[2.0] | f16[1.0] << 16], "u4")
    b = np.full(2, f16[2.0] | f16[2.0] << 16, "u4")
    text = "setp.lt.f16x2 %d|%e, %a, %b; set.lt.f16x2.f16x2 %f, %a, %b; set.lt.f32.f32 %g, 1f, 2f;"
    text = text.replace("1f", "0f3F800000").replace("2f", "0f40000000")
    d, e, f, g = run_lanes(text, {"a": a, "b": b}, {"d": "pred", "e": "pred", "f": "u4", "g": "u4"})
    assert [list(d), list(e)] == [[1, 0], [0, 1]]
    assert [hex(int(v)) for v in f] == ["0x3c00", "0x3c000000"]
    assert int(g[0]) == 0x3F800000


def test_set() -> None:
    a = np.array([1, 2, 3], "u4")
    text = (
        "set.gt.u32.u32 %d, %a, 1; set.gt.f32.s32 %e, %a, 1; setp.eq.u32 %p0, %a, 3;"
        "set.gt.and.s32.u32 %f, %a, 1, %p0;"
    )
    got = run_lanes(text, {"a": a}, dict.fromkeys("def", "u4"))
    assert [[hex(int(v)) for v in values] for values in got] == [
        ["0x0", "0xffffffff", "0xffffffff"],
        ["0x0", "0x3f800000", "0x3f800000"],
        ["0x0", "0x0", "0xffffffff"],
    ]


@pytest.mark.parametrize("width", [16, 32, 64])
def test_selection(width: int) -> None:
    a, b, c = integers(width, COUNT, 1), integers(width, COUNT, 2), integers(32, COUNT, 3)
    text = (
        f"setp.gt.u32 %p0, %c, 1000; selp.b{width} %d, %a, %b, %p0;"
        f"slct.b{width}.s32 %e, %a, %b, %c;"
        f"mov.b{width} %f, %a; selp.b{width} %f, %f, %b, %p0; mov.b{width} %g, %b;"
        f"selp.b{width} %g, %a, %g, %p0; slct.u{width}.f32 %h, %a, %b, %c;"
    )
    got = run_lanes(text, {"a": a, "b": b, "c": c}, dict.fromkeys("defgh", f"u{width // 8}"))
    chosen = np.where(c > 1000, a, b)
    for result in (got[0], got[2], got[3]):
        assert (result == chosen).all()
    assert (got[1] == np.where(c.view("i4") >= 0, a, b)).all()
    assert (got[4] == np.where(c.view("f4") >= 0, a, b)).all()


def test_packing_and_unpacking() -> None:
    a, b = integers(32, COUNT, 1), integers(32, COUNT, 2)
    text = """
        .reg .b16 %h<4>; .reg .b128 %q;
        mov.b64 %d, {%a, %b};
        mov.b64 {%t0, %t1}, %d; xor.b32 %e, %t0, %t1;
        mov.b32 {%h0, %h1}, %a; mov.b32 %f, {%h1, %h0};
        mov.b64 {%h0, %h1, %h2, %h3}, %d; mov.b32 %g, {%h3, %h0};
        mov.b128 %q, {%d, %d}; mov.b128 {%w0, %h}, %q;
    """
    results = {"d": "u8", "e": "u4", "f": "u4", "g": "u4", "h": "u8"}
    d, e, f, g, h = run_lanes(text, {"a": a, "b": b}, results)
    wide = a.astype("u8") | b.astype("u8") << np.uint64(32)
    assert (d == wide).all()
    assert (e == a ^ b).all()
    assert (f == (a << np.uint32(16) | a >> np.uint32(16))).all()
    assert (g == (b >> np.uint32(16) | a << np.uint32(16))).all()
    assert (h == wide).all()
