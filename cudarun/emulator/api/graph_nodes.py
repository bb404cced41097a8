"""Nodes of graphs: driver API, section 6.23."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from cuda.bindings import driver as cuda

from cudarun.base.records import dataclass
from cudarun.emulator.api.boxes import BoxCopy
from cudarun.emulator.api.calls import call, generated
from cudarun.emulator.api.fills import Fill
from cudarun.emulator.api.graph_memory import allocation_from, freeing
from cudarun.emulator.api.handles import (
    EventHandle,
    ExecutableGraphHandle,
    GraphHandle,
    NodeHandle,
    node_of,
)
from cudarun.emulator.host import addresses
from cudarun.emulator.host.contexts import Context
from cudarun.emulator.host.executable_graphs import ExecutableGraph
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
from cudarun.emulator.host.streams import EventOperation, record_operation, wait_operation

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


def _structured(operation: Operation, structure: object) -> StructuredOperation:
    made = StructuredOperation(operation.kind, operation.work, copied(structure))
    made.writes_pageable = operation.writes_pageable
    return made


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


@call()
def cuGraphAddMemAllocNode(
    hGraph: GraphHandle,
    dependencies: Nodes,
    numDependencies: int,
    nodeParams: cuda.CUDA_MEM_ALLOC_NODE_PARAMS,
) -> cuda.CUgraphNode:
    """Add the allocation of device memory, and write its address into the structure."""
    operation = allocation_from(nodeParams)
    node = add_node(hGraph, dependencies, numDependencies, operation)
    nodeParams.dptr = operation.address
    return node


# --- calls by the type of the node ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _NodeType:
    """A type of nodes."""

    kind: str  # the end of its name among ``CUgraphNodeType``
    name: str  # the type in the names of calls
    noun: str  # what its nodes do
    parameter: str  # the parameter with what a node does
    type: object  # the type of the parameter
    make: Callable[[Any], Operation]  # makes the operation of a node

    def declare(self) -> None:
        """Declare the calls."""
        is_event, has_context = self.parameter == "event", self.kind.startswith("MEM")
        end, returned = ("Event", cuda.CUevent) if is_event else ("Params", self.type)
        node = {"hNode": NodeHandle}
        given = {self.parameter: self.type} | ({"ctx": "Handle"} if has_context else {})
        replaced = node | {"event" if is_event else "nodeParams": self.type}
        own, executable = f"cuGraph{self.name}Node", f"cuGraphExec{self.name}Node"
        of_executable = {"hGraphExec": ExecutableGraphHandle} | node | given
        for name, types, text, work, result in (
            (f"cuGraphAdd{self.name}Node", _ADDED | given, "Add {}.", self._add, cuda.CUgraphNode),
            (f"{own}Get{end}", node, "Return {} of a node.", self._get, returned),
            (f"{own}Set{end}", replaced, f"Replace {{}} of a node; {_KEEP}.", self._set, None),
            (f"{executable}Set{end}", of_executable, _REPLACE, self._set_in_executable, None),
        ):
            call()(generated(__name__, name, types, text.format(self.noun), work, result))

    def _add(
        self, graph: Graph, before: Nodes, count: int, given: object, context: Handle = None
    ) -> cuda.CUgraphNode:
        if self.kind.startswith("MEM"):  # a context follows the parameter
            context_of(context)  # may refuse
        return add_node(graph, before, count, self.make(given))

    def _get(self, node: Node) -> object:
        self._check(node)
        operation = node.operation
        if isinstance(operation, KernelOperation):
            return operation.node_parameters()
        if isinstance(operation, EventOperation):
            return cuda.CUevent(operation.event.handle)
        if not isinstance(operation, StructuredOperation):
            raise Refusal("INVALID_VALUE", "no structure describes the node")
        return copied(operation.structure)

    def _set(self, node: Node, given: object) -> None:
        self._check(node)
        node.operation = self.make(given)

    def _check(self, node: Node) -> None:
        if self.kind == "KERNEL":
            kernel_of(node)
        elif not node.operation.kind.name.endswith(self.kind):
            raise Refusal("INVALID_VALUE", f"the node is a {node.operation.kind.name}")

    def _set_in_executable(
        self, graph: ExecutableGraph, node: Node, given: object, context: Handle = None
    ) -> None:
        copy = graph.node(node)
        self._check(copy)
        made, device = self.make(given), copy.operation.device
        refuse_if(device is not made.device, "the kernels belong to different contexts")
        copy.operation = made


_ADDED = {"hGraph": GraphHandle, "dependencies": "Any", "numDependencies": "int"}
_KEEP = "executable graphs keep theirs"
_REPLACE = "Replace {} of a node in an executable graph."
_KERNEL, _COPY, _FILL, _FUNCTION = (
    cuda.CUDA_KERNEL_NODE_PARAMS,
    cuda.CUDA_MEMCPY3D,
    cuda.CUDA_MEMSET_NODE_PARAMS,
    cuda.CUDA_HOST_NODE_PARAMS,
)
for _type in (
    _NodeType("KERNEL", "Kernel", "the launch of a kernel", "nodeParams", _KERNEL, kernel_from),
    _NodeType("MEMCPY", "Memcpy", "the copy of a box", "copyParams", _COPY, copy_from),
    _NodeType("MEMSET", "Memset", "the fill of rows", "memsetParams", _FILL, fill_from),
    _NodeType("HOST", "Host", "the host function", "nodeParams", _FUNCTION, function_from),
    _NodeType("EVENT_RECORD", "EventRecord", "the event", "event", EventHandle, record_operation),
    _NodeType("WAIT_EVENT", "EventWait", "the event", "event", EventHandle, wait_operation),
):
    _type.declare()


def _add_with(
    make: Callable[..., Operation], graph: Graph, before: Nodes, count: int, *given: object
) -> cuda.CUgraphNode:
    return add_node(graph, before, count, make(graph, *given))


_NO_WORK = Operation(cuda.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY, lambda: None)
_MAKERS: tuple[tuple[str, dict[str, object], str, Callable[..., Operation]], ...] = (
    ("ChildGraph", {"childGraph": GraphHandle}, "the execution of a copy of a graph", copied_graph),
    ("Empty", {}, "a node without work, which orders others", lambda graph: _NO_WORK),
    ("MemFree", {"dptr": "Handle"}, "the end of an allocation that a node made", freeing),
)
for _name, _given, _noun, _make in _MAKERS:
    _work = partial(_add_with, _make)
    _name, _text = f"cuGraphAdd{_name}Node", f"Add {_noun}."
    call()(generated(__name__, _name, _ADDED | _given, _text, _work, cuda.CUgraphNode))
