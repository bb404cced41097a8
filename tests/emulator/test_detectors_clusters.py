"""Races between blocks of a cluster, and the lifetime of their shared memory."""

from __future__ import annotations

import pytest

from cudarun.emulator.detectors.lifetimes import EXITED, NOT_STARTED
from tests.emulator.test_detectors_races import races

MEETING = "barrier.cluster.arrive; barrier.cluster.wait;\n"
ELSEWHERE = """
      st.shared.u32 [%s], %t;
      {first}
      xor.b32 %v1, %b, 1; mapa.shared::cluster.u32 %v2, %s, %v1;
      {access}.shared::cluster.u32 {operands};
      {last}
"""
READ = {"access": "ld", "operands": "%v3, [%v2]"}


def test_clusters_are_ordered_by_their_barrier() -> None:
    body = ELSEWHERE.format(first=MEETING, last=MEETING, **READ)
    assert not races(body, grid=2, cluster=(2, 1, 1))
    body = ELSEWHERE.format(first="bar.sync 0;", last=MEETING, **READ)
    finding, *_ = [each for each in races(body, grid=2, cluster=(2, 1, 1)) if len(each.places) == 2]
    assert finding.places[0].block != finding.places[1].block


WRITTEN = {"access": "st", "operands": "[%v2+4096], %t"}
LIFETIMES = {
    "no barrier before the access": ("", MEETING, NOT_STARTED),
    "no barrier before the exit": (MEETING, "", EXITED),
    "the other block exits early": (
        MEETING + "@%p1 exit;",
        "",
        EXITED,
    ),
    "the other block exits while this one is busy": (
        MEETING + "@%p1 exit; mov.u32 %v4, 0; L: add.u32 %v4, %v4, 1;"
        " setp.lt.u32 %p3, %v4, 99; @%p3 bra L;",
        "",
        EXITED,
    ),
}


@pytest.mark.parametrize("access", [READ, WRITTEN], ids=["read", "write"])
@pytest.mark.parametrize(("first", "last", "problem"), LIFETIMES.values(), ids=LIFETIMES.keys())
def test_memory_of_a_block_that_may_not_be_there(
    first: str, last: str, problem: str, access: dict[str, str]
) -> None:
    body = ELSEWHERE.format(first=first, last=last, **access)
    found = races(body, grid=2, cluster=(2, 1, 1))
    assert {(each.problem, len(each.places)) for each in found if each.problem} == {(problem, 1)}
