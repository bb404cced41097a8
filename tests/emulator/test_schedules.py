"""Schedules: right kernels have the same results with all of them, wrong ones do not."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from cudarun.emulator.engines import INTERPRET, Engines
from cudarun.emulator.execution import execute
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine.schedules.schedule import Schedule
from cudarun.emulator.machine.tensor_maps.tensor_map import TensorMap
from tests.emulator.device import Device
from tests.emulator.test_detectors_asynchronous import HEAD, RIGHT, WRONG
from tests.emulator.test_detectors_races import KERNEL

LATE = None
SEEDS = range(6)
OUT = 8192  # bytes from the start of the buffer
STORE = f"\nst.global.u32 [%m+{OUT}], %v1;"


def results(
    body: str,
    seed: int | str | None = "usual",
    *,
    grid: int = 1,
    block: int = 64,
    processors: int = 4,
    engine: str = INTERPRET,
) -> bytes:
    """Return the global memory after a kernel with this body, which writes ``%v1`` for a thread."""
    device = Device(
        HEAD + KERNEL.format(body=body + STORE),
        multiprocessors=processors,
        execute=partial(execute, engines=Engines(engine)),
    )
    buffer = device.buffer(np.arange(1, 4097, dtype=np.uint32))
    schedule = None if isinstance(seed, str) else Schedule(seed)
    device.launch("k", (grid,), (block,), buffer, schedule=schedule)
    other = device.read(device.symbols["other"], np.uint32, 1024)
    return device.read(buffer, np.uint32, 4096).tobytes() + other.tobytes()


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT.keys())
def test_right_copies_are_complete_when_they_are_used(body: str) -> None:
    usual = results(body)
    assert all(results(body, seed) == usual for seed in (LATE, *SEEDS))


LATE_COPIES = {name: WRONG[name][0] for name in (
    "no wait",
    "no wait, own data",
    "no group",
    "a wait for too few groups",
    "the wait of some threads",
    "no wait at the object",
    "overwritten before it is read",
    "no group of the bulk copy",
    "only the source has been read",
    "no wait for the phase",
    "the phase before",
    "st.async without a wait",
)} | {
    "a test that fails": RIGHT["bulk copy to shared memory"].replace("@!%p3 bra AGAIN;", ""),
    "the arrival of copies, tested once":
        RIGHT["cp.async at an mbarrier"].replace("@!%p3 bra AGAIN;", ""),
    "a bulk reduction":
        WRONG["only the source has been read"][0].replace(
            "cp.async.bulk.global.shared::cta.bulk_group",
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32"),
    "red.async": WRONG["st.async without a wait"][0].replace(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32"),
}  # fmt: skip


@pytest.mark.parametrize("body", LATE_COPIES.values(), ids=LATE_COPIES.keys())
def test_late_copies_of_wrong_kernels_are_missing(body: str) -> None:
    body = body.replace("[other];", "[other+4];")
    usual = results(body)
    assert results(body, LATE) != usual
    assert any(results(body, seed) != usual for seed in SEEDS)


def test_a_wait_of_each_thread_after_their_barrier() -> None:
    body = WRONG["a wait after the barrier"][0]
    assert len({results(body, seed) for seed in SEEDS}) > 1


def test_a_source_is_read_late() -> None:
    body = """@!%p0 bra SKIP;
    cp.async.ca.shared.global [%s], [%z+4], 4;
    mov.u32 %v2, 77; st.global.u32 [%z+4], %v2;
    cp.async.wait_all; ld.shared.u32 %v1, [%s];
    SKIP:"""
    assert results(body, LATE) != results(body)


BOXES = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 maps, .param .u64 out) {{
    .shared .align 128 .b8 tile[256]; .shared .align 8 .b64 object;
    .reg .b64 %m<2>, %o; .reg .b32 %t, %at, %v; .reg .pred %first, %q;
    ld.param.u64 %m0, [maps]; add.u64 %m1, %m0, 128; ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x; setp.eq.u32 %first, %t, 0;
    mad.wide.u32 %o, %t, 4, %o; mov.u32 %at, tile; mad.lo.u32 %at, %t, 4, %at;
    @%first mbarrier.init.shared.b64 [object], 1;
    bar.sync 0;
    @!%first bra WAIT;
    mbarrier.arrive.expect_tx.shared.b64 _, [object], 256;
    cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes
        [tile], [%m0, {{0, 0}}], [object];
WAIT:
    {wait}
    ld.shared.u32 %v, [%at]; st.global.u32 [%o], %v;
    @!%first bra DONE;
    cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%m1, {{0, 0}}], [tile];
    cp.async.bulk.commit_group;
    {read}
DONE:
    bar.sync 0;
    st.shared.u32 [%at], %t;
    ret;
}}"""
PHASE = "mbarrier.try_wait.parity.shared.b64 %q, [object], 0; @!%q bra WAIT;"
READ = "cp.async.bulk.wait_group.read 0;"


def boxes(wait: str, read: str, seed: int | str | None = "usual") -> bytes:
    """Return what threads read in a box that is loaded and stored, and the tensor it goes to."""
    device = Device(BOXES.format(wait=wait, read=read))
    there = device.buffer(np.arange(64, dtype=np.uint32) + 100)
    to, out = device.buffer(np.zeros(64, np.uint32)), device.buffer(np.zeros(64, np.uint32))
    maps = [TensorMap(2, each, (8, 8), (32,), (1, 1), (8, 8)).encode() for each in (there, to)]
    given = device.buffer(np.frombuffer(b"".join(maps), np.uint8))
    schedule = None if isinstance(seed, str) else Schedule(seed)
    device.launch("k", (1,), (64,), given, out, schedule=schedule)
    return device.read(out, np.uint32, 64).tobytes() + device.read(to, np.uint32, 64).tobytes()


def test_boxes_of_tensors() -> None:
    usual = boxes(PHASE, READ)
    assert all(boxes(PHASE, READ, seed) == usual for seed in (LATE, *SEEDS))
    for wrong in (("", READ), (PHASE, "")):
        assert boxes(*wrong) == usual
        assert boxes(*wrong, LATE) != usual


RACES = {
    "no barrier between warps": (
        "st.shared.u32 [%s], %t; {} ld.shared.u32 %v1, [%o];", "bar.sync 0;", 1),
    "no barrier between lanes": (
        "xor.b32 %o, %s, 4; st.shared.u32 [%s], %t; {} ld.shared.u32 %v1, [%o];",
        "bar.warp.sync -1;", 1),
    "a counter that is not atomic": (
        "ld.global.u32 %v1, [other]; {0} add.u32 %v1, %v1, 1; st.global.u32 [other], %v1;"
        " mov.u32 %v1, 0;", None, 8),
    "a block reads what others write": (
        "st.global.u32 [%m], %n; {} @%p1 ld.global.u32 %v1, [%z+1024];", None, 8),
}  # fmt: skip


@pytest.mark.parametrize(("body", "barrier", "grid"), RACES.values(), ids=RACES.keys())
def test_the_order_of_threads(body: str, barrier: str | None, grid: int) -> None:
    found = {results(body.format(""), seed, grid=grid) for seed in range(12)}
    assert len(found) > 1
    if barrier is not None:
        usual = results(body.format(barrier), grid=grid)
        assert all(results(body.format(barrier), seed, grid=grid) == usual for seed in range(12))


LOCKED = """mov.u32 %v1, 0;
AGAIN: atom.global.cas.b32 %v2, [%z], 1, 2; setp.ne.u32 %p3, %v2, 1; @%p3 bra AGAIN;
ld.volatile.global.u32 %v3, [other]; add.u32 %v3, %v3, 1; st.volatile.global.u32 [other], %v3;
membar.gl; atom.global.exch.b32 %v2, [%z], 1;"""


def test_locks_make_progress() -> None:
    usual = results(LOCKED)
    assert all(results(LOCKED, seed) == usual for seed in range(2))


WORKING = """@%p0 st.volatile.shared.u32 [part], 0;
bar.sync 0; mov.u32 %v2, 0; @!%p0 bra SPIN;
WORK: add.u32 %v2, %v2, 1; setp.lt.u32 %p3, %v2, 300; @%p3 bra WORK;
st.volatile.shared.u32 [part], 1; bra END;
SPIN: ld.volatile.shared.u32 %v1, [part]; setp.eq.u32 %p3, %v1, 0; @%p3 bra SPIN;
END: mov.u32 %v1, 1; mov.u64 %m, %z;"""


def test_many_threads_may_wait_for_one() -> None:
    seed = 58  # draws long turns, so that many of them do not change anything
    # More blocks than fit on the device: those in progress could be waiting for the other ones.
    assert results(WORKING, seed, grid=12, block=256, processors=1) == results(
        WORKING, grid=12, block=256
    )


HANGING = """@%p2 bra REST;
st.volatile.shared.u32 [part+4096], 1; bra END;
REST: ld.volatile.shared.u32 %v1, [part+4096]; setp.ne.u32 %p3, %v1, 1; @%p3 trap;
END: mov.u32 %v1, 0;"""


def test_a_fault_depends_on_the_order() -> None:
    def faults(seed: int) -> bool:
        try:
            results(HANGING, seed)
        except DeviceFault:
            return True
        return False

    assert len({faults(seed) for seed in range(12)}) == 2


def test_a_seed_repeats_the_order() -> None:
    body, _, grid = RACES["a counter that is not atomic"]
    for seed in (0, 7, 1 << 62):
        first, second = (results(body.format(""), seed, grid=grid) for _ in range(2))
        assert first == second


def test_numbers_of_a_schedule_are_the_same_on_every_machine() -> None:
    schedule = Schedule(5)
    assert [schedule.draw(1000) for _ in range(4)] == [9, 286, 198, 589]
