"""Captured launches: what is captured and launched, and what cannot be."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudarun.base.errors import DeviceFailed
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.drivers import choose_driver
from cudarun.session.launch.program import captured

KERNELS = Path(__file__).resolve().parents[2] / "conformance" / "ptx" / "kernels.ptx"
TYPES = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)


@pytest.fixture
def driver() -> Driver:
    """A driver with a current context; the next test resets the process."""
    driver = Driver(choose_driver("cpu"))
    driver.cuInit(0)
    driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0))
    return driver


class Work:
    """Two launches of a kernel that fills memory, and a copy."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.stream = driver.cuStreamCreate(0)
        module = driver.cuModuleLoadData(KERNELS.read_bytes() + b"\0")
        self.function = driver.cuModuleGetFunction(module, b"fill")
        self.memory, self.copy = driver.cuMemAlloc(64), driver.cuMemAlloc(64)
        self.calls = 0

    def fill(self, value: int, count: int) -> None:
        values = (int(self.memory), value, count)
        sizes = (1, 1, 1, 16, 1, 1, 0)
        self.driver.cuLaunchKernel(self.function, *sizes, self.stream, (values, TYPES), 0)

    def run(self) -> None:
        self.calls += 1
        self.fill(7, 16)
        self.fill(8, 4)
        self.driver.cuMemcpyDtoDAsync(self.copy, self.memory, 64, self.stream)

    def copied(self) -> list[int]:
        data = np.empty(16, np.uint32)
        self.driver.cuMemcpyDtoH(data, self.copy, 64)
        return data.tolist()


def test_the_work_is_submitted_once_and_launched_often(driver: Driver) -> None:
    work = Work(driver)
    driver.cuMemsetD8(work.copy, 0, 64)
    with captured(driver, work.stream, work.run) as launch:
        assert work.copied() == [0] * 16
        for _ in range(2):
            driver.cuMemsetD8(work.memory, 0, 64)
            launch()
            driver.cuStreamSynchronize(work.stream)
            assert work.copied() == [8] * 4 + [7] * 12
    assert work.calls == 1
    driver.cuStreamDestroy(work.stream)


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (lambda work: work.driver.cuStreamSynchronize(work.stream), "STREAM_CAPTURE_UNSUPPORTED"),
        (lambda work: work.driver.cuMemAlloc(64), "STREAM_CAPTURE_UNSUPPORTED"),
        (lambda work: work.driver.cuMemsetD8(work.copy, 0, 64), "STREAM_CAPTURE_IMPLICIT"),
    ],
)
def test_work_that_cannot_be_captured(
    driver: Driver, call: Callable[[Work], Any], refusal: str
) -> None:
    work = Work(driver)

    def run() -> None:
        work.run()
        call(work)

    with pytest.raises(DeviceFailed, match=refusal) as caught, captured(driver, work.stream, run):
        raise AssertionError("the work was captured")
    assert caught.value.hint is not None
    assert "run the steps without a graph" in caught.value.hint
    work.run()  # the stream no longer captures
    assert work.copied() == [8] * 4 + [7] * 12


def test_an_error_of_the_work_itself_is_kept(driver: Driver) -> None:
    work = Work(driver)

    def run() -> None:
        work.run()
        raise KeyError("buffer")

    with pytest.raises(KeyError, match="buffer"), captured(driver, work.stream, run):
        raise AssertionError("the work was captured")
    work.run()
    assert work.copied() == [8] * 4 + [7] * 12


def test_the_default_stream_is_refused(driver: Driver) -> None:
    stream = driver.CUstream(0)
    with pytest.raises(DeviceFailed, match="cuStreamBeginCapture"):
        captured(driver, stream, lambda: None).__enter__()
