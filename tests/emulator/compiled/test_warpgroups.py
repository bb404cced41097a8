"""Products of warpgroups on both engines, and what their warps wait for."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.compiled.engines import check_equal, check_equal_fault

HEAD = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry product(.param .u64 out) {
    .shared .align 1024 .b8 room[8192]; .reg .b64 %a<4>; .reg .b32 %r<12>; .reg .f32 %f<4>;
    .reg .pred %p, %q;
    ld.param.u64 %a0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, room; mad.lo.u32 %r2, %r0, 16, %r1;
    cvt.rn.f32.u32 %f0, %r0; cvt.rn.f16x2.f32 %r3, %f0, %f0; st.shared.b32 [%r2], %r3;
    add.u32 %r4, %r3, 0x10203; st.shared.b32 [%r2+4], %r4; setp.lt.u32 %p, %r0, 1024;
    mov.u32 %r9, 0; and.b32 %r5, %r0, 32;
"""
PRODUCT = """
    shr.u32 %r3, %r1, 4; cvt.u64.u32 %a1, %r3; or.b64 %a1, %a1, 0x4000004000080000;
    mov.f32 %f0, 0f3F800000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
    bar.sync 0;
    BEFORE
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %a1, %a1, %p, 1, -1,
        0, 1;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    st.shared.b32 [room], %r0;
"""
TAIL = """
    mul.wide.u32 %a2, %r0, 16; add.u64 %a0, %a0, %a2; st.global.v4.f32 [%a0], {%f0, %f1, %f2, %f3};
    ret;
}"""


def kernel(before: str = "", after: str = "") -> str:
    return HEAD + PRODUCT.replace("BEFORE", before) + after + TAIL


BODIES = {
    "once": kernel(),
    "warps that come late": kernel(
        "mov.u32 %r6, 0; LATE: add.u32 %r6, %r6, 1; setp.lt.u32 %q, %r6, %r5; @%q bra LATE;"
    ),
    "in a loop": kernel(
        "AGAIN:", "add.u32 %r9, %r9, 1; bar.sync 0; setp.lt.u32 %q, %r9, 3; @%q bra AGAIN;"
    ),
}


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("threads", [128, 256])
def test_products(what: str, threads: int) -> None:
    """No warp may overwrite the matrices before all four have read them."""
    check_equal(BODIES[what], (2,), (threads,), np.zeros(4 * threads, "f4"))


FAULTS = {
    "fewer than 128 threads": ("setp.gt.u32 %q, %r0, 100; @%q exit;", 128),
    "a matrix beyond shared memory": ("or.b64 %a1, %a1, 0x3F00;", 128),
    "a matrix before the kernel's shared memory": ("sub.u64 %a1, %a1, 1;", 128),
    "different scale-d values": ("setp.lt.u32 %p, %r0, 40;", 128),
    "different descriptors": (
        "and.b32 %r6, %r0, 2; cvt.u64.u32 %a2, %r6; add.u64 %a1, %a1, %a2;",
        128,
    ),
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults(what: str) -> None:
    before, threads = FAULTS[what]
    check_equal_fault(kernel(before), (1,), (threads,), np.zeros(4 * threads, "f4"))
