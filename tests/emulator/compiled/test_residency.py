"""No more blocks are in progress than fit on the device, on both engines."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from cudarun.emulator.compiled import waiting_lanes
from cudarun.emulator.engines import COMPILE, INTERPRET
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.lanes import Lanes
from cudarun.emulator.numerics.arrays import Array
from tests.emulator.compiled.engines import (
    check_equal,
    check_equal_fault,
    interrupted_states,
    launched,
)

KERNEL = """.visible .entry blocks(.param .u64 out) {
    .reg .b32 %r<12>; .reg .b64 %a<4>; .reg .pred %p<4>;
    ld.param.u64 %a0, [out];
    mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mov.u32 %r2, %nctaid.x;
    mul.wide.u32 %a1, %r0, 4; add.u64 %a1, %a0, %a1;
    setp.ne.u32 %p0, %r1, 0; @%p0 bra MET;
    BODY
    MET: bar.sync 0; st.volatile.global.u32 [%a1+4], 1; ret;
}"""
ALL_MEET = """
    atom.global.add.u32 %r3, [%a0], 1;
    SPIN: ld.volatile.global.u32 %r3, [%a0]; setp.lt.u32 %p1, %r3, %r2; @%p1 bra SPIN;"""
# The first block waits for the last one, the others do not wait.
FIRST_WAITS = """
    setp.ne.u32 %p1, %r0, 0; @%p1 bra MET; mul.wide.u32 %a2, %r2, 4; add.u64 %a2, %a0, %a2;
    SPIN: ld.volatile.global.u32 %r3, [%a2]; setp.eq.u32 %p1, %r3, 0; @%p1 bra SPIN;"""


def fitting(blocks: int) -> dict[str, object]:
    """The options of a launch of which so many blocks fit on the device."""
    return {"resident_blocks": lambda *kernel: blocks}


def words() -> np.ndarray:
    return np.zeros(64, "u4")


@pytest.mark.parametrize(("body", "grid"), [(ALL_MEET, 5), (FIRST_WAITS, 40)])
def test_blocks_that_can_begin(body: str, grid: int) -> None:
    text = KERNEL.replace("BODY", body)
    (found,) = check_equal(text, (grid,), (64,), words(), **fitting(5))
    assert np.frombuffer(found, "u4")[1 : grid + 1].tolist() == [1] * grid


def test_blocks_that_cannot_begin() -> None:
    fault = check_equal_fault(KERNEL.replace("BODY", ALL_MEET), (7,), (64,), words(), **fitting(5))
    head, excluded, spinning, _, waiting, _ = fault.splitlines()
    assert head == "kernel blocks: deadlock: blocks wait for others, which cannot begin"
    assert excluded == (
        "  2 of 7 blocks have not begun, from block (5, 0, 0) on: "
        "no more than 5 fit on the device at once"
    )
    assert spinning.startswith(
        "  5 threads run: block (0, 0, 0), thread (0, 0, 0); block (1, 0, 0)"
    )
    assert waiting.startswith("  315 threads wait at barrier 0: block (0, 0, 0), thread (1, 0, 0)")


def test_the_report_of_a_deadlock_is_linear_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """All lanes that wait are looked at once, and not once for each block."""
    looked_at: list[int] = []

    def indices(lanes: Lanes) -> Array:
        found = lane_sets.indices(lanes)
        looked_at.append(len(found))
        return found

    monkeypatch.setattr(waiting_lanes, "lane_sets", SimpleNamespace(indices=indices))

    def work(blocks: int) -> int:
        """The lanes that are looked at in a deadlock of so many blocks."""
        looked_at.clear()
        text, options = KERNEL.replace("BODY", ALL_MEET), fitting(blocks)
        _, fault, _ = launched(text, COMPILE, (blocks + 1,), (64,), words(), **options)
        assert "deadlock" in fault
        return sum(looked_at)

    few = work(5)
    assert few >= 64 * 5 - 5
    assert work(40) <= 9 * few


def test_clusters_that_cannot_begin() -> None:
    options = {"cluster": (2, 1, 1), **fitting(5)}
    text = KERNEL.replace("BODY", ALL_MEET)
    check_equal(text, (4,), (32,), words(), **options)
    fault = check_equal_fault(text, (6,), (32,), words(), **options)
    assert "2 of 6 blocks have not begun, from block (4, 0, 0) on: no more than 4 fit" in fault


def test_a_loop_that_counts_is_not_known_to_be_endless() -> None:
    """The report of its threads says which blocks have not begun."""
    body = ALL_MEET.replace("SPIN:", "mov.u32 %r4, 0; SPIN: add.u32 %r4, %r4, 1;")
    body += "st.global.u32 [%a0+60], %r4;"
    begun = "2 of 7 blocks have not begun, from block (5, 0, 0) on"
    states = interrupted_states(
        KERNEL.replace("BODY", body), (7,), (64,), shown=begun, **fitting(5)
    )
    assert begun in states
    assert "5 threads run: block (0, 0, 0), thread (0, 0, 0); block (1, 0, 0)" in states


@pytest.mark.parametrize("mode", [INTERPRET, COMPILE])
def test_a_loop_that_reads_a_clock_ends(mode: str) -> None:
    """Nothing else changes until it gives up."""
    body = """mov.u64 %a3, %globaltimer; add.u64 %a3, %a3, 200000000;
    atom.global.add.u32 %r3, [%a0], 1;
    SPIN: mov.u64 %a2, %globaltimer; setp.gt.u64 %p2, %a2, %a3; @%p2 bra MET;
    ld.volatile.global.u32 %r3, [%a0]; setp.lt.u32 %p1, %r3, %r2; @%p1 bra SPIN;"""
    text = KERNEL.replace("BODY", body)
    (found,), fault, _ = launched(text, mode, (6,), (64,), words(), **fitting(5))
    assert fault == ""
    assert np.frombuffer(found, "u4")[:7].tolist() == [6, 1, 1, 1, 1, 1, 1]
