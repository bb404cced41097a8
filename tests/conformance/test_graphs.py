"""Driver API, section 6.23: graphs. The results were recorded on an H200."""

import pytest

from tests.conformance.graph_objects import SUCCESS, World, edges_arguments


@pytest.fixture
def world(cuda, context, ptx) -> World:
    return World(cuda, ptx)


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


def test_a_removed_node_is_no_dependency(cuda, built):
    cuda.cuGraphDestroyNode(built.empty)
    found, *_, count = cuda.cuGraphNodeGetDependencies(built.last, 4)
    assert (count, [int(node) for node in found[:count]]) == (0, [])
