"""Integer arithmetic against Python's integers."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.emulator.device import run_lanes
from tests.emulator.reference import integers, signed, unsigned

COUNT = 300
Reference = Callable[..., int]


def trunc(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def divide(a: int, b: int) -> int:
    return trunc(a, b) if b else -1


def remainder(a: int, b: int) -> int:
    return a - b * trunc(a, b) if b else -1


def clamp32(value: int) -> int:
    return min(max(value, -(1 << 31)), (1 << 31) - 1)


def low24(value: int, is_signed: bool) -> int:
    return signed(value, 24) if is_signed else unsigned(value, 24)


def of_width(reference: Callable[[int], Reference], width: int) -> Reference:
    """A reference that has to know the width."""
    return reference(width)


# Instruction, reference over the values of its operands; the operand widths are those of the
# type, but ``wide`` for those marked with W and 32 bits for those marked with 3.
CASES: list[tuple[str, str, Reference]] = [
    ("add.{t} %d, %a, %b;", "u16 u32 u64 s16 s32 s64", lambda a, b: a + b),
    ("sub.{t} %d, %a, %b;", "u16 u32 u64 s16 s32 s64", lambda a, b: a - b),
    ("mul.lo.{t} %d, %a, %b;", "u16 u32 u64 s16 s32 s64", lambda a, b: a * b),
    ("mad.lo.{t} %d, %a, %b, %c;", "u16 u32 u64 s16 s32 s64", lambda a, b, c: a * b + c),
    ("sad.{t} %d, %a, %b, %c;", "u16 u32 u64 s16 s32 s64", lambda a, b, c: c + abs(a - b)),
    ("div.{t} %d, %a, %b;", "u16 u32 u64 s16 s32 s64", divide),
    ("rem.{t} %d, %a, %b;", "u16 u32 u64 s16 s32 s64", remainder),
    ("min.{t} %d, %a, %b;", "u16 u32 u64 s16 s32 s64", min),
    ("max.{t} %d, %a, %b;", "u16 u32 u64 s16 s32 s64", max),
    ("max.relu.{t} %d, %a, %b;", "s32", lambda a, b: max(a, b, 0)),
    ("min.relu.{t} %d, %a, %b;", "s32", lambda a, b: max(min(a, b), 0)),
    ("abs.{t} %d, %a;", "s16 s32 s64", abs),
    ("neg.{t} %d, %a;", "s16 s32 s64", lambda a: -a),
    ("add.sat.{t} %d, %a, %b;", "s32", lambda a, b: clamp32(a + b)),
    ("sub.sat.{t} %d, %a, %b;", "s32", lambda a, b: clamp32(a - b)),
    ("mul.wide.{t} %dW, %a, %b;", "u16 u32 s16 s32", lambda a, b: a * b),
    ("mad.wide.{t} %dW, %a, %b, %cW;", "u16 u32 s16 s32", lambda a, b, c: a * b + c),
    ("mul24.lo.{t} %d, %a, %b;", "u32", lambda a, b: low24(a, False) * low24(b, False)),
    ("mul24.lo.{t} %d, %a, %b;", "s32", lambda a, b: low24(a, True) * low24(b, True)),
    ("mul24.hi.{t} %d, %a, %b;", "u32", lambda a, b: low24(a, False) * low24(b, False) >> 16),
    ("mul24.hi.{t} %d, %a, %b;", "s32", lambda a, b: low24(a, True) * low24(b, True) >> 16),
    ("mad24.lo.{t} %d, %a, %b, %c;", "s32", lambda a, b, c: low24(a, True) * low24(b, True) + c),
    (
        "mad24.hi.sat.{t} %d, %a, %b, %c;",
        "s32",
        lambda a, b, c: clamp32(signed(low24(a, True) * low24(b, True) >> 16, 32) + c),
    ),
    ("popc.{t} %d3, %a;", "b32 b64", lambda a: a.bit_count()),
    ("clz.{t} %d3, %a;", "b32", lambda a: 32 - a.bit_length()),
    ("clz.{t} %d3, %a;", "b64", lambda a: 64 - a.bit_length()),
    ("brev.{t} %d, %a;", "b32", lambda a: int(f"{a:032b}"[::-1], 2)),
    ("brev.{t} %d, %a;", "b64", lambda a: int(f"{a:064b}"[::-1], 2)),
    ("bfind.{t} %d3, %a;", "u32 u64", lambda a: a.bit_length() - 1),
    ("bfind.{t} %d3, %a;", "s32 s64", lambda a: (a if a >= 0 else ~a).bit_length() - 1),
    ("bfind.shiftamt.{t} %d3, %a;", "u32", lambda a: 32 - a.bit_length() if a else -1),
    (
        "bfind.shiftamt.{t} %d3, %a;",
        "s64",
        lambda a: 64 - (a if a >= 0 else ~a).bit_length() if a not in (0, -1) else -1,
    ),
    ("mul.hi.{t} %d, %a, %b;", "u16 s16", lambda a, b: a * b >> 16),
    ("mul.hi.{t} %d, %a, %b;", "u32 s32", lambda a, b: a * b >> 32),
    ("mul.hi.{t} %d, %a, %b;", "u64 s64", lambda a, b: a * b >> 64),
    ("mad.hi.{t} %d, %a, %b, %c;", "u32 s32", lambda a, b, c: (a * b >> 32) + c),
    ("mad.hi.sat.{t} %d, %a, %b, %c;", "s32", lambda a, b, c: clamp32((a * b >> 32) + c)),
]


def expand() -> list[tuple[str, str, Reference]]:
    return [
        (text.format(t=name), name, reference)
        for text, names, reference in CASES
        for name in names.split()
    ]


@pytest.mark.parametrize(
    ("text", "name", "reference"), expand(), ids=lambda v: str(v).split(" ")[0]
)
def test_arithmetic(text: str, name: str, reference: Reference) -> None:
    kind, width = name[0], int(name[1:])
    operands = re.findall(r"%(\w)([W3]?)", text)
    widths = {letter: {"": width, "W": 2 * width, "3": 32}[mark] for letter, mark in operands}
    sources = {
        letter: integers(bits, COUNT, seed)
        for seed, (letter, bits) in enumerate(widths.items())
        if letter != "d"
    }
    instruction = re.sub(r"(%\w)[W3]", r"\1", text)
    (got,) = run_lanes(instruction, sources, {"d": f"u{widths['d'] // 8}"})
    convert = signed if kind == "s" else unsigned
    for lane in range(COUNT):
        values = [convert(int(v[lane]), widths[letter]) for letter, v in sources.items()]
        expected = unsigned(reference(*values), widths["d"])
        assert int(got[lane]) == expected, (instruction, values)


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("kind", ["u", "s"])
def test_bfe(kind: str, width: int) -> None:
    a = integers(width, COUNT, 1)
    b, c = integers(32, COUNT, 2) % 80, integers(32, COUNT, 3) % 80
    b[:8] += 256  # only eight bits of position and length count, of 32-bit fields
    seen = 255 if width == 32 else 0xFFFFFFFF
    (got,) = run_lanes(
        f"bfe.{kind}{width} %d, %a, %b, %c;", {"a": a, "b": b, "c": c}, {"d": f"u{width // 8}"}
    )
    for lane in range(COUNT):
        value, position, length = int(a[lane]), int(b[lane]) & seen, int(c[lane]) & seen
        last = min(position + length - 1, width - 1)
        sign = kind == "s" and length > 0 and value >> last & 1
        bits = [
            value >> (position + i) & 1 if position + i < width else sign for i in range(length)
        ]
        bits = (bits + [sign] * width)[:width]
        assert int(got[lane]) == sum(int(bit) << i for i, bit in enumerate(bits)), (
            value,
            position,
            length,
        )


@pytest.mark.parametrize("width", [32, 64])
def test_bfi(width: int) -> None:
    a, b = integers(width, COUNT, 1), integers(width, COUNT, 2)
    c, e = integers(32, COUNT, 3) % 80, integers(32, COUNT, 4) % 80
    (got,) = run_lanes(
        f"bfi.b{width} %d, %a, %b, %c, %e;",
        {"a": a, "b": b, "c": c, "e": e},
        {"d": f"u{width // 8}"},
    )
    for lane in range(COUNT):
        position, length = int(c[lane]), int(e[lane])
        expected = int(b[lane])
        for i in range(length):
            if position + i < width:
                expected &= ~(1 << (position + i))
                expected |= (int(a[lane]) >> i & 1) << (position + i) if i < width else 0
        assert int(got[lane]) == expected, (position, length)


def test_fns() -> None:
    masks, base = integers(32, COUNT, 1), integers(32, COUNT, 2) % 32
    offset = (integers(32, COUNT, 3) % 13 - 6).astype("u4")
    (got,) = run_lanes("fns.b32 %d, %a, %b, %c;", {"a": masks, "b": base, "c": offset}, {"d": "u4"})
    for lane in range(COUNT):
        mask, start, wanted = int(masks[lane]), int(base[lane]), signed(int(offset[lane]), 32)
        up = [i for i in range(start, 32) if mask >> i & 1]
        down = [i for i in range(start, -1, -1) if mask >> i & 1]
        expected = -1
        if wanted == 0:
            expected = start if mask >> start & 1 else -1
        elif abs(wanted) <= len(up if wanted > 0 else down):
            expected = (up if wanted > 0 else down)[abs(wanted) - 1]
        assert int(got[lane]) == unsigned(expected, 32), (hex(mask), start, wanted)


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
def test_szext_and_bmsk(mode: str) -> None:
    a, b = integers(32, COUNT, 1), integers(32, COUNT, 2) % 40
    text = f"szext.{mode}.s32 %d, %a, %b; szext.{mode}.u32 %e, %a, %b; bmsk.{mode}.b32 %f, %g, %b;"
    g = integers(32, COUNT, 3) % 40
    got = run_lanes(text, {"a": a, "b": b, "g": g}, {"d": "u4", "e": "u4", "f": "u4"})
    for lane in range(COUNT):
        limit = (lambda v: v & 31) if mode == "wrap" else (lambda v: min(v, 32))
        width, position = limit(int(b[lane])), limit(int(g[lane]))
        low = int(a[lane]) & ((1 << width) - 1)
        sign = width > 0 and low >> (width - 1) & 1
        assert int(got[0][lane]) == unsigned(low - (sign << width), 32)
        assert int(got[1][lane]) == low
        assert int(got[2][lane]) == unsigned(((1 << width) - 1) << position, 32)


@pytest.mark.parametrize("a_type", ["u32", "s32"])
@pytest.mark.parametrize("b_type", ["u32", "s32"])
def test_dot_products(a_type: str, b_type: str) -> None:
    a, b, c = (integers(32, COUNT, seed) for seed in (1, 2, 3))
    text = (
        f"dp4a.{a_type}.{b_type} %d, %a, %b, %c; dp2a.lo.{a_type}.{b_type} %e, %a, %b, %c;"
        f"dp2a.hi.{a_type}.{b_type} %f, %a, %b, %c;"
    )
    got = run_lanes(text, {"a": a, "b": b, "c": c}, {"d": "u4", "e": "u4", "f": "u4"})
    convert_a, convert_b = (signed if t == "s32" else unsigned for t in (a_type, b_type))
    for lane in range(COUNT):
        x, y, z = int(a[lane]), int(b[lane]), int(c[lane])
        four = [convert_a(x >> 8 * i, 8) * convert_b(y >> 8 * i, 8) for i in range(4)]
        low = [convert_a(x >> 16 * i, 16) * convert_b(y >> 8 * i, 8) for i in range(2)]
        high = [convert_a(x >> 16 * i, 16) * convert_b(y >> 8 * (i + 2), 8) for i in range(2)]
        for result, products in zip(got, (four, low, high), strict=True):
            assert int(result[lane]) == unsigned(sum(products) + z, 32)


@pytest.mark.parametrize("width", [32, 64])
def test_carry_chains(width: int) -> None:
    """Double-width sums and differences in two halves, and a product added with carries."""
    names = "abce"
    sources = {name: integers(width, COUNT, seed) for seed, name in enumerate(names)}
    u = f"u{width}"
    text = (
        f"add.cc.{u} %f, %a, %c; addc.{u} %g, %b, %e;"
        f"sub.cc.{u} %h, %a, %c; subc.{u} %i, %b, %e;"
        f"mad.lo.cc.{u} %j, %a, %b, %c; madc.hi.{u} %k, %a, %b, %e;"
    )
    got = run_lanes(text, sources, dict.fromkeys("fghijk", f"u{width // 8}"))
    for lane in range(COUNT):
        a, b, c, e = (int(sources[name][lane]) for name in names)
        first, second = a | b << width, c | e << width
        expected = [first + second, first - second, a * b + second]
        for (low, high), value in zip(zip(got[::2], got[1::2], strict=True), expected, strict=True):
            assert int(low[lane]) | int(high[lane]) << width == unsigned(value, 2 * width)


def test_carry_goes_through_a_whole_chain() -> None:
    ones = integers(32, COUNT, 0) * 0 + 0xFFFFFFFF
    text = (
        "add.cc.u32 %d, %a, 1; addc.cc.u32 %e, %a, 0; addc.cc.u32 %f, %a, 0; addc.u32 %g, 0, 0;"
        "sub.cc.u32 %h, 0, 1; subc.cc.u32 %i, 0, 0; subc.u32 %j, 5, 0;"
    )
    got = run_lanes(text, {"a": ones}, dict.fromkeys("defghij", "u4"))
    assert [int(values[0]) for values in got] == [0, 0, 0, 1, 0xFFFFFFFF, 0xFFFFFFFF, 4]


def test_the_flag_is_the_carry_of_the_adder() -> None:
    """A subtraction adds the complement, so that its borrow is the flag inverted."""
    zero = integers(32, COUNT, 0) * 0
    text = (
        "sub.cc.u32 %d, 5, 3; addc.u32 %e, %a, %a;"
        "sub.cc.u32 %d, 3, 5; addc.u32 %f, %a, %a;"
        "add.cc.u32 %d, %a, %a; subc.u32 %g, %a, %a;"
        "sub.cc.u32 %d, 3, 3; subc.cc.u32 %d, 7, 7; addc.u32 %h, %a, %a;"
    )
    got = run_lanes(text, {"a": zero}, dict.fromkeys("defgh", "u4"))
    assert [int(values[0]) for values in got[1:]] == [1, 0, 0xFFFFFFFF, 1]


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("a_type", ["u32", "s32"])
@pytest.mark.parametrize("b_type", ["u32", "s32"])
def test_video(count: int, a_type: str, b_type: str) -> None:
    """Parts of words: results that wrap, that are clamped, and their sums."""
    a, b, c = (integers(32, COUNT, seed) for seed in range(3))
    width = 32 // count
    operations: dict[str, Callable[[int, int], int]] = {
        "vadd": lambda x, y: x + y,
        "vsub": lambda x, y: x - y,
        "vavrg": lambda x, y: (x + y + (x + y >= 0)) >> 1,
        "vabsdiff": lambda x, y: abs(x - y),
        "vmin": min,
        "vmax": max,
    }
    for name, operate in operations.items():
        head = f"{name}{count}"
        text = (
            f"{head}.s32.{a_type}.{b_type} %d, %a, %b, %c;"
            f"{head}.s32.{a_type}.{b_type}.sat %e, %a, %b, %c;"
            f"{head}.u32.{a_type}.{b_type}.sat %f, %a, %b, %c;"
            f"{head}.u32.{a_type}.{b_type}.add %g, %a, %b, %c;"
            f"vset{count}.{a_type}.{b_type}.le %h, %a, %b, %c;"
        )
        got = run_lanes(text, {"a": a, "b": b, "c": c}, dict.fromkeys("defgh", "u4"))
        convert_a, convert_b = (signed if t == "s32" else unsigned for t in (a_type, b_type))
        for lane in range(COUNT):
            x = [convert_a(int(a[lane]) >> at, width) for at in range(0, 32, width)]
            y = [convert_b(int(b[lane]) >> at, width) for at in range(0, 32, width)]
            results = [operate(p, q) for p, q in zip(x, y, strict=True)]
            half, most = 1 << (width - 1), (1 << width) - 1
            four = [
                results,
                [min(max(value, -half), half - 1) for value in results],
                [min(max(value, 0), most) for value in results],
                [int(p <= q) for p, q in zip(x, y, strict=True)],
            ]
            words = [
                sum((value & most) << width * place for place, value in enumerate(each))
                for each in four
            ]
            words.insert(3, unsigned(int(c[lane]) + sum(results), 32))
            assert [int(values[lane]) for values in got] == words, (name, lane)


@pytest.mark.parametrize("name", ["u16x2", "s16x2"])
def test_packed_sixteen_bits(name: str) -> None:
    a, b = integers(32, COUNT, 1), integers(32, COUNT, 2)
    text = f"add.{name} %d, %a, %b; min.{name} %e, %a, %b; max.{name} %f, %a, %b;"
    got = run_lanes(text, {"a": a, "b": b}, dict.fromkeys("def", "u4"))
    convert = signed if name[0] == "s" else unsigned
    for lane in range(COUNT):
        pairs = [(convert(int(a[lane]) >> s, 16), convert(int(b[lane]) >> s, 16)) for s in (0, 16)]
        for result, reference in zip(got, (lambda x, y: x + y, min, max), strict=True):
            low, high = (unsigned(reference(x, y), 16) for x, y in pairs)
            assert int(result[lane]) == low | high << 16
