"""Loops that wait for other threads, on both engines."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.compiled.engines import check_equal, check_equal_fault

HEAD = """.visible .entry test(.param .u64 out) {
    .shared .align 8 .b32 flag[64];
    .reg .b32 %r<12>; .reg .b64 %a<4>; .reg .pred %p<4>;
    ld.param.u64 %a0, [out];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %a1, %r0, 4;
    add.u64 %a0, %a0, %a1;
    mov.u32 %r4, 0;
"""
CLEARED = """
    .reg .b32 %c<3>; .reg .pred %z; setp.lt.u32 %z, %r0, 64; mov.u32 %c0, flag; shl.b32 %c1, %r0, 2;
    add.u32 %c1, %c1, %c0; mov.u32 %c2, 0; @%z st.shared.u32 [%c1], %c2; bar.sync 0;
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
    text = f"{HEAD}{CLEARED}{BODIES[what]}\n st.global.u32 [%a0], %r1; ret;\n}}"
    (found,) = check_equal(text, (2,), (96,), np.zeros(96, "u4"))
    assert any(found)


# A chain: each block waits for the one that its number plus STEP names.
CHAIN = """.visible .entry test(.param .u64 out) {
    .shared .align 4 .b32 room[8]; .local .align 4 .b8 own[16];
    .reg .b32 %r<12>; .reg .b64 %a<8>; .reg .pred %p<4>;
    ld.param.u64 %a0, [out];
    mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x;
    st.local.u32 [own+4], %r1;
    mul.wide.u32 %a1, %r1, 4; add.u64 %a1, %a0, %a1;
    setp.ne.u32 %p0, %r0, 0; @%p0 bra on;
    st.shared.u32 [room+4], %r1;
    FIRST
    again: ld.volatile.global.u32 %r4, [%a1+STEP]; setp.eq.u32 %p1, %r4, 0; @%p1 bra again;
    set: ld.shared.u32 %r5, [room+4]; add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, 1;
    st.volatile.global.u32 [%a1], %r4;
    on: bar.sync 0;
    ld.local.u32 %r6, [own+4]; ld.shared.u32 %r7, [room+4]; setp.eq.u32 %p2, %r6, %r7;
    @!%p2 trap;
    ret;
}"""
EARLIER = "setp.eq.u32 %p1, %r1, 0; mov.u32 %r4, 1; @%p1 bra set;", "-4"
LATER = "add.u32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, %r2; mov.u32 %r4, 1; @%p1 bra set;", "4"


@pytest.mark.parametrize("cooperative", [False, True])
@pytest.mark.parametrize(("first", "step"), [EARLIER, LATER])
def test_blocks_wait_for_others(first: str, step: str, *, cooperative: bool) -> None:
    text = CHAIN.replace("FIRST", first).replace("STEP", step)
    (found,) = check_equal(text, (20,), (40,), np.zeros(20, "u4"), cooperative=cooperative)
    sums = np.cumsum(np.arange(1, 21)) + 1 if step == "-4" else None
    assert sums is None or list(np.frombuffer(found, "u4")) == list(sums)


CLUSTER = """.visible .entry test(.param .u64 out) {
    .shared .align 4 .b32 given[64];
    .reg .b32 %r<12>; .reg .b64 %a<8>; .reg .pred %p<4>;
    ld.param.u64 %a0, [out];
    mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x;
    mad.lo.u32 %r1, %r1, %r2, %r0; mul.wide.u32 %a1, %r1, 4; add.u64 %a0, %a0, %a1;
    mov.u32 %r3, %cluster_ctarank; mov.u32 %r4, %cluster_nctarank;
    mov.u32 %r5, given; shl.b32 %r6, %r0, 2; add.u32 %r5, %r5, %r6;
    mov.u32 %r11, 0;
    again:
    add.u32 %r7, %r3, %r11; add.u32 %r7, %r7, 1; rem.u32 %r7, %r7, %r4;
    mapa.shared::cluster.u32 %r8, %r5, %r7;
    add.u32 %r9, %r1, %r11;
    st.shared::cluster.u32 [%r8], %r9;
    barrier.cluster.arrive; barrier.cluster.wait;
    cvt.u64.u32 %a2, %r5; cvta.shared.u64 %a2, %a2; mapa.u64 %a3, %a2, %r7;
    ld.u32 %r10, [%a3]; getctarank.u64 %r9, %a3; mad.lo.u32 %r1, %r10, 5, %r9;
    getctarank.shared::cluster.u32 %r9, %r5; add.u32 %r1, %r1, %r9;
    ld.shared.u32 %r10, [%r5]; mad.lo.u32 %r1, %r1, 3, %r10;
    barrier.cluster.arrive; barrier.cluster.wait;
    add.u32 %r11, %r11, 1; setp.lt.u32 %p0, %r11, 3; @%p0 bra again;
    st.global.u32 [%a0], %r1;
    LAST
    ret;
}"""


def test_clusters() -> None:
    text = CLUSTER.replace("LAST", "")
    (found,) = check_equal(text, (12,), (50,), np.zeros(600, "u4"), cluster=(4, 1, 1))
    assert any(found)


def test_deadlocks_of_clusters() -> None:
    last = "setp.eq.u32 %p1, %r3, 1; @%p1 barrier.cluster.wait;"
    report = check_equal_fault(
        CLUSTER.replace("LAST", last), (2,), (40,), np.zeros(80, "u4"), cluster=(2, 1, 1)
    )
    assert "at the barrier of their cluster" in report
