"""Driver API, section 6.23: changes of nodes and executable graphs, and what they keep."""

import ctypes

import pytest

from tests.conformance.graph_objects import World


@pytest.fixture
def world(cuda, context, ptx) -> World:
    return World(cuda, ptx)


@pytest.fixture
def built(cuda, context, world):
    """A graph of a fill, a kernel and a copy."""
    world.first = cuda.cuGraphAddMemsetNode(world.graph, [], 0, world.memset(), context)
    world.kernel = cuda.cuGraphAddKernelNode(world.graph, [world.first], 1, world.parameters(9, 8))
    world.last = cuda.cuGraphAddMemcpyNode(world.graph, [world.kernel], 1, world.copy(), context)
    return world


def launched(cuda, built, executable):
    cuda.cuGraphLaunch(executable, built.stream)
    cuda.cuStreamSynchronize(built.stream)
    return built.cells(), built.cells(built.second)


def test_parameters_of_fills_and_copies(cuda, built, context):
    assert int(cuda.cuGraphMemsetNodeGetParams(built.first).width) == 16
    assert int(cuda.cuGraphMemcpyNodeGetParams(built.last).WidthInBytes) == 64
    executable = cuda.cuGraphInstantiate(built.graph, 0)
    cuda.cuGraphExecMemsetNodeSetParams(executable, built.first, built.memset(value=6), context)
    cuda.cuGraphExecMemcpyNodeSetParams(executable, built.last, built.copy(32), context)
    found = launched(cuda, built, executable)
    assert found == ([9] * 8 + [6] * 8, [9] * 8 + [0] * 8)
    cuda.cuGraphMemsetNodeSetParams(built.first, built.memset(value=7))
    cuda.cuGraphMemcpyNodeSetParams(built.last, built.copy())
    built.execute(built.graph)
    assert built.cells(built.second) == [9] * 8 + [7] * 8


def test_nodes_that_are_left_out(cuda, built):
    executable = cuda.cuGraphInstantiate(built.graph, 0)
    assert cuda.cuGraphNodeGetEnabled(executable, built.kernel) == 1
    cuda.cuGraphNodeSetEnabled(executable, built.kernel, 0)
    assert cuda.cuGraphNodeGetEnabled(executable, built.kernel) == 0
    assert launched(cuda, built, executable)[1] == [5] * 16
    cuda.cuGraphNodeSetEnabled(executable, built.kernel, 1)
    assert launched(cuda, built, executable)[1] == [9] * 8 + [5] * 8


def test_only_kernels_copies_and_fills_are_left_out(cuda, built):
    empty = cuda.cuGraphAddEmptyNode(built.graph, [], 0)
    executable = cuda.cuGraphInstantiate(built.graph, 0)
    assert cuda.result("cuGraphNodeSetEnabled", executable, empty, 0) == "INVALID_VALUE"
    assert cuda.result("cuGraphNodeGetEnabled", executable, empty) == "INVALID_VALUE"


def test_an_update(cuda, built, context):
    executable = cuda.cuGraphInstantiate(built.graph, 0)
    other = cuda.cuGraphClone(built.graph)
    kernel = cuda.cuGraphNodeFindInClone(built.kernel, other)
    cuda.cuGraphKernelNodeSetParams(kernel, built.parameters(3, 2))
    cuda.cuGraphExecUpdate(executable, other)
    assert launched(cuda, built, executable)[1] == [3] * 2 + [5] * 14
    cuda.cuGraphAddEmptyNode(other, [], 0)
    assert cuda.result("cuGraphExecUpdate", executable, other) == "GRAPH_EXEC_UPDATE_FAILURE"
    other = cuda.cuGraphClone(built.graph)
    cuda.cuGraphDestroyNode(cuda.cuGraphNodeFindInClone(built.last, other))
    cuda.cuGraphAddMemcpyNode(other, [], 0, built.copy(), context)  # without its edge
    assert cuda.result("cuGraphExecUpdate", executable, other) == "GRAPH_EXEC_UPDATE_FAILURE"
    assert launched(cuda, built, executable)[1] == [3] * 2 + [5] * 14


def test_objects_of_the_program(cuda, world):
    destroyed = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(destroyed.append)
    address = ctypes.cast(function, ctypes.c_void_p).value
    wrong_flags = 8, cuda.CUhostFn(address), 1, 0
    assert cuda.result("cuUserObjectCreate", *wrong_flags) == "INVALID_VALUE"
    made = cuda.cuUserObjectCreate(8, cuda.CUhostFn(address), 1, 1)
    cuda.cuGraphRetainUserObject(world.graph, made, 1, 1)  # the program's reference
    clone = cuda.cuGraphClone(world.graph)
    cuda.cuGraphReleaseUserObject(world.graph, made, 1)
    assert not destroyed
    cuda.cuGraphDestroy(clone)
    cuda.cuCtxSynchronize()
    assert destroyed == [8]


def test_events_of_nodes(cuda, built):
    record = cuda.cuGraphAddEventRecordNode(built.graph, [], 0, built.event)
    wait = cuda.cuGraphAddEventWaitNode(built.graph, [record], 1, built.event)
    other = cuda.cuEventCreate(0)
    executable = cuda.cuGraphInstantiate(built.graph, 0)
    for call, node in (("Record", record), ("Wait", wait)):
        assert int(getattr(cuda, f"cuGraphEvent{call}NodeGetEvent")(node)) == int(built.event)
        getattr(cuda, f"cuGraphExecEvent{call}NodeSetEvent")(executable, node, other)
        getattr(cuda, f"cuGraphEvent{call}NodeSetEvent")(node, other)
        assert int(getattr(cuda, f"cuGraphEvent{call}NodeGetEvent")(node)) == int(other)
        refused = (f"cuGraphEvent{call}NodeGetEvent", built.first)
        assert cuda.result(*refused) == "INVALID_VALUE"


def test_a_graph_as_a_picture(cuda, built, tmp_path):
    path = tmp_path / "graph.dot"
    cuda.cuGraphDebugDotPrint(built.graph, str(path).encode(), 0)
    text = path.read_text()
    assert text.startswith("digraph")
    assert text.count("->") == 2
    missing = str(tmp_path / "missing" / "graph.dot").encode()
    assert cuda.result("cuGraphDebugDotPrint", built.graph, missing, 0) == "OPERATING_SYSTEM"
