"""Barriers with numbers, counts, arrivals and reductions on both engines."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.compiled.engines import check_equal, check_equal_fault

HEAD = """.visible .entry test(.param .u64 out) {
    .shared .align 4 .b32 room[256];
    .reg .b32 %r<16>; .reg .b64 %a<4>; .reg .pred %p<6>;
    ld.param.u64 %a0, [out];
    mov.u32 %r0, %tid.x; mul.wide.u32 %a1, %r0, 4; add.u64 %a0, %a0, %a1;
    mov.u32 %r2, room; shl.b32 %r3, %r0, 2; add.u32 %r2, %r2, %r3; shr.u32 %r4, %r0, 5;
    mov.u32 %r1, 0; mov.u32 %r5, 0;
"""
BODIES = {
    # two warps produce for the two others, in turn
    "producers and consumers": """
        setp.ge.u32 %p0, %r4, 2; @%p0 bra consume;
        produce: mad.lo.u32 %r6, %r0, 7, %r5; st.shared.u32 [%r2], %r6;
        bar.arrive 1, 128; bar.sync 2, 128;
        add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 9; @%p1 bra produce; bra end;
        consume: bar.sync 1, 128; ld.shared.u32 %r6, [%r2+-256]; mad.lo.u32 %r1, %r1, 3, %r6;
        bar.arrive 2, 128;
        add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 9; @%p1 bra consume; end:""",
    # each pair of warps has a barrier of its own
    "a number in a register": """
        again: shr.u32 %r6, %r4, 1; add.u32 %r6, %r6, 3; add.u32 %r7, %r0, %r5;
        st.shared.u32 [%r2], %r7; bar.sync %r6, 64; xor.b32 %r8, %r3, 128; mov.u32 %r9, room;
        add.u32 %r8, %r8, %r9; ld.shared.u32 %r10, [%r8]; mad.lo.u32 %r1, %r1, 5, %r10;
        bar.sync %r6, 64; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %r6; @%p1 bra again;
        bar.sync 0;""",
    "numbers that diverge in a warp": """
        and.b32 %r6, %r0, 1; add.u32 %r6, %r6, 1; barrier.sync %r6, 64;
        add.u32 %r1, %r6, %r4; barrier.sync 7;""",
    "reductions": """
        and.b32 %r6, %r0, 3; setp.eq.u32 %p0, %r6, 1;
        again: bar.red.popc.u32 %r7, 0, %p0; add.u32 %r1, %r1, %r7;
        setp.lt.u32 %p1, %r0, 126; bar.red.and.pred %p2, 1, %p1; selp.u32 %r8, 10000, 0, %p2;
        bar.red.or.pred %p3, 2, 128, !%p1; selp.u32 %r9, 30000, 0, %p3;
        add.u32 %r1, %r1, %r8; add.u32 %r1, %r1, %r9; setp.ge.u32 %p0, %r0, 60;
        add.u32 %r5, %r5, 1; setp.lt.u32 %p4, %r5, 3; @%p4 bra again;""",
    "lanes that exit": """
        setp.eq.u32 %p0, %r4, 3; @%p0 bra end; and.b32 %r6, %r0, 7; setp.eq.u32 %p1, %r6, 5;
        @%p1 bra end; bar.sync 5, 96; mov.u32 %r1, 4; bar.sync 6; end:""",
    "arrivals without a wait": """
        setp.eq.u32 %p0, %r4, 0; @%p0 bra wait; bar.arrive 4, 256; bar.arrive 4, 256;
        mov.u32 %r1, 3; bra end; wait: bar.arrive 4, 256; bar.sync 4, 256; mov.u32 %r1, 5; end:""",
}


@pytest.mark.parametrize("what", BODIES)
def test_barriers(what: str) -> None:
    text = f"{HEAD}{BODIES[what]}\n st.global.u32 [%a0], %r1; ret;\n}}"
    (found,) = check_equal(text, (3,), (128,), np.zeros(128, "u4"))
    assert any(found)


FAULTS = {
    "a deadlock": (
        "setp.eq.u32 %p0, %r4, 1; @%p0 bra end; bar.sync 3, 128; end:",
        "threads wait at barrier 3",
    ),
    "a number": ("add.u32 %r6, %r0, 14; bar.sync %r6, 64;", "invalid barrier number: 16"),
    "a count": ("add.u32 %r6, %r0, 64; bar.sync 1, %r6;", "invalid barrier thread count: 65"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults_at_barriers(what: str) -> None:
    body, words = FAULTS[what]
    text = f"{HEAD}{body}\n st.global.u32 [%a0], %r1; ret;\n}}"
    assert words in check_equal_fault(text, (1,), (64,), np.zeros(64, "u4"))
