"""Calls that add nodes to graphs, and that return and replace what they do: section 6.23."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from cuda.bindings import driver as cuda

from cudarun.base.records import dataclass
from cudarun.emulator.api.calls import call, generated
from cudarun.emulator.api.graph_allocations import freeing
from cudarun.emulator.api.graph_nodes import (
    Nodes,
    add_node,
    context_of,
    copied_graph,
    copy_from,
    fill_from,
    function_from,
    kernel_from,
    kernel_of,
)
from cudarun.emulator.api.handles import EventHandle, ExecutableGraphHandle, GraphHandle, NodeHandle
from cudarun.emulator.host.executable_graphs import ExecutableGraph
from cudarun.emulator.host.graphs import Graph, Node, Operation, StructuredOperation
from cudarun.emulator.host.handles import Handle
from cudarun.emulator.host.launches import KernelOperation
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.host.resources import copied
from cudarun.emulator.host.streams import EventOperation, record_operation, wait_operation


@dataclass(frozen=True, slots=True)
class _NodeType:
    """A type of nodes."""

    kind: str  # the end of its name among ``CUgraphNodeType``
    name: str  # the type in the names of calls
    noun: str  # what its nodes do
    parameter: str  # the parameter with what a node does
    type: Any  # the type of the parameter
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
        self, graph: Graph, before: Nodes, count: int, given: Any, context: Handle = None
    ) -> cuda.CUgraphNode:
        if self.kind.startswith("MEM"):  # a context follows the parameter
            context_of(context)  # may refuse
        return add_node(graph, before, count, self.make(given))

    def _get(self, node: Node) -> Any:
        self._check(node)
        operation = node.operation
        if isinstance(operation, KernelOperation):
            return operation.node_parameters()
        if isinstance(operation, EventOperation):
            return cuda.CUevent(operation.event.handle)
        if not isinstance(operation, StructuredOperation):
            raise Refusal("INVALID_VALUE", "no structure describes the node")
        return copied(operation.structure)

    def _set(self, node: Node, given: Any) -> None:
        self._check(node)
        node.operation = self.make(given)

    def _check(self, node: Node) -> None:
        if self.kind == "KERNEL":
            kernel_of(node)
        elif not node.operation.kind.name.endswith(self.kind):
            raise Refusal("INVALID_VALUE", f"the node is a {node.operation.kind.name}")

    def _set_in_executable(
        self, graph: ExecutableGraph, node: Node, given: Any, context: Handle = None
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
    make: Callable[..., Operation], graph: Graph, before: Nodes, count: int, *given: Any
) -> cuda.CUgraphNode:
    return add_node(graph, before, count, make(graph, *given))


_NO_WORK = Operation(cuda.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY, lambda: None)
_MAKERS: tuple[tuple[str, dict[str, Any], str, Callable[..., Operation]], ...] = (
    ("ChildGraph", {"childGraph": GraphHandle}, "the execution of a copy of a graph", copied_graph),
    ("Empty", {}, "a node without work, which orders others", lambda graph: _NO_WORK),
    ("MemFree", {"dptr": "Handle"}, "the end of an allocation that a node made", freeing),
)
for _name, _given, _noun, _make in _MAKERS:
    _work = partial(_add_with, _make)
    _name, _text = f"cuGraphAdd{_name}Node", f"Add {_noun}."
    call()(generated(__name__, _name, _ADDED | _given, _text, _work, cuda.CUgraphNode))
