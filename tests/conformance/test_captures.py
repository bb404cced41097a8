"""Driver API, section 6.18: stream capture.

The results were recorded on an H200: `FORBIDDEN` and `CAPTURED` are excerpts of the calls that were
made in each mode, in a capture of a blocking and of a non-blocking stream.
"""

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tests.conformance.graph_objects import (
    BLOCKING,
    GLOBAL,
    IMPLICIT,
    INVALIDATED,
    RELAXED,
    SUCCESS,
    THREAD_LOCAL,
    UNSUPPORTED,
    World,
    edges_arguments,
)


@pytest.fixture
def world(cuda, context, ptx) -> World:
    return World(cuda, ptx)


def test_captured_work_is_executed_by_the_graph(cuda, world):
    world.begin()
    world.launch(7, 16)
    cuda.cuMemsetD32Async(world.memory, 8, 4, world.stream)
    cuda.cuMemcpyDtoDAsync(world.second, world.memory, 64, world.stream)
    cuda.cuMemcpyDtoHAsync(world.host.ctypes.data, world.second, 64, world.stream)
    graph = cuda.cuStreamEndCapture(world.stream)
    assert world.shape(graph) == (
        ["KERNEL", "MEMSET", "MEMCPY", "MEMCPY"],
        [(0, 1), (1, 2), (2, 3)],
    )
    assert world.cells() == [0] * 16
    world.execute(graph, times=2)
    assert world.host.tolist() == world.cells() == [8] * 4 + [7] * 12


def test_parameters_are_copied_when_they_are_captured(cuda, world):
    values = ctypes.c_uint64(int(world.memory)), ctypes.c_uint32(5), ctypes.c_uint32(4)
    array = (ctypes.c_void_p * 3)(*map(ctypes.addressof, values))
    world.begin()
    cuda.cuLaunchKernel(world.fill, 1, 1, 1, 32, 1, 1, 0, world.stream, array, 0)
    values[1].value = 77
    graph = cuda.cuStreamEndCapture(world.stream)
    world.execute(graph)
    assert world.cells()[:6] == [5] * 4 + [0] * 2
    [node] = world.nodes(graph)
    given = cuda.cuGraphKernelNodeGetParams(node)
    assert (int(given.func), given.blockDimX) == (int(world.fill), 32)
    pointers = ctypes.cast(int(given.kernelParams), ctypes.POINTER(ctypes.c_void_p))
    assert [ctypes.c_uint32.from_address(pointers[i]).value for i in (1, 2)] == [5, 4]


def test_host_memory_is_read_when_the_graph_is_launched(cuda, world):
    world.begin()
    cuda.cuMemcpyHtoDAsync(world.memory, world.host.ctypes.data, 64, world.stream)
    graph = cuda.cuStreamEndCapture(world.stream)
    for value in (3, 4):
        world.host[:] = value
        world.execute(graph)
        assert world.cells() == [value] * 16


def test_a_kernel_of_a_library_and_a_cooperative_launch(cuda, world, ptx):
    library = cuda.load_library(ptx("variables"))
    kernel = cuda.CUfunction(int(cuda.cuLibraryGetKernel(library, b"bump")))
    counter, _ = cuda.cuLibraryGetGlobal(library, b"counter")
    before = np.empty(1, np.uint32)
    cuda.cuMemcpyDtoH(before, counter, 4)
    world.begin()
    cuda.launch(kernel, (10,), (ctypes.c_uint32,), stream=world.stream)
    sizes = (2, 1, 1, 32, 1, 1, 0)
    cuda.cuLaunchCooperativeKernel(world.nothing, *sizes, world.stream, None)
    graph = cuda.cuStreamEndCapture(world.stream)
    assert world.shape(graph) == (["KERNEL", "KERNEL"], [(0, 1)])
    world.execute(graph, times=3)
    after = np.empty(1, np.uint32)
    cuda.cuMemcpyDtoH(after, counter, 4)
    assert after[0] == before[0] + 30
    cuda.cuLibraryUnload(library)


def test_a_fork_and_a_join(cuda, world):
    end = cuda.cuEventCreate(2)
    world.begin()
    world.launch(1, 16)
    world.fork(world.event)
    assert world.status(world.other) == "ACTIVE"
    world.launch(2, 8, world.other)
    cuda.cuMemsetD32Async(world.second, 3, 4, world.stream)
    cuda.cuEventRecord(end, world.other)
    cuda.cuStreamWaitEvent(world.stream, end, 0)
    world.launch(4, 2)
    graph = cuda.cuStreamEndCapture(world.stream)
    assert world.status(world.other) == "NONE"
    kinds, edges = world.shape(graph)
    assert kinds == ["KERNEL", "KERNEL", "MEMSET", "KERNEL"]
    assert edges == [(0, 1), (0, 2), (1, 3), (2, 3)]
    world.execute(graph)
    assert world.cells() == [4] * 2 + [2] * 6 + [1] * 8
    assert world.cells(world.second) == [3] * 4 + [0] * 12


def test_work_that_is_not_joined(cuda, world):
    world.begin()
    world.launch(1, 16)
    world.fork(world.event)
    world.launch(2, 8, world.other)
    assert world.end() == "STREAM_CAPTURE_UNJOINED"
    assert world.status() == world.status(world.other) == "NONE"


def test_a_fork_without_work_need_not_be_joined(cuda, world):
    world.begin()
    world.launch(1, 16)
    world.fork(world.event)
    assert world.end() == SUCCESS


def test_a_capture_ends_where_it_began(cuda, world):
    world.begin()
    world.fork(world.event)
    assert world.end(world.other) == "STREAM_CAPTURE_UNMATCHED"
    assert world.status() == world.status(world.other) == "INVALIDATED"
    assert world.end() == INVALIDATED
    assert world.end() == "ILLEGAL_STATE"


@pytest.mark.parametrize(
    ("mode", "result"),
    [
        (GLOBAL, "STREAM_CAPTURE_WRONG_THREAD"),
        (THREAD_LOCAL, "STREAM_CAPTURE_WRONG_THREAD"),
        (RELAXED, SUCCESS),
    ],
)
def test_the_end_in_another_thread(cuda, context, world, mode, result):
    world.begin(mode)
    assert in_a_thread(cuda, context, world.end) == result
    assert world.status() == "NONE"


def in_a_thread(cuda, context, call: Callable[[], str]) -> str:
    def body() -> str:
        cuda.cuCtxPushCurrent(context)
        try:
            return call()
        finally:
            cuda.cuCtxPopCurrent()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(body).result()


def test_captures_are_not_merged(cuda, world):
    world.begin()
    world.begin(stream=world.other)
    cuda.cuEventRecord(world.event, world.stream)
    wait = ("cuStreamWaitEvent", world.other, world.event, 0)
    assert cuda.result(*wait) == "STREAM_CAPTURE_MERGE"
    assert [world.end(), world.end(world.other)] == [INVALIDATED] * 2


def test_a_capture_does_not_wait_for_other_work(cuda, world):
    world.begin()
    wait = ("cuStreamWaitEvent", world.stream, world.event, 0)
    assert cuda.result(*wait) == "STREAM_CAPTURE_ISOLATION"
    assert world.end() == INVALIDATED


def test_captured_events(cuda, world):
    world.begin(RELAXED)
    world.launch(1, 16)
    cuda.cuEventRecord(world.event, world.stream)
    assert cuda.result("cuEventQuery", world.event) == "CAPTURED_EVENT"
    assert world.end() == INVALIDATED
    assert cuda.result("cuEventQuery", world.event) == "INVALID_VALUE"
    assert cuda.result("cuStreamWaitEvent", world.other, world.event, 0) == "INVALID_VALUE"
    cuda.cuEventRecord(world.event, world.other)
    cuda.cuEventSynchronize(world.event)


def test_events_as_nodes(cuda, world):
    end = cuda.cuEventCreate(0)
    assert cuda.result("cuEventRecordWithFlags", end, world.stream, 1) == "ILLEGAL_STATE"
    assert cuda.result("cuStreamWaitEvent", world.stream, end, 1) == "ILLEGAL_STATE"
    world.begin()
    cuda.cuEventRecordWithFlags(world.event, world.stream, 1)
    world.launch(1, 16)
    cuda.cuEventRecordWithFlags(end, world.stream, 1)
    cuda.cuStreamWaitEvent(world.stream, end, 1)
    graph = cuda.cuStreamEndCapture(world.stream)
    assert world.shape(graph)[0] == ["EVENT_RECORD", "KERNEL", "EVENT_RECORD", "WAIT_EVENT"]
    world.execute(graph)
    assert cuda.cuEventElapsedTime(world.event, end) > 0


def test_the_legacy_stream_is_not_captured(cuda, context):
    mode = cuda.CUstreamCaptureMode(THREAD_LOCAL)
    for handle, result in [(0, UNSUPPORTED), (1, UNSUPPORTED), (2, SUCCESS)]:
        assert cuda.result("cuStreamBeginCapture", cuda.CUstream(handle), mode) == result
    cuda.cuGraphDestroy(cuda.cuStreamEndCapture(cuda.CUstream(2)))


def test_the_state_of_a_capture(cuda, world):
    def info() -> tuple[str, bool, int]:
        status, number, graph, nodes, *_, count = cuda.cuStreamGetCaptureInfo(world.stream)
        assert len(nodes) == count
        assert (int(number) != 0) == (int(graph) != 0)
        return status.name.removeprefix("CU_STREAM_CAPTURE_STATUS_"), int(graph) != 0, count

    assert info() == ("NONE", False, 0)
    world.begin()
    assert info() == ("ACTIVE", True, 0)
    assert cuda.result("cuStreamBeginCapture", world.stream, cuda.CUstreamCaptureMode(0)) == (
        "ILLEGAL_STATE"
    )
    world.launch(1, 16)
    world.launch(2, 16)
    assert info() == ("ACTIVE", True, 1)
    assert cuda.result("cuStreamSynchronize", world.stream) == UNSUPPORTED
    assert info() == ("INVALIDATED", False, 0)
    params = ("cuLaunchKernel", world.nothing, 0, 1, 1, 1, 1, 1, 0, world.stream, None, 0)
    assert cuda.result(*params) == INVALIDATED
    assert world.end() == INVALIDATED
    assert info() == ("NONE", False, 0)


def test_the_dependencies_of_the_next_node(cuda, world):
    def update(node, flags: int) -> str:
        call = (world.stream, [node], *edges_arguments(cuda, 1), flags)
        return cuda.result("cuStreamUpdateCaptureDependencies", *call)

    world.begin()
    world.launch(1, 16)
    world.launch(2, 8)
    graph = cuda.cuStreamGetCaptureInfo(world.stream)[2]
    first = world.nodes(graph)[0]
    counts = []
    for flags in (0, 1):  # add, set
        assert update(first, flags) == SUCCESS
        counts.append(cuda.cuStreamGetCaptureInfo(world.stream)[-1])
    assert counts == [2, 1]
    world.launch(3, 4)
    assert world.shape(cuda.cuStreamEndCapture(world.stream))[1] == [(0, 1), (0, 2)]


def test_modes_of_a_thread(cuda, context):
    modes = [cuda.CUstreamCaptureMode(mode) for mode in (THREAD_LOCAL, RELAXED, GLOBAL)]
    before = [int(cuda.cuThreadExchangeStreamCaptureMode(mode)) for mode in modes]
    assert before == [GLOBAL, THREAD_LOCAL, RELAXED]


# Per case: the results in a global or thread-local capture, and in a relaxed one.
FORBIDDEN = {
    "cuMemAlloc": (lambda w: (64,), UNSUPPORTED, SUCCESS),
    "cuMemFree": (lambda w: (w.second,), UNSUPPORTED, SUCCESS),
    "cuMemHostAlloc": (lambda w: (64, 0), UNSUPPORTED, SUCCESS),
    "cuModuleUnload": (lambda w: (w.module,), UNSUPPORTED, SUCCESS),
    "cuEventQuery": (lambda w: (w.event,), UNSUPPORTED, SUCCESS),
    "cuEventSynchronize": (lambda w: (w.event,), UNSUPPORTED, SUCCESS),
    "cuGraphInstantiate": (lambda w: (w.graph, 0), UNSUPPORTED, SUCCESS),
    "cuGraphExecDestroy": (lambda w: (w.executable,), UNSUPPORTED, SUCCESS),
    "cuCtxSetCacheConfig": (lambda w: (w.cuda.CUfunc_cache(0),), UNSUPPORTED, SUCCESS),
    "cuStreamSynchronize": (lambda w: (w.other,), UNSUPPORTED, SUCCESS),
    "cuMemAllocAsync": (lambda w: (64, w.other), UNSUPPORTED, SUCCESS),
    "cuCtxSynchronize": (lambda w: (), UNSUPPORTED, UNSUPPORTED),
    "cuStreamQuery": (lambda w: (w.stream,), UNSUPPORTED, UNSUPPORTED),
    "cuStreamGetFlags": (lambda w: (w.stream,), UNSUPPORTED, UNSUPPORTED),
    "cuGraphLaunch": (lambda w: (w.executable, w.stream), UNSUPPORTED, UNSUPPORTED),
    "cuGraphUpload": (lambda w: (w.executable, w.stream), UNSUPPORTED, UNSUPPORTED),
    "cuMemsetD32": (lambda w: (w.memory, 1, 4), IMPLICIT, IMPLICIT),
    "cuMemcpyDtoD": (lambda w: (w.memory, w.second, 64), IMPLICIT, IMPLICIT),
    "cuMemsetD32Async": (lambda w: (w.memory, 1, 4, 0), IMPLICIT, IMPLICIT),
    "cuEventRecord": (lambda w: (w.event, 0), IMPLICIT, IMPLICIT),
    "cuStreamGetCtx": (lambda w: (0,), IMPLICIT, IMPLICIT),
}


@pytest.mark.parametrize("name", FORBIDDEN)
@pytest.mark.parametrize("mode", [THREAD_LOCAL, RELAXED])
def test_forbidden_calls(cuda, context, ptx, name, mode):
    arguments, *results = FORBIDDEN[name]
    result = results[mode == RELAXED]
    world = World(cuda, ptx, BLOCKING)
    world.begin(mode)
    assert cuda.result(name, *arguments(world)) == result
    assert world.end() == (SUCCESS if result == SUCCESS else INVALIDATED)


def test_the_legacy_stream_beside_a_non_blocking_one(cuda, world):
    world.begin()
    cuda.cuMemsetD32(world.memory, 1, 4)
    world.launch(2, 2, cuda.CUstream(1))
    assert world.end() == SUCCESS
    assert world.cells()[:5] == [2, 2, 1, 1, 0]


def test_the_status_of_the_legacy_stream(cuda, context, ptx):
    world = World(cuda, ptx, BLOCKING)
    world.begin()
    assert cuda.result("cuStreamIsCapturing", 0) == IMPLICIT
    assert world.end() == SUCCESS


@pytest.mark.parametrize(
    ("mode", "result"), [(GLOBAL, UNSUPPORTED), (THREAD_LOCAL, SUCCESS), (RELAXED, SUCCESS)]
)
def test_unsafe_calls_in_another_thread(cuda, context, world, mode, result):
    world.begin(mode)
    call = ("cuMemAlloc", 64)
    assert in_a_thread(cuda, context, lambda: cuda.result(*call)) == result
    assert world.end() == (SUCCESS if result == SUCCESS else INVALIDATED)


def test_a_relaxed_thread_is_permitted_unsafe_calls(cuda, world):
    world.begin(GLOBAL)
    cuda.cuThreadExchangeStreamCaptureMode(cuda.CUstreamCaptureMode(RELAXED))
    cuda.cuMemAlloc(64)
    cuda.cuThreadExchangeStreamCaptureMode(cuda.CUstreamCaptureMode(GLOBAL))
    assert world.end() == SUCCESS


@pytest.mark.parametrize(
    ("block", "shared", "params", "ends"),
    [(0, 0, (), INVALIDATED), (2048, 0, (), INVALIDATED), (1, 64 << 10, (), INVALIDATED)],
)
def test_an_invalid_launch_invalidates_the_capture(cuda, world, block, shared, params, ends):
    launch = (world.nothing, 1, 1, 1, block, 1, 1, shared, world.stream, None, 0)
    world.begin()
    assert cuda.result("cuLaunchKernel", *launch) == "INVALID_VALUE"
    assert world.end() == ends


def test_missing_parameters_and_functions_do_not(cuda, world):
    sizes = (1, 1, 1, 1, 1, 1, 0)
    world.begin()
    for function, result in [(world.fill, "INVALID_VALUE"), (0, "INVALID_HANDLE")]:
        launch = (cuda.CUfunction(int(function)), *sizes, world.stream, None, 0)
        assert cuda.result("cuLaunchKernel", *launch) == result
    assert cuda.result("cuMemcpyDtoDAsync", 64, world.memory, 64, world.stream) == "INVALID_VALUE"
    cuda.cuMemcpyDtoDAsync(world.second, world.memory, 0, world.stream)
    graph = cuda.cuStreamEndCapture(world.stream)
    assert world.shape(graph) == ([], [])


def test_streams_destroyed_during_a_capture(cuda, world):
    world.begin()
    world.fork(world.event)
    world.launch(1, 4, world.other)
    cuda.cuStreamDestroy(world.other)
    assert world.end() == "STREAM_CAPTURE_UNJOINED"
    world.begin(GLOBAL)
    cuda.cuStreamDestroy(world.stream)
    cuda.cuMemAlloc(64)
