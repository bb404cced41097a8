"""Driver API, section 6.13: memory and events for other processes; tests of exec open them."""

import ctypes
import os

import pytest


def test_the_process_that_exports_memory_does_not_open_it(cuda, context):
    handle = cuda.cuIpcGetMemHandle(cuda.cuMemAlloc(64))
    assert cuda.result("cuIpcOpenMemHandle", handle, 1) == "INVALID_CONTEXT"
    assert cuda.result("cuIpcOpenMemHandle", handle, 0) == "INVALID_VALUE"


def test_each_allocation_has_a_handle(cuda, context):
    memory = [cuda.cuMemAlloc(64) for _ in range(2)]
    handles = [cuda.cuIpcGetMemHandle(each) for each in (*memory, memory[0])]
    first, second, again = (ctypes.string_at(int(each.getPtr()), 64) for each in handles)
    assert first == again != second


def test_only_memory_of_the_device_is_exported(cuda, context):
    managed = cuda.cuMemAllocManaged(64, 1)
    assert cuda.result("cuIpcGetMemHandle", managed) == "INVALID_VALUE"


def test_memory_that_is_exported_is_as_before(cuda, context):
    memory = cuda.cuMemAlloc(64)
    cuda.cuMemsetD8(memory, 7, 64)
    cuda.cuIpcGetMemHandle(memory)
    data = bytearray(64)
    cuda.cuMemcpyDtoH(data, memory, 64)
    assert data == bytes([7]) * 64


def test_an_event_for_other_processes(cuda, context):
    event = cuda.cuEventCreate(6)  # CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS
    cuda.cuIpcGetEventHandle(event)
    cuda.cuEventRecord(event, 0)
    cuda.cuStreamWaitEvent(cuda.cuStreamCreate(1), event, 0)
    cuda.cuEventSynchronize(event)
    cuda.cuEventQuery(event)
    assert cuda.result("cuIpcGetEventHandle", cuda.cuEventCreate(2)) == "INVALID_HANDLE"


def test_a_node_records_an_event_for_other_processes(cuda, context):
    event, graph = cuda.cuEventCreate(6), cuda.cuGraphCreate(0)
    cuda.cuIpcGetEventHandle(event)
    record = cuda.cuGraphAddEventRecordNode(graph, [], 0, event)
    cuda.cuGraphAddEventWaitNode(graph, [record], 1, event)
    cuda.cuEventQuery(event)  # a node is no record
    executable = cuda.cuGraphInstantiate(graph, 0)
    for _ in range(2):
        cuda.cuGraphLaunch(executable, 0)
        cuda.cuEventSynchronize(event)


def test_an_event_for_other_processes_has_a_file_until_it_is_destroyed(cuda, context, driver_name):
    if driver_name == "cuda":
        pytest.skip("a file of the emulated device")
    event, before = cuda.cuEventCreate(6), len(os.listdir("/proc/self/fd"))
    cuda.cuIpcGetEventHandle(event)
    assert len(os.listdir("/proc/self/fd")) > before
    cuda.cuEventDestroy(event)
    assert len(os.listdir("/proc/self/fd")) == before
