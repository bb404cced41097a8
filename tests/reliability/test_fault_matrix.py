"""Every cell of the fault matrix, on two emulated devices; after each row, a good launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fault_matrix import COMMANDS, FAULTS, Fault
from tests.support.fault_runner import Cell, Scene

DEVICES = ("cpu", "cpu:1")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, DEVICES, limit=1, forked=True)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_row(scene: Scene, fault: Fault) -> None:
    for command in COMMANDS:
        cell = fault.cell(command)
        if isinstance(cell, Cell):
            result = scene.run(cell)
            assert result.problems == (), f"{command}:\n{result.output}"
    assert scene.is_fine() == ""


def test_the_good_launch_of_a_process_of_its_own(tmp_path: Path) -> None:
    assert Scene(tmp_path, DEVICES).is_fine() == ""
