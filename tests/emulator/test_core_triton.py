"""Kernels as Triton emits them: ``triton/*.ptx``, made by ``triton/kernels.py``."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np

from tests.emulator.device import Device

PTX = Path(__file__).parent / "triton"
THREADS = (128,)
NO_SCRATCH = (0, 0)  # every Triton kernel ends with two pointers that are null here


def test_softmax() -> None:
    device = Device.from_file(PTX / "softmax.ptx")
    rows, columns = 7, 1000
    x = np.random.default_rng(0).normal(size=(rows, columns)).astype("f4")
    out = device.buffer(np.zeros_like(x))
    arguments = (out, device.buffer(x), columns, columns, *NO_SCRATCH)
    device.launch("softmax", (rows,), THREADS, *arguments, dynamic_shared=16)
    expected = np.exp(x.astype("f8") - x.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    got = device.read(out, "f4", x.size).reshape(x.shape)
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_matmul_through_tensor_cores() -> None:
    device = Device.from_file(PTX / "matmul.ptx")
    m, n, k = 50, 41, 70
    generator = np.random.default_rng(1)
    a, b = (generator.normal(size=s).astype(ml_dtypes.bfloat16) for s in ((m, k), (k, n)))
    out = device.buffer(np.zeros(m * n, "u2"))
    pointers = (device.buffer(a.view("u2")), device.buffer(b.view("u2")), out)
    device.launch("matmul", (2, 2), THREADS, *pointers, m, n, k, *NO_SCRATCH, dynamic_shared=4096)
    got = device.read(out, "u2", m * n).view(ml_dtypes.bfloat16).reshape(m, n).astype("f8")
    np.testing.assert_allclose(got, a.astype("f8") @ b.astype("f8"), rtol=1 / 128, atol=1e-4)


def test_scan_and_atomics() -> None:
    device = Device.from_file(PTX / "scan.ptx")
    n = 1300
    x = np.random.default_rng(2).integers(-50, 50, n).astype("f4")
    out = device.buffer(np.zeros(16 + n, "f4"))
    device.launch("scan", (3,), THREADS, device.buffer(x), out, n, *NO_SCRATCH, dynamic_shared=64)
    got = device.read(out, "f4", 16 + n)
    assert got[0] == x.sum()
    assert got[1] == x.max()
    expected = np.concatenate([np.cumsum(x[start : start + 512]) for start in range(0, n, 512)])
    assert (got[16:] == expected).all()
