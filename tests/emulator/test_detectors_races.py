"""Races: what is one, what is none, and what is said of it. Each kernel is a few lines of PTX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudarun.emulator.detectors.detector_observer import DetectorObserver
from cudarun.emulator.detectors.findings import DetectorFinding
from cudarun.emulator.machine.spaces import RESERVED_SHARED
from tests.emulator.device import Device

COPY_MAP = (
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned"
    " [%z], [part], 128;"
)

# %t is the thread, %b the block; %s and %o are addresses in shared memory, of the thread's own word
# and of the word of its neighbour %n; %g, %m and %h likewise in global memory; %z is its beginning.
KERNEL = """
.visible .entry k(.param .u64 p) {{
  .shared .align 16 .b8 part[8192];
  .reg .b32 %t, %b, %n, %s, %o, %v<8>;
  .reg .b64 %z, %g, %h, %m, %w<8>;
  .reg .pred %p<8>; .reg .f32 %f<4>;
  ld.param.u64 %z, [p];
  mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %v0, %ntid.x;
  add.u32 %n, %t, 1; rem.u32 %n, %n, %v0;
  shl.b32 %s, %t, 2; shl.b32 %o, %n, 2;
  mov.u32 %v1, part; add.u32 %s, %s, %v1; add.u32 %o, %o, %v1;
  mul.wide.u32 %g, %t, 4; add.u64 %g, %g, %z;
  mul.wide.u32 %h, %n, 4; add.u64 %h, %h, %z;
  mad.lo.u32 %v1, %b, %v0, %t; mul.wide.u32 %m, %v1, 4; add.u64 %m, %m, %z;
  setp.eq.u32 %p0, %t, 0; setp.eq.u32 %p1, %b, 0; setp.lt.u32 %p2, %t, 32;
  {body}
  ret;
}}
"""


def races(body: str, **options: Any) -> list[DetectorFinding]:
    return watched(body, ["race"], **options)


def watched(
    body: str,
    detect: list[str],
    *,
    grid: int = 1,
    block: int = 64,
    kernel: str = KERNEL,
    before: str = "",
    **options: Any,
) -> list[DetectorFinding]:
    watch = DetectorObserver(detect)
    text = before + kernel.format(body=body)
    device = Device(text, observer=watch, multiprocessors=4)
    buffer = device.buffer(np.zeros(4096, np.uint32))
    device.launch("k", (grid,), (block,), buffer, **options)
    return watch.findings


def texts(findings: list[DetectorFinding]) -> list[tuple[str, ...]]:
    return [tuple(place.site.text for place in finding.places) for finding in findings]


SILENT = {
    "own words": "st.shared.u32 [%s], %t; ld.shared.u32 %v1, [%s]; st.shared.u32 [%s], %v1;",
    "barrier": "st.shared.u32 [%s], %t; bar.sync 0; ld.shared.u32 %v1, [%o];",
    "barrier by count": "st.shared.u32 [%s], %t; barrier.sync 3, 64; ld.shared.u32 %v1, [%o];",
    "barrier with reduction": (
        "st.shared.u32 [%s], %t; bar.red.popc.u32 %v2, 0, %p0; ld.shared.u32 %v1, [%o];"
    ),
    "barrier and write": ("ld.shared.u32 %v1, [%o]; bar.sync 0; st.shared.u32 [%s], %t;"),
    "global memory and barrier": "st.global.u32 [%g], %t; bar.sync 0; ld.global.u32 %v1, [%h];",
    "atomics": "red.global.add.u32 [%z], 1; atom.shared.add.u32 %v1, [part], 1;",
    "atomics on vectors": "red.global.add.v4.f32 [%z], {%f1, %f1, %f1, %f1};",
    "atomics of 128 bits": ".reg .b128 %q; atom.shared.cas.b128 %q, [part], %q, %q;",
    "volatile global memory": "st.volatile.global.u32 [%g], %t; ld.volatile.global.u32 %v1, [%h];",
    "volatile, and a warp barrier": (
        "@%p2 st.volatile.shared.u32 [%s], %t; bar.warp.sync -1; bar.sync 0;"
        " ld.volatile.shared.u32 %v1, [%s];"
    ),
    "a loop that waits for a volatile word": (
        "@%p0 st.volatile.shared.u32 [part], 1;"
        " L: ld.volatile.shared.u32 %v1, [part]; setp.ne.u32 %p3, %v1, 1; @%p3 bra L;"
    ),
    "the first guess of compare and swap": (
        "ld.global.u32 %v1, [%z]; L: add.u32 %v2, %v1, 1; mov.u32 %v3, %v1;"
        " atom.global.cas.b32 %v1, [%z], %v3, %v2; setp.ne.u32 %p3, %v1, %v3; @%p3 bra L;"
    ),
    "an atomic, and a read after a barrier": (
        "red.shared.add.u32 [part], 1; bar.sync 0; ld.shared.u32 %v1, [part];"
    ),
    "atomics of the scope of the block": (
        "atom.cta.shared.add.u32 %v1, [part], 1; red.cta.global.add.u32 [%g], 1;"
    ),
    "one value by all": "mov.u32 %v1, 7; st.global.u32 [%z], %v1; st.global.u32 [%z], %v1;",
    "neighbouring bytes": (
        "cvt.u64.u32 %w1, %t; add.u64 %w1, %w1, %z;st.global.u8 [%w1], %t; ld.global.u8 %v1, [%w1];"
    ),
    "matrix stored, and barrier": (
        "mov.u32 %v2, part; mad.lo.u32 %v2, %t, 16, %v2; "
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%v2], {%t, %t, %t, %t}; bar.sync 0; "
        "ld.shared.u32 %v1, [%o];"
    ),
    "a map copied by a warp": (
        f"st.shared.u32 [%s], %t; @%p2 {COPY_MAP} @%p2 ld.global.u32 %v1, [%g];"
    ),
    "a map copied by two warps": f"st.shared.u32 [%s], %t; bar.sync 0; {COPY_MAP}",
    "reads": "ld.global.u32 %v1, [%h]; ld.global.v2.u32 {%v1, %v2}, [%z];",
}


@pytest.mark.parametrize("body", SILENT.values(), ids=SILENT.keys())
def test_what_is_no_race(body: str) -> None:
    assert races(body) == []


FOUND = {
    "no barrier": ("st.shared.u32 [%s], %t;\n ld.shared.u32 %v1, [%o];", ("store", "load")),
    "barrier too late": (
        "ld.shared.u32 %v1, [%o];\n st.shared.u32 [%s], %t;\n bar.sync 0;",
        ("load", "store"),
    ),
    "barrier of half the block": (
        "st.shared.u32 [%s], %t;\n @%p2 barrier.sync 1, 32;\n ld.shared.u32 %v1, [%o];",
        ("store", "load"),
    ),
    "two values in one place": ("st.global.u32 [%z], %t;", ("store", "store")),
    "atomic after plain write": (
        "@%p0 st.global.u32 [%z], %n;\n red.global.add.u32 [%z], 1;",
        ("store", "atomic operation"),
    ),
    "plain write after atomic": (
        "red.global.add.u32 [%z], 1;\n @%p0 st.global.u32 [%z], %n;",
        ("atomic operation", "store"),
    ),
    "plain write under an atomic on a vector": (
        "red.global.add.v4.f32 [%z], {%f1, %f1, %f1, %f1};\n @%p0 st.global.u32 [%z+12], %n;",
        ("atomic operation", "store"),
    ),
    "plain write under one of 128 bits": (
        ".reg .b128 %q;\n @%p0 st.shared.u32 [part+8], %n;\n atom.shared.exch.b128 %q, [part], %q;",
        ("store", "atomic operation"),
    ),
    "plain read before an atomic": (
        "ld.global.u32 %v1, [%z];\n red.global.add.u32 [%z], 1;",
        ("load", "atomic operation"),
    ),
    "plain read after an atomic": (
        "red.shared.add.u32 [part], 1;\n ld.shared.u32 %v1, [part];",
        ("atomic operation", "load"),
    ),
    "plain read of the last thread after an atomic": (
        "setp.eq.u32 %p3, %t, 63; red.shared.add.u32 [part], 1;\n @%p3 ld.shared.u32 %v1, [part];",
        ("atomic operation", "load"),
    ),
    "plain read of a volatile write": (
        "@%p0 st.volatile.global.u32 [%z], %n;\n ld.global.u32 %v1, [%z];",
        ("store", "load"),
    ),
    "volatile shared memory": (
        "st.volatile.shared.u32 [%s], %t;\n ld.volatile.shared.u32 %v1, [%o];",
        ("store", "load"),
    ),
    "volatile shared memory by generic addresses": (
        "mov.u64 %w1, part; cvta.shared.u64 %w1, %w1; mad.wide.u32 %w2, %t, 4, %w1;"
        " mad.wide.u32 %w3, %n, 4, %w1;"
        " st.volatile.u32 [%w2], %t;\n ld.volatile.u32 %v1, [%w3];",
        ("store", "load"),
    ),
    "volatile read of an atomic, which does not wait": (
        "red.shared.add.u32 [part], 1;\n ld.volatile.shared.u32 %v1, [part];",
        ("atomic operation", "load"),
    ),
    "volatile read of a plain write": (
        "@%p0 st.global.u32 [%z], %n;\n ld.volatile.global.u32 %v1, [%z];",
        ("store", "load"),
    ),
    "a byte of a word": ("st.global.u32 [%g], %t;\n ld.global.u8 %v1, [%h+3];", ("store", "load")),
    "a word of a vector": (
        "st.global.u32 [%g], %t;\n ld.global.v4.u32 {%v1, %v2, %v3, %v4}, [%z];",
        ("store", "load"),
    ),
    "matrix stored": (
        "mov.u32 %v2, part; mad.lo.u32 %v2, %t, 16, %v2;\n"
        " stmatrix.sync.aligned.m8n8.x4.shared.b16 [%v2], {%t, %t, %t, %t};\n"
        " ld.shared.u32 %v1, [%o];",
        ("store", "load"),
    ),
    "matrix stored over what was read": (
        "mov.u32 %v2, part; mad.lo.u32 %v2, %t, 16, %v2;\n ld.shared.u32 %v1, [%o];\n"
        " stmatrix.sync.aligned.m8n8.x4.shared.b16 [%v2], {%t, %t, %t, %t};",
        ("load", "store"),
    ),
    "a map copied by another warp": (
        f"@%p2 st.shared.u32 [%s], %t;\n {COPY_MAP}",
        ("store", "load"),
    ),
    "a copied map read by another warp": (
        f"@%p2 {COPY_MAP}\n ld.global.u32 %v1, [%z];",
        ("store", "load"),
    ),
    "generic addresses": ("st.u32 [%g], %t;\n ld.u32 %v1, [%h];", ("store", "load")),
}


@pytest.mark.parametrize(("body", "accesses"), FOUND.values(), ids=FOUND.keys())
def test_what_is_a_race(body: str, accesses: tuple[str, str]) -> None:
    found = races(body)
    assert accesses in [tuple(place.access for place in each.places) for each in found]
    for each in found:
        first, second = each.places
        assert (first.block, first.thread) != (second.block, second.thread)


MBARRIER = """
  @%p0 mbarrier.init.shared.b64 [part+4096], 64;
  bar.sync 0;
  st.shared.u32 [%s], %t;
  mbarrier.arrive.shared.b64 %w0, [part+4096];
  {wait}
  ld.shared.u32 %v1, [%o];"""
WAIT = "WAIT: mbarrier.try_wait.shared.b64 %p3, [part+4096], %w0; @!%p3 bra WAIT;"


@pytest.mark.parametrize(("wait", "count"), [(WAIT, 0), ("", 1)])
def test_a_wait_at_an_mbarrier_orders_and_an_arrival_does_not(wait: str, count: int) -> None:
    assert len(races(MBARRIER.format(wait=wait))) == count


# --- warps ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("between", "silent"),
    [
        ("", False),
        ("bar.warp.sync 0xffffffff;", True),
        ("shfl.sync.idx.b32 %v2, %t, 0, 31, 0xffffffff;", False),
        ("vote.sync.all.pred %p3, %p0, 0xffffffff;", False),
        ("match.any.sync.b32 %v2, %t, 0xffffffff;", False),
        ("redux.sync.add.u32 %v2, %t, 0xffffffff;", False),
        ("activemask.b32 %v2;", False),
    ],
)
def test_lanes_are_ordered_by_barriers_only(between: str, silent: bool) -> None:
    body = f"st.shared.u32 [%s], %t;\n {between}\n ld.shared.u32 %v1, [%o];"
    assert (races(body, block=32) == []) == silent


@pytest.mark.parametrize(
    ("meeting", "silent"),
    [
        ("shfl.sync.idx.b32 %v4, %v2, 0, 31, -1;", True),
        ("vote.sync.ballot.b32 %v4, %p0, -1;", False),
        ("shfl.sync.idx.b32 %v4, %v2, 0, 31, -1; ld.shared.u32 %v5, [%o];", False),
    ],
)
def test_a_shuffle_passes_on_what_a_lane_has_acquired(meeting: str, silent: bool) -> None:
    """Reductions of cooperative groups for tiles of several warps are written so."""
    found = races(f"""
        st.shared.u32 [%s], %t; @%p2 bra READ; bar.warp.sync -1;
        setp.eq.u32 %p3, %t, 32; @%p3 atom.acq_rel.cta.shared.exch.b32 %v2, [part+4096], 1;
        bra DONE;
        READ: @!%p0 bra MEET;
        SPIN: atom.acq_rel.cta.shared.or.b32 %v2, [part+4096], 0;
        setp.ne.u32 %p3, %v2, 1; @%p3 bra SPIN;
        MEET: {meeting} ld.shared.u32 %v5, [%s+128];
        DONE:""")
    assert (not found) == silent


def test_a_mask_orders_those_that_are_in_it() -> None:
    # Halves of a warp wait for themselves; thread 15 reads what thread 16 wrote, 31 what 0 did.
    body = """
      st.shared.u32 [%s], %t;
      setp.lt.u32 %p3, %t, 16; selp.b32 %v2, 0xffff, 0xffff0000, %p3;
      bar.warp.sync %v2;
      ld.shared.u32 %v1, [%o];
    """
    [finding] = races(body, block=32)
    assert finding.count == 2
    assert {finding.places[1].thread[0]} <= {15, 31}


def test_a_warp_does_not_order_another() -> None:
    body = "st.shared.u32 [%s], %t;\n bar.warp.sync 0xffffffff;\n ld.shared.u32 %v1, [%o];"
    [finding] = races(body, block=64)
    assert finding.count == 2  # threads 31 and 63


# --- blocks --------------------------------------------------------------------------------------


RELEASED = """
  setp.lt.u32 %p3, %t, 64; @%p3 bra FIRST;
WAIT:
  ld.acquire.cta.global.u32 %v1, [%z+2048]; setp.eq.u32 %p4, %v1, 0; @%p4 bra WAIT;
  ld.shared.u32 %v1, [part+200];
  bra DONE;
FIRST:
  st.shared.u32 [%s], %t;
  {meet}
  @!%p0 bra DONE;
  red.release.cta.global.add.u32 [%z+2048], 1;
DONE:
"""


def test_a_release_passes_on_what_some_warps_have_met_for() -> None:
    assert races(RELEASED.format(meet="bar.sync 1, 64;"), block=96) == []
    assert races(RELEASED.format(meet=""), block=96) != []


def test_blocks_race_in_global_memory_also_from_batch_to_batch() -> None:
    [finding] = races("st.global.u32 [%g], %b;", grid=3000, block=64)
    assert [place.block != (0, 0, 0) for place in finding.places].count(True) >= 1
    assert finding.memory.name == "buffer (param_0)"


@pytest.mark.parametrize("scope", ["cta", "gpu"])
@pytest.mark.parametrize("operation", ["red.relaxed.{}.global.add.u32 [%z], 1;",
                                       "atom.{}.global.exch.b32 %v1, [%z], 1;",
                                       "atom.{}.global.cas.b32 %v1, [%z], 0, 1;"])  # fmt: skip
def test_atomics_of_a_scope_without_the_other_block(operation: str, scope: str) -> None:
    body = operation.format(scope)
    assert races(body, block=32) == []
    found = races(body, grid=2, block=32)
    assert [place.block[0] for each in found for place in each.places] == [1, 0] * (scope == "cta")


def test_an_atomic_of_a_scope_without_the_thread_of_another_one() -> None:
    body = (
        "@%p1 atom.cta.global.add.u32 %v1, [%z], 1;\n @!%p1 atom.gpu.global.add.u32 %v1, [%z], 1;"
    )
    (found,) = races(body, grid=2, block=32)
    assert texts([found])[0][0].startswith("@%p1 atom.cta")


def test_blocks_have_their_own_shared_memory() -> None:
    body = "st.shared.u32 [%s], %b; bar.sync 0; ld.shared.u32 %v1, [%o];"
    assert races(body, grid=3000, block=64) == []


HAND_OVER = """
  mul.wide.u32 %w2, %b, 4; add.u64 %w2, %w2, %z;
  @%p1 bra FIRST;
WAIT:
  {read} %v1, [%z+2048];
  setp.eq.u32 %p3, %v1, 0; @%p3 bra WAIT;
  bar.sync 0;
  ld.global.u32 %v1, [%h];
  bra DONE;
FIRST:
  st.global.u32 [%g], %n;
  {fence_all}
  bar.sync 0;
  @!%p0 bra DONE;
  {fence}
  {write}
DONE:
"""
RELAXED = "ld.relaxed.gpu.global.u32"
VOLATILE = "ld.volatile.global.u32"


@pytest.mark.parametrize(
    ("read", "fence_all", "fence", "write", "silent"),
    [
        (VOLATILE, "", "membar.gl;", "st.volatile.global.u32 [%z+2048], 1;", True),
        (VOLATILE, "membar.gl;", "", "st.volatile.global.u32 [%z+2048], 1;", True),
        (RELAXED, "", "fence.acq_rel.gpu;", "st.relaxed.gpu.global.u32 [%z+2048], 1;", True),
        (RELAXED, "", "fence.sc.gpu;", "red.global.add.u32 [%z+2048], 1;", True),
        ("ld.acquire.gpu.global.u32", "", "", "st.release.gpu.global.u32 [%z+2048], 1;", True),
        ("ld.acquire.gpu.global.u32", "", "", "red.release.gpu.global.add.u32 [%z+2048], 1;", True),
        (VOLATILE, "", "", "st.volatile.global.u32 [%z+2048], 1;", False),
        (RELAXED, "", "", "red.global.add.u32 [%z+2048], 1;", False),
        (RELAXED, "", "membar.cta;", "red.global.add.u32 [%z+2048], 1;", False),
        (RELAXED, "", "", "red.release.cta.global.add.u32 [%z+2048], 1;", False),
        (VOLATILE, "", "st.volatile.global.u32 [%z+2048], 1;", "membar.gl;", False),
    ],
)
def test_a_flag_between_blocks(
    read: str, fence_all: str, fence: str, write: str, silent: bool
) -> None:
    body = HAND_OVER.format(read=read, fence_all=fence_all, fence=fence, write=write)
    found = races(body, grid=2, cooperative=True)
    assert (found == []) == silent, texts(found)


def test_a_fence_of_a_block_that_no_number_of_lanes_contains() -> None:
    body = "@%p0 st.global.u32 [%z+64], %b; membar.gl; red.global.add.u32 [%z], 1;"
    assert races(body, block=3) == []


def test_a_store_ends_what_was_published() -> None:
    # Block 0 publishes; block 1 sees it, sets the flag anew without a fence, and lets block 2 read
    # that, through another flag.
    body = """
      setp.eq.u32 %p4, %b, 1;
      @%p1 bra FIRST;
      @%p4 bra SECOND;
    THIRD:
      ld.volatile.global.u32 %v1, [%z+2052]; setp.eq.u32 %p3, %v1, 0; @%p3 bra THIRD;
      ld.volatile.global.u32 %v1, [%z+2048];
      ld.global.u32 %v2, [%g];
      bra DONE;
    SECOND:
      ld.volatile.global.u32 %v1, [%z+2048]; setp.ne.u32 %p3, %v1, 1; @%p3 bra SECOND;
      {write}
      st.volatile.global.u32 [%z+2052], 1;
      bra DONE;
    FIRST:
      st.global.u32 [%g], %n; membar.gl; st.volatile.global.u32 [%z+2048], 1;
    DONE:
    """
    store = "st.volatile.global.u32 [%z+2048], 2;"
    assert races(body.format(write=store), grid=3, block=1, cooperative=True)
    atomic = "atom.global.add.u32 %v1, [%z+2048], 1;"
    assert not races(body.format(write=atomic), grid=3, block=1, cooperative=True)


# --- what is said --------------------------------------------------------------------------------


def test_a_finding_names_both_places() -> None:
    kernel = '.file 1 "race.cu"\n' + KERNEL.replace(
        "{body}",
        ".loc 1 7 0\n st.shared.u32 [%s], %t;\n .loc 1 8 0\n ld.shared.u32 %v1, [%o];",
    )
    kernel = ".version 8.0\n.target sm_80\n.address_size 64\n" + kernel
    [finding] = races("", kernel=kernel)
    store, load = finding.places
    assert (store.access, store.site.text, store.site.source) == (
        "store", "st.shared.u32 [%s], %t;", "race.cu:7",
    )  # fmt: skip
    assert (load.access, load.site.source, load.block) == ("load", "race.cu:8", (0, 0, 0))
    assert load.site.line == store.site.line + 2
    assert store.thread[0] == (load.thread[0] + 1) % 64
    memory = finding.memory
    assert (memory.space, memory.size, memory.name) == ("shared", 4, "variable k.part")
    assert memory.offset == memory.address - RESERVED_SHARED == 4 * store.thread[0]
    assert (finding.kind, finding.kernel, finding.count) == ("race", "k", 64)


def test_a_launch_comes_after_the_one_before() -> None:
    watch = DetectorObserver(["race"])
    device = Device(KERNEL.format(body="st.global.u32 [%h], %t;"), observer=watch)
    buffer = device.buffer(np.zeros(4096, np.uint32))
    for _ in range(2):
        device.launch("k", (1,), (64,), buffer)
    assert watch.findings == []


def test_results_are_what_they_are_without() -> None:
    body = "st.shared.u32 [%s], %t; bar.sync 0; ld.shared.u32 %v1, [%o]; st.global.u32 [%m], %v1;"
    results = []
    for options in ({}, {"observer": DetectorObserver(["race", "uninit"], count=True)}):
        device = Device(KERNEL.format(body=body), **options)
        buffer = device.buffer(np.zeros(4096, np.uint32))
        device.launch("k", (4,), (64,), buffer)
        results.append(device.read(buffer, np.uint32, 4096))
    np.testing.assert_array_equal(*results)
