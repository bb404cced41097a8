"""Loops that wait for other threads, on both engines."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.compiled.engines import check_equal

HEAD = """.visible .entry test(.param .u64 out) {
    .shared .align 8 .b32 flag[64];
    .reg .b32 %r<12>; .reg .b64 %a<4>; .reg .pred %p<4>;
    ld.param.u64 %a0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %a1, %r0, 4;
    add.u64 %a0, %a0, %a1;
    mov.u32 %r4, 0;
"""
# The loop stands before the store that ends it: the lanes that wait run first.
BODIES = {
    "a lane of the same warp": """
        setp.eq.u32 %p0, %r0, 5; @%p0 bra release;
        again: ld.volatile.shared.u32 %r1, [flag]; setp.eq.u32 %p1, %r1, 0; @%p1 bra again;
        bra done;
        release: st.volatile.shared.u32 [flag], 7; mov.u32 %r1, 1; done:""",
    "several groups of lanes": """
        and.b32 %r2, %r0, 3; shl.b32 %r3, %r2, 2; mov.u32 %r5, flag; add.u32 %r3, %r3, %r5;
        setp.eq.u32 %p0, %r2, 3; @%p0 bra release;
        setp.eq.u32 %p0, %r2, 1; @%p0 bra second;
        first: ld.acquire.cta.shared.u32 %r1, [%r3+4]; setp.eq.u32 %p1, %r1, 0; @%p1 bra first;
        bra set;
        second: ld.acquire.cta.shared.u32 %r1, [%r3+4]; setp.eq.u32 %p1, %r1, 0; @%p1 bra second;
        bra set;
        release: mov.u32 %r1, 1;
        set: add.u32 %r1, %r1, 1; st.release.cta.shared.u32 [%r3], %r1;
        bar.sync 0;
        mov.u32 %r6, 0;
        sum: ld.shared.u32 %r7, [%r5]; add.u32 %r1, %r1, %r7; add.u32 %r6, %r6, 1;
        add.u32 %r5, %r5, 4; setp.lt.u32 %p1, %r6, 4; @%p1 bra sum;""",
    "a later warp, and an earlier one": """
        shr.u32 %r2, %r0, 5; mov.u32 %r1, 0; mov.u32 %r5, 0;
        again: add.u32 %r5, %r5, 1;
        first: ld.volatile.shared.u32 %r3, [flag]; setp.ne.u32 %p1, %r3, %r2; @%p1 bra first;
        bar.warp.sync 0xffffffff;
        mad.lo.u32 %r1, %r1, 3, %r5;
        sub.u32 %r3, 2, %r2; setp.eq.u32 %p2, %r2, 0; selp.b32 %r3, 2, %r3, %p2;
        setp.eq.u32 %p2, %r2, 2; selp.b32 %r3, 1, %r3, %p2;
        setp.eq.u32 %p2, %r2, 1; selp.b32 %r3, 0, %r3, %p2;
        st.volatile.shared.u32 [flag], %r3;
        setp.lt.u32 %p1, %r5, 20; @%p1 bra again;""",
}


@pytest.mark.parametrize("what", BODIES)
def test_lanes_wait_for_others_of_their_block(what: str) -> None:
    text = f"{HEAD}{BODIES[what]}\n st.global.u32 [%a0], %r1; ret;\n}}"
    (found,) = check_equal(text, (2,), (96,), np.zeros(96, "u4"))
    assert any(found)
