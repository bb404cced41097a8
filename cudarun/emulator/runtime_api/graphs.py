"""Graphs."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuda.bindings import runtime as cudart
from cuda.bindings.driver import CUDA_HOST_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS, CUdeviceptr

from cudarun.emulator.host.addresses import HostPointer, address_of
from cudarun.emulator.host.handles import Handle
from cudarun.emulator.runtime_api.calls import RuntimeRefusal, driver_call, runtime_call
from cudarun.emulator.runtime_api.conversions import INVALID_VALUE, box, bytes_in_row

Nodes = Sequence[Any] | None


@runtime_call(1)
def cudaGraphCreate(flags: int) -> Any:
    """Create an empty graph."""
    return cudart.cudaGraph_t(int(driver_call("cuGraphCreate", flags)))


@runtime_call(1)
def cudaGraphClone(originalGraph: Handle) -> Any:
    """Copy a graph with its nodes."""
    return cudart.cudaGraph_t(int(driver_call("cuGraphClone", originalGraph)))


@runtime_call()
def cudaGraphDestroy(graph: Handle) -> None:
    """Destroy a graph and its nodes; executable graphs of it stay."""
    driver_call("cuGraphDestroy", graph)


@runtime_call(1)
def cudaGraphInstantiate(graph: Handle, flags: int) -> Any:
    """Create an executable graph."""
    return cudart.cudaGraphExec_t(int(driver_call("cuGraphInstantiate", graph, flags)))


@runtime_call(1)
def cudaGraphInstantiateWithFlags(graph: Handle, flags: int) -> Any:
    """Create an executable graph."""
    return cudart.cudaGraphExec_t(int(driver_call("cuGraphInstantiate", graph, flags)))


@runtime_call()
def cudaGraphExecDestroy(graphExec: Handle) -> None:
    """Destroy an executable graph."""
    driver_call("cuGraphExecDestroy", graphExec)


@runtime_call()
def cudaGraphLaunch(graphExec: Handle, stream: Handle) -> None:
    """Launch an executable graph in a stream."""
    driver_call("cuGraphLaunch", graphExec, stream)


@runtime_call()
def cudaGraphUpload(graphExec: Handle, stream: Handle) -> None:
    """Do nothing: an executable graph is always ready."""
    driver_call("cuGraphUpload", graphExec, stream)


# --- nodes ---------------------------------------------------------------------------------------


@runtime_call(2)
def cudaGraphGetNodes(graph: Handle, numNodes: int = 0) -> tuple[list[Any], int]:
    """Return the nodes of a graph and their number."""
    nodes, count = driver_call("cuGraphGetNodes", graph, numNodes)
    return [_node(node) for node in nodes], int(count)


@runtime_call(2)
def cudaGraphGetRootNodes(graph: Handle, pNumRootNodes: int = 0) -> tuple[list[Any], int]:
    """Return the nodes without dependencies and their number."""
    nodes, count = driver_call("cuGraphGetRootNodes", graph, pNumRootNodes)
    return [_node(node) for node in nodes], int(count)


@runtime_call(1)
def cudaGraphNodeGetType(node: Handle) -> Any:
    """Return the ``cudaGraphNodeType`` of a node."""
    return cudart.cudaGraphNodeType(int(driver_call("cuGraphNodeGetType", node)))


@runtime_call(1)
def cudaGraphNodeFindInClone(originalNode: Handle, clonedGraph: Handle) -> Any:
    """Return the copy of a node in a clone of its graph."""
    return _node(driver_call("cuGraphNodeFindInClone", originalNode, clonedGraph))


@runtime_call()
def cudaGraphDestroyNode(node: Handle) -> None:
    """Remove a node with its edges."""
    driver_call("cuGraphDestroyNode", node)


@runtime_call(1)
def cudaGraphAddEmptyNode(graph: Handle, pDependencies: Nodes, numDependencies: int) -> Any:
    """Add a node that does nothing."""
    return _node(driver_call("cuGraphAddEmptyNode", graph, pDependencies, numDependencies))


@runtime_call(1)
def cudaGraphAddMemcpyNode(
    graph: Handle, pDependencies: Nodes, numDependencies: int, pCopyParams: Any
) -> Any:
    """Add the copy of a box."""
    added = (graph, pDependencies, numDependencies)
    return _node(driver_call("cuGraphAddMemcpyNode", *added, box(pCopyParams), _context()))


@runtime_call(1)
def cudaGraphAddMemcpyNode1D(
    graph: Handle,
    pDependencies: Nodes,
    numDependencies: int,
    dst: HostPointer,
    src: HostPointer,
    count: int,
    kind: Any,
) -> Any:
    """Add the copy of consecutive bytes."""
    copy = bytes_in_row(address_of(dst), address_of(src), count, kind)
    added = (graph, pDependencies, numDependencies)
    return _node(driver_call("cuGraphAddMemcpyNode", *added, copy, _context()))


@runtime_call(1)
def cudaGraphAddMemsetNode(
    graph: Handle, pDependencies: Nodes, numDependencies: int, pMemsetParams: Any
) -> Any:
    """Add a fill of rows of items of 1, 2 or 4 bytes."""
    if pMemsetParams is None:
        raise RuntimeRefusal(INVALID_VALUE)
    fill = CUDA_MEMSET_NODE_PARAMS()
    fill.dst = CUdeviceptr(int(pMemsetParams.dst))
    for field in ("pitch", "value", "elementSize", "width", "height"):
        setattr(fill, field, getattr(pMemsetParams, field))
    added = (graph, pDependencies, numDependencies)
    return _node(driver_call("cuGraphAddMemsetNode", *added, fill, _context()))


@runtime_call(1)
def cudaGraphAddHostNode(
    graph: Handle, pDependencies: Nodes, numDependencies: int, pNodeParams: Any
) -> Any:
    """Add the call of a C function on the host."""
    if pNodeParams is None:
        raise RuntimeRefusal(INVALID_VALUE)
    given = CUDA_HOST_NODE_PARAMS()
    given.fn, given.userData = int(pNodeParams.fn), pNodeParams.userData
    added = (graph, pDependencies, numDependencies)
    return _node(driver_call("cuGraphAddHostNode", *added, given))


@runtime_call(1)
def cudaGraphAddChildGraphNode(
    graph: Handle, pDependencies: Nodes, numDependencies: int, childGraph: Handle
) -> Any:
    """Add a copy of another graph as one node."""
    added = (graph, pDependencies, numDependencies)
    return _node(driver_call("cuGraphAddChildGraphNode", *added, childGraph))


@runtime_call(1)
def cudaGraphAddEventRecordNode(
    graph: Handle, pDependencies: Nodes, numDependencies: int, event: Handle
) -> Any:
    """Add the record of an event."""
    added = (graph, pDependencies, numDependencies)
    return _node(driver_call("cuGraphAddEventRecordNode", *added, event))


@runtime_call(1)
def cudaGraphAddEventWaitNode(
    graph: Handle, pDependencies: Nodes, numDependencies: int, event: Handle
) -> Any:
    """Add a wait for an event."""
    added = (graph, pDependencies, numDependencies)
    return _node(driver_call("cuGraphAddEventWaitNode", *added, event))


@runtime_call()
def cudaGraphAddDependencies(
    graph: Handle, from_: Nodes, to: Nodes, *edgeData_and_count: Any
) -> None:
    """Add edges; there is no edge data in CUDA 12."""
    driver_call("cuGraphAddDependencies", graph, from_, to, *edgeData_and_count)


def _node(handle: Any) -> Any:
    return cudart.cudaGraphNode_t(int(handle))


def _context() -> Any:
    return driver_call("cuCtxGetCurrent")
