"""Kernels as the compiler emits them: ``nvcc/features.ptx``."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from cudarun.emulator.faults import DeviceFault
from tests.emulator.device import Device

PTX = Path(__file__).parent / "nvcc" / "features.ptx"
RECORD = struct.pack("<6id3f4x", 1, 2, 3, 4, 5, 6, 2.5, 0.5, 0.25, 0.125)


@pytest.fixture
def device() -> Device:
    return Device.from_file(PTX)


def zeros(device: Device, count: int, dtype: str = "i4") -> int:
    return device.buffer(np.zeros(count, dtype))


def fibonacci(n: int) -> int:
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def test_recursion(device: Device) -> None:
    out = zeros(device, 128)
    device.launch("recursion", (1,), (128,), out)
    assert list(device.read(out, "i4", 128)) == [fibonacci(i % 12) for i in range(128)]


def test_stack_overflow(device: Device) -> None:
    out = zeros(device, 32)
    depth = device.buffer(np.array([5], "i4"))
    device.launch("overflow", (1,), (32,), depth, out)
    assert list(device.read(out, "i4", 32)) == [sum(range(5))] * 32
    depth = device.buffer(np.array([1000], "i4"))
    with pytest.raises(DeviceFault) as caught:
        device.launch("overflow", (1,), (32,), depth, out)
    assert caught.value.name == "CUDA_ERROR_ILLEGAL_ADDRESS"
    assert "stack overflow in a call of _Z4deepPVii" in caught.value.report
    assert "CU_LIMIT_STACK_SIZE is 1024" in caught.value.report
    device.launch("overflow", (1,), (32,), depth, out, stack_limit=100_000)
    assert list(device.read(out, "i4", 32)) == [sum(range(1000))] * 32


def test_structs_by_value(device: Device) -> None:
    out = zeros(device, 64, "f8")
    device.launch("structs", (1,), (64,), RECORD, out)
    assert list(device.read(out, "f8", 64)) == [5 + 21 + i + 0.875 + 1 for i in range(64)]
    device.launch("grid_constant", (1,), (64,), RECORD, out)
    expected = [i % 6 + 1 + [0.5, 0.25, 0.125][i % 3] for i in range(64)]
    assert list(device.read(out, "f8", 64)) == expected


def test_function_pointers(device: Device) -> None:
    x, which = np.arange(32, dtype="f4"), np.arange(32, dtype="i4") % 3
    buffer = device.buffer(x)
    device.launch("function_pointers", (1,), (32,), buffer, device.buffer(which))
    assert (device.read(buffer, "f4", 32) == np.choose(which, [x + 1, x * 2, x * x])).all()


def test_virtual_functions(device: Device) -> None:
    out = zeros(device, 32)
    device.launch("virtual_functions", (1,), (32,), out)
    assert list(device.read(out, "i4", 32)) == [i * i if i % 2 else i * 3 for i in range(32)]


def test_choices(device: Device) -> None:
    x = np.arange(64, dtype="i4") % 9
    buffer = device.buffer(x)
    device.launch("choices", (1,), (64,), buffer)
    expected = [
        {0: 10, 1: i * 3, 2: v + 7, 3: i - 5, 4: i ^ 77, 5: i << 3, 6: 123}.get(v, -1)
        for i, v in enumerate(x.tolist())
    ]
    assert list(device.read(buffer, "i4", 64)) == expected


def test_functions_f32(device: Device) -> None:
    x = np.random.default_rng(0).uniform(-20, 20, 512).astype("f4")
    x[:4] = [1e6, -3e5, 1e-3, 0.1]  # the slow path of sinf, small arguments
    y = zeros(device, 512 * 6, "f4")
    device.launch("functions_f32", (2,), (256,), device.buffer(x), y)
    wide = x.astype("f8")
    with np.errstate(over="ignore"):
        expected = [
            np.sin(wide),
            np.exp(wide).astype("f4"),
            np.log(abs(wide)),
            abs(wide) ** 1.5,
            np.tanh(wide),
            np.fmod(wide, np.float32(3.1)),
        ]
    got = device.read(y, "f4", 512 * 6).reshape(512, 6)
    for column, values in enumerate(expected):
        np.testing.assert_allclose(got[:, column], values, rtol=3e-7, atol=2e-7)


def test_functions_f64(device: Device) -> None:
    x = np.random.default_rng(0).uniform(-20, 20, 256)
    x[:3] = [1e15, -3e5, 1e-300]
    y = zeros(device, 256 * 4, "f8")
    device.launch("functions_f64", (1,), (256,), device.buffer(x), y)
    with np.errstate(over="ignore"):
        expected = [np.cos(x), np.exp(x), np.log(abs(x)), 1 / x + np.sqrt(abs(x))]
    got = device.read(y, "f8", 256 * 4).reshape(256, 4)
    for column, values in enumerate(expected):
        np.testing.assert_allclose(got[:, column], values, rtol=5e-16, atol=5e-16)


def test_halves(device: Device) -> None:
    generator = np.random.default_rng(1)
    a, b = (generator.normal(size=32).astype("f2") for _ in range(2))
    d = generator.normal(size=32).astype(ml_dtypes.bfloat16)
    c, e = zeros(device, 96, "f2"), zeros(device, 64, "u2")
    device.launch(
        "halves", (1,), (32,), device.buffer(a), device.buffer(b), c, device.buffer(d.view("u2")), e
    )
    got = device.read(c, "f2", 96).reshape(3, 32)
    wide_a, wide_b = a.astype("f8"), b.astype("f8")
    total = (wide_a + wide_b).astype("f2")
    assert (got[0] == (wide_a * wide_b + total).astype("f2")).all()
    assert (got[1] == (wide_b * wide_b).astype("f2")).all()
    assert (got[2] == np.minimum(a, b)).all()
    brain = device.read(e, "u2", 64).view(ml_dtypes.bfloat16).reshape(2, 32)
    wide = d.astype("f4")
    assert (brain[0] == (wide * np.float32(2.5)).astype(d.dtype)).all()
    assert (brain[1] == (wide * wide).astype(d.dtype)).all()


def test_integers_64(device: Device) -> None:
    generator = np.random.default_rng(3)
    x = generator.integers(-(2**62), 2**62, 64)
    y = generator.integers(0, 2**63, 64).astype("u8")
    a, b = device.buffer(x), device.buffer(y)
    device.launch("integers_64", (1,), (64,), a, b)
    quotients = [abs(v) // 7 * (1 if v >= 0 else -1) for v in x.tolist()]
    assert list(device.read(a, "i8", 64)) == [
        q + int(math.copysign(abs(v) % 11, v)) for q, v in zip(quotients, x.tolist(), strict=True)
    ]
    assert list(device.read(b, "u8", 64)) == [
        (v // 13 + (v * v >> 64) + v.bit_count() + 64 - v.bit_length()) % 2**64 for v in y.tolist()
    ]


def test_memory(device: Device) -> None:
    out = zeros(device, 64)
    device.launch("dynamic_shared", (1,), (64,), out, 64, dynamic_shared=256)
    assert list(device.read(out, "i4", 64)) == [63 - i + i % 4 * 10 for i in range(64)]

    index = np.arange(64, dtype="i4") * 3 % 16
    device.launch("local_array", (1,), (64,), out, device.buffer(index))
    expected = []
    for i, k in enumerate(index.tolist()):
        a = [n * i for n in range(16)]
        a[k] = 1000
        expected.append(sum(a[(n * 5 + k) & 15] for n in range(16)))
    assert list(device.read(out, "i4", 64)) == expected

    values = np.arange(32, dtype="i4") * 100
    device.launch("generic_pointers", (1,), (32,), device.buffer(values), out)
    expected = [[i * 100, i, i * 2][i % 3] + 1 for i in range(32)]
    assert list(device.read(out, "i4", 32)) == expected


def test_variables(device: Device) -> None:
    out = zeros(device, 32, "f4")
    for counter in (5, 8):
        device.launch("variables", (1,), (32,), out)
        assert list(device.read(out, "f4", 32)) == [i % 4 + 1 + counter for i in range(32)]


def test_heap(device: Device) -> None:
    out = zeros(device, 64)
    used = device.memory.used
    device.launch("heap", (1,), (64,), out)
    expected = [sum(i * 100 + k for k in range(i + 1)) for i in range(64)]
    assert list(device.read(out, "i4", 64)) == expected
    assert device.memory.used == used


def test_a_lock_that_lanes_of_one_warp_wait_for(device: Device) -> None:
    mutex, counted = zeros(device, 1), zeros(device, 1)
    device.launch("lock", (2,), (64,), mutex, counted)
    assert device.read(counted, "i4", 1) == [128]


def test_a_thread_that_waits_for_another_one_behind_it(device: Device) -> None:
    flag, out = zeros(device, 1), zeros(device, 2)
    device.launch("hand_over", (1,), (64,), flag, out)
    assert list(device.read(out, "i4", 2)) == [1, 999]


def test_blocks_that_wait_for_blocks_of_other_batches(device: Device) -> None:
    arrived, out = zeros(device, 1), zeros(device, 160 * 1024)
    device.launch("grid_barrier", (160,), (1024,), arrived, out)
    assert set(device.read(out, "i4", 160 * 1024)) == {160}


def test_block_votes(device: Device) -> None:
    out = zeros(device, 96)
    device.launch("block_votes", (1,), (96,), out)
    assert set(device.read(out, "i4", 96)) == {3211}


def test_printf(device: Device) -> None:
    device.launch("print", (1,), (2,), 42)
    line = (
        b"42|   42|42   |00042|+42|2a|0X2A|52|k|text|%|63.000000|0.333|  1.23e+04|0.0001|"
        b"-5000000000|5000000000|0x1234|    42\n"
    )
    assert device.output == line + line + b"nothing\n"


# --- cooperative groups --------------------------------------------------------------------------


def test_a_barrier_over_the_grid() -> None:
    device = Device.from_file(PTX.with_name("cooperative.ptx"))
    n = 64 * 256
    a, b = zeros(device, n), zeros(device, n)
    used = device.memory.used
    device.launch("grid_sync", (64,), (256,), a, b, cooperative=True)
    i = np.arange(n)
    assert (device.read(b, "i4", n) == (i + n // 2) % n).all()
    assert (device.read(a, "i4", n) == ((i + 1) % n + n // 2) % n).all()
    assert device.memory.used == used
    with pytest.raises(DeviceFault, match="executed 'trap'"):  # the header's own check
        device.launch("grid_sync", (64,), (256,), a, b)


def test_groups_of_threads() -> None:
    device = Device.from_file(PTX.with_name("cooperative.ptx"))
    out = zeros(device, 128)
    device.launch("tiles", (1,), (64,), out)
    got = device.read(out, "i4", 128)
    i = np.arange(64)
    assert (got[:64] == i.reshape(8, 8).sum(axis=1).repeat(8)).all()
    for warp in (i[:32], i[32:]):
        chosen = warp[warp % 3 == 0]
        assert list(got[64 + chosen]) == [len(chosen) * 100 + n for n in range(len(chosen))]
