"""Nodes of graphs: driver API, section 6.23."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial
from typing import Any

from cuda.bindings import driver as cuda

from cudarun.emulator.api.boxes import BoxCopy
from cudarun.emulator.api.calls import call
from cudarun.emulator.api.fills import Fill
from cudarun.emulator.api.handles import NodeHandle, node_of
from cudarun.emulator.host import addresses
from cudarun.emulator.host.contexts import Context
from cudarun.emulator.host.graphs import (
    Graph,
    GraphOperation,
    Node,
    Operation,
    StructuredOperation,
    child_graph,
)
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.launches import KernelOperation, LaunchGeometry, check, kernel_operation
from cudarun.emulator.host.modules import LibraryKernel, LoadedFunction
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.host.resources import copied

Nodes = Sequence[cuda.CUgraphNode] | None


def nodes_of(handles: Nodes, count: int) -> list[Node]:
    """Return the first ``count`` nodes of a list."""
    nodes = list(handles or ())
    if count > len(nodes):
        raise RuntimeError(f"List is too small: {len(nodes)} < {count}")
    return [node_of(node) for node in nodes[:count]]


def add_node(
    graph: Graph, dependencies: Nodes, count: int, operation: Operation
) -> cuda.CUgraphNode:
    """Add a node that runs after the first ``count`` of some others."""
    return cuda.CUgraphNode(graph.add(operation, nodes_of(dependencies, count)).handle)


def kernel_from(structure: cuda.CUDA_KERNEL_NODE_PARAMS) -> KernelOperation:
    """Return the launch that a structure describes; `Refusal` if it is invalid."""
    geometry = LaunchGeometry(
        (structure.gridDimX, structure.gridDimY, structure.gridDimZ),
        (structure.blockDimX, structure.blockDimY, structure.blockDimZ),
        structure.sharedMemBytes,
    )
    function = _function(structure)
    check(function, geometry)
    return kernel_operation(process, function, geometry, structure.kernelParams, structure.extra)


def _function(structure: cuda.CUDA_KERNEL_NODE_PARAMS) -> LoadedFunction:
    """Return the function, or that of a kernel in the context."""
    if not handle_value(structure.func) and handle_value(structure.kern):
        kernel = process.handles.get(handle_value(structure.kern), LibraryKernel)
        return kernel.function(context_of(structure.ctx))
    return process.handles.get(handle_value(structure.func), LoadedFunction)


def context_of(ctx: Handle) -> Context:
    """Return the context behind a handle; of null the current one."""
    return process.context(ctx) if handle_value(ctx) else process.current()


def copy_from(structure: cuda.CUDA_MEMCPY3D) -> StructuredOperation:
    """Return the copy that a structure describes; `Refusal` if it is invalid."""
    if not (structure.WidthInBytes and structure.Height and structure.Depth):
        raise Refusal("INVALID_VALUE", "the copy has no bytes")
    return _structured(BoxCopy(structure).operation(), structure)


def _structured(operation: Operation, structure: Any) -> StructuredOperation:
    return StructuredOperation(operation.kind, operation.work, copied(structure))


def fill_from(structure: cuda.CUDA_MEMSET_NODE_PARAMS) -> StructuredOperation:
    """Return the fill that a structure describes; `Refusal` if it is invalid."""
    refuse_if(structure.elementSize not in (1, 2, 4), "elementSize is not 1, 2 or 4")
    refuse_if(not structure.width or not structure.height, "the width or the height is 0")
    fill = Fill(
        structure.elementSize,
        handle_value(structure.dst),
        structure.value,
        items=structure.width,
        pitch=structure.pitch,
        rows=structure.height,
    )
    return _structured(fill.operation(), structure)


def function_from(structure: cuda.CUDA_HOST_NODE_PARAMS) -> StructuredOperation:
    """Return the call that a structure describes; `Refusal` if it is invalid."""
    refuse_if(not handle_value(structure.fn), "the function is null")
    function = addresses.host.function(handle_value(structure.fn), None, ctypes.c_void_p)
    work = partial(function, structure.userData)
    return _structured(Operation(cuda.CUgraphNodeType.CU_GRAPH_NODE_TYPE_HOST, work), structure)


def copied_graph(graph: Graph, child: Graph) -> GraphOperation:
    """Return the execution of a copy of a child graph; `Refusal` if it cannot be copied."""
    refuse_if(child is graph, "a graph cannot contain itself")
    child.check_can_be_cloned()
    return child_graph(child.clone())


@call()
def cuGraphDestroyNode(hNode: NodeHandle) -> None:
    """Remove a node from its graph."""
    hNode.graph.destroy_node(hNode)


@call()
def cuGraphNodeGetType(hNode: NodeHandle) -> cuda.CUgraphNodeType:
    """Return the type of a node."""
    return hNode.operation.kind


def kernel_of(node: Node) -> KernelOperation:
    """Return a node's launch; `Refusal` if it is no kernel."""
    if not isinstance(node.operation, KernelOperation):
        raise Refusal("INVALID_VALUE", f"the node is not a kernel: {node.operation.kind.name}")
    return node.operation
