"""Driver API, sections 6.18 and 6.23: stream capture and graphs.

The results were recorded on an H200: `FORBIDDEN` and `CAPTURED` are excerpts of the calls that were
made in each mode, in a capture of a blocking and of a non-blocking stream.
"""

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

FILL = (ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
GLOBAL, THREAD_LOCAL, RELAXED = range(3)
BLOCKING, NON_BLOCKING = range(2)
UNSUPPORTED, IMPLICIT = "STREAM_CAPTURE_UNSUPPORTED", "STREAM_CAPTURE_IMPLICIT"
INVALIDATED, SUCCESS = "STREAM_CAPTURE_INVALIDATED", "CUDA_SUCCESS"


class World(SimpleNamespace):
    """Two streams, two buffers of 16 cells and what calls need besides."""

    def __init__(self, cuda, ptx, flags: int = NON_BLOCKING) -> None:
        module = cuda.cuModuleLoadData(ptx("kernels"))
        super().__init__(
            cuda=cuda,
            module=module,
            fill=cuda.cuModuleGetFunction(module, b"fill"),
            nothing=cuda.cuModuleGetFunction(module, b"nothing"),
            stream=cuda.cuStreamCreate(flags),
            other=cuda.cuStreamCreate(NON_BLOCKING),
            memory=cuda.cuMemAlloc(64),
            second=cuda.cuMemAlloc(64),
            event=cuda.cuEventCreate(0),
            host=np.zeros(16, np.uint32),
            graph=cuda.cuGraphCreate(0),
        )
        self.executable = cuda.cuGraphInstantiate(self.graph, 0)
        cuda.cuMemsetD32(self.memory, 0, 16)
        cuda.cuMemsetD32(self.second, 0, 16)
        cuda.cuEventRecord(self.event, self.other)
        cuda.cuCtxSynchronize()

    def begin(self, mode: int = THREAD_LOCAL, stream=None) -> None:
        mode = self.cuda.CUstreamCaptureMode(mode)
        self.cuda.cuStreamBeginCapture(stream or self.stream, mode)

    def end(self, stream=None) -> str:
        return self.cuda.result("cuStreamEndCapture", stream or self.stream)

    def launch(self, value: int, count: int, stream=None) -> None:
        values = (int(self.memory), value, count)
        self.cuda.launch(self.fill, values, FILL, block=(32, 1, 1), stream=stream or self.stream)

    def status(self, stream=None) -> str:
        name = self.cuda.cuStreamIsCapturing(stream or self.stream).name
        return name.removeprefix("CU_STREAM_CAPTURE_STATUS_")

    def fork(self, event) -> None:
        """Let the other stream join the capture."""
        self.cuda.cuEventRecord(event, self.stream)
        self.cuda.cuStreamWaitEvent(self.other, event, 0)

    def execute(self, graph, times: int = 1) -> None:
        executable = self.cuda.cuGraphInstantiate(graph, 0)
        for _ in range(times):
            self.cuda.cuGraphLaunch(executable, self.stream)
        self.cuda.cuStreamSynchronize(self.stream)
        self.cuda.cuGraphExecDestroy(executable)

    def cells(self, address=None) -> list[int]:
        data = np.empty(16, np.uint32)
        self.cuda.cuMemcpyDtoH(data, address or self.memory, 64)
        return data.tolist()

    def nodes(self, graph) -> list:
        nodes, count = self.cuda.cuGraphGetNodes(graph, 32)
        return nodes[:count]

    def shape(self, graph) -> tuple[list[str], list[tuple[int, int]]]:
        """The types of the nodes, and the edges by their places."""
        nodes = self.nodes(graph)
        place = {int(node): index for index, node in enumerate(nodes)}
        kinds = [self.cuda.cuGraphNodeGetType(node).name for node in nodes]
        before, after, *_, count = self.cuda.cuGraphGetEdges(graph, 32)
        pairs = zip(before[:count], after[:count], strict=True)
        edges = [(place[int(a)], place[int(b)]) for a, b in pairs]
        return [kind.removeprefix("CU_GRAPH_NODE_TYPE_") for kind in kinds], edges

    def parameters(self, value: int, count: int, **fields):
        made = self.cuda.CUDA_KERNEL_NODE_PARAMS()
        made.func = self.fill
        made.gridDimX = made.gridDimY = made.gridDimZ = 1
        made.blockDimX, made.blockDimY, made.blockDimZ = 32, 1, 1
        made.kernelParams = ((int(self.memory), value, count), FILL)
        for name, field in fields.items():
            setattr(made, name, field)
        return made

    def memset(self, **fields):
        made = self.cuda.CUDA_MEMSET_NODE_PARAMS()
        made.dst, made.value, made.elementSize = self.memory, 5, 4
        made.width, made.height = 16, 1
        for name, field in fields.items():
            setattr(made, name, field)
        return made

    def copy(self, width: int = 64):
        made = self.cuda.CUDA_MEMCPY3D()
        made.srcMemoryType = made.dstMemoryType = self.cuda.CUmemorytype.CU_MEMORYTYPE_DEVICE
        made.srcDevice, made.dstDevice = self.memory, self.second
        made.WidthInBytes, made.Height, made.Depth = width, 1, 1
        return made


@pytest.fixture
def world(cuda, context, ptx) -> World:
    return World(cuda, ptx)


# --- capture -------------------------------------------------------------------------------------


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


# --- graphs --------------------------------------------------------------------------------------


@pytest.fixture
def built(cuda, context, world):
    """A graph of a fill, a kernel, an empty node and a copy."""
    world.first = cuda.cuGraphAddMemsetNode(world.graph, [], 0, world.memset(), context)
    world.kernel = cuda.cuGraphAddKernelNode(world.graph, [world.first], 1, world.parameters(9, 8))
    joined = [world.first, world.kernel]
    world.empty = cuda.cuGraphAddEmptyNode(world.graph, joined, 2)
    world.last = cuda.cuGraphAddMemcpyNode(world.graph, [world.empty], 1, world.copy(), context)
    return world


def test_a_graph_from_nodes(cuda, built):
    assert built.shape(built.graph) == (
        ["MEMSET", "KERNEL", "EMPTY", "MEMCPY"],
        [(0, 1), (0, 2), (1, 2), (2, 3)],
    )
    roots, count = cuda.cuGraphGetRootNodes(built.graph, 4)
    assert (int(roots[0]), count) == (int(built.first), 1)
    built.execute(built.graph)
    assert built.cells(built.second) == [9] * 8 + [5] * 8


def test_parameters_of_an_executable_graph(cuda, built):
    executable = cuda.cuGraphInstantiate(built.graph, 0)
    cuda.cuGraphExecKernelNodeSetParams(executable, built.kernel, built.parameters(3, 2))
    cuda.cuGraphLaunch(executable, built.stream)
    cuda.cuStreamSynchronize(built.stream)
    assert built.cells() == [3] * 2 + [5] * 14
    built.execute(built.graph)  # the graph is unchanged
    assert built.cells() == [9] * 8 + [5] * 8
    cuda.cuGraphKernelNodeSetParams(built.kernel, built.parameters(4, 1))
    cuda.cuGraphLaunch(executable, built.stream)  # and this one keeps its parameters
    cuda.cuStreamSynchronize(built.stream)
    assert built.cells() == [3] * 2 + [5] * 14
    for node in (built.first, cuda.CUgraphNode(0)):
        call = (executable, node, built.parameters(3, 2))
        assert cuda.result("cuGraphExecKernelNodeSetParams", *call) == "INVALID_VALUE"


def test_an_executable_graph_outlives_its_graph(cuda, built):
    executable = cuda.cuGraphInstantiate(built.graph, 0)
    cuda.cuGraphDestroy(built.graph)
    cuda.cuGraphUpload(executable, built.stream)
    for stream in (built.stream, 0, cuda.CUstream(2)):
        cuda.cuGraphLaunch(executable, stream)
    cuda.cuCtxSynchronize()
    assert built.cells(built.second) == [9] * 8 + [5] * 8
    cuda.cuGraphExecDestroy(executable)


def test_a_clone(cuda, built):
    clone = cuda.cuGraphClone(built.graph)
    found = cuda.cuGraphNodeFindInClone(built.kernel, clone)
    assert int(found) in map(int, built.nodes(clone))
    find = ("cuGraphNodeFindInClone", built.kernel, built.graph)
    assert cuda.result(*find) == "INVALID_VALUE"
    shape = built.shape(built.graph)
    cuda.cuGraphDestroy(built.graph)
    assert built.shape(clone) == shape
    built.execute(clone)
    assert built.cells() == [9] * 8 + [5] * 8


def edges_arguments(cuda, count):
    """What follows the nodes: data since CUDA 13, and the number."""
    return (None, count) if cuda.module.CUDA_VERSION >= 13000 else (count,)


@pytest.mark.parametrize(
    ("before", "after", "result"),
    [
        ("first", "kernel", "INVALID_VALUE"),  # exists
        ("first", "first", "INVALID_VALUE"),
        ("last", "first", SUCCESS),  # a cycle
        ("first", "last", SUCCESS),
    ],
)
def test_edges(cuda, built, before, after, result):
    pair = ([getattr(built, before)], [getattr(built, after)])
    call = (built.graph, *pair, *edges_arguments(cuda, 1))
    assert cuda.result("cuGraphAddDependencies", *call) == result
    if result == SUCCESS:
        cycle = before == "last"
        made = cuda.result("cuGraphInstantiate", built.graph, 0)
        assert made == ("INVALID_VALUE" if cycle else SUCCESS)
        cuda.cuGraphRemoveDependencies(*call)
        cuda.cuGraphInstantiate(built.graph, 0)
        assert cuda.result("cuGraphRemoveDependencies", *call) == "INVALID_VALUE"


def test_the_result_of_an_instantiation(cuda, built):
    parameters = cuda.CUDA_GRAPH_INSTANTIATE_PARAMS()
    cuda.cuGraphInstantiateWithParams(built.graph, parameters)
    results = cuda.CUgraphInstantiateResult
    assert parameters.result_out == results.CUDA_GRAPH_INSTANTIATE_SUCCESS
    pair = ([built.last], [built.first])
    cuda.cuGraphAddDependencies(built.graph, *pair, *edges_arguments(cuda, 1))
    call = ("cuGraphInstantiateWithParams", built.graph, parameters)
    assert cuda.result(*call) == "INVALID_VALUE"
    assert parameters.result_out == results.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
    assert int(parameters.hErrNode_out) in map(int, built.nodes(built.graph))


@pytest.mark.parametrize(
    ("flags", "result"), [(1, SUCCESS), (8, SUCCESS), (2, "INVALID_VALUE"), (16, "INVALID_VALUE")]
)
def test_flags_of_an_instantiation(cuda, built, flags, result):
    assert cuda.result("cuGraphInstantiate", built.graph, flags) == result


def test_lists_of_nodes(cuda, context):
    graph = cuda.cuGraphCreate(0)
    nodes = [cuda.cuGraphAddEmptyNode(graph, [], 0) for _ in range(3)]
    pairs = ([nodes[2], nodes[0]], [nodes[1], nodes[1]])
    cuda.cuGraphAddDependencies(graph, *pairs, *edges_arguments(cuda, 2))

    def listed(call, *arguments) -> tuple[list[int], int]:
        found, *_, count = getattr(cuda, call)(*arguments)
        places = {int(node): place for place, node in enumerate(nodes)}
        return [places.get(int(node), -1) for node in found], count

    assert listed("cuGraphGetNodes", graph) == ([], 3)
    assert listed("cuGraphGetNodes", graph, 2) == ([0, 1], 2)
    assert listed("cuGraphGetNodes", graph, 4) == ([0, 1, 2, -1], 3)
    assert listed("cuGraphGetRootNodes", graph, 3) == ([2, 0, -1], 2)
    assert listed("cuGraphNodeGetDependencies", nodes[1], 3) == ([2, 0, -1], 2)
    assert listed("cuGraphNodeGetDependentNodes", nodes[0], 1) == ([1], 1)
    assert listed("cuGraphGetEdges", graph, 2) == ([0, 2], 2)
    cuda.cuGraphDestroyNode(nodes[1])
    assert listed("cuGraphGetNodes", graph, 3) == ([0, 2, -1], 2)


INVALID_NODES = {
    "no function": lambda w: w.parameters(1, 1, func=w.cuda.CUfunction(0)),
    "no threads": lambda w: w.parameters(1, 1, blockDimX=0),
    "no parameters": lambda w: w.parameters(1, 1, kernelParams=0),
    "shared memory": lambda w: w.parameters(1, 1, sharedMemBytes=64 << 10),
    "element size": lambda w: w.memset(elementSize=3),
    "no elements": lambda w: w.memset(width=0),
    "unaligned": lambda w: w.memset(dst=int(w.memory) + 1),
    "beyond the allocation": lambda w: w.memset(width=1 << 20),
    "no bytes": lambda w: w.copy(width=0),
}


@pytest.mark.parametrize("name", INVALID_NODES)
def test_nodes_that_are_refused(cuda, context, world, name):
    given = INVALID_NODES[name](world)
    call, rest = {
        "CUDA_KERNEL_NODE_PARAMS": ("cuGraphAddKernelNode", ()),
        "CUDA_MEMSET_NODE_PARAMS": ("cuGraphAddMemsetNode", (context,)),
        "CUDA_MEMCPY3D": ("cuGraphAddMemcpyNode", (context,)),
    }[type(given).__name__]
    refusal = "INVALID_HANDLE" if name == "no function" else "INVALID_VALUE"
    assert cuda.result(call, world.graph, [], 0, given, *rest) == refusal


def test_dependencies_that_are_refused(cuda, world, built):
    other = cuda.cuGraphCreate(0)
    assert cuda.result("cuGraphAddEmptyNode", other, [built.first], 1) == "INVALID_VALUE"
    twice = [built.first, built.first]
    assert cuda.result("cuGraphAddEmptyNode", built.graph, twice, 2) == "INVALID_VALUE"
    null = [cuda.CUgraphNode(0)]
    assert cuda.result("cuGraphAddEmptyNode", built.graph, null, 1) == "INVALID_VALUE"


@pytest.mark.parametrize("call", ["cuGraphDestroy", "cuGraphClone", "cuGraphGetNodes"])
def test_no_graph(cuda, context, call):
    assert cuda.result(call, cuda.CUgraph(0)) == "INVALID_VALUE"


def test_a_graph_needs_no_context_until_it_is_instantiated(cuda, context, world):
    cuda.cuCtxPopCurrent()
    graph = cuda.cuGraphCreate(0)
    cuda.cuGraphAddEmptyNode(graph, [], 0)
    assert cuda.result("cuGraphInstantiate", graph, 0) == "INVALID_CONTEXT"
    cuda.cuGraphLaunch(world.executable, world.stream)
    cuda.cuCtxPushCurrent(context)
    world.execute(graph)
