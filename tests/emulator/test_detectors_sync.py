"""Synchronization errors: correct and wrong kernels, and the reports, on both engines."""

from __future__ import annotations

import pytest

from cudarun.emulator.detectors import sync_errors, undefined_values
from cudarun.emulator.detectors.findings import DetectorFinding
from cudarun.emulator.engines import COMPILE, INTERPRET
from tests.emulator.compiled.test_detectors import check_equal
from tests.emulator.test_detectors_races import texts, watched

# %p3 is true for the odd threads, %p4 for those from 40 on, %p5 for those from 16 on of a warp.
SETUP = """.reg .b32 %l, %x<4>; .reg .pred %q;
  and.b32 %l, %t, 1; setp.eq.u32 %p3, %l, 1; setp.ge.u32 %p4, %t, 40;
  and.b32 %l, %t, 31; setp.ge.u32 %p5, %l, 16; mov.u32 %x0, %t;
"""
STORE = "st.global.u32 [%g], %x0;"
SHUFFLE = "shfl.sync.{mode}.b32 %x0, %x0, {by}, {limit}, {mask};"


def shuffle(mode: str, by: int, mask: str = "-1", *, limit: int = 31) -> str:
    return SHUFFLE.format(mode=mode, by=by, limit=limit, mask=mask)


WRONG = {
    "barriers of two warps": (
        "@%p2 bra A;\n bar.sync 0;\n bra.uni B;\n A: bar.sync 0;\n B:",
        sync_errors.IN_BLOCK,
    ),
    "barriers of halves of warps": (
        "@%p3 bra A;\n bar.sync 0;\n bra.uni B;\n A: bar.sync 0;\n B:",
        sync_errors.IN_WARP,
    ),
    "barriers with counts in a warp": (
        "@%p5 bra A;\n bar.sync 1, 64;\n bra.uni B;\n A: bar.sync 1, 64;\n B:",
        sync_errors.IN_WARP,
    ),
    "half a warp at a barrier with a count": ("@%p5 bar.sync 1, 32;", sync_errors.PARTIAL),
    "a barrier in a branch": (
        f"@!%p4 bar.sync 0;\n ld.global.u32 %x0, [%g];\n {STORE}",
        sync_errors.SKIPPED,
    ),
    "a barrier with a result in a branch": (
        f"@!%p4 bar.red.popc.u32 %x1, 0, %p0;\n ld.global.u32 %x0, [%g];\n {STORE}",
        sync_errors.SKIPPED,
    ),
    "a barrier in rounds of a loop": (
        f"""mov.u32 %x0, 0; and.b32 %x1, %t, 2;
        L: bar.sync 0;\n add.u32 %x0, %x0, 1; setp.le.u32 %p6, %x0, %x1; @%p6 bra L;
        {STORE}""",
        sync_errors.SKIPPED,
    ),
    "a shuffle in rounds of a loop": (
        f"""mov.u32 %x2, 0; and.b32 %x1, %t, 2;
        L: {shuffle("bfly", 1)}\n add.u32 %x2, %x2, 1; setp.le.u32 %p6, %x2, %x1; @%p6 bra L;
        {STORE}""",
        sync_errors.SKIPPED,
    ),
    "a barrier of a warp in a branch": (
        f"@!%p5 bar.warp.sync -1;\n ld.global.u32 %x0, [%g];\n {STORE}",
        sync_errors.SKIPPED,
    ),
    "a mask without callers": (f"{shuffle('bfly', 1, '65535')}\n {STORE}", sync_errors.OUTSIDE),
    "a vote without callers": ("vote.sync.any.pred %q, %p0, 65535;", sync_errors.OUTSIDE),
    "a barrier of a warp without callers": ("bar.warp.sync 65535;", sync_errors.OUTSIDE),
    "no mask": (f"mov.u32 %x1, 0; {shuffle('bfly', 1, '%x1')}\n {STORE}", sync_errors.EMPTY),
    "two masks": (
        f"selp.u32 %x1, -1, 65535, %p5; {shuffle('bfly', 1, '%x1')}\n {STORE}",
        sync_errors.MASKS,
    ),
    "two masks at a barrier": (
        "selp.u32 %x1, -1, 65535, %p5; bar.warp.sync %x1;", sync_errors.MASKS
    ),
    "masks that overlap": (
        "selp.u32 %x1, 0xffff0000, 0x1ffff, %p5; match.any.sync.b32 %x0, %t, %x1;",
        sync_errors.MASKS,
    ),
    "a source outside the mask": (
        f"@%p5 bra A;\n {shuffle('down', 8, '65535')}\n A: {STORE}",
        undefined_values.SOURCE,
    ),
    "a source that decides": (
        f"@%p5 bra A;\n {shuffle('down', 8, '65535')}\n setp.eq.u32 %p6, %x0, 7; @%p6 bra A;\n A:",
        undefined_values.SOURCE,
    ),
    "a source that has exited": (
        f"@%p5 ret;\n {shuffle('bfly', 16)}\n {STORE}", undefined_values.SOURCE
    ),
}  # fmt: skip
RIGHT = {
    "barriers of two warps": "bar.sync 0;",
    "named barriers of two warps": "@%p2 bra A; bar.sync 1, 64; bra.uni B; A: bar.sync 1, 64; B:",
    "a producer and a consumer": "@%p2 bra A; bar.arrive 1, 64; bra.uni B; A: bar.sync 1, 64; B:",
    "half of a warp at another barrier that is not aligned": (
        "@%p3 bra A; barrier.sync 0; bra.uni B; A: barrier.sync 0; B:"
    ),
    "one warp at a barrier with a count": "@%p2 bar.sync 1, 32;",
    "a barrier after an early return": f"@%p4 ret; bar.sync 0; ld.global.u32 %x0, [%g]; {STORE}",
    "a barrier after an early return with a result": (
        f"@%p4 bra A; bar.sync 0; ld.global.u32 %x0, [%g]; A: {STORE}"
    ),
    "a barrier after an early return with the same result": f"@%p4 bra A; bar.sync 0; A: {STORE}",
    "a barrier after an early return with the same atomic operations": (
        "@%p4 bra A; bar.sync 0; A: atom.global.add.u32 %x0, [%g], 1; red.global.add.u32 [%g], 1;"
    ),
    "a barrier in a loop": (
        f"""mov.u32 %x0, 0;
        L: bar.sync 0; add.u32 %x0, %x0, 1; setp.le.u32 %p6, %x0, 2; @%p6 bra L; {STORE}"""
    ),
    "a return in a loop": (
        f"""mov.u32 %x0, 0; and.b32 %x1, %t, 2;
        L: bar.sync 0; add.u32 %x0, %x0, 1; setp.gt.u32 %p6, %x0, %x1; @%p6 ret;
        setp.le.u32 %p6, %x0, 2; @%p6 bra L; {STORE}"""
    ),
    "a shuffle of groups in rounds of a loop": (
        f"""and.b32 %x1, %t, 8; mov.u32 %x2, 0; and.b32 %l, %t, 24; shl.b32 %x3, 255, %l;
        L: {shuffle("bfly", 1, "%x3")} add.u32 %x2, %x2, 8; setp.le.u32 %p6, %x2, %x1; @%p6 bra L;
        {STORE}"""
    ),
    "barriers of a warp in two branches": (
        "@%p3 bra A; bar.warp.sync -1; bra.uni B; A: bar.warp.sync -1; B:"
    ),
    "active lanes": f"@%p3 bra A; activemask.b32 %x1; {shuffle('idx', 0, '%x1')} A: {STORE}",
    "masks of halves": f"selp.u32 %x1, 0xffff0000, 65535, %p5; {shuffle('bfly', 8, '%x1')} {STORE}",
    "lanes with the same value": (
        "match.any.sync.b32 %x1, %l, -1; redux.sync.add.s32 %x0, %t, %x1; st.global.u32 [%g], %x0;"
    ),
    "a mask with exited lanes": f"@%p5 ret; vote.sync.ballot.b32 %x0, %p3, -1; {STORE}",
    "exited lanes at a barrier of a warp": f"@%p5 ret; bar.warp.sync -1; {STORE}",
    "a source outside the segment": f"{shuffle('down', 8, limit=0x1807)} {STORE}",
    "a source outside the mask that is not used": (
        f"@%p5 bra A; {shuffle('down', 8, '65535')} setp.lt.u32 %p6, %l, 8; @%p6 {STORE} A:"
    ),
    "a source that is replaced": (
        f"@%p5 bra A; mov.u32 %x1, %x0; {shuffle('down', 8, '65535')} setp.lt.u32 %p6, %l, 8;"
        f"selp.u32 %x0, %x0, %x1, %p6; A: {STORE}"
    ),
}


def found(body: str, *, block: int = 64) -> list[DetectorFinding]:
    return watched(SETUP + body, ["sync"], block=block)


@pytest.mark.parametrize(("body", "problem"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong(body: str, problem: str) -> None:
    findings = found(body)
    assert {finding.problem for finding in findings} == {problem}
    assert {(finding.kind, finding.memory) for finding in findings} == {("sync", None)}


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT.keys())
def test_what_is_right(body: str) -> None:
    assert found(body) == []


def test_places() -> None:
    [finding] = found(WRONG["two masks"][0], block=32)
    first, second = finding.places
    assert (first.thread, first.lanes, first.members) == ((16, 0, 0), 0xFFFF0000, 0xFFFFFFFF)
    assert (second.thread, second.lanes, second.members) == ((0, 0, 0), 0xFFFF, 0xFFFF)
    [finding] = found(WRONG["a barrier in a branch"][0])
    assert texts([finding]) == [("@!%p4 bar.sync 0;", "ld.global.u32 %x0, [%g];")]
    waiting, skipping = finding.places
    assert (waiting.access, waiting.thread, waiting.lanes) == ("arrival", (0, 0, 0), 0xFFFFFFFF)
    assert (skipping.access, skipping.thread, skipping.lanes) == ("skip", (40, 0, 0), 0xFFFFFF00)
    assert finding.count == 24


def test_a_partial_warp() -> None:
    """Of 20 threads, 16 exchange values within their mask; 4 to 15 read lanes that do not exist."""
    [finding] = found(f"{shuffle('bfly', 16)}\n {STORE}", block=20)
    place, use = finding.places
    assert (finding.problem, finding.count) == (undefined_values.SOURCE, 12)
    assert (place.thread, place.lanes, place.members) == ((4, 0, 0), 0xFFF0, 0xFFFFFFFF)
    assert (use.access, use.thread, use.site.text) == ("use", (4, 0, 0), STORE)
    assert found(f"bar.warp.sync -1; {shuffle('bfly', 1)} {STORE}", block=20) == []
    matrix = "mov.u32 %x1, part; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%x0}, [%x1];"
    assert [finding.problem for finding in found(matrix, block=20)] == [sync_errors.WHOLE]
    assert found(matrix, block=64) == []


INTERPRETED = (  # by the compiled engine, too, because of barriers with counts, or of exited lanes
    *("named barriers of two warps", "a producer and a consumer"),
    "one warp at a barrier with a count",
    *("a source outside the mask that is not used", "a source that is replaced"),
    "half of a warp at another barrier that is not aligned",
)


@pytest.mark.parametrize("name", RIGHT)
def test_right_programs_are_compiled(name: str) -> None:
    note = check_equal(SETUP + RIGHT[name], detect="sync")
    assert note.engine == (INTERPRET if name in INTERPRETED else COMPILE)


@pytest.mark.parametrize("name", WRONG)
def test_findings_of_compiled_code(name: str) -> None:
    note = check_equal(SETUP + WRONG[name][0], detect="sync")
    assert note.engine == INTERPRET
