"""Every cell of the fault matrix, on two emulated devices; after each row, a good launch."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.fault_matrix import COMMANDS, FAULTS, Fault
from tests.support.fault_runner import GOOD_LAUNCH, Cell, Scene
from tests.support.forked_processes import run_command
from tests.support.processes import PYTHON_PATH, ROOT

DEVICES = ("cpu", "cpu:1")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, DEVICES)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_row(scene: Scene, fault: Fault) -> None:
    for command in COMMANDS:
        cell = fault.cell(command)
        if isinstance(cell, Cell):
            result = scene.run(cell)
            assert result.problems == (), f"{command}:\n{result.output}"
    launch_again(scene)


def launch_again(scene: Scene) -> None:
    """`Scene.is_fine` without a start of Python."""
    environment = os.environ | {
        "PYTHONPATH": PYTHON_PATH,
        "TMPDIR": os.fspath(scene.temporary),
        "CUDARUN_CPU_DEVICES": str(len(DEVICES)),
    }
    command = (*GOOD_LAUNCH, "-d", ",".join(DEVICES))
    code, out, err = run_command(command, ROOT, environment)
    assert code == 0, err.decode()
    for device in DEVICES:
        assert f"on {device} ".encode() in out
    assert [*scene.temporary.iterdir()] == []


def test_the_good_launch_of_a_process_of_its_own(scene: Scene) -> None:
    assert scene.is_fine() == ""
