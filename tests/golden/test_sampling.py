"""What an H200 sampled from textures and did to surfaces, and the emulated device: the same words.

``sampling-h200.xz`` was recorded by ``tools/record_textures.py --sampling``. `APPROXIMATE` has the
cases in which the emulated device is documented to differ, with the number of fetches that do.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cudarun.emulator import driver
from tests.golden.sampling import store
from tests.golden.sampling.case import Array
from tests.golden.sampling.runner import Runner

PARTS = 4
APPROXIMATE: dict[str, int] = {
    "extreme_tiny_f4": 3,
    "extreme_wide_f2": 1,
    "srgb_line_ramp": 11,
    "srgb_line_mixed": 234,
    "srgb_plane": 200,
    "unorm8_1_linear_srgb": 5,
    "unorm8_2_linear_srgb": 13,
    "unorm8_4_linear_srgb": 46,
    "modes_(2, 2, 3)": 4,
    "cube_line_5_2_1": 1,
    "cube_line_5_66_1": 1,
    "mismatch_cube_cube_2_1": 1,
    "grad1d_both": 33,
    "grad1d_odd": 264,
    "grad2d_x": 17,
    "grad2d_y": 17,
    "grad2d_both": 64,
    "grad2d_close": 386,
    "grad2dwide_x": 1,
    "grad2dwide_y": 1,
    "grad2dwide_both": 34,
    "grad2dwide_close": 130,
    "grad2dodd_x": 57,
    "grad2dodd_y": 57,
    "grad2dodd_both": 71,
    "grad2dodd_close": 158,
    "grad2d_turning0.015625": 12,
    "grad2d_turning0.0125": 14,
    "grad3d_64_x": 109,
    "grad3d_64_both": 122,
    "grad3d_100_x": 175,
    "grad3d_100_both": 209,
    "grada1d_256_both": 7,
    "grada2d_64_x": 3,
    "grada2d_64_both": 4,
}


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
    found = {name: count for name, count in counts.items() if count}
    names = {case.name for case in cases}
    assert found == {name: count for name, count in APPROXIMATE.items() if name in names}


def test_most_of_it_is_exact(golden: dict[str, tuple[str, Array]]) -> None:
    fetches = sum(len(words) for _, words in golden.values())
    assert sum(APPROXIMATE.values()) < fetches / 90


def test_other_inputs_than_recorded_are_refused(golden: dict[str, tuple[str, Array]]) -> None:
    name = "lod_point"
    with pytest.raises(ValueError, match="recorded with other inputs"):
        list(store.chosen("filters", {name: ("", golden[name][1])}))


def test_a_difference_is_counted(golden: dict[str, tuple[str, Array]]) -> None:
    words = golden["lod_point"][1].copy()
    assert store.differing(golden["lod_point"][1], words) == 0
    words[3, 0] ^= 1
    assert store.differing(golden["lod_point"][1], words) == 1
