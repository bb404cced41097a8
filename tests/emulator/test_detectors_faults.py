"""Launches with detectors go on after an invalid access, so that it hides no race."""

from __future__ import annotations

import numpy as np
import pytest

from cudarun.emulator.detectors.detector_observer import DetectorObserver
from cudarun.emulator.faults import DeviceFault
from tests.emulator.device import Device
from tests.emulator.test_detectors_races import KERNEL

RACE = "\n st.shared.u32 [%s], %t;\n ld.shared.u32 %v1, [%o];"


def faulting(body: str, detect: str = "race", block: int = 64) -> tuple[DeviceFault, list[str]]:
    """Return the fault of a launch, and the kinds of its findings."""
    watch = DetectorObserver([detect])
    device = Device(KERNEL.format(body=body), observer=watch)
    buffer = device.buffer(np.zeros(64, np.uint32))
    with pytest.raises(DeviceFault) as caught:
        device.launch("k", (1,), (block,), buffer)
    return caught.value, [each.kind for each in watch.findings]


@pytest.mark.parametrize(
    ("access", "result"),
    [
        ("ld.global.u32 %v1, [%g+4];", 700),
        ("@%p0 st.global.u32 [%z+1024], %t;", 700),
        ("atom.global.add.u32 %v1, [%g+16], 1;", 700),
        ("ld.global.u32 %v1, [%g+2];", 716),
        ("ld.shared.u32 %v1, [%s+8192];", 700),
    ],
)
def test_a_race_after_a_fault(access: str, result: int) -> None:
    fault, kinds = faulting(access + RACE)
    assert (fault.result, kinds) == (result, ["race"])
    assert access.removeprefix("@%p0 ") in fault.report


def test_the_first_fault_is_reported() -> None:
    fault, kinds = faulting("st.global.u32 [%g+256], %t;\n ld.global.u32 %v1, [%g+512];" + RACE)
    assert "st.global" in fault.report
    assert kinds == ["race"]


def test_a_lane_without_its_value_reads_zero() -> None:
    fault, kinds = faulting("ld.global.u32 %v1, [%g+512];\n st.global.u32 [%g], %v1;", "uninit")
    assert fault.result == 700
    assert kinds == []


def test_an_undefined_value_is_stored_where_there_is_no_memory() -> None:
    fault, kinds = faulting("st.global.u32 [%g+4096], %v7;\n st.global.u32 [%g], %v6;", "uninit")
    assert fault.result == 700
    assert kinds == ["uninit", "uninit"]


def test_the_other_lanes_have_their_values() -> None:
    watch = DetectorObserver(["race"])
    body = "add.u32 %v2, %t, 5; st.global.u32 [%g], %v2; ld.global.u32 %v3, [%g+128];"
    device = Device(KERNEL.format(body=f"{body} st.global.u32 [%g], %v3;"), observer=watch)
    buffer = device.buffer(np.arange(64, dtype=np.uint32))
    with pytest.raises(DeviceFault):
        device.launch("k", (1,), (48,), buffer)
    found = device.read(buffer, np.uint32, 48)
    np.testing.assert_array_equal(found[:16], np.arange(37, 53))
    np.testing.assert_array_equal(found[32:], 0)


def test_a_loop_that_does_not_end_after_a_fault() -> None:
    body = "ld.global.u32 %v1, [%z+1024];\n L: ld.global.u32 %v2, [%z];\n bra L;"
    fault, kinds = faulting(body, block=1)
    assert fault.result == 700
    assert kinds == []


def test_the_fault_of_a_deadlock_after_it() -> None:
    body = "ld.global.u32 %v1, [%z+1024];\n @%p0 barrier.sync 1, 64;\n @!%p0 barrier.sync 2, 64;"
    fault, _ = faulting(body)
    assert "ld.global" in fault.report
