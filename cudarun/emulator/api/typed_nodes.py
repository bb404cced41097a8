"""Nodes of graphs with one call each to add, return and replace what they do: section 6.23."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cuda.bindings import driver as cuda

from cudarun.base.records import dataclass
from cudarun.emulator.api.calls import call, generated
from cudarun.emulator.api.graph_nodes import (
    Nodes,
    add_node,
    context_of,
    copy_from,
    fill_from,
    function_from,
)
from cudarun.emulator.api.handles import EventHandle, ExecutableGraphHandle, GraphHandle, NodeHandle
from cudarun.emulator.host.executable_graphs import ExecutableGraph
from cudarun.emulator.host.graphs import Graph, Node, Operation, StructuredOperation
from cudarun.emulator.host.handles import Handle
from cudarun.emulator.host.refusal import Refusal
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
        added = {"hGraph": GraphHandle, "dependencies": "Any", "numDependencies": "int"}
        replaced = node | {"event" if is_event else "nodeParams": self.type}
        own, executable = f"cuGraph{self.name}Node", f"cuGraphExec{self.name}Node"
        of_executable = {"hGraphExec": ExecutableGraphHandle} | node | given
        for name, types, text, work, result in (
            (f"cuGraphAdd{self.name}Node", added | given, "Add {}.", self._add, cuda.CUgraphNode),
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
        if isinstance(operation, EventOperation):
            return cuda.CUevent(operation.event.handle)
        if not isinstance(operation, StructuredOperation):
            raise Refusal("INVALID_VALUE", "no structure describes the node")
        return copied(operation.structure)

    def _set(self, node: Node, given: Any) -> None:
        made = self.make(given)
        self._check(node)
        node.operation = made

    def _check(self, node: Node) -> None:
        if not node.operation.kind.name.endswith(self.kind):
            raise Refusal("INVALID_VALUE", f"the node is a {node.operation.kind.name}")

    def _set_in_executable(
        self, graph: ExecutableGraph, node: Node, given: Any, context: Handle = None
    ) -> None:
        self._set(graph.node(node), given)


_KEEP = "executable graphs keep theirs"
_REPLACE = "Replace {} of a node in an executable graph."
_COPY, _FILL, _FUNCTION = (
    cuda.CUDA_MEMCPY3D,
    cuda.CUDA_MEMSET_NODE_PARAMS,
    cuda.CUDA_HOST_NODE_PARAMS,
)
for _type in (
    _NodeType("MEMCPY", "Memcpy", "the copy of a box", "copyParams", _COPY, copy_from),
    _NodeType("MEMSET", "Memset", "the fill of rows", "memsetParams", _FILL, fill_from),
    _NodeType("HOST", "Host", "the host function", "nodeParams", _FUNCTION, function_from),
    _NodeType("EVENT_RECORD", "EventRecord", "the event", "event", EventHandle, record_operation),
    _NodeType("WAIT_EVENT", "EventWait", "the event", "event", EventHandle, wait_operation),
):
    _type.declare()
