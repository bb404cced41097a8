"""Atomic operations: lanes take effect one after the other, however many hit one address."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulator.device import Device
from tests.emulator.reference import FORMATS, added, bits_of_all, flush, integers, signed, unsigned

LANES = 192
PLACES = {"one": 1, "few": 3, "some": 17, "many": 5000}

Step = Callable[[int, int, int], int]  # what memory holds, from what it held and two operands


def of_type(step: Callable[[int, int], int], name: str) -> Step:
    width = int(name[1:])
    convert = signed if name[0] == "s" else unsigned

    def apply(held: int, b: int, _: int) -> int:
        return unsigned(step(convert(held, width), convert(b, width)), width)

    return apply


STEPS: dict[str, Callable[[int, int], int]] = {
    "add": lambda held, b: held + b,
    "min": min,
    "max": max,
    "and": lambda held, b: held & b,
    "or": lambda held, b: held | b,
    "xor": lambda held, b: held ^ b,
    "exch": lambda held, b: b,
    "inc": lambda held, b: 0 if held >= b else held + 1,
    "dec": lambda held, b: b if held == 0 or held > b else held - 1,
}
TYPES = {
    "add": "u32 s32 u64",
    "min": "u32 s32 u64 s64",
    "max": "u32 s32 u64 s64",
    "and": "b32 b64",
    "or": "b32 b64",
    "xor": "b32 b64",
    "exch": "b32 b64",
    "inc": "u32",
    "dec": "u32",
}
CASES = [(op, name) for op, names in TYPES.items() for name in names.split()]


def kernel(instruction: str, width: int, *, shared: bool) -> str:
    """A kernel that applies ``instruction`` at ``table[at[i]]`` with ``b[i]`` and ``c[i]``."""
    size = width // 8
    register = f".reg .b{width} %b, %c, %old, %x;"
    base = "mov.u64 %table, stage;" if shared else "ld.param.u64 %table, [table];"
    space = "shared" if shared else "global"
    fill = drain = ""
    if shared:
        fill = f"""
            ld.param.u64 %p, [table];
            mad.wide.u32 %q, %i, {size}, %p; ld.global.b{width} %x, [%q];
            mad.wide.u32 %q, %i, {size}, %table; st.shared.b{width} [%q], %x;
            bar.sync 0;
        """
        drain = f"""
            bar.sync 0;
            mad.wide.u32 %q, %i, {size}, %table; ld.shared.b{width} %x, [%q];
            mad.wide.u32 %q, %i, {size}, %p; st.global.b{width} [%q], %x;
        """
    return f"""
    .visible .entry test(.param .u64 table, .param .u64 at, .param .u64 b, .param .u64 c,
                         .param .u64 d)
    {{
        .shared .align 8 .b8 stage[{size * LANES}];
        .reg .b32 %i, %k; .reg .b64 %p, %q, %table, %here; {register}
        mov.u32 %i, %tid.x; mov.u32 %k, %ctaid.x; mad.lo.u32 %i, %k, {LANES}, %i;
        {base}
        {fill}
        ld.param.u64 %q, [at]; mad.wide.u32 %q, %i, 4, %q; ld.global.u32 %k, [%q];
        mad.wide.u32 %here, %k, {size}, %table;
        ld.param.u64 %q, [b]; mad.wide.u32 %q, %i, {size}, %q; ld.global.b{width} %b, [%q];
        ld.param.u64 %q, [c]; mad.wide.u32 %q, %i, {size}, %q; ld.global.b{width} %c, [%q];
        {instruction.replace("SPACE", space)}
        ld.param.u64 %q, [d]; mad.wide.u32 %q, %i, {size}, %q; st.global.b{width} [%q], %old;
        {drain}
        ret;
    }}
    """


def run(
    instruction: str,
    table: np.ndarray,
    at: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    *,
    shared: bool,
) -> tuple[list[int], list[int]]:
    """The old values, and what is in the table afterwards."""
    device = Device(kernel(instruction, table.dtype.itemsize * 8, shared=shared))
    place = device.buffer(table)
    out = device.buffer(np.zeros_like(b))
    grid = len(at) // LANES
    device.launch(
        "test", (grid,), (LANES,), place, device.buffer(at), device.buffer(b), device.buffer(c), out
    )
    return (
        [int(v) for v in device.read(out, b.dtype, len(b))],
        [int(v) for v in device.read(place, table.dtype, len(table))],
    )


def one_after_the_other(
    step: Step, table: np.ndarray, at: np.ndarray, b: np.ndarray, c: np.ndarray
) -> tuple[list[int], list[int]]:
    held = [int(v) for v in table]
    old = []
    for place, x, y in zip(at, b, c, strict=True):
        old.append(held[place])
        held[place] = step(held[place], int(x), int(y))
    return old, held


def operands(places: int, width: int, lanes: int, seed: int) -> tuple[np.ndarray, ...]:
    table = integers(width, places, seed)
    at = np.random.default_rng(seed).integers(0, places, lanes).astype("u4")
    return table, at, integers(width, lanes, seed + 1), integers(width, lanes, seed + 2)


@pytest.mark.parametrize("spread", PLACES)
@pytest.mark.parametrize(("op", "name"), CASES)
def test_global(op: str, name: str, spread: str) -> None:
    table, at, b, c = operands(PLACES[spread], int(name[1:]), 2 * LANES, 1)
    if op in ("inc", "dec"):
        b %= np.uint32(9)
    got = run(f"atom.global.{op}.{name} %old, [%here], %b;", table, at, b, c, shared=False)
    assert got == one_after_the_other(of_type(STEPS[op], name), table, at, b, c)


@pytest.mark.parametrize(("op", "name"), CASES)
def test_shared(op: str, name: str) -> None:
    table, at, b, c = operands(LANES, int(name[1:]), LANES, 2)
    at %= np.uint32(5)
    got = run(f"atom.shared.{op}.{name} %old, [%here], %b;", table, at, b, c, shared=True)
    assert got == one_after_the_other(of_type(STEPS[op], name), table, at, b, c)


@pytest.mark.parametrize("spread", PLACES)
@pytest.mark.parametrize(("op", "name"), [case for case in CASES if case[0] != "exch"])
def test_red(op: str, name: str, spread: str) -> None:
    table, at, b, c = operands(PLACES[spread], int(name[1:]), LANES, 3)
    text = f"red.global.{op}.{name} [%here], %b; mov.b{name[1:]} %old, %b;"
    _, held = run(text, table, at, b, c, shared=False)
    assert held == one_after_the_other(of_type(STEPS[op], name), table, at, b, c)[1]


@pytest.mark.parametrize("spread", PLACES)
@pytest.mark.parametrize("width", [16, 32, 64])
def test_compare_and_swap(width: int, spread: str) -> None:
    table, at, b, c = operands(PLACES[spread], width, LANES, 4)
    for values in (table, b, c):  # few values, so that many lanes find what they expect
        values %= values.dtype.type(3)
    got = run(f"atom.cas.b{width} %old, [%here], %b, %c;", table, at, b, c, shared=False)
    assert got == one_after_the_other(lambda held, x, y: y if held == x else held, table, at, b, c)


def test_swaps_that_follow_each_other() -> None:
    """Every lane finds what the lane before it has left."""
    b = np.arange(LANES, dtype="u4")
    at = np.zeros(LANES, "u4")
    old, held = run(
        "atom.cas.b32 %old, [%here], %b, %c;", np.zeros(1, "u4"), at, b, b + 1, shared=False
    )
    assert old == list(range(LANES))
    assert held == [LANES]


@pytest.mark.parametrize("spread", PLACES)
@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("opcode", ["atom", "red"])
def test_float_sums(opcode: str, name: str, spread: str) -> None:
    """Each sum is rounded; in global memory f32 flushes subnormal values."""
    fmt = FORMATS[name]
    places = PLACES[spread]
    table = (np.random.default_rng(5).normal(size=places)).astype(name[0] + str(fmt.width // 8))
    at = np.random.default_rng(6).integers(0, places, LANES).astype("u4")
    b = np.random.default_rng(7).normal(size=LANES).astype(table.dtype) * 100
    bits = [v.view(f"u{fmt.width // 8}") for v in (table, b)]
    text = f"atom.global.add.{name} %old, [%here], %b;"
    if opcode == "red":
        text = f"red.global.add.{name} [%here], %b; mov.b{fmt.width} %old, %b;"
    got = run(text, bits[0], at, bits[1], bits[1], shared=False)
    expected = one_after_the_other(lambda h, x, _: added(fmt, h, x), bits[0], at, bits[1], bits[1])
    assert got[1] == expected[1]
    if opcode == "atom":
        assert got[0] == expected[0]


@pytest.mark.parametrize("space", ["global", "shared"])
def test_float_sums_of_subnormal_values(space: str) -> None:
    fmt = FORMATS["f32"]
    table, b = bits_of_all(fmt, LANES, 8), bits_of_all(fmt, LANES, 9)
    at = (np.arange(LANES) % 50).astype("u4")
    text = "atom.SPACE.add.f32 %old, [%here], %b;"

    def step(held: int, x: int, _: int) -> int:
        if space == "shared":
            return added(fmt, held, x)
        return flush(fmt, added(fmt, flush(fmt, held), flush(fmt, x)))

    got = run(text, table, at, b, b, shared=space == "shared")
    assert got == one_after_the_other(step, table, at, b, b)


@pytest.mark.parametrize("name", ["f16", "bf16", "f16x2", "bf16x2"])
def test_sums_of_halves(name: str) -> None:
    fmt = FORMATS[name.removesuffix("x2")]
    pair = name.endswith("x2")
    dtype = "u4" if pair else "u2"
    table, b = (
        np.random.default_rng(seed)
        .integers(0x3C00, 0x4400, 2 * LANES)
        .astype("u2")[: LANES * (1 + pair)]
        for seed in (10, 11)
    )
    table, b = table.view(dtype), b.view(dtype)
    at = (np.arange(LANES) % 7).astype("u4")

    def step(held: int, x: int, _: int) -> int:
        low = added(fmt, held & 0xFFFF, x & 0xFFFF)
        return low | added(fmt, held >> 16, x >> 16) << 16 if pair else low

    got = run(f"atom.add.noftz.{name} %old, [%here], %b;", table, at, b, b, shared=False)
    assert got == one_after_the_other(step, table, at, b, b)


# --- 128 bits ------------------------------------------------------------------------------------

WIDE = """
.visible .entry test(.param .u64 table, .param .u64 at, .param .u64 b, .param .u64 c, .param .u64 d)
{{
    .shared .align 16 .b8 stage[64];
    .reg .pred %first; .reg .b32 %i, %k; .reg .b64 %p, %table, %here; .reg .b128 %b, %c, %old;
    mov.u32 %i, %tid.x; setp.eq.u32 %first, %i, 0;
    ld.param.u64 %table, [table];
    {fill}
    ld.param.u64 %p, [at]; mad.wide.u32 %p, %i, 4, %p; ld.global.u32 %k, [%p];
    mad.wide.u32 %here, %k, 16, %table;
    ld.param.u64 %p, [b]; mad.wide.u32 %p, %i, 16, %p; ld.global.b128 %b, [%p];
    ld.param.u64 %p, [c]; mad.wide.u32 %p, %i, 16, %p; ld.global.b128 %c, [%p];
    {instruction}
    ld.param.u64 %p, [d]; mad.wide.u32 %p, %i, 16, %p; st.global.b128 [%p], %old;
    {drain}
    ret;
}}
"""


def run_wide(
    instruction: str, table: np.ndarray, at: np.ndarray, b: np.ndarray, c: np.ndarray, *, space: str
) -> tuple[list[int], list[int]]:
    """The old values, and what is in the table afterwards, as whole numbers of 128 bits."""
    fill = drain = ""
    if space == "shared":
        fill, drain = "mov.u64 %table, stage;", "bar.sync 0;"
        for n in range(len(table)):
            move = "mov.b128 {%p, %here}, %old; "
            move += f"@%first st.TO.v2.b64 [PLACE+{16 * n}], {{%p, %here}};"
            fill += f"ld.param.u64 %p, [table]; ld.global.b128 %old, [%p+{16 * n}]; "
            fill += move.replace("TO", "shared").replace("PLACE", "stage")
            drain += f"ld.shared.b128 %old, [stage+{16 * n}]; ld.param.u64 %table, [table]; "
            drain += move.replace("TO", "global").replace("PLACE", "%table")
        fill += "bar.sync 0;"
    text = WIDE.format(instruction=instruction, fill=fill, drain=drain)
    device = Device(text)
    place, out = device.buffer(table), device.buffer(np.zeros_like(b))
    given = [device.buffer(values) for values in (at, b, c)]
    device.launch("test", (1,), (len(at),), place, *given, out)
    return numbers(device.read(out, "u8", b.size)), numbers(device.read(place, "u8", table.size))


def numbers(words: np.ndarray) -> list[int]:
    """Pairs of 64-bit words as numbers of 128 bits."""
    return [int(low) | int(high) << 64 for low, high in words.reshape(-1, 2)]


def pairs(count: int, seed: int) -> np.ndarray:
    """128-bit values of which few differ, some of them only in one half."""
    return np.random.default_rng(seed).integers(0, 2, (count, 2)).astype("u8") << np.uint64(63)


@pytest.mark.parametrize("space", ["global", "shared", ""])
@pytest.mark.parametrize("places", [1, 3])
@pytest.mark.parametrize("op", ["exch", "cas"])
def test_128_bits(op: str, places: int, space: str) -> None:
    table, b, c = pairs(places, 1), pairs(LANES, 2), pairs(LANES, 3)
    at = np.random.default_rng(4).integers(0, places, LANES).astype("u4")
    dot = f".{space}" if space else ""
    operands = "%b, %c" if op == "cas" else "%b"
    got = run_wide(f"atom{dot}.{op}.b128 %old, [%here], {operands};", table, at, b, c, space=space)

    def step(held: int, x: int, y: int) -> int:
        return x if op == "exch" else y if held == x else held

    old, held = one_after_the_other(step, numbers(table), at, numbers(b), numbers(c))
    assert got == (old, held)


def test_128_bits_at_places_of_their_own() -> None:
    table, b = np.arange(2 * LANES, dtype="u8"), np.arange(2 * LANES, dtype="u8") + 1000
    at = np.arange(LANES, dtype="u4")[::-1].copy()
    got = run_wide("atom.global.exch.b128 %old, [%here], %b;", table, at, b, b, space="global")
    assert got == (numbers(table)[::-1], numbers(b)[::-1])


@settings(max_examples=30)
@given(st.data())
def test_any_operation_on_any_addresses(data: st.DataObject) -> None:
    op, name = data.draw(st.sampled_from(CASES))
    width = int(name[1:])
    places = data.draw(st.integers(1, 60))
    seed = data.draw(st.integers(0, 1000))
    table, at, b, c = operands(places, width, LANES, seed)
    at = (at // data.draw(st.integers(1, 20))).astype("u4")  # the low places more often
    got = run(f"atom.{op}.{name} %old, [%here], %b;", table, at, b, c, shared=False)
    assert got == one_after_the_other(of_type(STEPS[op], name), table, at, b, c)
