"""``mbarrier`` instructions on both engines: objects, states and faults."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.machine.barrier_objects import FailedWait, packed
from tests.emulator.compiled.engines import check_equal, check_equal_fault, interrupted_states

KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry objects(.param .u64 out) {
    .shared .align 8 .b64 first[4]; .reg .b64 %a<4>, %s<4>; .reg .b32 %r<8>; .reg .pred %p, %q;
    ld.param.u64 %a0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, first; mov.u64 %s0, 0;
    and.b32 %r2, %r0, 1; shl.b32 %r3, %r2, 3; add.u32 %r3, %r1, %r3; mov.u32 %r4, 0;
    setp.eq.u32 %p, %r0, 0; @%p mbarrier.init.shared.b64 [first], COUNT;
    @%p mbarrier.init.shared.b64 [first+8], 200; bar.sync 0;
    BODY
    bar.sync 0; ld.shared.u64 %s1, [first]; ld.shared.u64 %s2, [first+8];
    mad.wide.u32 %a1, %r0, 32, %a0; st.global.v2.u64 [%a1], {%s0, %s1};
    cvt.u64.u32 %s3, %r4; st.global.v2.u64 [%a1+16], {%s2, %s3}; ret;
}"""
BODIES = {
    "arrivals at two objects": "mbarrier.arrive.shared.b64 %s0, [%r3];",
    "a warp with some lanes": "setp.gt.u32 %q, %r0, 40; @%q mbarrier.arrive.shared.b64 %s0, [%r3];",
    "drops": """
        mbarrier.arrive_drop.shared.b64 %s0, [%r3]; mbarrier.arrive.shared.b64 %s0, [%r3];
        mbarrier.arrive_drop.shared.b64 %s0, [%r3], 2;""",
    "bytes": """
        mbarrier.arrive.expect_tx.shared.b64 %s0, [%r3], 16;
        mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r3], 8;
        mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r3], %r0;""",
    "a wait": """
        mbarrier.arrive.shared.b64 %s0, [first]; LOOP: add.u32 %r4, %r4, 0;
        mbarrier.try_wait.parity.shared.b64 %q, [first], 0; @!%q bra LOOP; selp.u32 %r4, 7, 3, %q;
        mbarrier.test_wait.shared.b64 %q, [first+8], %s0; selp.u32 %r4, 9, %r4, %q;""",
    "after copies": "cp.async.mbarrier.arrive.noinc.shared.b64 [%r3];",
}


@pytest.mark.parametrize("what", BODIES)
def test_objects(what: str) -> None:
    text = KERNEL.replace("BODY", BODIES[what]).replace("COUNT", "64")
    threads = 64 if BODIES[what].count("mbarrier") < 3 or "LOOP" in BODIES[what] else 32
    check_equal(text, (1,), (threads,), np.zeros(256, "u8"))


FAULTS = {
    "too many arrivals": ("mbarrier.arrive.shared.b64 %s0, [%r3], 5;", "23"),
    "an invalid count": ("", "0"),
    "a misaligned object": ("mbarrier.arrive.shared.b64 %s0, [%r3+4];", "64"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults(what: str) -> None:
    body, count = FAULTS[what]
    text = KERNEL.replace("BODY", body).replace("COUNT", count)
    check_equal_fault(text, (1,), (32,), np.zeros(128, "u8"))


# Each block has two objects; the first one's phase is complete.
ENDLESS = (
    KERNEL.replace("COUNT", "64")
    .replace("200;", "70;")
    .replace(
        "BODY",
        """mbarrier.arrive.shared.b64 %s0, [%r3]; @%p mbarrier.arrive.shared.b64 %s0, [first], 32;
    @%p mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [first+8], 48;
    setp.lt.u32 %q, %r0, 3; @%q bra SECOND;
    LOOP: mbarrier.try_wait.parity.shared.b64 %q, [%r3], 0; @!%q bra LOOP; bra DONE;
    SECOND: mbarrier.try_wait.parity.shared.b64 %q, [first+8], 0; @!%q bra SECOND; DONE:""",
    )
)


def test_what_objects_wait_for() -> None:
    words = np.array([packed(3, 2, 16, 0), packed(1, 0, -4, 0), 0], "u8")
    wait = FailedWait(np.arange(3), words, np.arange(3), np.zeros(3, "u4"), None)
    assert wait.outstanding() == [
        "2 of 3 arrivals and 16 bytes of copies are pending",
        "0 of 1 arrivals and 0 bytes of copies are pending; "
        "copies wrote 4 bytes more than it expects",
        "the mbarrier is invalidated or not initialized",
    ]


def test_threads_that_wait_for_ever_name_what_they_wait_for() -> None:
    """As in the interpreter: `tests/commands/test_time_limits.py`."""
    first = "31 threads last tested an mbarrier object whose phase is incomplete: "
    states = interrupted_states(ENDLESS, (1,), (64,), shown=first)
    where = "block (0, 0, 0), thread (3, 0, 0); block (0, 0, 0), thread (5, 0, 0)"
    found = states.partition(first)[2].splitlines()
    assert found[0].startswith(where)
    assert "38 of 70 arrivals and 48 bytes of copies are pending" in states
    assert "3 threads last tested an mbarrier object" in states
