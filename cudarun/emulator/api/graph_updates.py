"""Changes of nodes and of executable graphs, and objects that they keep: section 6.23."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import call
from cudarun.emulator.api.graph_nodes import copy_from, fill_from, function_from
from cudarun.emulator.api.handles import (
    EventHandle,
    ExecutableGraphHandle,
    GraphHandle,
    NodeHandle,
    UserObjectHandle,
)
from cudarun.emulator.host.addresses import host_function
from cudarun.emulator.host.captures import CaptureRule
from cudarun.emulator.host.executable_graphs import ExecutableGraph
from cudarun.emulator.host.graphs import Node, Operation, StructuredOperation, UserObject
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.host.resources import copied
from cudarun.emulator.host.streams import EventOperation, record_operation, wait_operation

T = TypeVar("T")

_NO_DESTRUCTOR_SYNC = 1  # CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
_MOVE = 1  # CU_GRAPH_USER_OBJECT_MOVE
_CAN_BE_DISABLED = ("KERNEL", "MEMCPY", "MEMSET")


def _structure(node: Node, kind: type[T]) -> T:
    operation = node.operation
    if not (isinstance(operation, StructuredOperation) and isinstance(operation.structure, kind)):
        raise Refusal("INVALID_VALUE", f"the node has no {kind.__name__}")
    return copied(operation.structure)


def _replace(node: Node, make: Callable[[Any], Operation], structure: Any) -> None:
    made = make(structure)
    if node.operation.kind != made.kind:
        raise Refusal("INVALID_VALUE", f"the node is a {node.operation.kind.name}")
    node.operation = made


@call()
def cuGraphMemcpyNodeGetParams(hNode: NodeHandle) -> cuda.CUDA_MEMCPY3D:
    """Return the copy of a node."""
    return _structure(hNode, cuda.CUDA_MEMCPY3D)


@call()
def cuGraphMemcpyNodeSetParams(hNode: NodeHandle, nodeParams: cuda.CUDA_MEMCPY3D) -> None:
    """Replace the copy of a node; executable graphs keep theirs."""
    _replace(hNode, copy_from, nodeParams)


@call()
def cuGraphExecMemcpyNodeSetParams(
    hGraphExec: ExecutableGraphHandle,
    hNode: NodeHandle,
    copyParams: cuda.CUDA_MEMCPY3D,
    ctx: Handle,
) -> None:
    """Replace the copy of a node in an executable graph."""
    _replace(hGraphExec.node(hNode), copy_from, copyParams)


@call()
def cuGraphMemsetNodeGetParams(hNode: NodeHandle) -> cuda.CUDA_MEMSET_NODE_PARAMS:
    """Return the fill of a node."""
    return _structure(hNode, cuda.CUDA_MEMSET_NODE_PARAMS)


@call()
def cuGraphMemsetNodeSetParams(hNode: NodeHandle, nodeParams: cuda.CUDA_MEMSET_NODE_PARAMS) -> None:
    """Replace the fill of a node; executable graphs keep theirs."""
    _replace(hNode, fill_from, nodeParams)


@call()
def cuGraphExecMemsetNodeSetParams(
    hGraphExec: ExecutableGraphHandle,
    hNode: NodeHandle,
    memsetParams: cuda.CUDA_MEMSET_NODE_PARAMS,
    ctx: Handle,
) -> None:
    """Replace the fill of a node in an executable graph."""
    _replace(hGraphExec.node(hNode), fill_from, memsetParams)


@call()
def cuGraphHostNodeGetParams(hNode: NodeHandle) -> cuda.CUDA_HOST_NODE_PARAMS:
    """Return the host function of a node."""
    return _structure(hNode, cuda.CUDA_HOST_NODE_PARAMS)


@call()
def cuGraphHostNodeSetParams(hNode: NodeHandle, nodeParams: cuda.CUDA_HOST_NODE_PARAMS) -> None:
    """Replace the host function of a node; executable graphs keep theirs."""
    _replace(hNode, function_from, nodeParams)


@call()
def cuGraphExecHostNodeSetParams(
    hGraphExec: ExecutableGraphHandle, hNode: NodeHandle, nodeParams: cuda.CUDA_HOST_NODE_PARAMS
) -> None:
    """Replace the host function of a node in an executable graph."""
    _replace(hGraphExec.node(hNode), function_from, nodeParams)


def _event(node: Node, kind: cuda.CUgraphNodeType) -> cuda.CUevent:
    operation = node.operation
    if not isinstance(operation, EventOperation) or operation.kind != kind:
        raise Refusal("INVALID_VALUE", f"the node is a {operation.kind.name}")
    return cuda.CUevent(operation.event.handle)


@call()
def cuGraphEventRecordNodeGetEvent(hNode: NodeHandle) -> cuda.CUevent:
    """Return the event that a node records."""
    return _event(hNode, cuda.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EVENT_RECORD)


@call()
def cuGraphEventWaitNodeGetEvent(hNode: NodeHandle) -> cuda.CUevent:
    """Return the event that a node waits for."""
    return _event(hNode, cuda.CUgraphNodeType.CU_GRAPH_NODE_TYPE_WAIT_EVENT)


@call()
def cuGraphEventRecordNodeSetEvent(hNode: NodeHandle, event: EventHandle) -> None:
    """Replace the event that a node records; executable graphs keep theirs."""
    _replace(hNode, record_operation, event)


@call()
def cuGraphEventWaitNodeSetEvent(hNode: NodeHandle, event: EventHandle) -> None:
    """Replace the event that a node waits for; executable graphs keep theirs."""
    _replace(hNode, wait_operation, event)


@call()
def cuGraphExecEventRecordNodeSetEvent(
    hGraphExec: ExecutableGraphHandle, hNode: NodeHandle, event: EventHandle
) -> None:
    """Replace the event that a node records in an executable graph."""
    _replace(hGraphExec.node(hNode), record_operation, event)


@call()
def cuGraphExecEventWaitNodeSetEvent(
    hGraphExec: ExecutableGraphHandle, hNode: NodeHandle, event: EventHandle
) -> None:
    """Replace the event that a node waits for in an executable graph."""
    _replace(hGraphExec.node(hNode), wait_operation, event)


@call()
def cuGraphChildGraphNodeGetGraph(hNode: NodeHandle) -> cuda.CUgraph:
    """Return the graph that a node executes."""
    if hNode.operation.kind != cuda.CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH:
        raise Refusal("INVALID_VALUE", f"the node is a {hNode.operation.kind.name}")
    return cuda.CUgraph(hNode.operation.graphs[0].handle)


@call()
def cuGraphNodeSetEnabled(
    hGraphExec: ExecutableGraphHandle, hNode: NodeHandle, isEnabled: int
) -> None:
    """Let an executable graph execute a kernel, copy or fill, or leave it out."""
    node = _node_to_disable(hGraphExec, hNode)
    (hGraphExec.disabled.discard if isEnabled else hGraphExec.disabled.add)(node)


@call()
def cuGraphNodeGetEnabled(hGraphExec: ExecutableGraphHandle, hNode: NodeHandle) -> int:
    """Return whether an executable graph executes a node."""
    return int(_node_to_disable(hGraphExec, hNode) not in hGraphExec.disabled)


def _node_to_disable(graph: ExecutableGraph, original: Node) -> Node:
    """Return the copy of a node; `Refusal` if it cannot be left out."""
    node = graph.node(original)
    kind = node.operation.kind.name.removeprefix("CU_GRAPH_NODE_TYPE_")
    if kind not in _CAN_BE_DISABLED:
        raise Refusal("INVALID_VALUE", f"a node of the type {kind} cannot be disabled")
    return node


@call(during_capture=CaptureRule.UNSAFE)
def cuGraphExecUpdate(
    hGraphExec: ExecutableGraphHandle, hGraph: GraphHandle
) -> cuda.CUgraphExecUpdateResultInfo:
    """Take over the parameters of a graph with the same nodes and edges."""
    hGraphExec.update(hGraph)
    return cuda.CUgraphExecUpdateResultInfo()


# --- objects of the program ----------------------------------------------------------------------


@call()
def cuUserObjectCreate(
    ptr: Handle, destroy: Handle, initialRefcount: int, flags: int
) -> cuda.CUuserObject:
    """Create an object with references; a host function destroys it without any."""
    if not handle_value(destroy) or initialRefcount <= 0:
        raise Refusal("INVALID_VALUE", "it has no function or no references")
    if flags != _NO_DESTRUCTOR_SYNC:
        raise Refusal("INVALID_VALUE", "flags must be CU_USER_OBJECT_NO_DESTRUCTOR_SYNC")
    function = host_function(handle_value(destroy), None, ctypes.c_void_p)
    made = UserObject(partial(function, handle_value(ptr)), initialRefcount)
    made.handle = process.handles.add(made)
    return cuda.CUuserObject(made.handle)


@call()
def cuUserObjectRetain(object: UserObjectHandle, count: int) -> None:  # noqa: A002
    """Add references of the program."""
    if count <= 0:
        raise Refusal("INVALID_VALUE", "the count is 0")
    object.references += count


@call()
def cuUserObjectRelease(object: UserObjectHandle, count: int) -> None:  # noqa: A002
    """Remove references of the program."""
    object.release(count, process.handles)


@call()
def cuGraphRetainUserObject(
    graph: GraphHandle,
    object: UserObjectHandle,  # noqa: A002
    count: int,
    flags: int,
) -> None:
    """Add references of a graph: new ones, or those of the program."""
    if count <= 0 or flags & ~_MOVE:
        raise Refusal("INVALID_VALUE", "invalid count or flags")
    graph.retain(object, count)
    if flags & _MOVE:
        object.release(count, process.handles)


@call()
def cuGraphReleaseUserObject(graph: GraphHandle, object: UserObjectHandle, count: int) -> None:  # noqa: A002
    """Remove references of a graph."""
    graph.release(object, count)
