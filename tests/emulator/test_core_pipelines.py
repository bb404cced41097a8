"""Barriers and pipelines of CUDA C++ as the compiler emits them: ``nvcc/pipelines_*.ptx``."""

from pathlib import Path

import numpy as np
import pytest

from tests.emulator.device import Device

ITEMS = np.arange(2048, dtype=np.int32)


@pytest.fixture(params=["sm80", "sm90"])
def device(request):
    return Device.from_file(Path(__file__).parent / "nvcc" / f"pipelines_{request.param}.ptx")


def launched(device, kernel, x, count, *, grid=1, block=64):
    y = device.buffer(np.zeros_like(x))
    device.launch(kernel, (grid,), (block,), device.buffer(x), y, count)
    return device.read(y, x.dtype, len(x))


def reversed_by(x, width):
    return x.reshape(-1, width)[:, ::-1].reshape(-1)


def test_a_barrier_in_two_steps(device):
    x = ITEMS.astype(np.float32)
    thread = np.arange(256)
    tiles = x.reshape(-1, 256)
    expected = tiles[:, thread ^ 1] + tiles[:, (thread + 33) % 256]
    got = launched(device, "split", x, len(x), grid=2, block=256)
    assert np.array_equal(got, expected.reshape(-1))


def test_copies_that_a_barrier_counts(device):
    x = ITEMS.astype(np.float32)
    expected = x.reshape(-1, 64, 4)[:, ::-1].reshape(-1)
    assert np.array_equal(launched(device, "copied", x, len(x) // 4), expected)


def test_copies_that_a_group_waits_for(device):
    got = launched(device, "grouped", ITEMS, len(ITEMS), block=128)
    assert np.array_equal(got, reversed_by(ITEMS, 128))


def test_a_pipeline_of_two_stages(device):
    got = launched(device, "piped", ITEMS, len(ITEMS))
    assert np.array_equal(got, reversed_by(ITEMS, 64))
