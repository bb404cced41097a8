"""Products of warpgroups as nvcc emits them: ``nvcc/warpgroups.ptx``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from cudarun.emulator.detectors.detector_observer import DetectorObserver
from tests.emulator.device import Device

FILE = Path(__file__).parent / "nvcc" / "warpgroups.ptx"
TILES = 3 * 64 * 64 * 2  # bytes of a stage: two tiles of a, one of b


def launched(kernel: str, block: int, stages: int, b: npt.NDArray[Any], a: npt.NDArray[Any],
             n: int, device: Device) -> npt.NDArray[np.float32]:  # fmt: skip
    m, k = a.shape
    c = device.buffer(np.zeros((m, n), np.float32))
    device.launch(kernel, (n // 64, m // 128), (block,), device.buffer(a), device.buffer(b), c,
                  n, k, dynamic_shared=stages * TILES)  # fmt: skip
    return device.read(c, np.float32, m * n).reshape(m, n)


def numbers(shape: tuple[int, int], seed: int) -> npt.NDArray[np.float16]:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float16)


@pytest.mark.parametrize("detect", [False, True])
def test_two_warpgroups_with_one_tile_of_b(detect: bool) -> None:
    a, b = numbers((256, 192), 1), numbers((192, 128), 2)
    watch = DetectorObserver(["race", "uninit"])
    device = Device.from_file(FILE, **({"observer": watch} if detect else {}))
    got = launched("product", 256, 1, b, a, 128, device)
    assert np.array_equal(got, a.astype("f4") @ b.astype("f4"))
    assert [place.site.text for finding in watch.findings for place in finding.places] == []


@pytest.mark.parametrize("detect", [False, True])
def test_one_warpgroup_brings_what_others_multiply(detect: bool) -> None:
    a, b = numbers((128, 448), 3), numbers((128, 448), 4)
    watch = DetectorObserver(["race", "uninit"])
    device = Device.from_file(FILE, **({"observer": watch} if detect else {}))
    got = launched("specialised", 384, 3, b, a, 128, device)
    assert np.array_equal(got, a.astype("f4") @ b.T.astype("f4"))
    assert [place.site.text for finding in watch.findings for place in finding.places] == []


@pytest.mark.parametrize(
    ("removed", "problem"),
    [
        (r"wgmma\.wait_group\.sync\.aligned 0;", "no wgmma.wait_group before the store"),
        (r"fence\.proxy\.async[^;]*;", "no fence.proxy.async between them"),
    ],
)
def test_a_pipeline_without_one_of_its_instructions(removed: str, problem: str) -> None:
    text, count = re.subn(removed, "", FILE.read_text())
    assert count
    watch = DetectorObserver(["race"])
    launched("specialised", 384, 3, numbers((128, 448), 4), numbers((128, 448), 3), 128,
             Device(text, observer=watch))  # fmt: skip
    assert problem in {found.problem for found in watch.findings}
    places = {place.site.text.split()[0] for found in watch.findings for place in found.places}
    assert "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16" in places
