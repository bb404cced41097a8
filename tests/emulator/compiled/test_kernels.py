"""Whole kernels on both engines: samples, and small ones for control flow and memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.emulator.compiled.engines import check_equal

SAMPLES = Path(__file__).resolve().parents[3] / "samples"
RANDOM = np.random.default_rng(3)


def floats(*shape: int) -> Any:
    return RANDOM.standard_normal(shape).astype(np.float32)


def entry(name: str, file: str) -> str:
    """The text of a sample with one of its kernels first."""
    text = (SAMPLES / file).read_text()
    parts = text.split(".visible .entry ")
    chosen = [part for part in parts[1:] if part.startswith(f"{name}(")]
    return ".visible .entry ".join([parts[0], *chosen])


def zeros(count: int, dtype: str = "f4") -> Any:
    return np.zeros(count, dtype)


LAUNCHES: dict[str, tuple[str, tuple[int, ...], tuple[int, ...], list[Any]]] = {
    "saxpy": ("saxpy.ptx", (9,), (128,), [2.5, floats(1100), floats(1100), 1100]),
    "matmul_naive": ("matmul.ptx", (3, 2), (16, 16),
                     [floats(40, 20), floats(20, 30), zeros(40 * 30), 40, 30, 20]),
    "matmul_tiled": ("matmul.ptx", (2, 3), (16, 16),
                     [floats(40, 20), floats(20, 30), zeros(40 * 30), 40, 30, 20]),
    "reduce": ("reduce.ptx", (4,), (256,), [floats(5000), zeros(4), 5000]),
    "histogram": ("histogram.ptx", (4,), (256,),
                  [RANDOM.integers(0, 256, 3000).astype("u4"), zeros(256, "u4"), 3000]),
    "mandelbrot": ("mandelbrot.ptx", (2, 2), (16, 16),
                   [zeros(1024, "u4"), 32, 32, floats(2).tobytes(), 0.05, 60]),
}  # fmt: skip


@pytest.mark.parametrize("name", LAUNCHES)
def test_samples(name: str) -> None:
    file, grid, block, given = LAUNCHES[name]
    buffers = check_equal(entry(name, file), grid, block, *given)
    assert any(any(buffer) for buffer in buffers)


SMALL = """.visible .entry small(.param .u64 out, .param .u64 in) {
    .shared .align 16 .b8 room[2048];
    .local .align 16 .b8 own[64];
    .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %a<12>; .reg .pred %p<6>; .reg .f32 %f<8>;
    .reg .f64 %d<4>; .reg .b128 %q;
    ld.param.u64 %a0, [out];
    ld.param.u64 %a1, [in];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mad.lo.u32 %r3, %r1, %r2, %r0;
    mul.wide.u32 %a2, %r3, 4;
    add.u64 %a3, %a0, %a2;
    add.u64 %a4, %a1, %a2;
    ld.global.u32 %r4, [%a4];
    BODY
    st.global.u32 [%a3], %r4;
    ret;
}"""
BODIES = {
    "divergence in a loop": """
        and.b32 %r5, %r4, 31; mov.u32 %r6, 0;
        again: setp.ge.u32 %p0, %r6, %r5; @%p0 bra done;
        and.b32 %r7, %r6, 1; setp.eq.u32 %p1, %r7, 0; @%p1 bra even;
        add.u32 %r4, %r4, %r6; bra next;
        even: xor.b32 %r4, %r4, %r6;
        next: add.u32 %r6, %r6, 1; bra again; done:""",
    "irreducible flow": """
        mov.u32 %r6, 0; setp.gt.u32 %p0, %r0, 20; @%p0 bra second;
        first: add.u32 %r4, %r4, 3; add.u32 %r6, %r6, 1;
        second: xor.b32 %r4, %r4, %r6; add.u32 %r6, %r6, 1;
        setp.lt.u32 %p1, %r6, 9; @%p1 bra first;""",
    "brx": """
        targets: .branchtargets one, two, three;
        rem.u32 %r5, %r0, 3; brx.idx %r5, targets;
        one: add.u32 %r4, %r4, 100; bra end;
        two: add.u32 %r4, %r4, 200;
        three: add.u32 %r4, %r4, 300; end:""",
    "early exit and barriers": """
        setp.gt.u32 %p0, %r0, 69; @%p0 exit;
        mov.u32 %r5, room; shl.b32 %r6, %r0, 2; add.u32 %r5, %r5, %r6;
        st.shared.u32 [%r5], %r4; bar.sync 0;
        setp.eq.u32 %p1, %r0, 0; @%p1 bra on; ld.shared.u32 %r4, [%r5+-4];
        on: bar.sync 0; st.shared.u32 [%r5], %r4; bar.sync 0;
        ld.shared.u32 %r7, [room]; add.u32 %r4, %r4, %r7;""",
    "barriers in both branches": """
        and.b32 %r5, %r0, 1; setp.eq.u32 %p0, %r5, 1; @%p0 bra odd;
        mul.lo.u32 %r6, %r4, 3; bar.sync 0; add.u32 %r4, %r4, %r6; bra join;
        odd: mul.lo.u32 %r6, %r4, 5; xor.b32 %r4, %r4, %r6; bar.sync 0; join:""",
    "shuffles": """
        shfl.sync.down.b32 %r5|%p0, %r4, 5, 31, -1; selp.u32 %r5, %r5, 7, %p0;
        shfl.sync.up.b32 %r6|%p1, %r4, %r5, 0, -1;
        shfl.sync.bfly.b32 %r7, %r4, 3, 0x0f1f, -1;
        and.b32 %r8, %r0, 7; shfl.sync.idx.b32 %r9, %r4, %r8, 0x1803, -1;
        add.u32 %r4, %r5, %r6; add.u32 %r4, %r4, %r7; xor.b32 %r4, %r4, %r9;""",
    "votes in halves": """
        and.b32 %r5, %r0, 16; setp.eq.u32 %p0, %r5, 0; and.b32 %r6, %r4, 1;
        setp.eq.u32 %p1, %r6, 0; @%p0 bra low;
        vote.sync.ballot.b32 %r7, %p1, 0xffff0000; bra join;
        low: vote.sync.ballot.b32 %r7, !%p1, 0x0000ffff; vote.sync.any.pred %p2, %p1, 0xffff;
        selp.u32 %r8, 1, 2, %p2; add.u32 %r7, %r7, %r8;
        join: bar.warp.sync -1; add.u32 %r4, %r4, %r7; activemask.b32 %r9; xor.b32 %r4, %r4, %r9;
        and.b32 %r10, %r4, 3; match.any.sync.b32 %r11, %r10, -1; add.u32 %r4, %r4, %r11;
        match.all.sync.b32 %r12|%p3, %r10, -1; add.u32 %r4, %r4, %r12;
        redux.sync.max.s32 %r13, %r4, -1; redux.sync.add.u32 %r14, %r4, -1;
        xor.b32 %r4, %r13, %r14; elect.sync %r15|%p4, -1; selp.u32 %r15, %r15, 9, %p4;
        add.u32 %r4, %r4, %r15;""",
    "warp barriers of parts": """
        and.b32 %r5, %r0, 1; setp.eq.u32 %p0, %r5, 0; @%p0 bra even;
        add.u32 %r4, %r4, 5; bar.warp.sync 0xffffffff; bra both;
        even: bar.warp.sync 0xffffffff; both: activemask.b32 %r6; add.u32 %r4, %r4, %r6;""",
    "local memory": """
        mov.u32 %r5, own; and.b32 %r6, %r4, 60; add.u32 %r5, %r5, %r6; st.local.u32 [%r5], %r4;
        st.local.u32 [own+4], %r0; ld.local.u32 %r7, [%r5]; cvt.u64.u32 %a5, %r5;
        cvta.local.u64 %a5, %a5; ld.u32 %r8, [%a5]; add.u32 %r4, %r7, %r8;""",
    "unwritten local memory": """
        ld.local.u32 %r5, [own+8]; add.u32 %r5, %r5, %r4; st.local.u32 [own+8], %r5;
        mov.u32 %r4, %r5;""",
    "vectors and bytes": """
        shl.b32 %r5, %r0, 3; cvt.u64.u32 %a5, %r5; add.u64 %a6, %a1, %a5;
        ld.global.v2.u16 {%h0, %h1}, [%a6]; ld.global.s8 %r6, [%a6+3]; ld.global.v2.f32 {%f0, %f1},
        [%a6]; mov.u32 %r7, room; mul.lo.u32 %r8, %r0, 16; add.u32 %r7, %r7, %r8;
        st.shared.v4.u32 [%r7], {%r0, %r4, %r6, %r8}; ld.shared.b128 %q, [%r7];
        st.shared.b128 [%r7], %q; ld.shared.v2.u64 {%a7, %a8}, [%r7]; cvt.u32.u64 %r9, %a8;
        cvt.u32.u16 %r10, %h1; add.u32 %r4, %r9, %r10; st.shared.u8 [%r7+1], %r4;
        ld.shared.u32 %r11, [%r7]; add.u32 %r4, %r4, %r11;""",
    "atomics": """
        and.b32 %r5, %r4, 28; mov.u32 %r6, room; add.u32 %r6, %r6, %r5;
        red.shared.add.u32 [%r6], %r4; red.shared.max.s32 [%r6+32], %r4;
        red.shared.xor.b32 [%r6+64], %r4; bar.sync 0; ld.shared.u32 %r7, [%r6];
        ld.shared.u32 %r8, [%r6+32]; ld.shared.u32 %r9, [%r6+64]; add.u32 %r4, %r7, %r8;
        add.u32 %r4, %r4, %r9; atom.global.inc.u32 %r10, [%a1+8], 77; add.u32 %r4, %r4, %r10;""",
    "swaps": """
        and.b32 %r5, %r4, 4; cvt.u64.u32 %a5, %r5; add.u64 %a6, %a1, %a5;
        atom.global.cas.b32 %r6, [%a6], %r4, %r0; add.u32 %r4, %r4, %r6;""",
    "sums of floats": """
        cvt.rn.f32.u32 %f0, %r4; and.b32 %r5, %r0, 4; cvt.u64.u32 %a5, %r5;
        add.u64 %a6, %a1, %a5; atom.global.add.f32 %f1, [%a6], %f0; mov.b32 %r4, %f1;""",
    "two memories": """
        and.b32 %r5, %r0, 1; setp.eq.u32 %p0, %r5, 0; selp.b64 %a5, %a0, %a1, %p0;
        add.u64 %a5, %a5, %a2; ld.u32 %r6, [%a5]; add.u32 %r6, %r6, 1; st.u32 [%a5], %r6;""",
    "functions of numpy": """
        and.b32 %r5, %r4, 1023; cvt.rn.f32.u32 %f0, %r5; mul.f32 %f0, %f0, 0f3C000000;
        sin.approx.f32 %f1, %f0; ex2.approx.ftz.f32 %f2, %f1; lg2.approx.f32 %f3, %f2;
        tanh.approx.f32 %f4, %f3; add.f32 %f5, %f4, %f1; mov.b32 %r4, %f5;""",
    "wide registers": """
        mov.b64 %a5, {%r4, %r0}; mov.b64 {%r5, %r6}, %a5; cvt.rn.f64.u32 %d0, %r4;
        fma.rn.f64 %d1, %d0, %d0, %d0; sqrt.rn.f64 %d2, %d1; cvt.rzi.u32.f64 %r7, %d2;
        add.u32 %r4, %r5, %r6; add.u32 %r4, %r4, %r7;""",
}


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize(("grid", "block"), [(1, 32), (3, 75)])
def test_small_kernels(what: str, grid: int, block: int) -> None:
    given = np.random.default_rng(5).integers(0, 1 << 20, 1000).astype(np.uint32)
    text = SMALL.replace("BODY", BODIES[what])
    check_equal(text, (grid,), (block,), np.zeros(256, "u4"), given)


CALLS = """.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 given);
.extern .func (.param .b64 result) malloc (.param .b64 size);
.extern .func free (.param .b64 block);
.extern .func __assertfail (.param .b64 message, .param .b64 file, .param .b32 line,
    .param .b64 function, .param .b64 width);
.global .align 1 .b8 format[14] = {116, 104, 114, 101, 97, 100, 32, 37, 117, 10, 0};
"""
CALLING = {
    "printf": """
        setp.lt.u32 %p0, %r0, 5; @!%p0 bra skip;
        cvta.local.u64 %a6, %a5; st.local.u32 [%a5], %r0;
        { .param .b64 f; .param .b64 g; .param .b32 n;
        mov.u64 %a7, format; cvta.global.u64 %a7, %a7; st.param.b64 [f], %a7; st.param.b64 [g], %a6;
        call (n), vprintf, (f, g); ld.param.b32 %r5, [n]; }
        add.u32 %r4, %r4, %r5; skip:""",
    "malloc": """
        { .param .b64 s; .param .b64 b; cvt.u64.u32 %a6, %r0; add.u64 %a6, %a6, 8;
        st.param.b64 [s], %a6; call (b), malloc, (s); ld.param.b64 %a7, [b]; }
        st.u32 [%a7], %r4; ld.u32 %r5, [%a7+4]; ld.u32 %r6, [%a7]; add.u32 %r4, %r5, %r6;""",
}


@pytest.mark.parametrize("what", CALLING)
def test_functions_of_the_device(what: str) -> None:
    given = np.random.default_rng(5).integers(0, 1 << 20, 1000).astype(np.uint32)
    body = f"mov.u64 %a5, own; {CALLING[what]}"
    text = CALLS + SMALL.replace("BODY", body)
    check_equal(text, (2,), (40,), np.zeros(256, "u4"), given)
