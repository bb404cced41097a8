"""``mma``, sparse and narrow, against products of numpy, with the fragments of the manual."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from cudarun.emulator.decode.module import compile_module
from cudarun.emulator.faults import DeviceFault
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import parse
from tests.emulator.device import Device
from tests.emulator.fragments import (
    BITS,
    DTYPES,
    LANES,
    fragments,
    metadata_of,
    numbers,
    sparse_numbers,
    sums,
    words_of,
)

Array = npt.NDArray[Any]
HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"
# --- launches ------------------------------------------------------------------------------------


def launched(instruction: str, tail: str, *operands: Array, results: int) -> Array:
    """The result registers by lane; operands are registers by lane, and metadata without braces."""
    names, loads, given = [], [], []
    for letter, table in zip("abce", operands, strict=False):
        registers = [f"%{letter}{number}" for number in range(table.shape[1])]
        joined = ", ".join(registers)
        names.append(joined if letter == "e" else f"{{{joined}}}")
        loads.append(
            f"ld.param.u64 %p, [p{letter}]; mad.wide.u32 %p, %t, {4 * len(registers)}, %p;"
        )
        for number, register in enumerate(registers):
            loads.append(f".reg .{_kind(letter, instruction)} {register};")
            loads.append(f"ld.global.b32 {register}, [%p+{4 * number}];")
        given.append(letter)
    kind = _kind("d", instruction)
    stores = "\n".join(f"st.global.b32 [%p+{4 * n}], %d{n};" for n in range(results))
    text = f"""{HEADER}
.visible .entry multiply({", ".join(f".param .u64 p{each}" for each in [*given, "d"])})
{{
    .reg .b32 %t;
    .reg .b64 %p;
    .reg .{kind} %d<{results}>;
    mov.u32 %t, %tid.x;
    {" ".join(loads)}
    {instruction} {{{", ".join(f"%d{n}" for n in range(results))}}}, {", ".join(names)}{tail};
    ld.param.u64 %p, [pd];
    mad.wide.u32 %p, %t, {4 * results}, %p;
    {stores}
    ret;
}}
"""
    device = Device(text)
    out = device.buffer(np.zeros((LANES, results), np.uint32))
    device.launch("multiply", (1,), (LANES,), *map(device.buffer, operands), out)
    return device.read(out, np.uint32, LANES * results).reshape(LANES, results)


def _kind(letter: str, instruction: str) -> str:
    types = [word for word in instruction.split(".") if word in BITS]
    return "f32" if letter in "cd" and types["dabc".index(letter)] == "f32" else "b32"


def multiplied(
    instruction: str, types: tuple[str, str, str, str], shape: tuple[int, int, int], *,
    selector: int | None = None,
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """A, B, C and the result; A is sparse if there is a selector."""
    m, n, k = shape
    d_type, a_type, b_type, c_type = types
    a, b = numbers(a_type, (m, k), 1), numbers(b_type, (k, n), 2)
    c = numbers(c_type, (m, n), 3)
    tail, more, left = "", [], a
    if selector is not None:
        a, left, nibbles = sparse_numbers(a_type, (m, k), 1)
        tail = f", {selector}"
        more = [metadata_of(nibbles, selector, halves=BITS[a_type] >= 16)[:, None]]
    row, column = sums(m)
    operands = [fragments(left, BITS[a_type]), fragments(b.T, BITS[b_type]),
                words_of(c[row, column], BITS[c_type]), *more]  # fmt: skip
    count = m * n * BITS[d_type] // 32 // LANES
    words = launched(instruction, tail, *operands, results=count)
    result = np.zeros((m, n), DTYPES[d_type])
    result[row, column] = words.view(DTYPES[d_type])
    return a, b, c, result


def shape_of(text: str) -> tuple[int, int, int]:
    m, _, rest = text[1:].partition("n")
    n, _, k = rest.partition("k")
    return int(m), int(n), int(k)


NARROW = [("s32", a, b, "s32") for a in ("s4", "u4") for b in ("s4", "u4")]
EIGHT = [("s32", a, b, "s32") for a in ("s8", "u8") for b in ("s8", "u8")]
FP8 = [("f32", a, b, "f32") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]
FP8_HALVES = [("f16", a, b, "f16") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")]


def product_of(a: Array, b: Array, c: Array) -> Array:
    return a.astype("f8") @ b.astype("f8") + c.astype("f8")


@pytest.mark.parametrize("types", NARROW, ids=".".join)
@pytest.mark.parametrize("shape", ["m8n8k32", "m16n8k32", "m16n8k64"])
def test_four_bits(types: Any, shape: str) -> None:
    name = f"mma.sync.aligned.{shape}.row.col.{'.'.join(types)}"
    a, b, c, got = multiplied(name, types, shape_of(shape))
    assert np.array_equal(got, product_of(a, b, c))


@pytest.mark.parametrize("op", ["and", "xor"])
@pytest.mark.parametrize("shape", ["m8n8k128", "m16n8k128", "m16n8k256"])
def test_one_bit(op: str, shape: str) -> None:
    name = f"mma.sync.aligned.{shape}.row.col.s32.b1.b1.s32.{op}.popc"
    a, b, c, got = multiplied(name, ("s32", "b1", "b1", "s32"), shape_of(shape))
    function = np.bitwise_and if op == "and" else np.bitwise_xor
    assert np.array_equal(got, function(a[:, :, None], b[None]).sum(axis=1, dtype="i8") + c)


@pytest.mark.parametrize("types", [*FP8, *FP8_HALVES], ids=".".join)
@pytest.mark.parametrize("shape", ["m16n8k16", "m16n8k32"])
def test_fp8(types: Any, shape: str) -> None:
    name = f"mma.sync.aligned.{shape}.row.col.{'.'.join(types)}"
    a, b, c, got = multiplied(name, types, shape_of(shape))
    assert np.array_equal(got.astype("f8"), product_of(a, b, c))


SPARSE = [
    *((types, shape, selectors) for types in (("f16",) * 4, ("f32", "f16", "f16", "f32"),
                                              ("f32", "bf16", "bf16", "f32"))
      for shape, selectors in (("m16n8k16", 4), ("m16n8k32", 2))),
    *((("f32", "tf32", "tf32", "f32"), shape, selectors)
      for shape, selectors in (("m16n8k8", 4), ("m16n8k16", 2))),
    *((types, "m16n8k64", 1) for types in FP8),
    *((types, shape, selectors) for types in EIGHT
      for shape, selectors in (("m16n8k32", 2), ("m16n8k64", 1))),
    *((types, shape, selectors) for types in NARROW
      for shape, selectors in (("m16n8k64", 2), ("m16n8k128", 1))),
]  # fmt: skip


@pytest.mark.parametrize(("types", "shape", "selectors"), SPARSE)
@pytest.mark.parametrize("sp", ["sp", "sp::ordered_metadata"])
def test_sparse(types: Any, shape: str, selectors: int, sp: str) -> None:
    name = f"mma.{sp}.sync.aligned.{shape}.row.col.{'.'.join(types)}"
    for selector in range(selectors):
        a, b, c, got = multiplied(name, types, shape_of(shape), selector=selector)
        assert np.array_equal(got.astype("f8"), product_of(a, b, c))


# --- quarters of a warp --------------------------------------------------------------------------


@pytest.mark.parametrize("layouts", list(product(("row", "col"), repeat=2)), ids=".".join)
@pytest.mark.parametrize("types", [("f16", "f16"), ("f32", "f16"), ("f32", "f32")], ids=".".join)
def test_quarters(layouts: tuple[str, str], types: tuple[str, str]) -> None:
    d_type, c_type = types
    a, b = numbers("f16", (4, 8, 4), 1), numbers("f16", (4, 4, 8), 2)
    c = numbers(c_type, (4, 8, 8), 3)
    left, right = np.zeros((LANES, 4), np.float16), np.zeros((LANES, 4), np.float16)
    third = np.zeros((LANES, 8), DTYPES[c_type])
    for lane, i in product(range(LANES), range(4)):
        own, lower = lane % 4, 4 * (lane >= 16)
        row, column = (own + lower, i) if layouts[0] == "row" else (i + lower, own)
        left[lane, i] = a[lane % 16 // 4, row, column]
        row, column = (own, i + lower) if layouts[1] == "row" else (i, own + lower)
        right[lane, i] = b[lane % 16 // 4, row, column]
    for lane, i in product(range(LANES), range(8)):
        third[lane, i] = c[lane % 16 // 4][place_of_sum(c_type, lane, i)]
    name = f"mma.sync.aligned.m8n8k4.{'.'.join(layouts)}.{d_type}.f16.f16.{c_type}"
    tables = [words_of(left, 16), words_of(right, 16), words_of(third, BITS[c_type])]
    words = launched(name, "", *tables, results=8 * BITS[d_type] // 32)
    found = words.view(DTYPES[d_type])
    expected = a.astype("f8") @ b.astype("f8") + c.astype("f8")
    for lane, i in product(range(LANES), range(8)):
        assert found[lane, i] == expected[lane % 16 // 4][place_of_sum(d_type, lane, i)]


def place_of_sum(name: str, lane: int, i: int) -> tuple[int, int]:
    """The manual's formulas for C and D of m8n8k4."""
    lower = 4 * (lane >= 16)
    if name == "f16":
        return lane % 4 + lower, i
    return (lane & 1) + (i & 2) + lower, (i & 4) + (lane & 2) + (i & 1)


# --- refusals ------------------------------------------------------------------------------------

MMA = "mma.sp.sync.aligned"
F32, R4, R2 = "{%f0, %f1, %f2, %f3}", "{%r0, %r1, %r2, %r3}", "{%r0, %r1}"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (f"{MMA}.m16n8k32.row.col.s32.s8.s8.s32 {R4}, {R2}, {R2}, {R4}, %r0, 2;",
         "value '2' out of range, expected to be in range [0..1]"),
        (f"{MMA}.m16n8k64.row.col.f32.e4m3.e4m3.f32 {F32}, {R4}, {R4}, {F32}, %r0, 1;",
         "unexpected value '1', expected to be 0"),
        (f"{MMA}.m16n8k16.row.col.f32.f16.f16.f32 {F32}, {R2}, {R2}, {F32}, 7, 0;",
         "Arguments mismatch for instruction 'mma'"),
        (f"{MMA}.m16n8k16.row.col.f32.f16.f16.f32 {F32}, {R4}, {R2}, {F32}, %r0, 0;",
         "Argument vector size mismatch for instruction 'mma'"),
        ("wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r0}, [%w0];",
         "Illegal alayout '.col' for instruction 'wmma.load.a'"),
        (f"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.popc.and {R2}, {{%r0}}, {{%r0}}, {R2};",
         "not implemented"),
        ("vote.all.pred %p0, %p1;", "without '.sync' is not supported on .target sm_70"),
    ],
)  # fmt: skip
def test_refused_as_by_ptxas(line: str, text: str) -> None:
    body = ".reg .b32 %r<4>; .reg .f32 %f<4>; .reg .b64 %w<2>; .reg .pred %p<2>;"
    with pytest.raises(PtxError, match=text.replace("[", r"\[").replace(".", r"\.")):
        compile_module(parse(f"{HEADER}.visible .entry k() {{ {body}\n{line}\nret; }}"))


def complaints(text: str, header: str = HEADER) -> list[str]:
    """What the emulated device says about an instruction."""
    body = ".reg .b32 %r<12>; .reg .b64 %w<3>; .shared .b32 here;"
    try:
        compile_module(parse(f"{header}.visible .entry k() {{ {body}\n{text}\nret; }}"))
    except PtxError as error:
        return [found.message for found in error.diagnostics]
    return []


def test_a_selector_without_lanes_is_an_illegal_instruction() -> None:
    """Selectors 2 and 3 of this shape: ptxas takes them, an H200 answers 715."""
    name = "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"
    tables = [np.zeros((LANES, 4), np.uint32)] * 3
    with pytest.raises(DeviceFault, match="sparsity selector 2") as fault:
        launched(name, ", 2", *tables, np.zeros((LANES, 1), np.uint32), results=4)
    assert fault.value.result == 715


OPERANDS = (
    "{%r0, %r1, %r2, %r3}, {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, "
    "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, {%r0, %r1, %r2, %r3};"
)


@pytest.mark.parametrize(
    ("words", "version", "told"),
    [
        ("sync.row.col.m16n16k16.f16.f16", "6.0", ""),
        ("sync.row.col.m16n16k16.f16.f16", "6.3", ".aligned modifier required"),
        ("sync.aligned.row.col.m16n16k16.f16.f16", "6.2", "requires PTX ISA .version 6.3"),
        ("sync.aligned.row.col.m16n16k16.f16.f16.satfinite", "6.4", ""),
        ("sync.aligned.row.col.m16n16k16.f16.f16.satfinite", "6.5", "not supported starting from"),
    ],
)
def test_what_wmma_was(words: str, version: str, told: str) -> None:
    header = f".version {version}\n.target sm_70\n.address_size 64\n"
    found = complaints(f"wmma.mma.{words} {OPERANDS}", header)
    assert [told in message for message in found] == [True] * bool(told)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ld.global.u32 %r0, [%w0].unified;", ""),
        ("ld.global.L2::cache_hint.v2.u32 {%r0, %r1}, [%w0].unified, %w1;", ""),
        ("ldu.u32 %r0, [%w0].unified;", ""),
        ("ld.shared.u32 %r0, [%r1].unified;", "Illegal use of attribute '.unified'"),
        ("ld.u32 %r0, [here].unified;", "Illegal use of attribute '.unified'"),
        ("ld.global.unified.u32 %r0, [%w0];", "Parsing error near '.unified'"),
    ],
)
def test_unified_addresses(line: str, told: str) -> None:
    assert [told in message for message in complaints(line)] == [True] * bool(told)
