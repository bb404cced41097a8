"""Graphs: driver API, section 6.23."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import call, enqueue
from cudarun.emulator.api.graph_nodes import Nodes, nodes_of
from cudarun.emulator.api.handles import (
    ExecutableGraphHandle,
    GraphHandle,
    NodeHandle,
    StreamHandle,
)
from cudarun.emulator.host import addresses
from cudarun.emulator.host.addresses import c_string
from cudarun.emulator.host.captures import CaptureRule
from cudarun.emulator.host.executable_graphs import ExecutableGraph, instantiate, unused_condition
from cudarun.emulator.host.graphs import Graph, Node, Operation
from cudarun.emulator.host.launches import KernelOperation
from cudarun.emulator.host.pools import AllocationKind
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal, refuse_if

# The bindings return the data of edges since CUDA 13. It is always zero here.
if TYPE_CHECKING or cuda.CUDA_VERSION >= 13000:
    Edges = tuple[list[cuda.CUgraphNode], list[cuda.CUgraphNode], list[cuda.CUgraphEdgeData], int]
    NodeEdges = tuple[list[cuda.CUgraphNode], list[cuda.CUgraphEdgeData], int]
else:
    Edges = tuple[list[cuda.CUgraphNode], list[cuda.CUgraphNode], int]
    NodeEdges = tuple[list[cuda.CUgraphNode], int]

_UPLOAD = int(cuda.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
_DEVICE_LAUNCH = int(cuda.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
_AUTO_FREE = int(cuda.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)
_NODE_PRIORITY = int(cuda.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)
_FLAGS = 15


# --- graphs --------------------------------------------------------------------------------------


@call()
def cuGraphCreate(flags: int) -> cuda.CUgraph:
    """Create an empty graph."""
    refuse_if(flags != 0, "flags must be 0")
    return cuda.CUgraph(Graph(process.handles).handle)


@call()
def cuGraphDestroy(hGraph: GraphHandle) -> None:
    """Destroy a graph and its nodes; executable graphs of it stay."""
    refuse_if(hGraph.parent is not None, "the graph belongs to a node")
    refuse_if(process.captures.is_capturing(hGraph), "a capture adds nodes to the graph")
    hGraph.destroy()


@call()
def cuGraphClone(originalGraph: GraphHandle) -> cuda.CUgraph:
    """Copy a graph with its nodes."""
    originalGraph.check_can_be_cloned()
    return cuda.CUgraph(originalGraph.clone().handle)


@call()
def cuGraphNodeFindInClone(
    hOriginalNode: NodeHandle, hClonedGraph: GraphHandle
) -> cuda.CUgraphNode:
    """Return the copy of a node in a clone of its graph."""
    for node in hClonedGraph.nodes:
        if node.original is hOriginalNode:
            return cuda.CUgraphNode(node.handle)
    raise Refusal("INVALID_VALUE", "the graph is not a clone of the node's")


@call()
def cuGraphDebugDotPrint(hGraph: GraphHandle, path: bytes, flags: int) -> None:
    """Write a graph to a file, in the language of Graphviz; a node with its type and kernel."""
    refuse_if(not path, "path is missing")
    places = {node: place for place, node in enumerate(hGraph.nodes)}
    labels = (f"{place} {_described(node.operation)}" for node, place in places.items())
    rows = [f'  n{place} [label="{label}"];' for place, label in enumerate(labels)]
    rows += [f"  n{places[a]} -> n{places[b]};" for a, b in hGraph.edges()]
    name = addresses.host.path(c_string(path))
    try:
        with open(name, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write("\n".join(["digraph dot {", *rows, "}", ""]))
    except OSError as error:
        raise Refusal("OPERATING_SYSTEM", f"{name}: {error.strerror}") from None


def _described(operation: Operation) -> str:
    kernel = operation.function.code.name if isinstance(operation, KernelOperation) else ""
    return f"{operation.kind.name.removeprefix('CU_GRAPH_NODE_TYPE_')} {kernel}".rstrip()


# --- edges ---------------------------------------------------------------------------------------


@call()
def cuGraphAddDependencies(
    hGraph: GraphHandle, from_: Nodes, to: Nodes, *edgeData_and_count: Any
) -> None:
    """Add edges; there is no edge data, or all of it is zero."""
    hGraph.connect(_pairs(from_, to, edgeData_and_count))


@call()
def cuGraphRemoveDependencies(
    hGraph: GraphHandle, from_: Nodes, to: Nodes, *edgeData_and_count: Any
) -> None:
    """Remove edges."""
    hGraph.disconnect(_pairs(from_, to, edgeData_and_count))


def _pairs(before: Nodes, after: Nodes, rest: tuple[Any, ...]) -> list[tuple[Node, Node]]:
    """Return edges; in CUDA 12 their number follows, in CUDA 13 their data and number."""
    *data, count = rest
    if data and any(edge.from_port or edge.to_port or edge.type for edge in data[0] or ()):
        raise Refusal("NOT_SUPPORTED", "the emulated device supports no edge data")
    return list(zip(nodes_of(before, count), nodes_of(after, count), strict=True))


def _listed(room: int, *columns: Sequence[Node], has_data: bool = True) -> Any:
    """Return handles, the data of edges, and a number, as the bindings do.

    There are as many handles as there is room for, padded with null; without room, all are counted.
    """
    handles = [[cuda.CUgraphNode(node.handle) for node in nodes[:room]] for nodes in columns]
    padded = [each + [cuda.CUgraphNode(0)] * (room - len(each)) for each in handles]
    returns_data = has_data and cuda.CUDA_VERSION >= 13000
    data = [[cuda.CUgraphEdgeData() for _ in range(room)]] if returns_data else []
    return *padded, *data, len(handles[0]) if room else len(columns[0])


@call()
def cuGraphGetNodes(hGraph: GraphHandle, numNodes: int = 0) -> tuple[list[cuda.CUgraphNode], int]:
    """Return the first nodes of a graph, and their number, or that of all if 0 are requested."""
    return _listed(numNodes, hGraph.nodes, has_data=False)  # type: ignore[no-any-return]


@call()
def cuGraphGetRootNodes(
    hGraph: GraphHandle, numRootNodes: int = 0
) -> tuple[list[cuda.CUgraphNode], int]:
    """Return the nodes without dependencies, as `cuGraphGetNodes`."""
    roots = [node for node in reversed(hGraph.nodes) if not node.before]  # the newest first
    return _listed(numRootNodes, roots, has_data=False)  # type: ignore[no-any-return]


@call()
def cuGraphGetEdges(hGraph: GraphHandle, numEdges: int = 0) -> Edges:
    """Return the two ends of each edge, as `cuGraphGetNodes`."""
    edges = hGraph.edges()
    ends = [before for before, _ in edges], [after for _, after in edges]
    return _listed(numEdges, *ends)  # type: ignore[no-any-return]


@call()
def cuGraphNodeGetDependencies(hNode: NodeHandle, numDependencies: int = 0) -> NodeEdges:
    """Return the nodes that a node depends on directly, as `cuGraphGetNodes`."""
    return _listed(numDependencies, [*hNode.before])  # type: ignore[no-any-return]


@call()
def cuGraphNodeGetDependentNodes(hNode: NodeHandle, numDependentNodes: int = 0) -> NodeEdges:
    """Return the nodes that depend directly on a node, as `cuGraphGetNodes`."""
    return _listed(numDependentNodes, [*hNode.after])  # type: ignore[no-any-return]


# --- executable graphs ---------------------------------------------------------------------------


@call(during_capture=CaptureRule.UNSAFE)
def cuGraphInstantiate(hGraph: GraphHandle, flags: int) -> cuda.CUgraphExec:
    """Create an executable graph; not one that kernels launch."""
    return cuda.CUgraphExec(_instantiate(hGraph, flags).handle)


@call(during_capture=CaptureRule.UNSAFE)
def cuGraphInstantiateWithParams(
    hGraph: GraphHandle, instantiateParams: cuda.CUDA_GRAPH_INSTANTIATE_PARAMS
) -> cuda.CUgraphExec:
    """Create an executable graph, and write the result into the structure."""
    instantiateParams.hErrNode_out = cuda.CUgraphNode(0)
    results = cuda.CUgraphInstantiateResult
    try:
        made = _instantiate(hGraph, int(instantiateParams.flags), allowed=_FLAGS)
    except Refusal:
        instantiateParams.result_out = results.CUDA_GRAPH_INSTANTIATE_ERROR
        in_order = hGraph.in_order()
        stuck = [node for node in hGraph.nodes if node not in in_order]
        if unused_condition(hGraph):
            unused = results.CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED
            instantiateParams.result_out = unused
        if stuck:
            instantiateParams.result_out = results.CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
            instantiateParams.hErrNode_out = cuda.CUgraphNode(stuck[0].handle)
        raise
    instantiateParams.result_out = results.CUDA_GRAPH_INSTANTIATE_SUCCESS
    return cuda.CUgraphExec(made.handle)


def _instantiate(graph: Graph, flags: int, allowed: int = _FLAGS & ~_UPLOAD) -> ExecutableGraph:
    refuse_if(flags & ~allowed, f"{flags:#x} is not a combination of the flags")
    if flags & _DEVICE_LAUNCH:
        refuse_if(not graph.nodes or flags & _AUTO_FREE, "kernels cannot launch such a graph")
        raise Refusal("NOT_SUPPORTED", "graphs that kernels launch are not implemented")
    process.current()
    return instantiate(graph, flags, process.handles)


@enqueue()
def cuGraphLaunch(hGraphExec: ExecutableGraphHandle, hStream: StreamHandle) -> None:
    """Execute an executable graph in a stream, which must not be capturing.

    It returns when the graph has ended if a copy writes pageable memory, as on an H200.
    """
    hStream.check_not_capturing()
    for address in hGraphExec.left_allocated():
        process.finish(hStream)
        found = process.allocations.find(address)
        if found is not None and found.pool is not None:
            if not hGraphExec.flags & _AUTO_FREE:
                raise Refusal("INVALID_VALUE", f"the graph's allocation {address:#x} is not freed")
            process.allocations.release(address, AllocationKind.DEVICE)
    operations = hGraphExec.operations()
    if process.queues is not None:  # the graph may be destroyed before its launch ends
        operations.append(hGraphExec.release_operation(process.handles))
    process.submit(hStream, *operations, waits=hGraphExec.writes_pageable())


@call()
def cuGraphUpload(hGraphExec: ExecutableGraphHandle, hStream: StreamHandle) -> None:
    """Prepare the launch of an executable graph; no effect here."""
    hStream.check_not_capturing()


@call(during_capture=CaptureRule.UNSAFE)
def cuGraphExecDestroy(hGraphExec: ExecutableGraphHandle) -> None:
    """Destroy an executable graph."""
    hGraphExec.destroy(process.handles)


@call()
def cuGraphExecGetFlags(hGraphExec: ExecutableGraphHandle) -> cuda.cuuint64_t:
    """Return the flags of an executable graph's instantiation, without that of priorities."""
    return cuda.cuuint64_t(hGraphExec.flags & ~_NODE_PRIORITY)
