"""The positive control: what is found without each barrier, fence, wait and atomic operation."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudarun.emulator.detectors.detector_observer import DetectorObserver
from cudarun.emulator.detectors.proof import Prover, Variant
from cudarun.emulator.faults import DeviceFault
from tests.emulator.device import Device
from tests.emulator.test_detectors_races import KERNEL, SILENT

NVCC = Path(__file__).parent / "nvcc"


def unlimited(run: Callable[[], None]) -> bool:
    run()
    return True


class Proved:
    """A launch with its variants."""

    def __init__(
        self,
        text: str,
        *arguments: Any,
        kernel: str = "k",
        grid: int = 1,
        block: int = 64,
        limited: Callable[[Callable[[], None]], bool] = unlimited,
        **options: Any,
    ) -> None:
        prover = Prover(limited)
        observer = DetectorObserver(["race"], baseline=prover.baseline)
        self.device = Device(text, observer=observer, execute=prover.execute, multiprocessors=4)
        self.buffers = [
            self.device.buffer(each) if isinstance(each, np.ndarray) else each for each in arguments
        ]
        self.device.launch(kernel, (grid,), (block,), *self.buffers, **options)
        self.races = observer.findings
        self.variants = prover.variants

    @property
    def outcomes(self) -> list[tuple[str, str]]:
        """Kind and outcome of each variant."""
        return [(each.removed.kind, each.outcome) for each in self.each]

    @property
    def each(self) -> list[Variant]:
        assert self.variants is not None
        return self.variants

    def words(self, count: int, buffer: int = 0) -> list[int]:
        return self.device.read(self.buffers[buffer], np.uint32, count).tolist()


def proved(body: str, head: str = "", **options: Any) -> Proved:
    return Proved(head + KERNEL.format(body=body), np.zeros(4096, np.uint32), **options)


def outcomes(body: str, **options: Any) -> list[tuple[str, str]]:
    return proved(body, **options).outcomes


# --- barriers ------------------------------------------------------------------------------------


def test_the_race_of_a_barrier_is_the_pair_that_it_orders() -> None:
    body = "st.shared.u32 [%s], %t;\nbar.sync 0;\nld.shared.u32 %v1, [%o];\nbar.sync 1;"
    needed, redundant = proved(body).each
    assert (needed.outcome, redundant.outcome) == ("race", "no race")
    assert needed.removed.site.text == "bar.sync 0;"
    assert needed.race is not None
    assert [place.site.text for place in needed.race.places] == [
        "st.shared.u32 [%s], %t;",
        "ld.shared.u32 %v1, [%o];",
    ]
    assert redundant.race is None


def test_a_barrier_in_a_loop_and_one_that_is_not_reached() -> None:
    body = """
    mov.u32 %v3, 0;
    LOOP:
    st.shared.u32 [%s], %v3;
    bar.sync 0;
    ld.shared.u32 %v1, [%o];
    bar.sync 0;
    add.u32 %v3, %v3, 1;
    setp.lt.u32 %p3, %v3, 3;
    @%p3 bra LOOP;
    setp.gt.u32 %p3, %v3, 90;
    @!%p3 bra END;
    bar.sync 0;
    END:"""
    assert outcomes(body) == [("barrier", "race"), ("barrier", "race"), ("barrier", "not reached")]


FUNCTION = """
.func exchange(.reg .u32 at, .reg .u32 of) {
  .reg .u32 %v;
  st.shared.u32 [at], at;
  bar.sync 0;
  ld.shared.u32 %v, [of];
  ret;
}
.func unused() { bar.sync 0; ret; }
.visible .entry other() { bar.sync 0; ret; }
"""


def test_a_barrier_in_a_function() -> None:
    text = FUNCTION + KERNEL.format(body="call exchange, (%s, %o);")
    [only] = Proved(text, np.zeros(64, np.uint32)).each
    assert (only.removed.site.function, only.outcome) == ("exchange", "race")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("st.shared.u32 [%s], %t; bar.warp.sync -1; ld.shared.u32 %v1, [%o];", "warp barrier"),
        ("st.shared.u32 [%s], %t; barrier.sync 3, 32; ld.shared.u32 %v1, [%o];", "barrier"),
        (
            "st.shared.u32 [%s], %t; bar.red.popc.u32 %v2, 0, %p0; ld.shared.u32 %v1, [%o];",
            "barrier",
        ),
    ],
)
def test_every_kind_of_barrier(body: str, kind: str) -> None:
    assert outcomes(body, block=32) == [(kind, "race")]


def test_a_barrier_of_some_threads_does_not_keep_the_others_waiting() -> None:
    body = """
    @%p2 bra SECOND;
    st.shared.u32 [%s], %t;
    bar.arrive 1, 64;
    bra END;
    SECOND:
    bar.sync 1, 64;
    ld.shared.u32 %v1, [part+128];
    END:"""
    assert outcomes(body) == [("barrier", "race")]


def test_threads_do_not_wait_at_a_barrier_of_some_threads() -> None:
    """As at a barrier of all: those that run ahead see what is not done yet."""
    found = proved(LATE.format(otherwise="@%p3 trap;").replace("bar.sync 0", "bar.sync 2, 64"))
    assert found.outcomes[0] == ("barrier", "fault")
    assert "the kernel executed 'trap'" in found.each[0].fault


def test_two_instructions_at_a_barrier_of_some_threads() -> None:
    """Without one, the threads at the other would wait forever; the order alone is removed."""
    body = """
    st.shared.u32 [%s], %t;
    @%p2 bra SECOND;
    bar.sync 1, 64;
    bra READ;
    SECOND:
    bar.sync 1, 64;
    READ:
    setp.lt.u32 %p3, %t, 31; @%p3 bra END;
    ld.shared.u32 %v1, [%o];
    END:"""
    assert outcomes(body) == [("barrier", "race"), ("barrier", "race")]


def test_the_barrier_of_a_cluster() -> None:
    """The last one keeps the block of the shared memory there."""
    body = """
    barrier.cluster.arrive; barrier.cluster.wait;
    mov.u32 %v2, part; mapa.shared::cluster.u32 %v2, %v2, 1;
    @%p1 st.shared::cluster.u32 [%v2], %t;
    barrier.cluster.arrive; barrier.cluster.wait;
    @!%p1 ld.shared.u32 %v1, [part];
    barrier.cluster.arrive; barrier.cluster.wait;"""
    found = outcomes(body, grid=2, block=1, cluster=(2, 1, 1))
    barrier = "cluster barrier"
    assert found == [(barrier, "race"), (barrier, "race"), (barrier, "no race")]


# --- atomic operations ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "red.global.add.u32 [%z], 1;",
        "atom.shared.add.u32 %v1, [part], 1;",
        "atom.global.exch.b32 %v1, [%z], %t;",
        "atom.global.cas.b32 %v1, [%z], 0, %n;",
        "mov.f32 %f0, 0f3F800000; red.global.add.f32 [%z], %f0;",
        "mov.f32 %f0, 0f3F800000; red.global.add.v2.f32 [%z], {%f0, %f0};",
    ],
)
def test_a_plain_operation_races(body: str) -> None:
    assert outcomes(body) == [("atomic", "race")]


def test_a_plain_operation_computes_the_same() -> None:
    """Of one thread no race is found, and the value is that of the atomic operation."""
    body = """
    atom.global.add.u32 %v1, [%z], 5;
    atom.global.cas.b32 %v2, [%z], 5, 9;
    atom.global.cas.b32 %v3, [%z], 5, 7;
    atom.global.exch.b32 %v4, [%z], 11;
    atom.global.inc.u32 %v5, [%z], 11;
    mad.lo.u32 %v1, %v1, 100, %v2;
    mad.lo.u32 %v3, %v3, 100, %v4;
    mad.lo.u32 %v1, %v1, 10000, %v3;
    setp.ne.u32 %p3, %v1, 50909;
    setp.ne.or.u32 %p3, %v5, 11, %p3;
    @%p3 trap;"""
    found = proved(body, block=1)
    assert found.outcomes == [("atomic", "no race")] * 5
    assert found.words(1) == [0]


def test_a_pair_that_is_no_race_counts_here() -> None:
    """It is not reported of the unmodified kernel, unless a barrier orders it there."""
    body = "atom.global.add.u32 %v1, [%z], 1; bar.sync 0; ld.volatile.global.u32 %v2, [%z];"
    assert outcomes(body) == [("atomic", "race"), ("barrier", "race")]
    unordered = "atom.global.add.u32 %v1, [%z], 1; ld.volatile.global.u32 %v2, [%z]; bar.sync 0;"
    assert outcomes(unordered) == [("atomic", "race"), ("barrier", "no race")]


def test_a_volatile_write_after_reads() -> None:
    body = "ld.global.u32 %v1, [%h]; bar.sync 0; st.volatile.global.u32 [%g], %t;"
    assert outcomes(body) == [("barrier", "race")]
    body = "ld.volatile.global.u32 %v1, [%h]; bar.sync 0; st.volatile.global.u32 [%g], %t;"
    assert outcomes(body) == [("barrier", "race")]


# --- fences and mbarrier objects -----------------------------------------------------------------


MESSAGE = """
    @%p1 bra WRITER;
    AGAIN: ld.volatile.global.u32 %v1, [%z+4]; setp.eq.u32 %p3, %v1, 0; @%p3 bra AGAIN;
    membar.gl;
    ld.global.u32 %v2, [%z];
    bra END;
    WRITER:
    st.global.u32 [%z], 7;
    membar.gl;
    st.volatile.global.u32 [%z+4], 1;
    END:"""


def test_a_fence_is_needed_where_something_is_written() -> None:
    assert outcomes(MESSAGE, grid=2, block=1) == [("fence", "no race"), ("fence", "race")]


@pytest.mark.parametrize(
    ("kernel", "grid", "block"), [("split", 2, 256), ("copied", 1, 64), ("piped", 1, 64)]
)
@pytest.mark.parametrize("target", ["sm80", "sm90"])
def test_the_waits_of_pipelines(target: str, kernel: str, grid: int, block: int) -> None:
    x = np.arange(2048, dtype=np.int32 if kernel == "piped" else np.float32)
    count = 512 if kernel == "copied" else 2048
    text = (NVCC / f"pipelines_{target}.ptx").read_text()
    found = Proved(text, x, np.zeros_like(x), count, kernel=kernel, grid=grid, block=block)
    assert found.races == []
    waits = [outcome for kind, outcome in found.outcomes if kind == "mbarrier wait"]
    assert "race" in waits


def test_waits_and_proxy_fences_of_copies() -> None:
    body = """
    cp.async.ca.shared.global [%s], [%g], 4; cp.async.commit_group; cp.async.wait_group 0;
    bar.sync 0;
    ld.shared.u32 %v1, [%o];
    bar.sync 0;
    st.shared.u32 [%s], %v1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @!%p0 bra NEXT;
    cp.async.bulk.global.shared::cta.bulk_group [%z], [part], 256;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;
    NEXT: bar.sync 0;
    st.shared.u32 [%s], %t;"""
    head = ".version 8.6\n.target sm_90a\n.address_size 64\n"
    assert outcomes(body, head=head) == [
        ("commit", "race"),
        ("copy wait", "race"),
        ("barrier", "race"),
        ("barrier", "race"),
        ("fence", "race"),
        ("barrier", "race"),
        ("commit", "race"),
        ("copy wait", "race"),
        ("barrier", "race"),
    ]


INITIALIZED = "fence.mbarrier_init.release.cluster;"


@pytest.mark.parametrize("wait", ["cp.async.bulk.wait_group.read 0;", ""])
def test_a_block_that_ends_before_its_copies(wait: str) -> None:
    """Without the wait it is no finding, and one is not expected of a variant."""
    body = """
    st.shared.u32 [%s], %t;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @!%p0 bra NEXT;
    cp.async.bulk.global.shared::cta.bulk_group [%z], [part], 256;
    cp.async.bulk.commit_group; """
    head = ".version 8.6\n.target sm_90a\n.address_size 64\n"
    expected = [("fence", "race"), ("barrier", "race"), ("commit", "race"), ("copy wait", "race")]
    if not wait:
        expected = [*expected[:2], ("commit", "no race")]
    assert outcomes(body + wait + "NEXT:", head=head) == expected


@pytest.mark.parametrize("fence", ["fence.proxy.async.shared::cta;", INITIALIZED, ""])
def test_the_fence_of_an_initialized_object(fence: str) -> None:
    """Many programs have none: that is no finding, and one is not expected of a variant."""
    body = """
    @%p0 mbarrier.init.shared.b64 [part+4096], 1;
    {}
    bar.sync 0;
    @!%p0 bra NEXT;
    mbarrier.arrive.expect_tx.shared.b64 _, [part+4096], 256;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
      [part], [%z], 256, [part+4096];
    NEXT:
    AGAIN: mbarrier.try_wait.parity.shared.b64 %p3, [part+4096], 0;
    @!%p3 bra AGAIN;
    ld.shared.u32 %v1, [%o];"""
    head = ".version 8.6\n.target sm_90a\n.address_size 64\n"
    expected = [("fence", "race"), ("barrier", "race"), ("mbarrier wait", "race")]
    assert outcomes(body.format(fence), head=head) == expected[not fence :]


# --- how variants end ----------------------------------------------------------------------------

LATE = """
    @%p0 bra SLOW;
    MAIN:
    bar.sync 0;
    atom.global.or.b32 %v1, [%z], 0;
    setp.eq.u32 %p3, %v1, 0;
    {otherwise}
    bra END;
    SLOW:
    atom.global.exch.b32 %v2, [%z], 1;
    bra MAIN;
    END:"""


def test_a_fault_without_a_race() -> None:
    found = proved(LATE.format(otherwise="@%p3 trap;"))
    assert found.outcomes == [("barrier", "fault"), ("atomic", "race"), ("atomic", "no race")]
    assert found.each[0].race is None
    assert "the kernel executed 'trap'" in found.each[0].fault


def test_a_deadlock_without_a_race() -> None:
    """Threads that run ahead wait at a barrier for those that never come to it."""
    body = LATE.format(otherwise="@%p3 bar.sync 1, 96;")
    first, _, second, _ = proved(body).each
    assert (first.outcome, second.outcome) == ("fault", "not reached")
    assert "deadlock" in first.fault


class _Overdue(Exception):
    pass


def test_a_variant_without_an_end() -> None:
    """The limit ends only what would run for ever."""

    def limited(run: Callable[[], None]) -> bool:
        def stop(*_: object) -> None:
            raise _Overdue

        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        try:
            run()
        except _Overdue:
            return False
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        return True

    found = proved(LATE.format(otherwise="STAY: @%p3 bra STAY;"), limited=limited)
    assert found.outcomes[0] == ("barrier", "timeout")
    assert found.words(1) == [1]


def test_nothing_is_proved_of_a_kernel_with_races() -> None:
    found = proved("st.shared.u32 [%s], %t; ld.shared.u32 %v1, [%o]; bar.sync 0;")
    assert len(found.races) == 1
    assert found.variants is None


def test_a_fault_of_the_kernel_itself_is_raised() -> None:
    with pytest.raises(DeviceFault, match="trap"):
        proved("bar.sync 0; trap;")


# --- what remains --------------------------------------------------------------------------------


STATE = """
.global .u32 counter = 3;
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.visible .entry k(.param .u64 out, .param .u64 kept) {
  .reg .b64 %o, %k, %p; .reg .u32 %v, %t; .reg .pred %q;
  ld.param.u64 %o, [out]; ld.param.u64 %k, [kept];
  mov.u32 %t, %tid.x; setp.ne.u32 %q, %t, 0;
  @%q bra END;
  ld.global.u32 %v, [counter]; add.u32 %v, %v, 1; st.global.u32 [counter], %v;
  { .param .b64 a; st.param.b64 [a], 64; .param .b64 r;
    call (r), malloc, (a); ld.param.b64 %p, [r]; }
  st.u32 [%p], %v;
  ld.global.u64 %o, [%k];
  { .param .b64 b; st.param.b64 [b], %o; call free, (b); }
  st.global.u64 [%k], %p;
  ld.param.u64 %o, [out];
  st.global.u32 [%o], %v;
  END: bar.sync 0;
  atom.global.add.u32 %v, [%o+4], 1;
  ret;
}
"""


def test_every_variant_begins_with_the_memory_of_the_launch_whose_results_remain() -> None:
    found = Proved(STATE, np.zeros(2, np.uint32), np.zeros(1, np.uint64), block=2)
    device = found.device
    for launches in (2, 3):
        block = int(device.read(found.buffers[1], np.uint64, 1)[0])
        assert device.read(block, np.uint32, 1)[0] == 2 + launches
        assert found.words(2) == [2 + launches, 2 * launches - 2]
        device.launch("k", (1,), (2,), *found.buffers)
    assert device.heap._used == 64
    assert len(found.each) == 6


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT.keys())
def test_the_results_of_correct_kernels_remain(body: str) -> None:
    grid, cluster = (4, {}) if "cluster" not in body else (4, {"cluster": (2, 1, 1)})
    found = proved(body, grid=grid, **cluster)
    device = Device(KERNEL.format(body=body), multiprocessors=4)
    buffer = device.buffer(np.zeros(4096, np.uint32))
    device.launch("k", (grid,), (64,), buffer, **cluster)
    assert found.words(4096) == device.read(buffer, np.uint32, 4096).tolist()
