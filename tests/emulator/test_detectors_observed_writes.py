"""Writes that an atomic operation has read are no race with what comes after it."""

from __future__ import annotations

import pytest

from tests.emulator.test_detectors_races import races, texts

COUNT = "@%p0 atom.global.add.u32 %v2, [%z], 1;"
LAST = "setp.eq.u32 %p3, %v2, 3; and.pred %p3, %p3, %p0;"
RESET = "st.global.u32 [%z], 0;"
OTHER = "st.global.u32 [%z+64], 0;"


@pytest.mark.parametrize(
    "last",
    [
        f"{LAST} @%p3 {RESET}",
        f"{LAST} @%p3 ld.global.u32 %v3, [%z];",
        f"{LAST} selp.u32 %v3, 1, 0, %p3; bar.red.popc.u32 %v4, 0, %p3;"
        f"setp.eq.u32 %p4, %v4, 1; setp.eq.and.u32 %p4, %t, 40, %p4; @%p4 {RESET}",
    ],
    ids=["store", "load", "store of another thread after a barrier"],
)
def test_the_last_block_resets_the_counter(last: str) -> None:
    found = races(COUNT + last, grid=4)
    assert found == [], texts(found)


@pytest.mark.parametrize(
    "body",
    [
        f"{COUNT} setp.eq.u32 %p3, %b, 3; setp.eq.and.u32 %p3, %t, 40, %p3; @%p3 {RESET}",
        f"{LAST} setp.eq.u32 %p3, %b, 3; and.pred %p3, %p3, %p0; @%p3 {RESET} @!%p3 {COUNT[4:]}",
        f"@%p0 red.global.add.u32 [%z+64], 1; {COUNT} {LAST} @%p3 {OTHER}",
        f"@%p0 atom.cta.global.add.u32 %v2, [%z], 1; {LAST} @%p3 {RESET}",
    ],
    ids=["unordered thread", "no atomic operation", "another address", "narrow scope"],
)
def test_what_the_operation_has_not_observed(body: str) -> None:
    assert races(body, grid=4) != []
