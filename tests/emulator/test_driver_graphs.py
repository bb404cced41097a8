"""Graphs of several devices, faults in graphs, and parts of graphs that are not implemented."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudarun.emulator import driver
from cudarun.emulator.host.process import Process
from tests.support.processes import PATIENCE

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


def test_memory_of_a_captured_allocation(devices: Any) -> None:
    _, device = devices
    stream = made("cuStreamCreate", 0)
    made("cuStreamBeginCapture", stream, driver.CUstreamCaptureMode(0))
    memory = made("cuMemAllocAsync", 64, stream)
    made("cuMemsetD32Async", memory, 7, 16, stream)
    made("cuMemcpyDtoDAsync", device.memory, memory, 64, stream)
    assert refused("cuMemFreeAsync", device.memory, stream) == "INVALID_VALUE"
    made("cuMemFreeAsync", memory, stream)
    executable = made("cuGraphInstantiate", made("cuStreamEndCapture", stream), 0)
    for _ in range(2):
        made("cuMemsetD8", device.memory, 0, 64)
        made("cuGraphLaunch", executable, stream)
        assert device.cells() == [7] * 16
        assert refused("cuMemsetD8", memory, 0, 1) == "INVALID_VALUE"


def graph_that_allocates(size: int) -> tuple[Any, int]:
    given, graph = driver.CUDA_MEM_ALLOC_NODE_PARAMS(), made("cuGraphCreate", 0)
    given.bytesize = size
    made("cuGraphAddMemAllocNode", graph, [], 0, given)
    return graph, int(given.dptr)


def test_memory_that_outlives_its_graph(devices: Any) -> None:
    first, address = graph_that_allocates(64)
    second = made("cuGraphCreate", 0)
    made("cuGraphAddMemFreeNode", second, [], 0, address)
    executable, freeing = (made("cuGraphInstantiate", graph, 0) for graph in (first, second))
    used = driver.CUgraphMem_attribute.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT
    made("cuGraphLaunch", executable, 0)
    made("cuMemsetD8", address, 1, 64)
    assert int(made("cuDeviceGetGraphMemAttribute", 0, used)) == 64
    assert refused("cuGraphLaunch", executable, 0) == "INVALID_VALUE"
    made("cuGraphLaunch", freeing, 0)
    assert int(made("cuDeviceGetGraphMemAttribute", 0, used)) == 0
    made("cuGraphLaunch", executable, 0)
    made("cuMemFreeAsync", address, 0)
    assert refused("cuMemsetD8", address, 0, 1) == "INVALID_VALUE"


def test_memory_that_the_next_launch_frees(devices: Any) -> None:
    graph, address = graph_that_allocates(64)
    executable = made("cuGraphInstantiate", graph, 1)
    for _ in range(2):
        made("cuGraphLaunch", executable, 0)
        made("cuMemsetD8", address, 1, 64)


def test_free_nodes_of_invalid_addresses(devices: Any) -> None:
    _, device = devices
    graph, address = graph_that_allocates(64)
    for invalid in (0, int(device.memory), address + 16):
        assert refused("cuGraphAddMemFreeNode", graph, [], 0, invalid) == "INVALID_VALUE"
    made("cuGraphAddMemFreeNode", graph, [], 0, address)
    assert refused("cuGraphAddMemFreeNode", graph, [], 0, address) == "INVALID_VALUE"


def test_second_free_in_a_capture(devices: Any) -> None:
    stream = made("cuStreamCreate", 0)
    made("cuStreamBeginCapture", stream, driver.CUstreamCaptureMode(0))
    memory = made("cuMemAllocAsync", 64, stream)
    made("cuMemFreeAsync", memory, stream)
    assert refused("cuMemFreeAsync", memory, stream) == "INVALID_VALUE"
    made("cuStreamEndCapture", stream)


@pytest.mark.parametrize("is_default", [False, True])
def test_a_capture_ends_with_its_context(devices: Any, *, is_default: bool) -> None:
    context = made("cuCtxGetCurrent")
    stream = driver.CUstream(2) if is_default else made("cuStreamCreate", 1)
    made("cuStreamBeginCapture", stream, driver.CUstreamCaptureMode(0))
    assert refused("cuMemAlloc", 16) == "STREAM_CAPTURE_UNSUPPORTED"
    made("cuDevicePrimaryCtxReset", 0)
    assert int(made("cuDevicePrimaryCtxRetain", 0)) == int(context)
    made("cuMemAlloc", 16)


def test_graphs_without_a_launch_leave_no_memory(devices: Any) -> None:
    free = made("cuMemGetInfo")
    graph, address = graph_that_allocates(1 << 20)
    executable = made("cuGraphInstantiate", graph, 0)
    made("cuGraphDestroy", graph)
    made("cuMemsetD8", address, 0, 1)  # the executable graph still allocates it
    made("cuGraphExecDestroy", executable)
    assert made("cuMemGetInfo") == free
    graph, _ = graph_that_allocates(64)
    given = driver.CUDA_MEM_ALLOC_NODE_PARAMS()
    given.bytesize = 1 << 20
    node = made("cuGraphGetNodes", graph, 1)[0][0]
    repeated = [node, node]
    assert refused("cuGraphAddMemAllocNode", graph, repeated, 2, given) == "INVALID_VALUE"
    made("cuGraphDestroy", graph)
    assert made("cuMemGetInfo") == free


def test_objects_of_a_graph_that_is_destroyed_while_it_runs(
    devices: Any, fresh_process: Process
) -> None:
    fresh_process.run_streams()
    events, started, end = [], threading.Event(), threading.Event()

    def work(_: Any) -> None:
        started.set()
        assert end.wait(PATIENCE)
        events.append("work")

    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    functions = kind(work), kind(lambda _: events.append("destroyed"))
    at = [ctypes.cast(each, ctypes.c_void_p).value for each in functions]
    graph, stream, given = made("cuGraphCreate", 0), made("cuStreamCreate", 1), host_node(at[0])
    made("cuGraphAddHostNode", graph, [], 0, given)
    item = made("cuUserObjectCreate", 0, driver.CUhostFn(at[1]), 1, 1)
    made("cuGraphRetainUserObject", graph, item, 1, 1)
    executable = made("cuGraphInstantiate", graph, 0)
    made("cuGraphDestroy", graph)
    made("cuGraphLaunch", executable, stream)
    assert started.wait(PATIENCE)
    made("cuGraphExecDestroy", executable)
    end.set()
    made("cuStreamSynchronize", stream)
    assert events == ["work", "destroyed"]


def host_node(function: int | None) -> Any:
    given = driver.CUDA_HOST_NODE_PARAMS()
    given.fn, given.userData = driver.CUhostFn(function), 0
    return given


def test_parts_of_graphs_that_are_not_implemented(devices: Any, fresh_process: Process) -> None:
    _, device = devices
    graph = made("cuGraphCreate", 0)
    made("cuGraphAddKernelNode", graph, [], 0, device.fill(1, 1))
    assert refused("cuGraphInstantiate", graph, 4) == "NOT_SUPPORTED"
    log = fresh_process.log.since(0) or b""
    assert b"graphs that kernels launch are not implemented" in log
