"""Changes of nodes and of executable graphs, and objects that they keep: section 6.23."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

import ctypes
from functools import partial
from typing import TypeVar

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import call
from cudarun.emulator.api.handles import (
    ExecutableGraphHandle,
    GraphHandle,
    NodeHandle,
    UserObjectHandle,
)
from cudarun.emulator.host import addresses
from cudarun.emulator.host.captures import CaptureRule
from cudarun.emulator.host.executable_graphs import ExecutableGraph
from cudarun.emulator.host.graphs import Node, UserObject
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal, refuse_if

T = TypeVar("T")

_NO_DESTRUCTOR_SYNC = 1  # CU_USER_OBJECT_NO_DESTRUCTOR_SYNC
_MOVE = 1  # CU_GRAPH_USER_OBJECT_MOVE
_CAN_BE_DISABLED = ("KERNEL", "MEMCPY", "MEMSET")


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
    refuse_if(kind not in _CAN_BE_DISABLED, f"a node of the type {kind} cannot be disabled")
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
    refuse_if(flags != _NO_DESTRUCTOR_SYNC, "flags must be CU_USER_OBJECT_NO_DESTRUCTOR_SYNC")
    function = addresses.host.function(handle_value(destroy), None, ctypes.c_void_p)
    made = UserObject(partial(function, handle_value(ptr)), initialRefcount)
    made.handle = process.handles.add(made)
    return cuda.CUuserObject(made.handle)


@call()
def cuUserObjectRetain(object: UserObjectHandle, count: int) -> None:  # noqa: A002
    """Add references of the program."""
    refuse_if(count <= 0, "the count is 0")
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
    refuse_if(count <= 0 or flags & ~_MOVE, "invalid count or flags")
    graph.retain(object, count)
    if flags & _MOVE:
        object.release(count, process.handles)


@call()
def cuGraphReleaseUserObject(graph: GraphHandle, object: UserObjectHandle, count: int) -> None:  # noqa: A002
    """Remove references of a graph."""
    graph.release(object, count)
