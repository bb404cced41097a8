"""Driver API, section 6.23: nodes of any type, and conditional nodes."""

import ctypes

import pytest

from tests.conformance.graph_objects import RELAXED, World, edges_arguments

IF, WHILE, SWITCH = range(3)
COUNT = (ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint32)


@pytest.fixture
def world(cuda, context, ptx) -> World:
    made = World(cuda, ptx)
    made.graph = cuda.cuGraphCreate(0)  # the other one has an executable graph
    made.count = cuda.cuModuleGetFunction(cuda.cuModuleLoadData(ptx("conditions")), b"count")
    made.counter = cuda.cuMemAlloc(4)
    cuda.cuMemsetD32(made.counter, 0, 1)
    return made


def condition(world, default=0, flags=1, graph=None):
    """Create a handle for a graph, that of the world by default."""
    create = world.cuda.cuGraphConditionalHandleCreate
    return create(graph or world.graph, world.cuda.cuCtxGetCurrent(), default, flags)


def parameters(world, kind):
    made = world.cuda.CUgraphNodeParams()
    made.type = getattr(world.cuda.CUgraphNodeType, f"CU_GRAPH_NODE_TYPE_{kind}")
    return made


def add(world, params, before=(), graph=None):
    arguments = edges_arguments(world.cuda, len(before))
    return world.cuda.cuGraphAddNode(graph or world.graph, [*before], *arguments, params)


def conditional(world, handle, kind, size=1):
    made = parameters(world, "CONDITIONAL")
    made.conditional.handle = handle
    made.conditional.type = world.cuda.CUgraphConditionalNodeType(kind)
    made.conditional.size, made.conditional.ctx = size, world.cuda.cuCtxGetCurrent()
    return made


def add_conditional(world, handle, kind, size=1, before=(), graph=None):
    """Add a conditional node; return it and its graphs."""
    params = conditional(world, handle, kind, size)
    node = add(world, params, before, graph)
    array = ctypes.cast(
        ctypes.c_uint64.from_address(int(params.getPtr()) + 32).value,
        ctypes.POINTER(ctypes.c_uint64),
    )
    return node, [world.cuda.CUgraph(array[place]) for place in range(size)]


def add_kernel(world, graph, function, values, types, before=()):
    params = parameters(world, "KERNEL")
    kernel = params.kernel
    kernel.func, kernel.kernelParams = function, (values, types)
    kernel.gridDimX = kernel.gridDimY = kernel.gridDimZ = 1
    kernel.blockDimX = kernel.blockDimY = kernel.blockDimZ = 1
    return add(world, params, before, graph)


def add_count(world, graph, handle, limit=0, before=()):
    values = (int(handle), int(world.counter), limit)
    return add_kernel(world, graph, world.count, values, COUNT, before)


def fill(world, graph, value, cell=0):
    """Add a node that sets a cell of the memory."""
    params = parameters(world, "MEMSET")
    params.memset.dst, params.memset.value = int(world.memory) + 4 * cell, value
    params.memset.elementSize, params.memset.width, params.memset.height = 4, 1, 1
    params.memset.ctx = world.cuda.cuCtxGetCurrent()
    return add(world, params, graph=graph)


def counted(world) -> int:
    data = bytearray(4)
    world.cuda.cuMemcpyDtoH(data, world.counter, 4)
    return int.from_bytes(data, "little")


@pytest.mark.parametrize(("default", "cells"), [(1, [7, 0]), (3, [7, 0]), (0, [0, 8])])
def test_if_and_else(cuda, world, default, cells):
    _, bodies = add_conditional(world, condition(world, default), IF, 2)
    fill(world, bodies[0], 7)
    fill(world, bodies[1], 8, cell=1)
    world.execute(world.graph)
    assert world.cells()[:2] == cells


@pytest.mark.parametrize(("default", "cells"), [(0, [7, 0]), (1, [0, 8]), (2, [0, 0])])
def test_a_switch(cuda, world, default, cells):
    _, bodies = add_conditional(world, condition(world, default), SWITCH, 2)
    fill(world, bodies[0], 7)
    fill(world, bodies[1], 8, cell=1)
    world.execute(world.graph)
    assert world.cells()[:2] == cells


def test_a_kernel_ends_a_loop(cuda, world):
    handle = condition(world, 1)
    _, [body] = add_conditional(world, handle, WHILE)
    add_count(world, body, handle, limit=5)
    world.execute(world.graph)
    assert counted(world) == 5
    world.execute(world.graph, times=2)  # each begins with the default value
    assert counted(world) == 7


def test_a_condition_in_a_loop(cuda, world):
    handle = condition(world, 1)
    _, [body] = add_conditional(world, handle, WHILE)
    last = add_count(world, body, handle, limit=3)
    inner = condition(world, 1, graph=body)
    _, [nested] = add_conditional(world, inner, IF, before=[last], graph=body)
    fill(world, nested, 7)
    world.execute(world.graph)
    assert (counted(world), world.cells()[0]) == (3, 7)


def test_work_is_captured_in_the_body(cuda, world):
    handle = condition(world, 1)
    _, [body] = add_conditional(world, handle, WHILE)
    mode = cuda.CUstreamCaptureMode(RELAXED)
    cuda.cuStreamBeginCaptureToGraph(world.stream, body, [], None, 0, mode)
    world.launch(9, 8)
    assert int(cuda.cuStreamEndCapture(world.stream)) == int(body)
    [node] = world.nodes(body)
    add_count(world, body, handle, limit=2, before=[node])
    world.execute(world.graph)
    assert (counted(world), world.cells()[:9]) == (2, [9] * 8 + [0])


def test_without_a_default_a_condition_keeps_its_value(cuda, world):
    handle = condition(world, 5, flags=0)
    first = add_count(world, world.graph, handle, limit=2)
    _, [body] = add_conditional(world, handle, IF, before=[first])
    fill(world, body, 7)
    world.execute(world.graph)
    assert world.cells()[0] == 7


@pytest.mark.parametrize(("kind", "size"), [(IF, 0), (IF, 3), (WHILE, 2), (SWITCH, 0)])
def test_sizes_of_nodes(cuda, world, kind, size):
    params = conditional(world, condition(world), kind, size)
    call = (world.graph, [], *edges_arguments(cuda, 0), params)
    assert cuda.result("cuGraphAddNode", *call) == "INVALID_VALUE"


def test_a_condition_of_another_graph(cuda, world):
    handle = condition(world, graph=cuda.cuGraphCreate(0))
    call = (world.graph, [], *edges_arguments(cuda, 0), conditional(world, handle, IF))
    assert cuda.result("cuGraphAddNode", *call) == "INVALID_VALUE"


def test_a_condition_without_a_node(cuda, world):
    condition(world)
    params = cuda.CUDA_GRAPH_INSTANTIATE_PARAMS()
    call = ("cuGraphInstantiateWithParams", world.graph, params)
    assert cuda.result(*call) == "INVALID_VALUE"
    results = cuda.CUgraphInstantiateResult
    assert params.result_out == results.CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED


def test_a_conditional_node_cannot_wait_for_an_event(cuda, world):
    _, [body] = add_conditional(world, condition(world), IF)
    cuda.cuGraphAddEventWaitNode(body, [], 0, world.event)
    assert cuda.result("cuGraphInstantiate", world.graph, 0) == "INVALID_VALUE"


def test_a_graph_with_conditional_nodes_has_one_executable_graph(cuda, world):
    """An H100 refuses also a second one whose first had no conditional nodes yet."""
    first = cuda.cuGraphInstantiate(world.graph, 0)
    _, [body] = add_conditional(world, condition(world, 1), IF)
    fill(world, body, 7)
    assert cuda.result("cuGraphInstantiate", world.graph, 0) == "NOT_SUPPORTED"
    cuda.cuGraphExecDestroy(first)
    second = cuda.cuGraphInstantiate(world.graph, 0)
    assert cuda.result("cuGraphInstantiate", world.graph, 0) == "NOT_SUPPORTED"
    cuda.cuGraphExecDestroy(second)
    world.execute(world.graph)
    assert world.cells()[0] == 7


def test_a_graph_with_conditional_nodes_is_not_copied(cuda, world):
    add_conditional(world, condition(world), IF)
    assert cuda.result("cuGraphClone", world.graph) == "NOT_SUPPORTED"
    parent = cuda.cuGraphCreate(0)
    call = ("cuGraphAddChildGraphNode", parent, [], 0, world.graph)
    assert cuda.result(*call) == "NOT_SUPPORTED"


# --- memory nodes --------------------------------------------------------------------------------


def add_memory(world, graph=None):
    params = parameters(world, "MEM_ALLOC")
    pool = params.alloc.poolProps
    pool.allocType = world.cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    pool.location.type = world.cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    params.alloc.bytesize = 64
    node = add(world, params, graph=graph)
    found = world.cuda.cuGraphMemAllocNodeGetParams(node)
    assert int(found.bytesize) == 64
    assert int(found.dptr) == int(params.alloc.dptr) != 0
    freed = parameters(world, "MEM_FREE")
    freed.free.dptr = params.alloc.dptr
    last = add(world, freed, [node], graph)
    assert int(world.cuda.cuGraphMemFreeNodeGetParams(last)) == int(found.dptr)
    return node, last


def test_a_graph_with_memory_nodes_does_not_shrink(cuda, world):
    first, last = add_memory(world)
    call = (world.graph, [first], [last], *edges_arguments(cuda, 1))
    assert cuda.result("cuGraphRemoveDependencies", *call) == "NOT_SUPPORTED"
    assert cuda.result("cuGraphDestroyNode", last) == "NOT_SUPPORTED"


def test_a_graph_with_memory_nodes_is_not_copied(cuda, world):
    add_memory(world)
    assert cuda.result("cuGraphClone", world.graph) == "NOT_SUPPORTED"
    call = ("cuGraphAddChildGraphNode", cuda.cuGraphCreate(0), [], 0, world.graph)
    assert cuda.result(*call) == "NOT_SUPPORTED"


def test_a_graph_with_memory_nodes_has_one_executable_graph(cuda, world):
    graph = cuda.cuGraphCreate(0)
    add_memory(world, graph)
    executable = cuda.cuGraphInstantiate(graph, 0)
    assert cuda.result("cuGraphInstantiate", graph, 0) == "NOT_SUPPORTED"
    cuda.cuGraphExecDestroy(executable)
    world.execute(graph)


def test_a_child_graph_that_is_moved(cuda, world):
    child = cuda.cuGraphCreate(0)
    add_memory(world, child)
    fill(world, child, 7)
    params = parameters(world, "GRAPH")
    params.graph.graph = child
    params.graph.ownership = 1  # CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE
    node = add(world, params)
    assert int(cuda.cuGraphChildGraphNodeGetGraph(node)) == int(child)
    assert cuda.result("cuGraphDestroy", child) == "INVALID_VALUE"
    world.execute(world.graph)
    assert world.cells()[0] == 7


# --- nodes of other types ------------------------------------------------------------------------


def test_parameters_of_any_node(cuda, world):
    node = fill(world, world.graph, 7)
    executable = cuda.cuGraphInstantiate(world.graph, 0)
    params = parameters(world, "MEMSET")
    params.memset.dst, params.memset.value, params.memset.elementSize = world.memory, 8, 4
    params.memset.width = params.memset.height = 1
    params.memset.ctx = cuda.cuCtxGetCurrent()
    cuda.cuGraphExecNodeSetParams(executable, node, params)
    cuda.cuGraphLaunch(executable, world.stream)
    cuda.cuStreamSynchronize(world.stream)
    assert world.cells()[0] == 8
    world.execute(world.graph)
    assert world.cells()[0] == 7
    cuda.cuGraphNodeSetParams(node, params)
    world.execute(world.graph)
    assert world.cells()[0] == 8
    other = parameters(world, "EMPTY")
    assert cuda.result("cuGraphNodeSetParams", node, other) == "INVALID_VALUE"


def test_a_copy_by_its_structure(cuda, world):
    first = fill(world, world.graph, 7)
    params = parameters(world, "MEMCPY")
    params.memcpy.copyCtx, params.memcpy.copyParams = cuda.cuCtxGetCurrent(), world.copy()
    add(world, params, [first])
    world.execute(world.graph)
    assert world.cells(world.second)[0] == 7


def test_an_update_takes_over_the_condition(cuda, world):
    def built(limit):
        graph = cuda.cuGraphCreate(0)
        handle = condition(world, 1, graph=graph)
        _, [body] = add_conditional(world, handle, WHILE, graph=graph)
        add_count(world, body, handle, limit)
        return graph

    executable = cuda.cuGraphInstantiate(built(2), 0)
    cuda.cuGraphExecUpdate(executable, built(4))
    cuda.cuGraphLaunch(executable, world.stream)
    cuda.cuStreamSynchronize(world.stream)
    assert counted(world) == 4


def test_a_node_that_is_refused_takes_neither_the_condition_nor_the_graph(cuda, world):
    empty, child = add(world, parameters(world, "EMPTY")), cuda.cuGraphCreate(0)
    moved = parameters(world, "GRAPH")
    moved.graph.graph = child
    if hasattr(moved.graph, "ownership"):
        moved.graph.ownership = cuda.CUgraphChildGraphNodeOwnership(1)
    for params in (conditional(world, condition(world), IF), moved):
        twice = (world.graph, [empty, empty], *edges_arguments(cuda, 2), params)
        assert cuda.result("cuGraphAddNode", *twice) == "INVALID_VALUE"
        add(world, params, [empty])
