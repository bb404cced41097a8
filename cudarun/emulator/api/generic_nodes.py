"""Nodes of any type, by one structure, and conditional nodes: driver API, section 6.23."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import call
from cudarun.emulator.api.graph_memory import GraphAllocation, allocation_from, freeing
from cudarun.emulator.api.graph_nodes import (
    Nodes,
    add_node,
    copied_graph,
    copy_from,
    fill_from,
    function_from,
    kernel_from,
    nodes_of,
)
from cudarun.emulator.api.handles import ExecutableGraphHandle, GraphHandle, NodeHandle
from cudarun.emulator.host import addresses
from cudarun.emulator.host.graphs import (
    Condition,
    ConditionalOperation,
    Graph,
    GraphOperation,
    MemoryOperation,
    Operation,
    child_graph,
)
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal, enum_field, refuse_if
from cudarun.emulator.host.streams import Event, record_operation, wait_operation

_ASSIGN_DEFAULT = 1  # CU_GRAPH_COND_ASSIGN_DEFAULT
_IF = cuda.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_IF
_WHILE = cuda.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_WHILE
_SWITCH = cuda.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_SWITCH
_MOST_GRAPHS = {_IF: 2, _WHILE: 1, _SWITCH: (1 << 32) - 1}
_GRAPHS_OFFSET = 16  # of phGraph_out in CUDA_CONDITIONAL_NODE_PARAMS


@call()
def cuGraphConditionalHandleCreate(
    hGraph: GraphHandle, ctx: Handle, defaultLaunchValue: int, flags: int
) -> cuda.CUgraphConditionalHandle:
    """Create the value by which a node of a graph chooses what it executes."""
    refuse_if(flags & ~_ASSIGN_DEFAULT, f"{flags:#x} is not one of the flags")
    if handle_value(ctx):
        process.context(ctx)  # may refuse
    made = Condition(hGraph, defaultLaunchValue if flags else None)
    hGraph.conditions.append(made)
    return cuda.CUgraphConditionalHandle(process.handles.add(made))


@call()
def cuGraphAddNode(
    hGraph: GraphHandle, dependencies: Nodes, *edgeData_count_and_params: Any
) -> cuda.CUgraphNode:
    """Add a node of any type; some types change its structure."""
    *data, count, params = edgeData_count_and_params
    if data and any(edge.from_port or edge.to_port or edge.type for edge in data[0] or ()):
        raise Refusal("NOT_SUPPORTED", "the emulated device supports no edge data")
    hGraph.check_dependencies(nodes_of(dependencies, count))  # before the work takes other graphs
    operation = _operation(hGraph, params)
    node = add_node(hGraph, dependencies, count, operation)
    if isinstance(operation, GraphAllocation):
        params.alloc.dptr = operation.address
    return node


@call()
def cuGraphNodeSetParams(hNode: NodeHandle, nodeParams: cuda.CUgraphNodeParams) -> None:
    """Replace what a node does; executable graphs keep theirs."""
    hNode.replace(_replacement(hNode.operation, hNode.graph, nodeParams))


@call()
def cuGraphExecNodeSetParams(
    hGraphExec: ExecutableGraphHandle, hNode: NodeHandle, nodeParams: cuda.CUgraphNodeParams
) -> None:
    """Replace what a node does in an executable graph."""
    node = hGraphExec.node(hNode)
    node.replace(_replacement(node.operation, hNode.graph, nodeParams))


def _replacement(operation: Operation, graph: Graph, params: object) -> Operation:
    if isinstance(operation, MemoryOperation | ConditionalOperation):
        raise Refusal("NOT_SUPPORTED", f"a node of the type {operation.kind.name} is not changed")
    refuse_if(enum_field(params, "type") != operation.kind, f"the node is a {operation.kind.name}")
    return _operation(graph, params)


# --- nodes by type -------------------------------------------------------------------------------


def _operation(graph: Graph, params: object) -> Operation:
    """Return the work that a ``CUgraphNodeParams`` describes; `Refusal` if it is invalid."""
    if not isinstance(params, cuda.CUgraphNodeParams):
        raise Refusal("INVALID_VALUE", "CUgraphNodeParams is missing")
    name = enum_field(params, "type").name
    make = _TYPES.get(name.removeprefix("CU_GRAPH_NODE_TYPE_"))
    if make is None:
        raise Refusal("NOT_SUPPORTED", f"the emulated device has no nodes of the type {name}")
    return make(graph, params)


def _as(kind: Any, structure: Any) -> Any:
    """Return a structure as the one that a newer structure begins with."""
    return kind(_ptr=structure.getPtr())


def _child(graph: Graph, params: Any) -> GraphOperation:
    child = process.handles.get(handle_value(params.graph), Graph, "INVALID_VALUE")
    if not int(enum_field(params, "ownership")):
        return copied_graph(graph, child)
    if child.parent is not None or child.contains(graph):
        raise Refusal("INVALID_VALUE", "the graph belongs to a node, or contains this one")
    child.parent = graph
    return child_graph(child)


def _event(params: Any) -> Event:
    return process.handles.get(handle_value(params.event), Event)


def _conditional(graph: Graph, params: Any) -> ConditionalOperation:
    """Return the work of a conditional node; write its new graphs into the structure."""
    condition = process.handles.get(int(params.handle), Condition, "INVALID_VALUE")
    kind = enum_field(params, "type")
    if not condition.graph.contains(graph) or condition.has_node:
        raise Refusal("INVALID_VALUE", "the condition has a node, or belongs to another graph")
    if not 1 <= params.size <= _MOST_GRAPHS[kind]:
        raise Refusal("INVALID_VALUE", f"{params.size} graphs in a node of the type {kind.name}")
    condition.has_node = True
    bodies = tuple(Graph(process.handles, graph) for _ in range(params.size))
    handles = struct.pack(f"={params.size}Q", *(each.handle for each in bodies))
    at = int(params.getPtr()) + _GRAPHS_OFFSET
    ctypes.c_uint64.from_address(at).value = addresses.host.place(handles)
    order = partial(_ORDERS[kind], condition, params.size)
    type_ = cuda.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
    return ConditionalOperation(type_, lambda: None, bodies, order, (), condition)


def _while(condition: Condition, _: int) -> Iterable[int]:
    while condition.value:
        yield 0


_ORDERS: dict[cuda.CUgraphConditionalNodeType, Callable[[Condition, int], Iterable[int]]] = {
    _IF: lambda condition, size: range(size)[:1] if condition.value else range(size)[1:],
    _WHILE: _while,
    _SWITCH: lambda condition, size: range(size)[condition.value :][:1],
}
_TYPES: dict[str, Callable[[Graph, Any], Operation]] = {
    "KERNEL": lambda _, params: kernel_from(params.kernel),
    "MEMCPY": lambda _, params: copy_from(params.memcpy.copyParams),
    "MEMSET": lambda _, params: fill_from(_as(cuda.CUDA_MEMSET_NODE_PARAMS, params.memset)),
    "HOST": lambda _, params: function_from(_as(cuda.CUDA_HOST_NODE_PARAMS, params.host)),
    "GRAPH": lambda graph, params: _child(graph, params.graph),
    "EMPTY": lambda _, params: Operation(params.type, lambda: None),
    "WAIT_EVENT": lambda _, params: wait_operation(_event(params.eventWait)),
    "EVENT_RECORD": lambda _, params: record_operation(_event(params.eventRecord)),
    "MEM_ALLOC": lambda _, params: allocation_from(params.alloc),
    "MEM_FREE": lambda graph, params: freeing(graph, params.free.dptr),
    "CONDITIONAL": lambda graph, params: _conditional(graph, params.conditional),
}
"""What makes the work of a node, by its type."""
