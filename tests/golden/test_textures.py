"""What an H200 fetched from textures, and what the emulated device fetches: the same bits.

``textures-h200.xz`` was recorded by ``tools/record_textures.py``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cudarun.emulator import driver
from tests.golden import fetches

RECORDED = Path(__file__).parent / "textures-h200.xz"
CASES = {case.name: case for case in fetches.cases()}


@pytest.fixture(scope="module")
def golden() -> dict[str, np.ndarray]:
    return fetches.read(RECORDED)


@pytest.fixture
def runner() -> Iterator[fetches.Runner]:
    made = fetches.Runner(driver)
    yield made
    made.close()


@pytest.mark.parametrize("name", CASES)
def test_as_on_hardware(golden: dict[str, np.ndarray], runner: fetches.Runner, name: str) -> None:
    case = CASES[name]
    assert list(fetches.differences(case, golden[name], runner.run(case))) == []


# --- the means -----------------------------------------------------------------------------------


def test_what_is_written_is_read(tmp_path: Path, golden: dict[str, np.ndarray]) -> None:
    wanted = [CASES["line_u1"], CASES["plane_f4"]]
    fetches.write(tmp_path / "some.xz", "a device", wanted, golden)
    read = fetches.read(tmp_path / "some.xz")
    assert {name: found.tolist() for name, found in read.items()} == {
        case.name: golden[case.name].tolist() for case in wanted
    }


def test_a_difference_is_told(golden: dict[str, np.ndarray]) -> None:
    case, other = CASES["wrap100"], golden["wrap100"].copy()
    other[3] = -0.0
    told = list(fetches.differences(case, golden["wrap100"], other))
    assert told[0] == "wrap100: 1 of 2048 fetches differ"
    assert told[1].endswith("found np.float32(-0.0)")


def test_other_inputs_than_recorded_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = [
        fetches.Case(case.name, case.texels + 1, case.coordinates) for case in CASES.values()
    ]
    monkeypatch.setattr(fetches, "cases", lambda: changed)
    with pytest.raises(ValueError, match="recorded with other inputs"):
        fetches.read(RECORDED)
