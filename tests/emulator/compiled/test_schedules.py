"""Schedules of compiled code: warps and blocks take turns, and asynchronous copies are late."""

from __future__ import annotations

from functools import partial

import pytest

from cudarun.emulator.engines import COMPILE, Engines, NotCompiled
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine.schedules.schedule import OverlappingGrid, Schedule
from tests.emulator import test_schedules as interpreted
from tests.emulator.device import Device
from tests.emulator.test_detectors_asynchronous import RIGHT
from tests.emulator.test_schedules import HANGING, LATE, LATE_COPIES, LOCKED, RACES, WORKING

results = partial(interpreted.results, engine=COMPILE)
SEEDS = range(4)

RIGHT_COPIES = ("two groups", "cp.async at an mbarrier", "its result", "the next phase", "st.async")


@pytest.mark.parametrize("name", RIGHT_COPIES)
def test_right_copies_are_complete_when_they_are_used(name: str) -> None:
    usual = results(RIGHT[name])
    assert all(results(RIGHT[name], seed) == usual for seed in (LATE, *SEEDS))


WRONG_COPIES = (
    "a wait for too few groups",
    "no group of the bulk copy",
    "the phase before",
    "red.async",
)


@pytest.mark.parametrize("name", WRONG_COPIES)
def test_late_copies_of_wrong_kernels_are_missing(name: str) -> None:
    body = LATE_COPIES[name].replace("[other];", "[other+4];")
    usual = results(body)
    assert results(body, LATE) != usual
    assert any(results(body, seed) != usual for seed in SEEDS)


@pytest.mark.parametrize("name", [name for name in RACES if "lanes" not in name])
def test_the_order_of_warps_and_blocks(name: str) -> None:
    body, barrier, grid = RACES[name]
    found = [results(body.format(""), seed, grid=grid) for seed in range(12)]
    assert len(set(found)) > 1
    assert found == [results(body.format(""), seed, grid=grid) for seed in range(12)]
    if barrier is not None:
        usual = results(body.format(barrier), grid=grid)
        assert all(results(body.format(barrier), seed, grid=grid) == usual for seed in SEEDS)


def test_a_turn_can_end_between_two_accesses() -> None:
    body = "@!%p0 bra END; " + RACES["a counter that is not atomic"][0].format("") + " END:"
    counts = {results(body, seed, grid=8)[16384:16388] for seed in range(12)}
    assert len(counts) > 1


def test_a_fault_depends_on_the_order() -> None:
    def faults(seed: int) -> bool:
        try:
            results(HANGING, seed)
        except DeviceFault:
            return True
        return False

    assert len({faults(seed) for seed in range(12)}) == 2


def test_locks_make_progress() -> None:
    usual = results(LOCKED)
    assert all(results(LOCKED, seed) == usual for seed in (LATE, *SEEDS))


def test_many_threads_may_wait_for_one() -> None:
    options = {"grid": 12, "block": 256}
    usual = results(WORKING, **options)
    assert results(WORKING, 3, processors=1, **options) == usual


WAITING = """@!%p0 bra END; mov.u32 %v1, %nctaid.x; add.u32 %v1, %v1, -1;
setp.eq.u32 %p3, %b, %v1; @%p3 bra LAST;
AGAIN: ld.volatile.global.u32 %v2, [other]; setp.eq.u32 %p3, %v2, 0; @%p3 bra AGAIN; bra END;
LAST: st.volatile.global.u32 [other], 1;
END: mov.u32 %v1, 0;"""


def test_blocks_that_wait_for_later_ones_do_not_fill_the_device() -> None:
    usual = results(WAITING, grid=6)
    assert all(results(WAITING, seed, grid=6) == usual for seed in (LATE, *SEEDS))


def test_grids_overlap_in_the_interpreter() -> None:
    device = Device(".entry k() { griddepcontrol.wait; ret; }")
    device.execute = partial(device.execute, engines=Engines(COMPILE))
    overlap = OverlappingGrid(OverlappingGrid())
    with pytest.raises(NotCompiled, match="only the interpreter overlaps grids"):
        device.launch("k", (1,), (1,), schedule=Schedule(0), overlap=overlap)
