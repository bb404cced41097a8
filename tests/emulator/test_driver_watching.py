"""Functions that no driver has, beside the calls that every driver has."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudarun.emulator import driver as cuda
from cudarun.emulator.host.process import Process

UNINIT = Path(__file__).resolve().parents[2] / "samples" / "detect" / "uninit.ptx"
N = 64


def value(answer: Any) -> Any:
    result, *values = answer
    assert result == cuda.CUresult.CUDA_SUCCESS
    return values[0] if values else None


@pytest.fixture
def kernel(fresh_process: Process) -> Any:
    """``add_to(x, y, n)``: y += x."""
    value(cuda.cuInit(0))
    value(cuda.cuCtxCreate(None, 0, 0))
    module = value(cuda.cuModuleLoad(str(UNINIT).encode()))
    return value(cuda.cuModuleGetFunction(module, b"add_to"))


def launch(kernel: Any, x: Any, y: Any) -> None:
    arguments = (x, y, N), (None, None, ctypes.c_int)
    value(cuda.cuLaunchKernel(kernel, 1, 1, 1, N, 1, 1, 0, 0, arguments, 0))
    value(cuda.cuCtxSynchronize())


def filled() -> Any:
    pointer = value(cuda.cuMemAlloc(4 * N))
    value(cuda.cuMemsetD32(pointer, 0, N))
    return pointer


def copied_from_host(pointer: Any) -> Any:
    data = np.zeros(N, np.float32)
    return cuda.cuMemcpyHtoD(pointer, data, data.nbytes)


def copied_in_a_stream(pointer: Any) -> Any:
    return cuda.cuMemcpyDtoDAsync(pointer, filled(), 4 * N, 0)


def copied_as_a_rectangle(pointer: Any) -> Any:
    copy = cuda.CUDA_MEMCPY2D()
    copy.srcMemoryType = copy.dstMemoryType = cuda.CUmemorytype.CU_MEMORYTYPE_DEVICE
    copy.srcDevice, copy.dstDevice = filled(), pointer
    copy.WidthInBytes, copy.Height = 4 * N, 1
    return cuda.cuMemcpy2D(copy)


@pytest.mark.parametrize(
    "write",
    [
        lambda pointer: cuda.cuMemsetD8(pointer, 0, 4 * N),
        lambda pointer: cuda.cuMemsetD32Async(pointer, 0, N, 0),
        lambda pointer: cuda.cuMemsetD2D8(pointer, 4 * N, 0, 4 * N, 1),
        copied_from_host, copied_in_a_stream, copied_as_a_rectangle,
    ],
)  # fmt: skip
def test_what_a_call_writes_is_written(kernel: Any, write: Any) -> None:
    cuda.start_detectors(["uninit"])
    x, y = filled(), value(cuda.cuMemAlloc(4 * N))
    value(write(y))
    launch(kernel, x, y)
    assert cuda.stop_detectors() == ([], None)


def test_what_no_call_wrote_is_found(kernel: Any) -> None:
    cuda.start_detectors(["race", "uninit"], count=True)
    x, y = filled(), value(cuda.cuMemAlloc(4 * N))
    into = np.empty(N, np.float32)
    value(cuda.cuMemcpyDtoH(into, y, 4 * N))  # a look writes nothing
    value(cuda.cuMemsetD32(y, 0, N // 2))
    launch(kernel, x, y)
    [finding], statistics = cuda.stop_detectors()
    assert finding.count == N // 2
    assert finding.memory.address == int(y) + 2 * N
    assert statistics is not None
    assert statistics.traffic["global"].read_bytes == 8 * N


def test_a_pattern_counts_as_unwritten(kernel: Any) -> None:
    cuda.start_detectors(["uninit"])
    x, y = filled(), filled()
    cuda.never_written(int(y) + 4, 8)
    launch(kernel, x, y)
    [finding], _ = cuda.stop_detectors()
    assert finding.count == 2


def test_pinned_and_managed_memory_is_the_host_s_to_write(kernel: Any) -> None:
    cuda.start_detectors(["uninit"])
    for memory in (value(cuda.cuMemAllocHost(4 * N)), value(cuda.cuMemAllocManaged(4 * N, 1))):
        launch(kernel, filled(), cuda.CUdeviceptr(int(memory)))
    assert cuda.stop_detectors() == ([], None)


def test_after_seen_nothing_is_watched(kernel: Any) -> None:
    cuda.start_detectors(["uninit"])
    assert cuda.stop_detectors() == ([], None)
    launch(kernel, filled(), value(cuda.cuMemAlloc(4 * N)))
    with pytest.raises(RuntimeError, match="no detector is active"):
        cuda.stop_detectors()


def test_what_was_allocated_before_is_taken_for_written(kernel: Any) -> None:
    y = value(cuda.cuMemAlloc(4 * N))
    cuda.start_detectors(["uninit"])
    launch(kernel, filled(), y)
    assert cuda.stop_detectors() == ([], None)
