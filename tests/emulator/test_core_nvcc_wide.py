"""Kernels as the compiler emits them for sm_90: ``nvcc/wide.ptx``."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tests.emulator.device import Device

PTX = Path(__file__).parent / "nvcc" / "wide.ptx"


@pytest.fixture
def device() -> Device:
    return Device.from_file(PTX)


def test_vectors(device: Device) -> None:
    four, two, old = (device.buffer(np.zeros(n, "f4")) for n in (4, 2, 128))
    device.launch("vectors", (1,), (64,), four, two, old)
    assert list(device.read(four, "f4", 4)) == [64, 128, 192, 256]
    assert list(device.read(two, "f4", 2)) == [64, -64]
    seen = device.read(old, "f4", 128).reshape(64, 2)
    assert sorted(map(tuple, seen)) == sorted((n, -n) for n in range(64))


def test_masks(device: Device) -> None:
    values = np.array([1, 2, 3, np.nan, -0.0, 0, 2, 2] * 8)
    a, b = values.astype("f2"), values.astype(ml_dtypes.bfloat16)
    out = device.buffer(np.zeros(64, "u4"))
    device.launch("masks", (1,), (32,), out, device.buffer(a), device.buffer(b.view("u2")))
    got = device.read(out, "u2", 128).reshape(32, 2, 2)
    pairs = values.reshape(32, 2)
    others = pairs[np.arange(32) ^ 1]
    ordered = ~np.isnan(pairs) & ~np.isnan(others)
    assert (got[:, 0] == np.where(pairs < others, 0xFFFF, 0)).all()
    assert (got[:, 1] == np.where((pairs != others) & ordered, 0xFFFF, 0)).all()


def test_pairs(device: Device) -> None:
    lock, last, out = (device.buffer(np.zeros(n, "u8")) for n in (2, 2, 256))
    device.launch("pairs", (1,), (64,), lock, last, out)
    seen = device.read(out, "u8", 256).reshape(64, 2, 2)
    held = [tuple(map(int, device.read(at, "u8", 2))) for at in (lock, last)]
    locked = [lane for lane in range(64) if not seen[lane, 0].any()]
    assert len(locked) == 1  # one thread found it free, and all others what that one left
    assert held[0] == (locked[0] + 1, 7)
    assert {tuple(map(int, seen[lane, 0])) for lane in range(64)} == {(0, 0), held[0]}
    swapped = {tuple(map(int, seen[lane, 1])) for lane in range(64)} | {held[1]}
    assert swapped == {(0, 0)} | {(n + 1, 7) for n in range(64)}
