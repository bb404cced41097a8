"""Atomic operations on vectors, and the forms of atomics that ptxas refuses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from cudarun.emulator.faults import DeviceFault
from cudarun.ptx.errors import PtxError
from tests.emulator.device import Device
from tests.emulator.reference import FORMATS, Format, added, bits_of_all, flush, one_nan

VECTORS = [
    (op, name, length)
    for name, lengths in {"f32": (2, 4), "f16": (2, 4, 8), "bf16": (2, 4, 8), "f16x2": (2, 4),
                          "bf16x2": (2, 4)}.items()
    for op in (("add",) if name == "f32" else ("add.noftz", "min.noftz", "max.noftz"))
    for length in lengths
]  # fmt: skip

VECTOR = """
.visible .entry test(.param .u64 table, .param .u64 b, .param .u64 d)
{{
    .reg .b32 %i; .reg .b64 %p, %here; .reg .b{bits} %b<8>, %old<8>;
    mov.u32 %i, %tid.x; ld.param.u64 %here, [table];
    shr.u32 %i, %i, 5; mad.wide.u32 %here, %i, {size}, %here; mov.u32 %i, %tid.x;
    ld.param.u64 %p, [b]; mad.wide.u32 %p, %i, {size}, %p;
    {load}
    {instruction}
    ld.param.u64 %p, [d]; mad.wide.u32 %p, %i, {size}, %p;
    {store}
    ret;
}}
"""


def smaller(fmt: Format, a: int, b: int, *, largest: bool) -> int:
    """``min`` and ``max`` of the manual: a NaN loses, -0 is less than +0."""
    if fmt.is_nan(a) or fmt.is_nan(b):
        return one_nan(fmt, a if fmt.is_nan(b) else b)

    def order(bits: int) -> tuple[float, bool]:
        size = bits & (fmt.sign - 1)
        return (-size if bits & fmt.sign else size, not bits & fmt.sign)

    return max(a, b, key=order) if largest else min(a, b, key=order)


def step_of(op: str, name: str) -> Callable[[int, int], int]:
    """What one element of a vector becomes; both halves of a packed one."""
    fmt = FORMATS[name.removesuffix("x2")]

    def one(stored: int, x: int) -> int:
        if op.startswith("add"):
            if name == "f32":  # as global memory adds
                return flush(fmt, added(fmt, flush(fmt, stored), flush(fmt, x)))
            return added(fmt, stored, x)
        return smaller(fmt, stored, x, largest=op.startswith("max"))

    if not name.endswith("x2"):
        return one
    return lambda stored, x: one(stored & 0xFFFF, x & 0xFFFF) | one(stored >> 16, x >> 16) << 16


@pytest.mark.parametrize("form", ["atom", "atom one", "atom _", "red"])
@pytest.mark.parametrize(("op", "name", "length"), VECTORS)
def test_vectors(op: str, name: str, length: int, form: str) -> None:
    """Three vectors, each worked on by a warp; every element is atomic for itself."""
    lanes, bits = 96, 16 if name in ("f16", "bf16") else 32
    size = length * bits // 8
    fmt = FORMATS[name.removesuffix("x2")]
    table, b = (
        bits_of_all(fmt, count * length * bits // fmt.width, seed).view(f"u{bits // 8}")
        for count, seed in ((3, 12), (lanes, 13))
    )
    places = [f"%p+{n * bits // 8}" for n in range(length)]
    given = ", ".join(f"%b{n}" for n in range(length))
    wanted = {"atom": range(length), "atom one": [1]}.get(form, [])
    old = ", ".join(f"%old{n}" if n in wanted else "_" for n in range(length))
    opcode, result = form[:4].strip(), f"{{{old}}}, "
    if opcode == "red" or form == "atom _":
        result = "_, " if form == "atom _" else ""
    device = Device(VECTOR.format(
        bits=bits, size=size,
        load="".join(f"ld.global.b{bits} %b{n}, [{at}]; " for n, at in enumerate(places)),
        instruction=f"{opcode}.global.{op}.v{length}.{name} {result}[%here], {{{given}}};",
        store="".join(f"st.global.b{bits} [{places[n]}], %old{n}; " for n in wanted),
    ))  # fmt: skip
    place, out = device.buffer(table), device.buffer(np.zeros_like(b))
    device.launch("test", (1,), (lanes,), place, device.buffer(b), out)
    step, stored = step_of(op, name), [int(v) for v in table]
    seen = []
    for lane in range(lanes):
        for element in range(length):
            at = lane // 32 * length + element
            seen.append(stored[at] if element in wanted else 0)
            stored[at] = step(stored[at], int(b[lane * length + element]))
    assert [int(v) for v in device.read(place, table.dtype, len(table))] == stored
    assert [int(v) for v in device.read(out, b.dtype, len(b))] == seen


ALONE = """
.visible .entry test(.param .u64 a) {{
    .shared .align 16 .b8 part[64];
    .reg .b32 %r<4>; .reg .b64 %d, %s; .reg .f32 %f<8>; .reg .b16 %h<8>;
    ld.param.u64 %d, [a]; mov.u64 %s, part; cvta.shared.u64 %s, %s;
    {}
    ret;
}}
"""


@pytest.mark.parametrize(
    ("line", "number", "says"),
    [
        ("red.add.v2.f32 [%s], {%f0, %f1};", 700, "is in shared memory; vector atomics"),
        ("red.global.add.v4.f32 [%d+8], {%f0, %f1, %f2, %f3};", 716, "16-byte atomic operation"),
        ("red.global.add.v2.f32 [%d+60], {%f0, %f1};", 716, "8-byte atomic operation"),
        ("red.global.add.v2.f32 [%d+64], {%f0, %f1};", 700, "just past the end"),
    ],
)
def test_vectors_where_they_cannot_be(line: str, number: int, says: str) -> None:
    device = Device(ALONE.format(line))
    with pytest.raises(DeviceFault) as caught:
        device.launch("test", (1,), (1,), device.buffer(np.zeros(16, "f4")))
    assert caught.value.result == number
    assert says in caught.value.report


def test_generic_vectors_in_global_memory() -> None:
    device = Device(ALONE.format("mov.f32 %f0, 0f3F800000; red.add.v2.f32 [%d+8], {%f0, %f0};"))
    place = device.buffer(np.zeros(16, "f4"))
    device.launch("test", (1,), (3,), place)
    assert list(device.read(place, "f4", 5)) == [0, 0, 3, 3, 0]


_VECTOR = "supported with type .f32 on .add operation for atom instruction with vector types"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("atom.global.add.v2.f32 {_, _}, [%d], {%f2, %f3};", "Arguments mismatch for"),
        ("atom.global.add.v2.f32 {%f0, %f1, %f2}, [%d], {%f2, %f3};", "Arguments mismatch for"),
        ("atom.global.add.v2.f32 {%f0, %f1}, [%d], %f2;", "Arguments mismatch for"),
        ("red.global.add.noftz.v2.f16 [%d], {%h0, 1};", "Arguments mismatch for"),
        ("red.global.add.noftz.v2.f16 [%d], {%r0, %r1};", "Arguments mismatch for"),
        ("red.shared.add.v2.f32 [%s], {%f0, %f1};", "State space incorrect for feature 'red "),
        ("red.add.v2.f32 [part], {%f0, %f1};", "State space incorrect for feature 'red "),
        ("atom.global.add.v8.f32 _, [%d], {%f0};", f"Only .v2 or .v4 vector modifier {_VECTOR}"),
        ("red.global.add.v2.f16 [%d], {%h0, %h1};",
         "'.noftz' modifier required for instruction 'red' with type '.f16'"),
        ("red.global.add.noftz.v2.f32 [%d], {%f0, %f1};",
         "Illegal modifier '.noftz' for instruction 'red'"),
        ("red.min.noftz.f16 [%d], %h0;",
         "Vector modifier required for instruction 'red.min.f16 with generic state space'"),
        ("red.global.min.noftz.f16 [%d], %h0;",
         "Vector modifier required for instruction 'red.min.f16.global'"),
        ("red.global.add.v2.u32 [%d], {%r0, %r1};",
         "Vector qualifier is not allowed for instruction 'red'"),
        ("red.global.add.s64 [%d], %d;", "Operation .add requires .u32 or .s32 or .u64 or .f64 or"),
        ("atom.global.exch.u32 %r0, [%d], %r1;",
         "Operation .exch requires .b32 or .b64 or .b128 type"),
        ("atom.global.cas.f32 %f0, [%d], %f1, %f2;",
         "Unexpected instruction types specified for 'atom'"),
        ("red.global.exch.b32 [%d], %r1;", "Illegal operation '.exch' for instruction 'red'"),
        ("red.global.cas.b32 [%d], %r1, %r2;", "Illegal modifier '.cas' for instruction 'red'"),
    ],
)  # fmt: skip
def test_what_ptxas_refuses(line: str, says: str) -> None:
    with pytest.raises(PtxError) as caught:
        Device(ALONE.format(line))
    assert says in str(caught.value.log)
