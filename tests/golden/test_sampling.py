"""What an H200 sampled from textures and did to surfaces, and the emulated device: the same words.

``sampling-h200.xz`` was recorded by ``tools/record_textures.py --sampling``.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cudarun.emulator import driver
from tests.golden.sampling import store
from tests.golden.sampling.case import Array
from tests.golden.sampling.runner import Runner

PARTS = 4


@pytest.fixture(scope="module")
def golden() -> dict[str, tuple[str, Array]]:
    return store.read()


@pytest.fixture
def runner() -> Iterator[Runner]:
    made = Runner(driver)
    yield made
    made.close()


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("subject", store.SUBJECTS)
def test_as_on_hardware(
    golden: dict[str, tuple[str, Array]], runner: Runner, subject: str, part: int
) -> None:
    cases = list(store.chosen(subject, golden))[part::PARTS]
    assert cases
    counts = {case.name: store.differing(golden[case.name][1], runner.run(case)) for case in cases}
    assert {name: count for name, count in counts.items() if count} == {}


def test_other_inputs_than_recorded_are_refused(golden: dict[str, tuple[str, Array]]) -> None:
    name = "lod_point"
    with pytest.raises(ValueError, match="recorded with other inputs"):
        list(store.chosen("filters", {name: ("", golden[name][1])}))


def test_a_difference_is_counted(golden: dict[str, tuple[str, Array]]) -> None:
    words = golden["lod_point"][1].copy()
    assert store.differing(golden["lod_point"][1], words) == 0
    words[3, 0] ^= 1
    assert store.differing(golden["lod_point"][1], words) == 1
