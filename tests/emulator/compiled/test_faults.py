"""Faults on both engines: the same code, report, block and thread."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.compiled.engines import check_equal_fault

HEAD = """.visible .entry faulty(.param .u64 given) {
    .shared .align 8 .b8 room[256];
    .reg .b32 %r<4>; .reg .b64 %a<4>; .reg .pred %p; .reg .f32 %f<2>;
    ld.param.u64 %a0, [given];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %a1, %r0, 4;
    add.u64 %a2, %a0, %a1;
    mov.u32 %r1, %ctaid.x;
"""
BODIES = {
    "past the end": ("st.global.u32 [%a2], %r0;", "just past the end of 256 bytes"),
    "a load": ("ld.global.v2.u32 {%r1, %r2}, [%a2+4];", "misaligned"),
    "null": ("mov.u64 %a3, 16; ld.global.u32 %r2, [%a3];", "is a null pointer plus 16"),
    "an atomic": ("red.global.add.u32 [%a2], 1;", "illegal address in a 4-byte atomic operation"),
    "shared": ("st.shared.u32 [room+256], %r0;", "past the 256 bytes of shared memory"),
    "generic shared": (
        "mov.u32 %r3, room; cvt.u64.u32 %a3, %r3; cvta.shared.u64 %a3, %a3; "
        "add.u64 %a3, %a3, %a1; st.u32 [%a3], %r0;",
        "past the 256 bytes of shared memory",
    ),
    "the window of another space": (
        "mov.u32 %r3, room; cvt.u64.u32 %a3, %r3; cvta.shared.u64 %a3, %a3; "
        "st.global.u32 [%a3], %r0;",
        "is in shared memory",
    ),
    "some lanes": (
        "setp.lt.u32 %p, %r0, 70; @%p bra skip; st.global.u32 [%a2], %r0; skip:",
        "thread (70, 0, 0)",
    ),
    "trap": ("setp.ne.u32 %p, %r0, 65; @%p bra on; trap; on:", "the kernel executed 'trap'"),
    "a branch": (
        "targets: .branchtargets one, two; brx.idx %r0, targets; one: two:",
        "branch index 2 is out of range",
    ),
    "deadlock": (
        "setp.lt.u32 %p, %r0, 3; @%p bra one; bar.sync 0; one: shfl.sync.idx.b32 %r1, %r1, 0, 31, "
        "0xffffffff;",
        "deadlock",
    ),
}


@pytest.mark.parametrize("what", BODIES)
def test_reports_are_equal(what: str) -> None:
    body, words = BODIES[what]
    text = f"{HEAD}{body}\n ret;\n}}"
    assert words in check_equal_fault(text, (1,), (96,), np.zeros(64, "u4"))


def test_the_first_block_that_fails_is_named() -> None:
    body = "setp.lt.u32 %p, %r1, 2; @%p bra on; st.global.u32 [%a0+256], %r0; on: ret;\n"
    report = check_equal_fault(f"{HEAD}{body}}}", (4,), (64,), np.zeros(64, "u4"))
    assert "block (2, 0, 0), thread (0, 0, 0)" in report
