"""Asynchronous operations and proxies: each kernel as it is right, and without one instruction.

The mistakes are those of public bug reports: missing waits, groups, phases and proxy fences.
"""

from __future__ import annotations

from typing import Any

import pytest

from cudarun.emulator.detectors.findings import DetectorFinding
from cudarun.emulator.machine.spaces import RESERVED_SHARED
from cudarun.emulator.machine.tensor_maps.tensor_map import TensorMap
from tests.emulator.test_detectors_races import KERNEL, watched

BARRIER = "bar.sync 0;\n"
FENCE = "fence.proxy.async.shared::cta;"


HEAD = """.version 8.6
.target sm_90a
.address_size 64
.global .align 128 .b8 other[4096];
"""


def found(body: str, detect: str = "race", **options: Any) -> list[DetectorFinding]:
    """Return the findings in a kernel with this body."""
    return watched(body, [detect], before=HEAD, kernel=KERNEL, **options)


COPY = "cp.async.ca.shared.global [%s], [%g], 4;\n"
COMMIT, WAIT = "cp.async.commit_group;\n", "cp.async.wait_group 0;\n"
USE = "ld.shared.u32 %v1, [%o];\n"

# of a bulk copy from shared memory: thread 0 copies the tile of the block
TILE = "mov.u64 %w1, other; @!%p0 bra NEXT;\n"
STORE = "cp.async.bulk.global.shared::cta.bulk_group [%w1], [part], 256;\n"
GROUP, READ = "cp.async.bulk.commit_group;\n", "cp.async.bulk.wait_group.read 0;\n"
DONE = "cp.async.bulk.wait_group 0;\n"

# of one to shared memory, which completes at the object at part + 4096
OBJECT = """
@%p0 mbarrier.init.shared.b64 [part+4096], 1;
{}
@!%p0 bra NEXT;
mbarrier.arrive.expect_tx.shared.b64 _, [part+4096], 256;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [part], [%z], 256, [part+4096];
NEXT:
"""
TEST = "mbarrier.test_wait.parity.shared.b64 %p3, [part+4096], 1;\n"  # of the other phase
PHASE = """
AGAIN: mbarrier.try_wait.parity.shared.b64 %p3, [part+4096], 0;
@!%p3 bra AGAIN;
"""
LOAD = OBJECT.format(BARRIER)

RIGHT = {
    "cp.async": COPY + COMMIT + WAIT + BARRIER + USE,
    "cp.async, own data": COPY + COMMIT + WAIT + "ld.shared.u32 %v1, [%s];",
    "cp.async, all": COPY + "cp.async.wait_all;\n" + BARRIER + USE,
    "two groups": COPY + COMMIT + COPY.replace("[%s]", "[%s+1024]") + COMMIT
    + "cp.async.wait_group 1;\n" + BARRIER + USE,
    "cp.async into a tile that was read": USE + BARRIER + COPY + COMMIT + WAIT,
    "cp.async at an mbarrier": "@%p0 mbarrier.init.shared.b64 [part+4096], 64;" + BARRIER + COPY
    + "cp.async.mbarrier.arrive.noinc.shared.b64 [part+4096];" + PHASE + USE,
    "bulk copy from shared memory": "st.shared.u32 [%s], %t;" + FENCE + BARRIER + TILE + STORE
    + GROUP + READ + "NEXT: " + BARRIER + "st.shared.u32 [%s], %b;",
    "the fence of the copying thread": "st.shared.u32 [%s], %t;" + BARRIER + TILE + FENCE + STORE
    + "NEXT:",
    "a fence of one direction": (
        "st.shared.u32 [%s], %t; fence.proxy.async::generic.release.sync_restrict::shared::cta"
        ".cluster;" + BARRIER + TILE + STORE + "NEXT:"),
    "its result": "st.shared.u32 [%s], %t;" + FENCE + BARRIER + TILE + STORE + GROUP + DONE
    + "NEXT: " + BARRIER + "ld.global.u32 %v1, [other];",
    "bulk copy to shared memory": LOAD + PHASE + USE,
    "the next phase": LOAD + PHASE + USE + BARRIER + LOAD.partition(BARRIER)[2].replace(
        "NEXT", "LATER") + PHASE.replace("AGAIN", "ONCE").replace("], 0", "], 1") + USE,
    "loaded again after the copy":
        LOAD.replace("NEXT:\n", "") + PHASE + TILE.replace("@!%p0 bra NEXT;", "") + STORE + GROUP
        + READ + LOAD.partition("@!%p0 bra NEXT;")[2].replace("NEXT:", "")
        + PHASE.replace("AGAIN", "LATER").replace("], 0;", "], 1;") + "NEXT:",
    "one thread waits": LOAD + "@!%p0 bra REST;" + PHASE + "REST:" + BARRIER + USE,
    "a copied tile is copied": (
        LOAD + PHASE + BARRIER + TILE.replace("NEXT", "END") + STORE + "END:"),
    "st.async": "@%p0 mbarrier.init.shared.b64 [part+4096], 1;" + BARRIER + "@!%p0 bra NEXT;"
    "mbarrier.arrive.expect_tx.shared.b64 _, [part+4096], 4; st.async.shared::cluster"
    ".mbarrier::complete_tx::bytes.u32 [part], %n, [part+4096]; NEXT:" + PHASE
    + "ld.shared.u32 %v1, [part];",
}  # fmt: skip


EACH = "mov.u64 %w1, other;\n" + STORE + GROUP + DONE
"""The same copy by each lane, as ``TMA`` stores of CUTLASS without an elected lane."""


def test_equal_copies_of_lanes() -> None:
    assert found(EACH) == []
    assert found(EACH, "race=strict")
    one = COPY.replace("%s", "part").replace("%g", "%z")
    assert found(one) == []
    assert found(one, "race=strict")
    assert found(one.replace("%z", "%g"))
    own = (
        "shl.b32 %v2, %t, 4; mov.u32 %v3, part; add.u32 %v2, %v2, %v3; st.shared.u32 [%v2], %t;"
        + FENCE
    )
    assert found(own + EACH.replace("[part]", "[%v2]").replace("256", "16"))


def test_copies_of_lanes_after_those_of_other_lanes() -> None:
    (race,) = found(EACH + EACH.replace("[part]", "[part+256]"))
    assert [each.access for each in race.places] == ["asynchronous store", "asynchronous store"]
    assert race.places[0].site.line < race.places[1].site.line


def test_stores_with_different_objects() -> None:
    """Of threads 0 and 1 with equal operands, and 2 and 3 with others."""
    assert found(
        "@%p0 mbarrier.init.shared.b64 [part+4096], 1;"
        "@%p0 mbarrier.init.shared.b64 [part+4104], 1;"
        "bar.sync 0; setp.gt.u32 %p3, %t, 3; @%p3 bra NEXT; mov.u32 %v2, part;"
        "setp.gt.u32 %p3, %t, 1; selp.u32 %v1, 5, 7, %p3; selp.u32 %v3, 8, 0, %p3;"
        "add.u32 %v3, %v2, %v3; st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [part],"
        " %v1, [%v3+4096]; NEXT:"
    )


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT.keys())
def test_what_is_ordered(body: str) -> None:
    assert found(body) == []


@pytest.mark.parametrize("body", [body for name, body in RIGHT.items() if "was read" not in name])
def test_what_has_been_copied_is_written(body: str) -> None:
    assert found(body, "uninit") == []


NO_GROUP = "no cp.async.wait_group of the copying thread before the load"
NO_PHASE = f"no wait on the mbarrier at {RESERVED_SHARED + 4096:#x} before the load"
NO_READ = "no cp.async.bulk.wait_group.read of the copying thread before the store"
NO_DONE = "no cp.async.bulk.wait_group of the copying thread before the load"
NO_FENCE = "no fence.proxy.async between them"
NO_BARRIER = "no barrier between the first and the issue of the second"
COPIED = ("asynchronous store", "load")

WRONG = {
    "no wait": (COPY + COMMIT + BARRIER + USE, COPIED, NO_GROUP),
    "no wait, own data": (COPY + COMMIT + "ld.shared.u32 %v1, [%s];", COPIED, NO_GROUP),
    "no group": (COPY + WAIT + BARRIER + USE, COPIED, NO_GROUP),
    "a wait for too few groups": (
        COPY + COMMIT + "cp.async.wait_group 1;\n" + BARRIER + USE, COPIED, NO_GROUP),
    "no barrier after the wait": (COPY + COMMIT + WAIT + USE, COPIED, NO_GROUP),
    "a wait after the barrier": (COPY + COMMIT + BARRIER + WAIT + USE, COPIED, NO_GROUP),
    "the wait of some threads": (
        COPY + COMMIT + "@!%p2 bra SKIP;" + WAIT + "SKIP:" + BARRIER + USE, COPIED, NO_GROUP),
    "a tile that others still read": (USE + COPY, ("load", "asynchronous store"), NO_BARRIER),
    "two copies to one place": (
        COPY + COMMIT + COPY + COMMIT + WAIT,
        ("asynchronous store", "asynchronous store"),
        "no cp.async.wait_group of the copying thread before the issue of the second"),
    "no wait at the object": (
        RIGHT["cp.async at an mbarrier"].replace(PHASE, ""), COPIED, NO_GROUP),
    "overwritten before it is read": (
        RIGHT["bulk copy from shared memory"].replace(READ, ""),
        ("asynchronous load", "store"), NO_READ),
    "no group of the bulk copy": (
        RIGHT["bulk copy from shared memory"].replace(GROUP, ""),
        ("asynchronous load", "store"), NO_READ),
    "loaded again while a copy reads it": (
        RIGHT["loaded again after the copy"].replace(".read 0", ".read 1"),
        ("asynchronous load", "asynchronous store"),
        NO_READ.replace("store", "issue of the second")),
    "no proxy fence": (
        RIGHT["bulk copy from shared memory"].replace(FENCE, ""),
        ("store", "asynchronous load"), NO_FENCE),
    "a proxy fence before the write": (
        FENCE + RIGHT["bulk copy from shared memory"].replace(FENCE, ""),
        ("store", "asynchronous load"), NO_FENCE),
    "the proxy fence of the copying thread before the barrier": (
        RIGHT["bulk copy from shared memory"].replace(FENCE, "@!%p0 bra S;" + FENCE + "S: "),
        ("store", "asynchronous load"), NO_FENCE),
    "a proxy fence for another space": (
        RIGHT["bulk copy from shared memory"].replace(FENCE, "fence.proxy.async.global;"),
        ("store", "asynchronous load"), NO_FENCE),
    "an ordinary fence": (
        RIGHT["bulk copy from shared memory"].replace(FENCE, "membar.cta;"),
        ("store", "asynchronous load"), NO_FENCE),
    "no barrier before the copy": (
        "st.shared.u32 [%s], %t;" + FENCE + TILE + STORE + "NEXT:",
        ("store", "asynchronous load"), NO_BARRIER),
    "an atomic without a proxy fence": (
        "red.shared.add.u32 [%s], 1;" + BARRIER + TILE + STORE + "NEXT:",
        ("atomic operation", "asynchronous load"), NO_FENCE),
    "a copied tile without a proxy fence": (
        COPY + COMMIT + WAIT + BARRIER + TILE + STORE + "NEXT:",
        ("asynchronous store", "asynchronous load"), NO_FENCE),
    "only the source has been read": (RIGHT["its result"].replace(DONE, READ), COPIED, NO_DONE),
    "no wait for the phase": (LOAD + BARRIER + USE, COPIED, NO_PHASE),
    "the phase before": (LOAD + TEST + USE, COPIED, NO_PHASE),
    "the phase before the one of the next copy": (
        LOAD + PHASE + BARRIER + LOAD.partition(BARRIER)[2].replace("NEXT", "LATER")
        + TEST.replace("], 1;", "], 0;") + USE,
        COPIED, NO_PHASE),
    "an object that is not ready": (
        OBJECT.format("") + PHASE + USE, ("store", "load"), ""),
    "st.async without a wait": (RIGHT["st.async"].replace(PHASE, ""), COPIED, NO_PHASE),
    "global memory written in the kernel": (
        "st.global.u32 [%g], %t; bar.sync 0;" + LOAD + PHASE + USE,
        ("store", "asynchronous load"), NO_FENCE),
}  # fmt: skip


@pytest.mark.parametrize(("body", "accesses", "problem"), WRONG.values(), ids=WRONG.keys())
def test_what_is_not_ordered(body: str, accesses: tuple[str, str], problem: str) -> None:
    races_ = found(body)
    kinds = {(tuple(place.access for place in each.places), each.problem) for each in races_}
    assert (accesses, problem) in kinds
    assert len(kinds) <= 2


def test_a_race_names_the_copy_and_its_thread() -> None:
    (race,) = found(LOAD + BARRIER + USE)
    copy, read = race.places
    assert copy.site.name.startswith("cp.async.bulk.shared::cluster.global")
    assert (copy.thread, read.site.text) == ((0, 0, 0), "ld.shared.u32 %v1, [%o];")
    assert race.memory is not None
    assert race.memory.name == "variable k.part"


UNWRITTEN = (
    "no wait",
    "no wait, own data",
    "no group",
    "a wait for too few groups",
    "no wait at the object",
    "no wait for the phase",
    "st.async without a wait",
)


@pytest.mark.parametrize("name", UNWRITTEN)
def test_what_is_being_copied_is_not_written(name: str) -> None:
    (finding,) = found(WRONG[name][0], "uninit")
    assert (finding.kind, finding.places[0].access) == ("uninit", "load")
    assert finding.memory is not None
    assert finding.memory.space == "shared"


MEETING = "barrier.cluster.arrive; barrier.cluster.wait;\n"
ELSEWHERE = """
{first}
xor.b32 %v2, %b, 1; mapa.shared::cluster.u32 %v3, %o, %v2; ld.shared::cluster.u32 %v1, [%v3];
barrier.cluster.arrive; barrier.cluster.wait;
"""


@pytest.mark.parametrize(
    ("first", "problem"),
    [
        (COPY + COMMIT + WAIT + MEETING, None),
        (COPY + MEETING, NO_GROUP),
        (COPY + "barrier.cluster.arrive; cp.async.wait_all; barrier.cluster.wait;", NO_GROUP),
    ],
)
def test_another_block_reads_what_has_been_copied(first: str, problem: str | None) -> None:
    races_ = found(ELSEWHERE.format(first=first), grid=2, cluster=(2, 1, 1))
    assert {each.problem for each in races_} == ({problem} if problem else set())


SLOTS = """
@%p2 bra FILL;
bar.arrive 3, 64; bar.arrive 4, 64;
{one} {two} {one}
bra END;
FILL:
bar.sync 3, 64; st.shared.u32 [%s], %t; bar.arrive 1, 64;
bar.sync 4, 64; st.shared.u32 [%s+128], %t; bar.arrive 2, 64;
bar.sync 3, 64; st.shared.u32 [%s], %b; bar.arrive 1, 64;
END:
"""  # the first warp fills two slots in turn, the second one empties them


@pytest.mark.parametrize("early", [False, True])
def test_a_slot_is_given_back_after_it_has_been_read(early: bool) -> None:
    def turn(full: int, empty: int, slot: int) -> str:
        read, back = f"ld.shared.u32 %v1, [%s+{slot}];", f"bar.arrive {empty}, 64;"
        return f"bar.sync {full}, 64;" + (back + read if early else read + back)

    races_ = found(SLOTS.format(one=turn(1, 3, -128), two=turn(2, 4, 0)))
    accesses = [tuple(place.access for place in each.places) for each in races_]
    assert accesses == ([("load", "store")] if early else [])


# --- barriers of clusters, tensor maps, equal loads ----------------------------------------------

RELAXED = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;\n"
STORED = "st.shared.u32 [%s], %t;\n"
APART = (  # the first thread arrives before the others store
    "@!%p0 bra L; barrier.cluster.arrive{}; bra W; L: {} barrier.cluster.arrive; {} W:"
    " barrier.cluster.wait;\n"
)


@pytest.mark.parametrize(
    ("first", "is_race"),
    [
        (STORED + MEETING, False),
        (STORED + RELAXED, True),
        (STORED + "fence.acq_rel.cluster;" + RELAXED, False),
        ("fence.acq_rel.cluster;" + STORED + RELAXED, True),
        (STORED + RELAXED.replace("; ", "; fence.acq_rel.cluster; "), True),
        (STORED + BARRIER + "@%p0 fence.acq_rel.cluster;" + RELAXED, False),
        (STORED + MEETING + RELAXED, False),
        (RELAXED + STORED + MEETING, False),
        (
            "setp.gt.u32 %p3, %t, 31; @%p3 bra X; " + MEETING + "bra R; X: " + STORED + "exit; R:",
            False,
        ),
        (APART.format("", STORED, ""), False),
        (APART.format(".relaxed", STORED, ""), False),
        (APART.format("", "", STORED), True),
        (APART.format(".relaxed", "", STORED), True),
    ],
)
def test_relaxed_arrivals(first: str, is_race: bool) -> None:
    races_ = found(ELSEWHERE.format(first=first), grid=2, cluster=(2, 1, 1))
    assert bool(races_) == is_race
    assert all(len(each.places) == 2 for each in races_)  # both blocks have begun


AHEAD = """
{before} barrier.cluster.arrive; @!%p1 bra L;
barrier.cluster.wait; {after} barrier.cluster.arrive{relaxed}; bra W;
L: barrier.cluster.wait;
mov.u32 %v2, 0; mapa.shared::cluster.u32 %v3, %o, %v2; ld.shared::cluster.u32 %v1, [%v3];
barrier.cluster.arrive; W: barrier.cluster.wait;
"""  # the first block has arrived twice when the other one has waited once


@pytest.mark.parametrize("relaxed", ["", ".relaxed"])
@pytest.mark.parametrize(("before", "after"), [(STORED, ""), ("", STORED)])
def test_a_block_that_is_ahead(before: str, after: str, relaxed: str) -> None:
    body = AHEAD.format(before=before, after=after, relaxed=relaxed)
    races_ = found(body, grid=2, cluster=(2, 1, 1))
    assert [len(each.places) for each in races_] == ([2] if after else [])


def test_threads_that_exit_together_after_different_arrivals() -> None:
    first = "setp.ge.u32 %p3, %t, 16; @%p3 bra S; barrier.cluster.arrive; S:" + "{} exit;"
    body = "@!%p1 bra L;" + first.format("st.global.u32 [%g], %t;") + "L: barrier.cluster.arrive;"
    body += "barrier.cluster.wait; @%p2 bra E; ld.global.u32 %v1, [%g]; E:"
    assert found(body, grid=2, cluster=(2, 1, 1)) == []


def test_the_barrier_of_a_block_counts_after_a_relaxed_one() -> None:
    body = STORED + BARRIER + RELAXED + "ld.shared.u32 %v1, [%o];"
    assert found(body, grid=2, cluster=(2, 1, 1)) == []


def test_an_initialized_object_and_a_relaxed_arrival() -> None:
    body = """
    @!%p0 bra L; mbarrier.init.shared.b64 [part+4096], 1; {} L:
    barrier.cluster.arrive.relaxed; barrier.cluster.wait;
    xor.b32 %v2, %b, 1; mov.u32 %v3, part; mapa.shared::cluster.u32 %v3, %v3, %v2;
    @%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%v3+4096];
    barrier.cluster.arrive; barrier.cluster.wait;
    """
    fence = "fence.mbarrier_init.release.cluster;"
    assert found(body.format(fence), grid=2, cluster=(2, 1, 1)) == []
    assert found(body.format(""), grid=2, cluster=(2, 1, 1))


MAP = """
cvta.global.u64 %w1, other; add.u64 %w2, %w1, 1024; @!%p0 bra NEXT;
{}
cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%w1, {{%t, %t}}], [part];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
NEXT:
"""
REPLACED = "tensormap.replace.tile.global_address.global.b1024.b64 [%w1], %w2;"
ACQUIRED = "fence.proxy.tensormap::generic.acquire.gpu [%w1], 128;"
RELEASED = "fence.proxy.tensormap::generic.release.gpu;"


@pytest.mark.parametrize(
    ("before", "is_race"),
    [
        ("", False),
        (REPLACED, True),
        (REPLACED + RELEASED + ACQUIRED, False),
        (ACQUIRED + REPLACED, True),
        (REPLACED + RELEASED, True),
    ],
)
def test_tensor_maps_that_a_kernel_writes(before: str, is_race: bool) -> None:
    encoded = TensorMap(2, 0x7F00_0000_0000, (8, 8), (32,), (1, 1), (8, 8)).encode()
    words = ", ".join(map(str, encoded))
    head = HEAD.replace("other[4096]", f"other[4096] = {{{words}}}")
    races_ = watched(MAP.format(before), ["race"], before=head, kernel=KERNEL, block=32)
    wanted = ["no fence.proxy.tensormap between them"] if is_race else []
    assert [each.problem for each in races_ if "tensormap" in each.problem] == wanted


def test_equal_loads_of_lanes_at_one_object() -> None:
    several = OBJECT.format(BARRIER).replace(
        "@!%p0 bra NEXT;", "setp.gt.u32 %p3, %t, 1; @%p3 bra NEXT;"
    )
    several = several.replace("[part+4096], 1;", "[part+4096], 2;")
    assert found(several + PHASE + USE) == []
    assert found(several + PHASE + USE, "race=strict")
    own = "mul.wide.u32 %w2, %t, 16; add.u64 %w2, %w2, %z;" + several.replace("[%z]", "[%w2]")
    assert found(own + PHASE + USE)
