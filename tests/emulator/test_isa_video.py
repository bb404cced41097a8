"""Video instructions, scalar and SIMD, against the manual's semantics in Python's integers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from cudarun.ptx.errors import PtxError
from tests.emulator.device import Device, run_lanes
from tests.emulator.reference import integers, signed, unsigned

LANES = 150
PARTS = ["", "b0", "b1", "b2", "b3", "h0", "h1"]

OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vabsdiff": lambda a, b: abs(a - b),
    "vmin": min,
    "vmax": max,
}
COMPARISONS: dict[str, Callable[[int, int], int]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def place(selector: str) -> tuple[int, int]:
    """The lowest bit of a part, and how many it has."""
    if not selector:
        return 0, 32
    bits = {"b": 8, "h": 16}[selector[0]]
    return bits * int(selector[1]), bits


def extended(value: int, width: int, kind: str) -> int:
    return signed(value, width) if kind == "s32" else unsigned(value, width)


def part(word: int, kind: str, selector: str) -> int:
    start, bits = place(selector)
    return extended(word >> start, bits, kind)


def merged(c: int, result: int, selector: str) -> int:
    """A part replaced; as ptxas has it, ``h1`` takes the upper half of the result."""
    start, bits = place(selector)
    mask = (1 << bits) - 1
    if selector == "h1":
        result >>= 16
    return c & ~(mask << start) | (result & mask) << start


def clamped(value: int, lowest: int, highest: int) -> int:
    return max(lowest, min(value, highest))


def dotted(selector: str) -> str:
    return f".{selector}" if selector else ""


def check(line: str, step: Callable[[int, int, int], int], seed: int = 1) -> None:
    """Run a line of ``%d``, ``%a``, ``%b`` and ``%c``, and compare each lane."""
    a, b, c = (integers(32, LANES, seed + n) for n in range(3))
    b[::9] %= 40  # amounts of shifts
    (got,) = run_lanes(line, {"a": a, "b": b, "c": c}, {"d": "u4"})
    expected = [unsigned(step(*map(int, lane)), 32) for lane in zip(a, b, c, strict=True)]
    wrong = [n for n in range(LANES) if int(got[n]) != expected[n]]
    assert not wrong, (line, *(hex(v[wrong[0]]) for v in (a, b, c, got)), hex(expected[wrong[0]]))


# --- scalar --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kinds", list(product(("u32", "s32"), repeat=3)))
@pytest.mark.parametrize("name", OPERATIONS)
def test_arithmetic(name: str, kinds: tuple[str, str, str]) -> None:
    to, first, second = kinds
    turn = [*product(("u32", "s32"), repeat=3)].index(kinds) % 6 + 1
    for number in (0, turn):
        asel = PARTS[number]
        bsel, dsel = PARTS[(number * 3 + 1) % 7], PARTS[(number * 5 + 2) % 7]

        def result(a: int, b: int, asel: str = asel, bsel: str = bsel) -> int:
            return OPERATIONS[name](part(a, first, asel), part(b, second, bsel))

        word, sources = f"{name}.{to}.{first}.{second}", f"%a{dotted(asel)}, %b{dotted(bsel)}"
        check(f"{word} %d, {sources};", lambda a, b, c: result(a, b))
        check(f"{word}.add %d, {sources}, %c;", lambda a, b, c: result(a, b) + c)
        check(
            f"{word} %d{dotted(dsel)}, {sources}, %c;",
            lambda a, b, c, dsel=dsel: merged(c, result(a, b), dsel) if dsel else result(a, b),
        )
        if to == "s32":
            check(
                f"{word}.sat %d, {sources};",
                lambda a, b, c: clamped(result(a, b), -1 << 31, (1 << 31) - 1),
            )


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
@pytest.mark.parametrize("kind", ["u32", "s32"])
@pytest.mark.parametrize("name", ["vshl", "vshr"])
def test_shifts(name: str, kind: str, mode: str) -> None:
    def result(a: int, b: int) -> int:
        amount = min(b, 32) if mode == "clamp" else b % 32
        value = part(a, kind, "")
        return signed(value << amount, 34) if name == "vshl" else value >> amount

    check(f"{name}.{kind}.{kind}.u32.{mode} %d, %a, %b;", lambda a, b, c: result(a, b))
    check(
        f"{name}.s32.{kind}.u32.sat.{mode} %d, %a, %b;",
        lambda a, b, c: clamped(result(a, b), -1 << 31, (1 << 31) - 1),
    )
    check(f"{name}.u32.{kind}.u32.{mode}.add %d, %a, %b, %c;", lambda a, b, c: result(a, b) + c)
    check(
        f"{name}.u32.{kind}.u32.{mode} %d.h1, %a, %b, %c;",
        lambda a, b, c: merged(c, result(a, b), "h1"),
    )


@pytest.mark.parametrize("kinds", list(product(("u32", "s32"), repeat=2)))
@pytest.mark.parametrize("test", COMPARISONS)
def test_comparisons(test: str, kinds: tuple[str, str]) -> None:
    def result(a: int, b: int) -> int:
        left, right = part(a, kinds[0], "b3"), part(b, kinds[1], "h0")
        return int(COMPARISONS[test](left, right))

    word, sources = f"vset.{kinds[0]}.{kinds[1]}.{test}", "%a.b3, %b.h0"
    check(f"{word} %d, {sources};", lambda a, b, c: result(a, b))
    check(f"{word} %d.b2, {sources}, %c;", lambda a, b, c: merged(c, result(a, b), "b2"))
    check(f"{word}.add %d, {sources}, %c;", lambda a, b, c: result(a, b) + c)
    check(f"{word}.min %d, {sources}, %c;", lambda a, b, c: min(result(a, b), c))
    check(f"{word}.max %d, {sources}, %c;", lambda a, b, c: max(result(a, b), c))


@pytest.mark.parametrize("scale", [0, 7, 15])
@pytest.mark.parametrize("sat", ["", ".sat"])
@pytest.mark.parametrize("kinds", list(product(("u32", "s32"), repeat=2)))
def test_multiply_add(kinds: tuple[str, str], sat: str, scale: int) -> None:
    """As ptxas has it for sm_90: 64 bits, words without a selector and ``c`` signed."""
    suffix = sat + (f".shr{scale}" if scale else "")

    def total(a: int, b: int, c: int, minus: str = "", more: int = 0) -> int:
        left, right = (signed(part(x, kind, sel), 32) for x, kind, sel in
                       ((a, kinds[0], "h1"), (b, kinds[1], "")))  # fmt: skip
        sign = -1 if minus in ("a", "b") else 1
        value = sign * left * right + signed(c, 32) * (-1 if minus == "c" else 1) + more
        if minus or "s32" in kinds:
            value = signed(value, 64) >> scale
            return clamped(value, -1 << 31, (1 << 31) - 1) if sat else value
        value = signed(unsigned(value, 64) >> scale, 64)
        return clamped(value, 0, (1 << 32) - 1) if sat else value

    word, sources = f"vmad.s32.{kinds[0]}.{kinds[1]}", "%d, %a.h1, %b, %c;"
    check(f"{word}{suffix} {sources}", total)
    check(f"{word}{suffix} %d, -%a.h1, -%b, %c;", total)
    check(f"{word}{suffix} %d, -%a.h1, %b, %c;", lambda a, b, c: total(a, b, c, "a"))
    check(f"{word}{suffix} %d, %a.h1, -%b, %c;", lambda a, b, c: total(a, b, c, "b"))
    check(f"{word}{suffix} %d, %a.h1, %b, -%c;", lambda a, b, c: total(a, b, c, "c"))
    check(f"{word}.po{suffix} {sources}", lambda a, b, c: total(a, b, c, more=1))


def test_constants_are_operands() -> None:
    check("vadd.s32.s32.s32 %d, %a, -7;", lambda a, b, c: a - 7)
    check("vmad.s32.s32.s32 %d, -5, %b.b0, 9;", lambda a, b, c: -5 * part(b, "s32", "b0") + 9)


# --- SIMD ----------------------------------------------------------------------------------------

SELECTORS = {
    2: [("", "", ""), ("h1", "h20", "h13"), ("h0", "h33", ""), ("h10", "", "h01")],
    4: [("", "", ""), ("b20", "b7052", "b3377"), ("b321", "", "b0123"), ("b0", "b4444", "")],
}
DEFAULTS = {2: ("h10", "h10", "h32"), 4: ("b3210", "b3210", "b7654")}
SIMD = {
    **OPERATIONS,
    "vavrg": lambda a, b: (a + b + (a + b >= 0)) >> 1,
    "vset": COMPARISONS["lt"],
}


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize(
    ("name", "suffix"),
    [(name, suffix) for name, suffix in product(SIMD, ["", ".sat", ".add"])
     if (name, suffix) != ("vset", ".sat")],
)  # fmt: skip
def test_simd(name: str, count: int, suffix: str) -> None:
    bits = 32 // count
    for (mask, asel, bsel), (first, second) in product(
        SELECTORS[count], product(("u32", "s32"), repeat=2)
    ):
        given = zip((mask, asel, bsel), DEFAULTS[count], strict=True)
        chosen = [selector or default for selector, default in given]

        def step(a: int, b: int, c: int, chosen=chosen, first=first, second=second) -> int:
            both = a | b << 32
            left, right = (
                [extended(both >> bits * int(n), bits, kind) for n in reversed(selector[1:])]
                for selector, kind in ((chosen[1], first), (chosen[2], second))
            )
            result, total = c, c
            for n in map(int, chosen[0][1:]):
                value = int(SIMD[name](left[n], right[n]))
                if suffix == ".sat":
                    value = clamped(value, -1 << bits - 1, (1 << bits - 1) - 1)
                total += value
                hole = ((1 << bits) - 1) << bits * n
                result = result & ~hole | value << bits * n & hole
            return total if suffix == ".add" else result

        kinds = f"{first}.{second}.lt" if name == "vset" else f"s32.{first}.{second}"
        operands = f"%d{dotted(mask)}, %a{dotted(asel)}, %b{dotted(bsel)}, %c"
        check(f"{name}{count}.{kinds}{suffix} {operands};", step)


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("vadd.s32.u32.s32 %r0.b0, %r1, %r2;",
         "Video selector is not allowed on destination for instruction 'vadd'"),
        ("vset.u32.u32.lt.min %r0.b0, %r1, %r2, %r3;",
         "Video instruction cannot have destination selector and secondary operation"),
        ("vadd.u32.u32.u32 %r0, %r1, %r2, %r3.b0;",
         "Video selector is not allowed on 'source C' operand"),
        ("vmad.u32.u32.u32 %r0.b0, %r1, %r2, %r3;", "Video selector is not allowed on dest"),
        ("vadd.s32.u32.s32 %r0, %r1.h2, %r2;", "Incorrect video selector for operand 1"),
        ("vadd.s32.u32.s32 %r0, %r1, %r2.h10;", "Incorrect video selector for operand 2"),
        ("vset2.u32.u32.lt %r0.b0, %r1, %r2, %r3;", "Incorrect video selector for operand 0"),
        ("vadd4.u32.u32.u32 %r0.b10, %r1.b321, %r2, %r3;", "Incorrect video selector for"),
        ("vadd.s32.u32.s32 %r0, -%r1, %r2;", "Operand negation not allowed for instruction 'vadd'"),
        ("add.s32 %r0, -%r1, %r2;", "Operand negation not allowed for instruction 'add'"),
        ("vmad.s32.u32.u32 %r0, -%r1, %r2, -%r3;",
         "Operand negation limited to either (source A xor source B) or source C"),
        ("vmad.s32.s32.u32.po %r0, -%r1, %r2, %r3;",
         "Conflicting use of '.po' modifier with operand negation"),
        ("vmad.u32.u32.u32 %r0, %r1, %r2;", "Arguments mismatch for instruction 'vmad'"),
        ("vadd.s32.u32.s32 %r0, %tid.x, %r2;", "Special register argument not allowed"),
        ("vadd.s32.u32.s32 %r0, %r1, 1.0;", "Arguments mismatch for instruction 'vadd'"),
        ("vadd2.s32.u32.s32 %r0, 1, %r2, %r3;", "Arguments mismatch for instruction 'vadd2'"),
    ],
)  # fmt: skip
def test_refused(line: str, says: str) -> None:
    text = f".visible .entry test() {{ .reg .b32 %r<4>; {line} ret; }}"
    with pytest.raises(PtxError) as caught:
        Device(text)
    assert says in str(caught.value.log)
