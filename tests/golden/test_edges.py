"""What an H200 returns at the edges of runtime calls and of virtual memory management.

``runtime-edges-h200.json`` was recorded by ``tools/record_edges.py``.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.golden.edges import INTENDED, SCENARIOS, Recording, differences
from tests.support.forked_processes import run_script
from tests.support.processes import PYTHON_PATH
from tools import record_edges

HERE = Path(__file__).parent
RECORDED: Recording = json.loads((HERE / "runtime-edges-h200.json").read_text())


@pytest.fixture(scope="module")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """The results of the emulated device; each scenario runs in a process of its own."""
    path = tmp_path_factory.mktemp("edges") / "edges.json"
    words = ("--driver", "cpu", "--write", os.fspath(path))
    environment = os.environ | {"PYTHONPATH": PYTHON_PATH, "CUDARUN_CPU_DEVICES": "1"}
    code, out, err = run_script(Path(record_edges.__file__), words, environment)
    assert (code, err) == (0, b"")
    assert out.endswith(b" 0 without a result\n"), "a call ended the process"
    return json.loads(path.read_text())


@pytest.mark.parametrize("name", [scenario.__name__ for scenario in SCENARIOS])
def test_as_on_hardware(name: str, emulated: Recording) -> None:
    found = {index: step for index, *step in differences(emulated[name], RECORDED[name])}
    intended = INTENDED.get(name, {})
    assert {index: step for index, step in found.items() if index not in intended} == {}
    assert found.keys() == intended.keys(), "the emulated device no longer differs"


def test_a_difference_is_told() -> None:
    step = {"call": "cudaFree(0)", "result": "cudaSuccess"}
    other = step | {"result": "cudaErrorInvalidValue"}
    unknown = {"call": "cudaFree(0)", "died": "SIGSEGV"}
    assert differences([step, step, step], [step, other, unknown]) == [(1, step, other)]
