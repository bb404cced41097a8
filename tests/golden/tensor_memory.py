"""Every form of the instructions on tensor memory, and some that are none, each in a line.

They are in the scope of `HEAD`; ``tools.record_targets`` records what ptxas says.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

HEAD = """\
.version {version}
.target {target}
.address_size 64
.visible .entry k(.param .u64 p) {{
    .reg .b64 %w<4>; .reg .b32 %t<132>; .reg .f32 %f<132>; .reg .b16 %h<4>; .reg .pred %p<4>;
"""

_KINDS = ("f16", "tf32", "f8f6f4", "i8", "mxf8f6f4", "mxf4", "mxf4nvf4")
_SCALED = _KINDS[4:]
_VECTORS = ("", ".scale_vec::1X", ".scale_vec::2X", ".scale_vec::4X", ".block16", ".block32")
_USES = ("", "fill", "use", "lastuse", "discard")
_PER_REPETITION = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}
_GROUPS = (1, 2)


def _registers(count: int, letter: str = "t") -> str:
    return "{" + ", ".join(f"%{letter}{number}" for number in range(count)) + "}"


def _transfers() -> Iterator[str]:
    for shape, power, packed in product(_PER_REPETITION, range(8), (False, True)):
        count = _PER_REPETITION[shape] << power
        if count > 128:
            count = 128
        split = ", 16" if shape == "16x32bx2" else ""
        head = f"sync.aligned.{shape}.x{1 << power}"
        pack, unpack = (".pack::16b", ".unpack::16b") if packed else ("", "")
        yield f"tcgen05.ld.{head}{pack}.b32 {_registers(count)}, [%t131]{split};"
        yield f"tcgen05.st.{head}{unpack}.b32 [%t131]{split}, {_registers(count)};"
    yield "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%t0}, [%t131];"
    yield "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%t0, %t1}, [%t131], 16;"
    yield "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%t0, %t1}, [%t131];"
    yield "tcgen05.st.sync.aligned.16x128b.x2.b32 [%t131], {%t0, %t1};"
    yield "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%w0];"
    yield "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%t131+8];"
    yield "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%f0}, [%t131];"
    for shape, number, op in product(("32x32b", "16x32bx2", "16x64b"), (1, 2, 128), ("min", "max")):
        split = ", 16" if shape == "16x32bx2" else ""
        head = f"tcgen05.ld.red.sync.aligned.{shape}.x{number}.{op}"
        for words in ("", ".abs", ".NaN", ".abs.NaN"):
            yield f"{head}{words}.f32 {_registers(number, 'f')}, %f130, [%t131]{split};"
        for kind in ("u32", "s32"):
            yield f"{head}.{kind} {_registers(number)}, %t130, [%t131]{split};"
    yield "tcgen05.ld.red.sync.aligned.32x32b.x2.u32.max {%t0, %t1}, %t130, [%t131];"
    yield "tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.s32 {%t0, %t1}, %t130, [%t131];"


def _copies() -> Iterator[str]:
    shapes = ("128x256b", "4x256b", "128x128b", "64x128b", "32x128b")
    multicasts = ("", ".warpx2::02_13", ".warpx2::01_23", ".warpx4")
    formats = ("", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64", ".b8x16")
    for group, shape, multicast, given in product(_GROUPS, shapes, multicasts, formats):
        yield f"tcgen05.cp.cta_group::{group}.{shape}{multicast}{given} [%t0], %w0;"
    for group in _GROUPS:
        yield f"tcgen05.shift.cta_group::{group}.down [%t0];"
        yield f"tcgen05.shift.down.cta_group::{group} [%t0];"


def _products() -> Iterator[str]:
    for sparse, left, group, kind in product(("", ".sp"), ("%w0", "[%t1]"), _GROUPS, _KINDS):
        metadata = ", [%t2]" if sparse else ""
        head = f"tcgen05.mma{sparse}.cta_group::{group}.kind::{kind}"
        operands = f"[%t0], {left}, %w1{metadata}, %t3"
        mask = ", " + _registers(4 * group)
        yield f"{head} {operands}{', {%t4}'}, %p0;"
        for tail in (", %p0", f"{mask}, %p0", ", %p0, 3", f"{mask}, %p0, 15", ", %p0, 16", ", 1"):
            yield f"{head} {operands}{tail};"
        for use, shift in product(_USES, ("", ".ashift")):
            word = f".collector::a::{use}" if use else ""
            yield f"{head}{shift}{word} {operands}, %p0;"
        for vector in _VECTORS:
            yield f"{head}.block_scale{vector} {operands}, [%t4], [%t5], %p0;"
        yield f"{head}.block_scale.block32.collector::a::use {operands}, [%t4], [%t5], %p0;"
        head = f"tcgen05.mma.ws{sparse}.cta_group::{group}.kind::{kind}"
        for tail in (", %p0", ", %p0, %w2", f"{mask}, %p0"):
            yield f"{head} {operands}{tail};"
        yield f"{head}.collector::b2::fill {operands}, %p0;"
        yield f"{head}.collector::a::fill {operands}, %p0;"


def _others() -> Iterator[str]:
    for group in _GROUPS:
        head = f"cta_group::{group}.sync.aligned"
        yield f"tcgen05.alloc.{head}.shared::cta.b32 [%t0], 32;"
        yield f"tcgen05.alloc.{head}.shared::cta.b32 [%t0], %t1;"
        yield f"tcgen05.alloc.{head}.b32 [%w0], %t1;"
        for count in (16, 48, 512, 1024):
            yield f"tcgen05.alloc.{head}.b32 [%w0], {count};"
        yield f"tcgen05.dealloc.{head}.b32 %t0, %t1;"
        yield f"tcgen05.dealloc.{head}.b32 %t0, 48;"
        yield f"tcgen05.relinquish_alloc_permit.{head};"
        commit = f"tcgen05.commit.cta_group::{group}.mbarrier::arrive::one"
        for space, address in ((".shared::cluster", "%t0"), ("", "%w0"), (".shared::cta", "%t0")):
            yield f"{commit}{space}.b64 [{address}];"
            yield f"{commit}{space}.multicast::cluster.b64 [{address}], %h0;"
        yield f"{commit}.b64 [%w0], %h0;"
    for name in ("wait::ld.sync.aligned", "wait::st.sync.aligned", "fence::before_thread_sync"):
        yield f"tcgen05.{name};"
    yield "tcgen05.fence::after_thread_sync;"
    yield "tcgen05.wait::ld;"


LINES = tuple(dict.fromkeys([*_transfers(), *_copies(), *_products(), *_others()]))
