"""PTX as people write it: forms of the grammar that compilers seldom or never emit.

What each kernel leaves is what an H200 gave for it (driver 580.159.04, 2026-11-22).
"""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.ptx.errors import PtxError
from tests.emulator.device import Device

KERNEL = """
{module}
.visible .entry test(.param .u64 out)
{{
    .reg .pred %p<5>; .reg .b16 %h<8>; .reg .b32 %r<20>; .reg .b64 %o, %d<10>; .reg .f32 %f<10>;
    .reg .f64 %e<5>;
    ld.param.u64 %o, [out];
{body}
    ret;
}}
"""

CASES = {
    "vector registers": (
        """
        .reg .v4 .u32 %v; .reg .v2 .f32 %w<2>;
        mov.u32 %v.x, 5; mov.u32 %v.y, 6; mov.u32 %v.z, 7; mov.u32 %v.w, 8;
        st.global.v4.u32 [%o], %v;
        ld.global.v2.f32 %w1, [%o+8];
        mov.b32 %r0, %w1.y; mov.b32 %r1, %w1.r;
        st.global.v2.u32 [%o+16], {%r0, %r1};
        """,
        "",
        [5, 6, 7, 8, 8, 7],
        "",
    ),
    "literals": (
        """
        mov.u32 %r0, 017; mov.u32 %r1, 0b101; mov.u32 %r2, 0x1FU;
        mov.u32 %r3, (1<<4)|~0xFFFFFFFE; mov.u32 %r4, WARP_SZ*2; mov.s32 %r5, -(3-5);
        mov.u32 %r6, 7 > 3 ? 11 : 12; mov.u32 %r7, !0;
        """,
        "%r0 %r1 %r2 %r3 %r4 %r5 %r6 %r7",
        [15, 5, 31, 17, 64, 2, 11, 1],
        "",
    ),
    "constant expressions": (
        """
        mov.u32 %r0, 17/5; mov.u32 %r1, 17 % 5; mov.s32 %r2, (-17)/5;
        mov.u32 %r3, 3 && 0 || 2; mov.u32 %r4, 5 == 5; mov.u32 %r5, (.u64) 7;
        mov.u32 %r6, 0xF0 ^ 0x3C; mov.u32 %r7, 0xF0 >> 2;
        """,
        "%r0 %r1 %r2 %r3 %r4 %r5 %r6 %r7",
        [3, 2, 0xFFFFFFFD, 1, 1, 7, 204, 60],
        "",
    ),
    "constants as arguments": (
        """
        call (%r0), f, (5, %r1); st.global.u32 [%o], %r0;
        """,
        "",
        [12],
        """
        .func (.reg .u32 %q) f(.reg .u32 %a, .reg .u32 %b) { mov.u32 %q, %a;
        add.u32 %q, %q, 7; ret; }
        """,
    ),
    "calls of some": (
        """
        mov.u32 %r0, %tid.x; mov.u32 %r2, 1; setp.gt.u32 %p0, %r0, 3;
        @%p0 call (%r2), f, (%r0); mad.wide.u32 %o, %r0, 4, %o; st.global.u32 [%o], %r2;
        """,
        "",
        [1, 1, 1, 1, 104, 105, 106, 107],
        """
        .func (.reg .u32 %q) f(.reg .u32 %a) { add.u32 %q, %a, 100; ret; }
        """,
    ),
    "two results": (
        """
        call (%r0, %r1), f, (3, 4);
        """,
        "%r0 %r1",
        [7, 12],
        """
        .func (.reg .u32 %x, .reg .u32 %y) f(.reg .u32 %a, .reg .u32 %b) { add.u32 %x, %a, %b;
        mul.lo.u32 %y, %a, %b; ret; }
        """,
    ),
    "scopes": (
        """
        .reg .u32 %x; mov.u32 %x, 1; { .reg .u32 %x; mov.u32 %x, 2; { .reg .u64 %x;
        mov.u64 %x, 3; st.global.u64 [%o+8], %x; } st.global.u32 [%o+4], %x; }
        st.global.u32 [%o], %x;
        """,
        "",
        [1, 2, 3, 0],
        "",
    ),
    "scoped labels": (
        """
        mov.u32 %r0, 0; { L: add.u32 %r0, %r0, 1; setp.lt.u32 %p0, %r0, 5; @%p0 bra L; }
        { L: add.u32 %r0, %r0, 10; setp.lt.u32 %p0, %r0, 40; @%p0 bra L; }
        """,
        "%r0",
        [45],
        "",
    ),
    "arrays of arrays": (
        """
        mov.u64 %d0, a; ld.global.u32 %r0, [a+20]; ld.global.u32 %r1, [%d0+8];
        ld.global.u32 %r2, [a+12]; ld.global.s16 %h0, [b+2]; cvt.s32.s16 %r3, %h0;
        ld.global.u32 %r4, [a+16];
        """,
        "%r0 %r1 %r2 %r3 %r4",
        [6, 3, 4, 0xFFFFFFFE, 5],
        """
        .global .u32 a[2][3] = {{1,2,3},{4,5,6}}; .global .s16 b[3] = {-1, -2};
        """,
    ),
    "short rows of initialisers": (
        """
        ld.global.v4.u32 {%r0,%r1,%r2,%r3}, [a];
        """,
        "%r0 %r1 %r2 %r3",
        [1, 3, 0, 0],
        """
        .global .align 16 .u32 a[2][2] = {{1},{3}};
        """,
    ),
    "pointers": (
        """
        ld.global.u64 %d0, [p]; ld.global.u32 %r0, [%d0]; ld.global.u64 %d1, [g];
        ld.u32 %r1, [%d1]; ld.global.u64 %d2, [p+8]; ld.global.u32 %r2, [%d2];
        """,
        "%r0 %r1 %r2",
        [20, 10, 30],
        """
        .global .u32 a[4] = {10,20,30,40}; .global .u64 p[2] = {a+4, a+8};
        .global .u64 g = generic(a);
        """,
    ),
    "pointers to functions": (
        """
        ld.global.u64 %d0, [t+8]; pr: .callprototype (.reg .u32 _) _ (.reg .u32 _);
        call (%r0), %d0, (5), pr;
        """,
        "%r0",
        [50],
        """
        .func (.reg .u32 %q) f(.reg .u32 %a) { add.u32 %q, %a, 1; ret; }
        .func (.reg .u32 %q) g(.reg .u32 %a) { mul.lo.u32 %q, %a, 10; ret; }
        .global .u64 t[2] = {f, g};
        """,
    ),
    "sinks": (
        """
        mov.b64 %d0, 0x1122334455667788; mov.b64 {_, %r0}, %d0; mov.b64 {%r1, _}, %d0;
        ld.global.v4.u32 {%r2,_,_,%r3}, [a];
        """,
        "%r0 %r1 %r2 %r3",
        [0x11223344, 0x55667788, 1, 4],
        """
        .global .align 16 .u32 a[4] = {1,2,3,4};
        """,
    ),
    "packing": (
        """
        mov.b16 %h0, 0x1111; mov.b16 %h1, 0x2222; mov.b32 %r0, {%h0,%h1};
        mov.b64 %d0, {%r0, %r0}; mov.b32 {%h2,%h3}, 0xAAAABBBB; cvt.u32.u16 %r1, %h2;
        cvt.u32.u16 %r2, %h3; mov.b64 {%h4,%h5,%h6,%h7}, %d0; cvt.u32.u16 %r3, %h7;
        """,
        "%r0 %r1 %r2 %r3",
        [0x22221111, 0xBBBB, 0xAAAA, 8738],
        "",
    ),
    "floats": (
        """
        mov.f32 %f0, 0f3FC00000; mov.f32 %f1, 1.5; mov.f64 %e0, 0d3FF8000000000000;
        cvt.rn.f32.f64 %f3, %e0; mov.f32 %f4, 1.0e2; mov.f32 %f5, -2.25; mov.b32 %r0,%f0;
        mov.b32 %r1,%f1; mov.b32 %r3,%f3; mov.b32 %r4,%f4; mov.b32 %r5, %f5;
        mov.f64 %e1, 1.0e-3; mov.b64 {%r6,%r7}, %e1;
        """,
        "%r0 %r1 %r3 %r4 %r5 %r6 %r7",
        [0x3FC00000, 0x3FC00000, 0x3FC00000, 0x42C80000, 0xC0100000, 0xD2F1A9FC, 0x3F50624D],
        "",
    ),
    "special registers of 16 bits": (
        """
        mov.u32 %r0, %ntid.x; mov.u32 %r1, %nctaid.y; mov.u16 %h0, %ntid.x;
        cvt.u32.u16 %r2, %h0;
        """,
        "%r0 %r1 %r2",
        [8, 1, 8],
        "",
    ),
    "negative offsets": (
        """
        add.u64 %d0, %o, 16; st.global.u32 [%d0+-16], 3; st.global.u32 [%d0+(-12)], 4;
        mov.u32 %r0, s; st.shared.u32 [s+8], 9; ld.shared.u32 %r1, [%r0+8];
        st.global.u32 [%o+8], %r1;
        """,
        "",
        [3, 4, 9],
        """
        .shared .u32 s[8];
        """,
    ),
    "locals": (
        """
        .local .align 8 .b8 l[16]; st.local.u32 [l+4], 7; mov.u64 %d1, l;
        cvta.local.u64 %d1, %d1; ld.u32 %r0, [%d1+4]; ld.const.u32 %r1, [c+4];
        mov.u64 %d2, c; cvta.const.u64 %d2, %d2; ld.u32 %r2, [%d2];
        """,
        "%r0 %r1 %r2",
        [7, 22, 11],
        """
        .const .u32 c[2] = {11,22};
        """,
    ),
    "param array": (
        """
        { .param .align 8 .b8 p[16]; st.param.u32 [p], 3; st.param.u32 [p+4], 4;
        st.param.v2.u32 [p+8], {5, 6}; .param .b32 r; call (r), f, (p);
        ld.param.u32 %r0, [r]; }
        """,
        "%r0",
        [3456],
        """
        .func (.param .b32 r) f(.param .align 8 .b8 q[16]) { .reg .u32 %x<8>;
        ld.param.u32 %x0,[q]; ld.param.u32 %x1,[q+4]; ld.param.u32 %x2,[q+8];
        ld.param.u32 %x3, [q+12]; mul.lo.u32 %x0,%x0,1000; mad.lo.u32 %x0,%x1,100,%x0;
        mad.lo.u32 %x0,%x2,10,%x0; add.u32 %x0,%x0,%x3; st.param.b32 [r], %x0; ret; }
        """,
    ),
    "predicates": (
        """
        mov.u32 %r0, 5; setp.eq.u32 %p2, %r0, 5; setp.lt.and.u32 %p0|%p1, %r0, 9, !%p2;
        selp.u32 %r1, 1, 0, %p0; selp.u32 %r2, 1, 0, %p1; not.pred %p3, %p2;
        xor.pred %p4, %p3, %p2; selp.u32 %r3, 1, 0, %p4; slct.u32.s32 %r4, 8, 9, -1;
        set.gt.u32.s32 %r5, 3, -3;
        """,
        "%r1 %r2 %r3 %r4 %r5",
        [0, 0, 1, 9, 0xFFFFFFFF],
        "",
    ),
    "recursion": (
        """
        { .param .u32 a; .param .u32 b; st.param.u32 [a], 6; call (b), fact, (a);
        ld.param.u32 %r0, [b]; }
        """,
        "%r0",
        [720],
        """
        .func (.param .u32 q) fact(.param .u32 n) { .reg .pred %p; .reg .u32 %m<4>;
        ld.param.u32 %m0, [n]; mov.u32 %m1, 1; setp.lt.u32 %p, %m0, 2; @%p bra E;
        sub.u32 %m2, %m0, 1; call (%m1), fact, (%m2); mul.lo.u32 %m1, %m1, %m0;
        E: st.param.u32 [q], %m1; ret; }
        """,
    ),
    "weak": (
        """
        call (%r0), f, (2);
        """,
        "%r0",
        [4],
        """
        .weak .func (.reg .u32 %q) f(.reg .u32 %a) { add.u32 %q, %a, 2; ret; }
        """,
    ),
    "forward": (
        """
        call (%r0), f, (2);
        """,
        "%r0",
        [6],
        """
        .func (.reg .u32 %q) f(.reg .u32 %a);
        .func (.reg .u32 %q) f(.reg .u32 %a) { mul.lo.u32 %q, %a, 3; ret; }
        """,
    ),
    "pragma": (
        """
        .pragma "nounroll"; mov.u32 %r0, 0; A: add.u32 %r0, %r0, 1; setp.ne.u32 %p0, %r0, 4;
        @%p0 bra.uni A;
        """,
        "%r0",
        [4],
        "",
    ),
    "comments": (
        """
        /* a ; } */ mov.u32 %r0, // x
        4;
        """,
        "%r0",
        [4],
        "",
    ),
    "carry": (
        """
        add.cc.u32 %r0, 0xFFFFFFFF, 1; addc.cc.u32 %r1, 0, 0; addc.u32 %r2, 0, 0;
        sub.cc.u32 %r3, 0, 1; subc.u32 %r4, 5, 0; mad.lo.cc.u32 %r5, 0x10000, 0x10000, 0;
        madc.hi.u32 %r6, 0x10000, 0x10000, 0;
        """,
        "%r0 %r1 %r2 %r3 %r4 %r5 %r6",
        [0, 1, 0, 0xFFFFFFFF, 4, 0, 1],
        "",
    ),
    "registers of 8 bits": (
        """
        .reg .u8 %b; .reg .s8 %c; ld.global.u8 %b, [a]; ld.global.s8 %c, [a];
        cvt.u32.u8 %r0, %b; cvt.s32.s8 %r1, %c; st.global.u8 [%o+8], %b;
        """,
        "%r0 %r1",
        [200, 0xFFFFFFC8],
        """
        .global .u8 a = 200;
        """,
    ),
    "loads into wider registers": (
        """
        ld.global.u8 %r0, [a]; ld.global.s8 %r1, [a]; ld.global.s16 %d0, [a];
        ld.global.u8 %h0, [a+1]; cvt.u32.u16 %r2, %h0; mov.b64 {%r3,%r4}, %d0;
        """,
        "%r0 %r1 %r2 %r3 %r4",
        [200, 0xFFFFFFC8, 255, 0xFFFFFFC8, 0xFFFFFFFF],
        """
        .global .align 2 .u8 a[2] = {200, 255};
        """,
    ),
    "shifts": (
        """
        mov.u32 %r9, 40; shl.b32 %r0, 1, %r9; shr.s32 %r1, -8, %r9;
        shr.u32 %r2, 0x80000000, 31; shl.b64 %d0, 1, 33; mov.b64 {%r3,%r4}, %d0;
        bfe.u32 %r5, 0xABCD, 4, 8; bfi.b32 %r6, 0xF, 0, 8, 4; brev.b32 %r7, 1;
        clz.b32 %r8, 0;
        """,
        "%r0 %r1 %r2 %r3 %r4 %r5 %r6 %r7 %r8",
        [0, 0xFFFFFFFF, 1, 0, 2, 188, 3840, 0x80000000, 32],
        "",
    ),
    "divisions without a result": (
        """
        mov.u32 %r9, 0; div.u32 %r0, 5, %r9; rem.u32 %r1, 5, %r9; div.s32 %r2, -7, 2;
        rem.s32 %r3, -7, 2; mov.s32 %r8, 0x80000000; div.s32 %r4, %r8, -1; abs.s32 %r5, %r8;
        """,
        "%r0 %r1 %r2 %r3 %r4 %r5",
        [0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFD, 0xFFFFFFFF, 0x80000000, 0x80000000],
        "",
    ),
    "conversions out of range": (
        """
        mov.f32 %f0, 0f4F800000; cvt.rzi.s32.f32 %r0, %f0; mov.f32 %f1, 0fFFC00000;
        cvt.rzi.s32.f32 %r1, %f1; mov.f32 %f2, 0fBFC00000; cvt.rni.s32.f32 %r2, %f2;
        cvt.rmi.s32.f32 %r3, %f2; cvt.rpi.s32.f32 %r4, %f2; cvt.rzi.u32.f32 %r5, %f2;
        cvt.sat.u8.s32 %r6, 300; cvt.sat.s8.s32 %r7, -300; cvt.u8.u32 %r8, 0x1FF;
        cvt.s8.s32 %r9, 0xFF;
        """,
        "%r0 %r1 %r2 %r3 %r4 %r5 %r6 %r7 %r8 %r9",
        [0x7FFFFFFF, 0, 0xFFFFFFFE, 0xFFFFFFFE, 0xFFFFFFFF, 0, 255, 0xFFFFFF80, 255, 0xFFFFFFFF],
        "",
    ),
    "generic addresses": (
        """
        mov.u32 %r0, s; cvt.u64.u32 %d0, %r0; cvta.shared.u64 %d0, %d0; st.u32 [%d0], 5;
        ld.shared.u32 %r1, [s]; cvta.to.shared.u64 %d1, %d0; cvt.u32.u64 %r2, %d1;
        sub.u32 %r2, %r2, %r0; isspacep.shared %p0, %d0; selp.u32 %r3, 1, 0, %p0;
        isspacep.global %p1, %d0; selp.u32 %r4, 1, 0, %p1;
        """,
        "%r1 %r2 %r3 %r4",
        [5, 0, 1, 0],
        """
        .shared .u32 s[4];
        """,
    ),
    "bits and bytes": (
        """
        prmt.b32 %r0, 0x44332211, 0x88776655, 0x7531;
        prmt.b32.f4e %r1, 0x44332211, 0x88776655, 1; lop3.b32 %r2, 0xF0, 0xCC, 0xAA, 0xE8;
        shf.l.wrap.b32 %r3, 0x80000000, 1, 4; dp4a.u32.u32 %r4, 0x01020304, 0x01010101, 5;
        sad.u32 %r5, 3, 10, 1; mul24.lo.u32 %r6, 0x1000003, 2; popc.b32 %r7, 0xFF;
        """,
        "%r0 %r1 %r2 %r3 %r4 %r5 %r6 %r7",
        [0x88664422, 0x55443322, 232, 24, 15, 8, 6, 8],
        "",
    ),
}
"""By what it is about: a kernel's body, the registers whose values are its results (where there are
none it stores them itself), the results of 8 threads in 32-bit words, and what the module has
beside it."""


@pytest.mark.parametrize("name", CASES)
def test_written_by_hand(name: str) -> None:
    body, registers, wanted, module = CASES[name]
    stores = (
        f"st.global.u32 [%o+{4 * place}], {register};"
        for place, register in enumerate(registers.split())
    )
    device = Device(KERNEL.format(module=module, body="\n".join([body, *stores])))
    out = device.buffer(np.zeros(16, "u4"))
    device.launch("test", (1,), (8,), out)
    assert list(device.read(out, "u4", len(wanted))) == wanted


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (".reg .v2 .u32 %v; add.u32 %v, %v, 1;", "Arguments mismatch for instruction 'add'"),
        (".reg .v2 .u32 %v; st.global.u32 [%o], %v;", "Arguments mismatch for instruction 'st'"),
        (".reg .v4 .u32 %v; ld.global.v2.u32 %v, [%o];", "Arguments mismatch for instruction 'ld'"),
        (".reg .v4 .u64 %v;", "Vector type too large, exceeds 128 bit limit"),
        (".reg .v2 .pred %q;", "Predicate type can only be used to define scalar"),
    ],
)
def test_what_vector_registers_are_not(text: str, says: str) -> None:
    with pytest.raises(PtxError, match=says):
        Device(KERNEL.format(module="", body=text))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (".reg .u32 %r0;", "variable '%r0'"),
        (".reg .u32 %x<3>; .reg .u32 %x2;", "variable '%x2'"),
        (".shared .u32 s; .shared .u32 s;", "variable 's'"),
        (".local .u32 s; .reg .u32 s;", "variable 's'"),
        (".param .b32 out;", "variable 'out'"),
        (".reg .v2 .u32 %v; .reg .v2 .u32 %v;", "variable '%v'"),
        ("L: L:", "label 'L'"),
    ],
)
def test_what_is_defined_twice(text: str, what: str) -> None:
    with pytest.raises(PtxError, match=f"Duplicate definition of {what}"):
        Device(KERNEL.format(module="", body=text))


@pytest.mark.parametrize(
    ("module", "what"),
    [
        (".global .u32 a; .global .u32 a;", "variable 'a'"),
        (".func f() { ret; } .func f() { ret; }", "function 'f'"),
        (".func f(.reg .u32 a, .reg .u32 a) { ret; }", "variable 'a'"),
    ],
)
def test_what_a_module_defines_twice(module: str, what: str) -> None:
    with pytest.raises(PtxError, match=f"Duplicate definition of {what}"):
        Device(KERNEL.format(module=module, body=""))


def test_what_may_be_there_again() -> None:
    """In a block of its own, or as a declaration of what is defined elsewhere."""
    module = ".func f(); .func f() { ret; } .extern .global .u32 a; .global .u32 a;"
    Device(KERNEL.format(module=module, body="L: { .reg .u32 %r0; L: } .reg .u32 %r;"))
