"""Executable graphs: driver API, section 6.23.

A graph is executed node by node, in an order that respects the edges, as one piece of work of a
stream.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace

from cuda.bindings.driver import CUgraphNodeType

from cudarun.base.records import dataclass
from cudarun.emulator.host.graphs import (
    ConditionalOperation,
    Graph,
    GraphOperation,
    MemoryOperation,
    Node,
    Operation,
)
from cudarun.emulator.host.handles import HandleTable
from cudarun.emulator.host.refusal import Refusal, refuse_if

_EMPTY = CUgraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY
_IN_CONDITIONS = ("KERNEL", "EMPTY", "GRAPH", "MEMSET", "MEMCPY", "CONDITIONAL")


@dataclass(eq=False)
class ExecutableGraph:
    """An executable graph: a copy of a graph, whose operations can be replaced."""

    graph: Graph  # the copy
    source: Graph  # the graph that it was created from
    flags: int
    # The nodes of the copy in their order, by the handles of the originals.
    nodes: dict[int, Node] = field(default_factory=dict)
    handle: int = 0
    disabled: set[Node] = field(default_factory=set)  # nodes of the copy that are not executed

    def writes_pageable(self) -> bool:
        """Return whether a copy writes host memory that is not page-locked."""
        return any(node.operation.writes_pageable for node in self.graph.all_nodes())

    def operations(self) -> list[Operation]:
        """Return everything to execute, in its order."""
        enabled = (each for each in self.nodes.values() if each not in self.disabled)
        conditions = [
            node.operation.condition
            for node in self.graph.all_nodes()
            if isinstance(node.operation, ConditionalOperation)
        ]

        def begin() -> None:
            for each in conditions:
                each.value = each.value if each.default is None else each.default

        first = [Operation(_EMPTY, begin)] if conditions else []
        return [*first, *(each.operation.at_launch() for each in enabled)]

    def release_operation(self, handles: HandleTable) -> Operation:
        """Retain the objects of the graph; return the work that releases them after a launch."""
        objects = [each for graph in self.graph.all_graphs() for each in +graph.objects]
        for each in objects:
            each.references += 1

        def release() -> None:
            for each in objects:
                each.release(1, handles)

        return Operation(_EMPTY, release)

    def node(self, original: Node) -> Node:
        """Return the copy of a node of the graph that this one was created from.

        Raises:
            Refusal: There is none.
        """
        words = "the executable graph was not created from the node's graph"
        refuse_if(original.handle not in self.nodes, words)
        return self.nodes[original.handle]

    def update(self, graph: Graph) -> None:
        """Take over the operations of a graph with the same nodes and edges.

        Raises:
            Refusal: They are not the same.
        """
        pairs = list(_matched(self.graph, graph))
        for own, other in pairs:
            if isinstance(other.operation, GraphOperation):
                own.operation = replace(other.operation, graphs=own.operation.graphs)
            else:
                own.replace(other.operation)

    def left_allocated(self) -> set[int]:
        """Return the addresses of the memory that it allocates and does not free."""
        operations = (node.operation for node in self.graph.all_nodes())
        memory = [each for each in operations if isinstance(each, MemoryOperation)]
        freed = {each.address for each in memory if each.frees(each.address)}
        return {each.address for each in memory} - freed

    def destroy(self, handles: HandleTable) -> None:
        """Make the handle invalid."""
        self.source.executables -= 1
        self.graph.destroy()
        handles.remove(self.handle)


def _matched(own: Graph, other: Graph) -> Iterable[tuple[Node, Node]]:
    """Yield the nodes of two graphs in pairs, those of child graphs included.

    Raises:
        Refusal: Their nodes or edges are not the same.
    """
    copies = dict(zip(own.nodes, other.nodes, strict=False))
    is_same = len(own.nodes) == len(other.nodes) and all(
        {copies[each] for each in before.before} == set(after.before)
        and before.operation.kind == after.operation.kind
        and before.operation.device is after.operation.device
        for before, after in copies.items()
    )
    refuse_if(not is_same, "the graphs have different nodes or edges", "GRAPH_EXEC_UPDATE_FAILURE")
    for before, after in copies.items():
        graphs = before.operation.graphs, after.operation.graphs
        if len(graphs[0]) != len(graphs[1]):
            raise Refusal("GRAPH_EXEC_UPDATE_FAILURE", "conditional nodes have different sizes")
        for pair in zip(*graphs, strict=True):
            yield from _matched(*pair)
        yield before, after


def instantiate(graph: Graph, flags: int, handles: HandleTable) -> ExecutableGraph:
    """Return an executable graph; later changes of the graph do not affect it.

    Raises:
        Refusal: It cannot be executed.
    """
    _check(graph)
    copy = graph.clone()
    order = copy.in_order()
    if len(order) < len(copy.nodes):
        copy.destroy()
        raise Refusal("INVALID_VALUE", "the dependencies of the graph form a cycle")
    made = ExecutableGraph(copy, graph, flags)
    made.nodes = {node.original.handle: node for node in order if node.original is not None}
    made.handle = handles.add(made)
    graph.executables += 1
    return made


def unused_condition(graph: Graph) -> bool:
    """Return whether no node uses a condition of a graph."""
    return any(not each.has_node for item in graph.all_graphs() for each in item.conditions)


def _check(graph: Graph) -> None:
    """Raise `Refusal` if the nodes of a graph do not permit that it is executed."""
    if graph.parent is not None or unused_condition(graph):
        raise Refusal("INVALID_VALUE", "it belongs to a node, or no node uses a condition of it")
    words = "a graph with memory nodes or conditional nodes has one executable graph at a time"
    refuse_if(graph.executables and graph.is_unique(), words, "NOT_SUPPORTED")
    for node in graph.all_nodes():
        if isinstance(node.operation, ConditionalOperation):
            for inner in (each for body in node.operation.graphs for each in body.all_nodes()):
                kind = inner.operation.kind.name.removeprefix("CU_GRAPH_NODE_TYPE_")
                words = f"a conditional node cannot execute a {kind} node"
                refuse_if(kind not in _IN_CONDITIONS, words)
