"""Detectors of products of warpgroups: compiled code has the findings of the interpreter."""

from __future__ import annotations

import re
from functools import partial

import pytest

from cudarun.emulator.detectors.detector_observer import DetectorObserver
from cudarun.emulator.engines import COMPILE, INTERPRET, Engines
from cudarun.emulator.execution import execute
from tests.emulator.device import Device
from tests.emulator.test_core_warpgroups import FILE, launched, numbers

PRODUCT = FILE.read_text().partition(".visible .entry specialised")[0]
SYNCHRONIZING = r"\tbar\.sync[^;]*;|\twgmma\.[fcw][^;]*;|fence\.proxy[^;]*;"


def outcome(text: str, mode: str, detect: str = "race,sync") -> tuple[str, bytes, str]:
    """The findings, the product, and the engine."""
    observer, engines = DetectorObserver(detect.split(",")), Engines(mode)
    device = Device(text, observer=observer, execute=partial(execute, engines=engines))
    a, b = numbers((128, 128), 1), numbers((128, 64), 2)
    result = launched("product", 256, 1, b, a, 64, device)
    return repr(observer.findings), result.tobytes(), engines.notes["product"].engine


def check_equal(text: str) -> str:
    """Launch with both engines, whose findings must be equal; return the engine."""
    found = outcome(text, COMPILE)
    assert found[:2] == outcome(text, INTERPRET)[:2]
    return found[2]


def test_products_without_findings_are_compiled() -> None:
    assert check_equal(PRODUCT) == COMPILE


@pytest.mark.parametrize("place", range(len(re.findall(SYNCHRONIZING, PRODUCT))))
def test_products_without_one_synchronizing_instruction(place: int) -> None:
    each = [*re.finditer(SYNCHRONIZING, PRODUCT)][place]
    engine = check_equal(PRODUCT[: each.start()] + PRODUCT[each.end() :])
    assert engine == INTERPRET or "wgmma.fence" in each[0]


@pytest.mark.parametrize("pending", [0, 1])
def test_a_tile_is_written_while_products_may_read_it(pending: int) -> None:
    """The wait is after the barrier, and lets the last group go on."""
    wait, barrier = "wgmma.wait_group.sync.aligned 0;", "bar.sync"
    assert PRODUCT.count(wait) == 1
    before, _, after = PRODUCT.partition(wait)
    moved = after.replace(barrier, f"{{}}\n{barrier}", 1).replace("{}", "", 1)
    first = moved.index(";", moved.index(barrier)) + 1
    late = f"\nwgmma.wait_group.sync.aligned {pending};\n"
    assert check_equal(before + moved[:first] + late + moved[first:]) == INTERPRET


def test_registers_that_a_path_may_not_write_are_interpreted() -> None:
    assert outcome(PRODUCT, COMPILE, "uninit")[2] == INTERPRET
