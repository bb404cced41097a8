"""Approximations on both engines, and on an H200: the same sums of blocks of 65,536 inputs.

``approximations-h200.xz`` has the sums of all blocks, also of random and of tiny operands;
``python -m tools.hardware approximations`` compares them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cudarun.emulator import driver
from tests.golden import approximations
from tests.golden.approximations import FORMS, Runner

SUMS, RESULTS = approximations.read(Path(__file__).parent / "approximations-h200.xz")
STEP = 4091  # a prime: 17 blocks, with both signs and many exponents


@pytest.fixture(scope="module", params=["interpret", "compile"])
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    if request.param == "compile":
        pytest.importorskip("llvmlite")
    made = Runner(driver)
    driver.select_engine(request.param)
    yield made
    driver.select_engine()
    made.close()


@pytest.mark.parametrize("name", SUMS)
def test_sums_as_on_hardware(runner: Runner, name: str) -> None:
    found, recorded = runner.sums(FORMS[name], STEP).astype(np.uint32), SUMS[name][::STEP]
    assert np.flatnonzero(found != recorded).tolist() == []


@pytest.mark.parametrize("name", RESULTS)
def test_all_halves_as_on_hardware(runner: Runner, name: str) -> None:
    assert np.flatnonzero(runner.list(FORMS[name])[:, 2] != RESULTS[name]).tolist() == []
