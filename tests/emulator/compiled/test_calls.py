"""Calls of functions on both engines."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.compiled.engines import check_equal, check_equal_fault

KERNEL = """.visible .entry test(.param .u64 out) {
    .shared .align 4 .b32 room[64];
    .reg .b32 %r<12>; .reg .b64 %a<8>; .reg .pred %p<4>; .reg .f32 %f<4>; .reg .b16 %h<4>;
    ld.param.u64 %a0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %a1, %r0, 4;
    add.u64 %a0, %a0, %a1;
    BODY
    st.global.u32 [%a0], %r1;
    ret;
}"""
FUNCTIONS = """
.func (.param .b32 r) tripled(.param .b32 x) {
    .reg .b32 %v;
    ld.param.b32 %v, [x]; mul.lo.u32 %v, %v, 3; st.param.b32 [r], %v; ret;
}
.func (.param .b32 r) twice(.param .b32 x) {
    .local .align 4 .b8 own[8];
    .reg .b32 %v, %w; .reg .pred %p;
    ld.param.b32 %v, [x]; st.local.u32 [own+4], %v;
    { .param .b32 g; .param .b32 s; st.param.b32 [g], %v; call (s), tripled, (g);
      ld.param.b32 %v, [s]; }
    setp.lt.u32 %p, %v, 60; @%p bra on;
    { .param .b32 g; .param .b32 s; st.param.b32 [g], %v; call (s), tripled, (g);
      ld.param.b32 %v, [s]; }
    on: ld.local.u32 %w, [own+4]; add.u32 %v, %v, %w; st.param.b32 [r], %v; ret;
}
.func (.param .align 8 .b8 r[24]) moved(.param .align 8 .b8 x[24]) {
    .reg .b32 %v<4>; .reg .b64 %w<4>; .reg .b16 %h<3>;
    ld.param.b64 %w0, [x]; ld.param.b32 %v0, [x+8]; ld.param.u8 %h0, [x+12];
    ld.param.u16 %h1, [x+14]; ld.param.b64 %w1, [x+16];
    add.u64 %w0, %w0, %w1; cvt.u32.u16 %v1, %h0; cvt.u32.u16 %v2, %h1;
    add.u32 %v0, %v0, %v1; add.u32 %v0, %v0, %v2;
    st.param.b32 [r], %v0; st.param.b64 [r+8], %w0; st.param.b32 [r+4], %v1; ret;
}
.func (.reg .b32 %r) added(.reg .b32 %x, .reg .b32 %y) { add.u32 %r, %x, %y; ret; }
.func (.reg .b32 %r) subtracted(.reg .b32 %x, .reg .b32 %y) {
    .reg .pred %p; setp.gt.u32 %p, %x, 70; @%p bra on; sub.u32 %r, %x, %y; ret;
    on: mul.lo.u32 %r, %x, %y; ret;
}
.func leave(.reg .b32 %x) { .reg .pred %p; setp.ge.u32 %p, %x, 40; @%p exit; ret; }
.func synchronize(.reg .b32 %x) { bar.sync 0; ret; }
.func store(.reg .b64 %at, .reg .b32 %x) { st.global.u32 [%at], %x; ret; }
"""
BODIES = {
    "nested": """{ .param .b32 g; .param .b32 s; st.param.b32 [g], %r0; call (s), twice, (g);
        ld.param.b32 %r1, [s]; }""",
    "in a loop": """mov.u32 %r1, 0; mov.u32 %r2, 0; and.b32 %r3, %r0, 7;
        again: add.u32 %r4, %r1, %r0; call (%r1), added, (%r4, %r2); add.u32 %r2, %r2, 1;
        setp.le.u32 %p0, %r2, %r3; @%p0 bra again;""",
    "diverged": """and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 0; mov.u32 %r3, 5;
        @%p0 bra even; call (%r1), subtracted, (%r0, %r3); bra on;
        even: call (%r1), added, (%r0, %r3); call (%r1), subtracted, (%r1, %r3); on:""",
    "structures": """{ .param .align 8 .b8 g[24]; .param .align 8 .b8 s[24];
        cvt.u64.u32 %a2, %r0; cvt.u16.u32 %h0, %r0;
        st.param.b32 [g], %r0; st.param.b32 [g+4], 7; st.param.b64 [g+8], %a1;
        st.param.b16 [g+14], %h0; st.param.v2.b32 [g+16], {%r0, %r0};
        call (s), moved, (g);
        ld.param.b64 %a3, [s]; ld.param.b32 %r3, [s+8]; ld.param.b32 %r4, [s+12];
        shr.u64 %a4, %a3, 29; cvt.u32.u64 %r1, %a3; cvt.u32.u64 %r2, %a4; add.u32 %r1, %r1, %r2;
        mad.lo.u32 %r1, %r3, 3, %r1; mad.lo.u32 %r1, %r4, 5, %r1; }""",
    "exit and a barrier": """mov.u32 %r1, %r0; call leave, (%r0); mov.u32 %r2, room;
        mad.lo.u32 %r2, %r0, 4, %r2; st.shared.u32 [%r2], %r0; call synchronize, (%r0);
        xor.b32 %r3, %r2, 4; ld.shared.u32 %r1, [%r3]; call synchronize, (%r1);""",
    "pointers": """mov.u64 %a2, added; mov.u64 %a3, subtracted; and.b32 %r2, %r0, 3;
        setp.eq.u32 %p0, %r2, 1; selp.b64 %a4, %a2, %a3, %p0; mov.u32 %r3, 9;
        type: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);
        call (%r1), %a4, (%r0, %r3), type;""",
    "pointers and a barrier": """mov.u64 %a2, added; mov.u64 %a3, subtracted; and.b32 %r2, %r0, 3;
        setp.eq.u32 %p0, %r2, 1; selp.b64 %a4, %a2, %a3, %p0; mov.u32 %r3, 9;
        type: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);
        call (%r1), %a4, (%r0, %r3), type; bar.sync 0; add.u32 %r1, %r1, %r3;""",
}


@pytest.mark.parametrize("what", BODIES)
def test_calls(what: str) -> None:
    text = FUNCTIONS + KERNEL.replace("BODY", BODIES[what])
    if what == "exit and a barrier":
        text = text.replace("ge.u32 %p, %x, 40", "ge.u32 %p, %x, 64")
    (found,) = check_equal(text, (2,), (96,), np.zeros(96, "u4"))
    assert any(found)


FAULTS = {
    "an access": ("call store, (%a0, %r0); mov.u32 %r1, 0;", "called from test, PTX line"),
    "no function": (
        "type: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _); "
        "call (%r1), %a0, (%r0, %r0), type;",
        "which is not the address of a function",
    ),
    "a kernel": (
        "type: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _); mov.u64 %a2, leave; "
        "call (%r1), %a2, (%r0, %r0), type;",
        "call of leave with a different number of parameters",
    ),
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults(what: str) -> None:
    body, words = FAULTS[what]
    text = FUNCTIONS + KERNEL.replace("BODY", body)
    assert words in check_equal_fault(text, (1,), (96,), np.zeros(80, "u4"))


def test_the_stack_can_overflow() -> None:
    functions = """.func (.reg .b32 %r) large(.reg .b32 %x) {
        .local .align 4 .b8 own[4096]; st.local.u32 [own+4], %x; mov.u32 %r, %x; ret;
    }"""
    body = """mov.u64 %a2, large; type: .callprototype (.reg .b32 _) _ (.reg .b32 _);
        setp.lt.u32 %p0, %r0, 5; @%p0 bra on; call (%r1), %a2, (%r0), type; on:"""
    text = functions + KERNEL.replace("BODY", body)
    report = check_equal_fault(text, (1,), (32,), np.zeros(32, "u4"))
    assert "stack overflow in a call of large" in report
    assert "thread (5, 0, 0)" in report
