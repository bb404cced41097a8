"""Graphs of several devices, faults in graphs, and parts of graphs that are not implemented."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudarun.emulator import driver
from cudarun.emulator.host.process import Process

KERNELS = Path(__file__).resolve().parents[1] / "conformance" / "ptx" / "kernels.ptx"
FILL = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)


def made(name: str, *arguments: Any) -> Any:
    result, *values = getattr(driver, name)(*arguments)
    assert int(result) == 0, f"{name}: {result!r}"
    return values[0] if len(values) == 1 else values


def refused(name: str, *arguments: Any) -> str:
    result, *_ = getattr(driver, name)(*arguments)
    return str(result.name).removeprefix("CUDA_ERROR_")


class OneDevice:
    """A context of a device with a kernel and a buffer."""

    def __init__(self, ordinal: int) -> None:
        self.context = made("cuDevicePrimaryCtxRetain", ordinal)
        made("cuCtxSetCurrent", self.context)
        module = made("cuModuleLoadData", KERNELS.read_bytes() + b"\0")
        self.function = made("cuModuleGetFunction", module, b"fill")
        self.memory = made("cuMemAlloc", 64)
        made("cuMemsetD8", self.memory, 0, 64)

    def fill(self, value: int, count: int, address: Any = None) -> Any:
        given = driver.CUDA_KERNEL_NODE_PARAMS()
        given.func = self.function
        given.gridDimX = given.gridDimY = given.gridDimZ = 1
        given.blockDimX, given.blockDimY, given.blockDimZ = 16, 1, 1
        given.kernelParams = ((int(address or self.memory), value, count), FILL)
        return given

    def cells(self) -> list[int]:
        data = np.empty(16, np.uint32)
        made("cuMemcpyDtoH", data, self.memory, 64)
        return data.tolist()


@pytest.fixture
def devices(fresh_process: Process, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("CUDARUN_CPU_DEVICES", "2")
    made("cuInit", 0)
    yield OneDevice(1), OneDevice(0)
    driver.cuCtxSetCurrent(None)


def graph_of(*kernels: Any) -> Any:
    """An executable graph of kernels in a row."""
    graph, last = made("cuGraphCreate", 0), []
    for each in kernels:
        last = [made("cuGraphAddKernelNode", graph, last, len(last), each)]
    return made("cuGraphInstantiate", graph, 0)


def test_kernels_of_two_devices_run_in_their_order(devices: Any) -> None:
    second, first = devices
    parts = [first.fill(1, 16), second.fill(2, 16), first.fill(3, 4), second.fill(4, 8)]
    made("cuGraphLaunch", graph_of(*parts), 0)
    made("cuCtxSynchronize")
    assert first.cells() == [3] * 4 + [1] * 12
    made("cuCtxSetCurrent", second.context)
    assert second.cells() == [4] * 8 + [2] * 8


def test_a_fault_ends_a_graph(devices: Any, fresh_process: Process) -> None:
    _, device = devices
    view = fresh_process.memory_at(int(device.memory)).bytes_at(int(device.memory), 64)  # type: ignore[union-attr]
    parts = [device.fill(1, 16), device.fill(2, 1, address=16), device.fill(3, 16)]
    made("cuGraphLaunch", graph_of(*parts), 0)
    assert refused("cuCtxSynchronize") == "ILLEGAL_ADDRESS"
    assert view.view(np.uint32).tolist() == [1] * 16


def test_a_copy_of_memory_that_was_freed(devices: Any) -> None:
    _, device = devices
    freed, stream = made("cuMemAlloc", 64), made("cuStreamCreate", 0)
    made("cuStreamBeginCapture", stream, driver.CUstreamCaptureMode(1))
    made("cuMemcpyDtoDAsync", device.memory, freed, 64, stream)
    executable = made("cuGraphInstantiate", made("cuStreamEndCapture", stream), 0)
    made("cuGraphLaunch", executable, stream)
    made("cuMemFree", freed)
    assert refused("cuGraphLaunch", executable, stream) == "INVALID_VALUE"


def test_parts_of_graphs_that_are_not_implemented(devices: Any, fresh_process: Process) -> None:
    _, device = devices
    stream, graph = made("cuStreamCreate", 0), made("cuGraphCreate", 0)
    made("cuStreamBeginCapture", stream, driver.CUstreamCaptureMode(2))
    assert refused("cuMemAllocAsync", 64, stream) == "NOT_SUPPORTED"
    assert refused("cuStreamEndCapture", stream) == "STREAM_CAPTURE_INVALIDATED"
    made("cuGraphAddKernelNode", graph, [], 0, device.fill(1, 1))
    assert refused("cuGraphInstantiate", graph, 4) == "NOT_SUPPORTED"
    log = fresh_process.log.since(0) or b""
    assert b"the emulated device does not capture allocations" in log
    assert b"graphs that kernels launch are not implemented" in log
