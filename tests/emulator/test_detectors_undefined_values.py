"""Registers that nothing has written: their values may be copied, and must not be used."""

from __future__ import annotations

import pytest

from cudarun.emulator.detectors.findings import DetectorFinding
from cudarun.emulator.engines import COMPILE, INTERPRET
from tests.emulator.compiled.test_detectors import check_equal
from tests.emulator.test_detectors_races import texts, watched

# %p0 is true for thread 0, %p2 for the first warp; %u and %f are never written, %a by some threads.
SETUP = """.reg .b32 %u<4>, %a, %x<8>; .reg .b64 %q<4>; .reg .b16 %h<4>; .reg .f32 %e<4>;
  .reg .pred %r<4>; .local .align 16 .b8 own[64]; @%p2 mov.u32 %a, %t;
"""
STORE = "st.global.u32 [%g], %x0;"

WRONG = {
    "a store": ("st.global.u32 [%g], %u0;", "%u0", 64),
    "a store of a vector": ("st.global.v2.u32 [%z], {%t, %u0};", "%u0", 64),
    "on one path": ("st.global.u32 [%g], %a;", "%a", 32),
    "a sum": (f"mov.u32 %x0, %u0; add.u32 %x0, %x0, %t; {STORE}", "%u0", 64),
    "an accumulator": (
        "mov.u32 %x1, 0; L: cvt.rn.f32.u32 %e1, %t; add.f32 %e0, %e0, %e1; add.u32 %x1, %x1, 1;"
        "setp.lt.u32 %p6, %x1, 3; @%p6 bra L; st.global.f32 [%g], %e0;",
        "%e0", 64,
    ),
    "a branch": ("setp.eq.u32 %p6, %u0, 3; @%p6 bra A; A:", "%u0", 64),
    "a guard": ("@%r0 st.global.u32 [%g], %t;", "%r0", 64),
    "an address": (
        "shr.u32 %x1, %u0, 31; mad.lo.u32 %x1, %x1, 4, %s; st.shared.u32 [%x1], %t;", "%u0", 64
    ),
    "an atomic operation": ("red.global.add.u32 [%z], %a;", "%a", 32),
    "through shared memory": (
        f"st.shared.u32 [%s], %u0; bar.sync 0; ld.shared.u32 %x0, [%o]; {STORE}", "%u0", 64
    ),
    "through local memory": (
        f"st.local.v2.u32 [own], {{%t, %u0}}; ld.local.u32 %x0, [own+4]; {STORE}", "%u0", 64
    ),
    "through another lane": (
        f"selp.u32 %x0, 1, %u0, %p0; shfl.sync.idx.b32 %x0, %x0, 1, 31, -1; {STORE}", "%u0", 64
    ),
    "one half of a word": (
        "cvt.u16.u32 %h0, %t; mov.b32 %x1, {%h0, %h1}; mov.b32 {%h2, %h3}, %x1;"
        f"cvt.u32.u16 %x0, %h3; {STORE}",
        "%h1", 64,
    ),
    "bits that are kept": (f"and.b32 %x0, %u0, 8; {STORE}", "%u0", 64),
    "a condition of a selection": (f"selp.u32 %x0, 1, 2, %r0; {STORE}", "%r0", 64),
    "a product": (
        ".reg .f64 %d<6>;"
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0, %d1}, {%d2}, {%d3}, {%d4, %d5};"
        "st.global.f64 [%z], %d0;",
        "%d2", 64,
    ),
    "a short integer": ("st.global.u16 [%g], %h0;", "%h0", 64),
    "a bit of a byte": ("and.b16 %h1, %h0, 8; st.global.u8 [%g], %h1;", "%h0", 64),
    "a byte that is computed": (
        "and.b16 %h1, %h0, 255; add.u16 %h1, %h1, 1; st.global.u8 [%g], %h1;", "%h0", 64
    ),
    "a byte in a branch": (
        "and.b16 %h1, %h0, 255; setp.eq.u16 %p6, %h1, 3; @%p6 bra A; A:", "%h0", 64
    ),
}  # fmt: skip
RIGHT = {
    "copies": "mov.u32 %x0, %u0; mov.b64 %q0, {%x0, %u1}; add.u32 %x1, %x0, 1;",
    "a store by the others": "@%p2 st.global.u32 [%g], %a;",
    "a selection": f"selp.u32 %x0, %a, %t, %p2; {STORE}",
    "the other half of a word": (
        f"cvt.u16.u32 %h0, %t; mov.b32 %x1, {{%h0, %h1}}; cvt.u32.u16 %x0, %h0;"
        f"and.b32 %x1, %x1, 65535; add.u32 %x0, %x1, %x0; {STORE}"
    ),
    "the low word": f"mov.b64 %q0, {{%t, %u0}}; cvt.u32.u64 %x0, %q0; {STORE}",
    "the high word": (
        f"mov.b64 %q0, {{%u0, %t}}; shr.u64 %q0, %q0, 32; cvt.u32.u64 %x0, %q0; {STORE}"
    ),
    "an inserted field": f"bfi.b32 %x0, %t, %u0, 0, 16; bfi.b32 %x0, %t, %x0, 16, 16; {STORE}",
    "chosen bytes": f"prmt.b32 %x0, %u0, %t, 0x7654; {STORE}",
    "masked bits": f"and.b32 %x1, %u0, 240; or.b32 %x1, %x1, 255; shr.u32 %x0, %x1, 0; {STORE}",
    "a conjunction": (
        "setp.lt.u32 %p6, %t, 0; and.pred %r1, %r0, %p6; @%r1 st.global.u32 [%g], %t;"
    ),
    "a disjunction": (
        "setp.ge.u32 %p6, %t, 0; or.pred %r1, %p6, %r0; @%r1 st.global.u32 [%g], %t;"
    ),
    "written later": (
        f"st.shared.u32 [%s], %u0; st.shared.u32 [%s], %t; ld.shared.u32 %x0, [%s]; {STORE}"
    ),
    "padding, as bytes": "st.global.v2.u8 [%g], {%h0, %h1};",
    "padding behind a byte": (
        "cvt.u16.u32 %h2, %t; and.b16 %h2, %h2, 255; shl.b16 %h3, %h0, 8; or.b16 %h2, %h2, %h3;"
        "st.global.v2.u16 [%g], {%h2, %h2};"
    ),
    "padding through shared memory": (
        "st.shared.v4.u8 [%s], {%h0, %h0, %h1, %h1}; bar.sync 0; ld.shared.u32 %x0, [%o];" + STORE
    ),
    "another thread's": (
        f"@%p0 mov.u32 %x0, 1; shfl.sync.idx.b32 %x0, %x0, 0, 31, -1; @%p2 {STORE}"
    ),
}  # fmt: skip


def found(body: str) -> list[DetectorFinding]:
    return watched(SETUP + body, ["uninit"])


@pytest.mark.parametrize(("body", "register", "count"), WRONG.values(), ids=WRONG.keys())
def test_what_is_used(body: str, register: str, count: int) -> None:
    [finding] = found(body)
    assert (finding.kind, finding.count) == ("uninit", count)
    assert finding.memory is not None
    assert (finding.memory.space, finding.memory.name) == ("register", f"register {register}")


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT.keys())
def test_what_is_not_used(body: str) -> None:
    assert found(body) == []


def test_places() -> None:
    [finding] = found("mov.u32 %x0, %a;\n add.u32 %x0, %x0, %t;\n st.global.u32 [%g], %x0;")
    assert texts([finding]) == [("mov.u32 %x0, %a;", "st.global.u32 [%g], %x0;")]
    assert [(place.access, place.thread) for place in finding.places] == [
        ("load", (32, 0, 0)),
        ("use", (32, 0, 0)),
    ]


FUNCTION = """.func (.reg .u32 %result) f(.reg .u32 %given) {
  .reg .u32 %sum; .reg .pred %p;
  setp.lt.u32 %p, %given, 32; @%p mov.u32 %sum, %given;
  st.global.u32 [counter], %sum; mov.u32 %result, 5; ret;
}
.global .u32 counter;
"""


def test_registers_of_functions() -> None:
    [finding] = watched(
        ".reg .u32 %x0; call.uni (%x0), f, (%t); call.uni (%x0), f, (%x0);",
        ["uninit"],
        before=FUNCTION,
    )
    assert finding.memory is not None
    assert (finding.memory.name, finding.count) == ("register %sum", 32)


def test_kernels_with_such_registers_are_interpreted() -> None:
    note = check_equal(SETUP + RIGHT["a selection"])
    assert (note.engine, note.reason) == (
        INTERPRET,
        "registers that may be read before they are written, with detectors",
    )
    assert check_equal(SETUP + RIGHT["a selection"], detect="race,sync").engine == COMPILE


@pytest.mark.parametrize("name", ["a sum", "through shared memory"])
def test_findings_of_both_engines(name: str) -> None:
    assert check_equal(SETUP + WRONG[name][0]).engine == INTERPRET
