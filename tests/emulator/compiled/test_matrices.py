"""Products and transfers of matrices, and asynchronous copies, on both engines."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator import driver
from cudarun.emulator.engines import COMPILE, INTERPRET
from tests.emulator.compiled.engines import check_equal, check_equal_fault
from tests.golden.isa.case import Case
from tests.golden.isa.enumeration import CHAPTERS, cases
from tests.golden.isa.kernel import Group, Runner

INSTRUCTIONS = {
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32": 1,
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16": 1,
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32": 1,
    "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e4m3.f16": 1,
    "mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32": 1,
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc": 1,
    "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32": 1,
    "mma.sp.sync.aligned.m16n8k64.row.col.satfinite.s32.s8.u8": 1,
    "wmma.mma.sync.aligned.row.col.m8n32k16.f32.f16": 1,
    "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16": 1,
    "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16": 1,
    "cp.async": 3,
    "movmatrix": 1,
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16": 1,
    "wmma.load.a.sync.aligned.col.m16n16k16": 1,
    "wmma.load.b.sync.aligned.row.m8n8k32": 1,
    "wmma.store.d.sync.aligned.row.m16n16k16": 1,
    "mbarrier.init": 1,
    "mbarrier.arrive": 1,
    "mbarrier.test_wait.parity": 1,
}


def chosen() -> list[Case]:
    every = [case for chapter in CHAPTERS for case in cases(chapter) if case.target == "sm_90"]
    return [
        case
        for name, count in INSTRUCTIONS.items()
        for case in [each for each in every if each.name.startswith(name)][:count]
    ]


def test_recorded_cases() -> None:
    found = chosen()
    assert len(found) >= len(INSTRUCTIONS)
    runner = Runner(driver)
    for case in found:  # a kernel for each: LLVM takes longer for one with all
        results = {}
        for engine in (INTERPRET, COMPILE):
            driver.select_engine(engine)
            results[engine] = runner.run(Group([case]))[case.name]
        for a, b in zip(results[COMPILE], results[INTERPRET], strict=True):
            assert a.tobytes() == b.tobytes(), case.name
    runner.close()
    driver.select_engine(INTERPRET)


PARTIAL = """.visible .entry partial(.param .u64 out, .param .u64 in) {
    .shared .align 16 .b8 room[1024];
    .reg .b32 %r<12>; .reg .b64 %a<8>; .reg .f32 %f<8>; .reg .pred %p;
    ld.param.u64 %a0, [out]; ld.param.u64 %a1, [in];
    mov.u32 %r0, %tid.x; mul.wide.u32 %a2, %r0, 16; add.u64 %a3, %a1, %a2;
    mov.u32 %r1, room; mad.lo.u32 %r1, %r0, 16, %r1;
    BODY
    mul.wide.u32 %a4, %r0, 4; add.u64 %a5, %a0, %a4; st.global.u32 [%a5], %r4; ret;
}"""
BODIES = {
    "sizes": """
        and.b32 %r2, %r0, 31; min.u32 %r2, %r2, 16; cp.async.ca.shared.global [%r1], [%a3], 16, %r2;
        cp.async.wait_all; ld.shared.u32 %r4, [%r1+4];""",
    "whole or nothing": """
        and.b32 %r2, %r0, 1; shl.b32 %r2, %r2, 4;
        mul.wide.u32 %a6, %r2, 0x1000000; sub.u64 %a6, %a6, 0x10000000; add.u64 %a3, %a3, %a6;
        cp.async.cg.shared.global [%r1], [%a3], 16, %r2;
        cp.async.wait_all; ld.shared.u32 %r4, [%r1+8];""",
    "a warp of which lanes have exited": """
        setp.gt.u32 %p, %r0, 20; @%p exit; cp.async.ca.shared.global [%r1], [%a3], 16;
        mov.b32 %f0, 0f3F800000; mov.u32 %r5, 0x3C004000; mov.u32 %r4, room;
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r1];
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r5, %r6, %r5,
        %r6}, {%r5, %r6}, {%f0, %f0, %f0, %f0}; mov.b32 %r4, %f2;""",
}


@pytest.mark.parametrize("what", BODIES)
def test_parts(what: str) -> None:
    given = np.random.default_rng(2).integers(0, 1 << 14, 256).astype(np.uint32)
    check_equal(PARTIAL.replace("BODY", BODIES[what]), (1,), (32,), np.zeros(32, "u4"), given)


EDGE = """.version 8.0
.target sm_90
.address_size 64
.visible .entry edge(.param .u64 out, .param .u64 in, .param .u32 stride) {
    .reg .b64 %a<4>; .reg .b32 %r<12>; .reg .f32 %f<8>;
    ld.param.u64 %a0, [out]; ld.param.u64 %a1, [in]; ld.param.u32 %r9, [stride];
    wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7},
        [%a1], %r9;
    wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%a0], {%r0, %r1, %r2, %r3, %r4, %r5, %r6,
        %r7}, 17;
    ret;
}"""


@pytest.mark.parametrize("stride", [0, 16, 18, 24])
def test_fragments_in_memory(stride: int) -> None:
    given = np.arange(16 * 24, dtype="u2")
    check_equal(EDGE, (1,), (32,), np.zeros(16 * 17, "u4"), given, np.uint32(stride))


@pytest.mark.parametrize(
    ("text", "stride"),
    [
        (EDGE, 17),  # pairs of 16 bits
        (EDGE.replace("d.sync.aligned.col", "d.sync.aligned.row"), 16),  # pairs of 32 bits
        (EDGE.replace("[%a1]", "[%a1+2]"), 16),
    ],
)
def test_misaligned_lines_of_fragments(text: str, stride: int) -> None:
    given = np.arange(16 * 24, dtype="u2")
    fault = check_equal_fault(text, (1,), (32,), np.zeros(16 * 17, "u4"), given, np.uint32(stride))
    assert "misaligned by" in fault


def test_a_fragment_beyond_memory() -> None:
    given = np.arange(16 * 24, dtype="u2")
    check_equal_fault(EDGE, (1,), (32,), np.zeros(16 * 17, "u4"), given, np.uint32(4096))


PRODUCT = """.version 8.0
.target sm_90
.address_size 64
.visible .entry product(.param .u64 out, .param .u64 in) {
    .reg .b64 %a<4>; .reg .b32 %r<16>; .reg .f32 %f<8>;
    ld.param.u64 %a0, [out]; ld.param.u64 %a1, [in]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x;
    mad.lo.u32 %r0, %r0, 32, %r1; mul.wide.u32 %a2, %r0, 40; add.u64 %a1, %a1, %a2;
    mul.wide.u32 %a2, %r0, 16; add.u64 %a0, %a0, %a2;
    ld.global.v2.b32 {%r1, %r2}, [%a1]; ld.global.v2.b32 {%r3, %r4}, [%a1+8];
    ld.global.v2.b32 {%r5, %r6}, [%a1+16];
    ld.global.v2.f32 {%f1, %f2}, [%a1+24]; ld.global.v2.f32 {%f3, %f4}, [%a1+32];
    mma.sync.aligned.m16n8k16.row.col.f32.TYPE.TYPE.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4},
        {%r5, %r6}, {%f1, %f2, %f3, %f4};
    st.global.v2.f32 [%a0], {%f1, %f2}; st.global.v2.f32 [%a0+8], {%f3, %f4}; ret;
}"""


@pytest.mark.parametrize("name", ["f16", "bf16"])
def test_numbers_of_all_sizes(name: str) -> None:
    """Products that are computed in f32, and those that have to be computed in f64."""
    rng = np.random.default_rng(8)
    blocks = 12
    exponents = (
        rng.integers(-20, 20, blocks)[:, None, None] * np.array([0, 0, 1, 4] * 3)[:, None, None]
    )
    singles = rng.normal(size=(blocks, 32, 16)) * 2.0**exponents
    singles[:3] *= rng.integers(0, 2, (3, 32, 16))
    sums = singles[..., 12:].astype("f4")
    sums[5] = -0.0
    sums[6, 3, 1], sums[7, 30, 2] = np.inf, np.nan
    bits = singles.astype("f4").view("u4")[..., :12] >> 16
    clipped = np.clip(singles[..., :12], -60000, 60000).astype("f2")
    halves = bits.astype("u2") if name == "bf16" else clipped.view("u2")
    halves[5] &= 0x8000
    halves[8, :, 4], halves[9, :, 9] = 0x7FC0, 0x7C00
    given = np.concatenate([halves.view("u4"), sums.view("u4")], axis=-1)
    out = np.zeros(blocks * 128, "u4")
    check_equal(PRODUCT.replace("TYPE", name), (blocks,), (32,), out, np.ascontiguousarray(given))
