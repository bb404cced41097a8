"""Graphs of operations: driver API, section 6.23. An operation is one node's work."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace

from cuda.bindings.driver import CUgraphNodeType

from cudarun.base.records import dataclass
from cudarun.emulator.host.devices import EmulatedDevice
from cudarun.emulator.host.handles import HandleTable
from cudarun.emulator.host.refusal import Refusal, refuse_if


@dataclass(eq=False)
class Operation:
    """Work that can be submitted to a stream, or be a node of a graph."""

    kind: CUgraphNodeType
    work: Callable[[], None]  # Executes it. The driver is locked, unless it is a kernel.
    # The graphs that it executes, which belong to its node; none in general.
    graphs: tuple[Graph, ...] = field(default=(), init=False)
    writes_pageable: bool = field(default=False, init=False)  # as a copy to such host memory

    @property
    def device(self) -> EmulatedDevice | None:
        """The device on which a kernel runs; ``None`` for any other work."""
        return None

    def parts(self) -> Iterator[Sequence[Operation]]:
        """Yield the operations that follow its own work; each part is done before the next."""
        yield from ()

    def for_clone(self) -> Operation:
        """Return the operation of a clone of the node."""
        return self

    def at_launch(self) -> Operation:
        """Return the operation as a launch executes it, whatever changes later."""
        return self

    def end(self) -> None:
        """Note, once or more, that it was executed or dropped; nothing in general."""

    def attach(self) -> None:
        """Prepare for one more node that has this operation; nothing in general."""

    def detach(self) -> None:
        """Release the resources of a node that had this operation; nothing in general."""


@dataclass(eq=False)
class StructuredOperation(Operation):
    """An operation that a structure of the bindings describes, which a program can ask for."""

    structure: object


@dataclass(eq=False)
class UserObject:
    """An object of the program, destroyed with the last reference to it."""

    destroy: Callable[[], object]
    references: int  # those of the program and of graphs
    handle: int = 0

    def release(self, count: int, handles: HandleTable) -> None:
        """Remove references; `Refusal` if there are not as many."""
        if not 0 < count <= self.references:
            raise Refusal("INVALID_VALUE", f"{self.references} references, {count} to be removed")
        self.references -= count
        if not self.references:
            handles.remove(self.handle)
            self.destroy()


@dataclass(eq=False)
class GraphOperation(Operation):
    """The execution of graphs as a node of another one."""

    graphs: tuple[Graph, ...]
    # Yields the place of each graph to execute, after the end of the one before.
    order: Callable[[], Iterable[int]]
    # The operations of the graphs, when they are launched.
    operations: Sequence[Sequence[Operation]]

    def parts(self) -> Iterator[Sequence[Operation]]:
        """Yield the operations of each graph to execute."""
        return (self.operations[place] for place in self.order())

    def for_clone(self) -> GraphOperation:
        """Return the execution of copies of the graphs."""
        return replace(self, graphs=tuple(each.clone() for each in self.graphs))

    def at_launch(self) -> GraphOperation:
        """Return the execution of the graphs as they are now."""
        found = [[node.operation.at_launch() for node in each.in_order()] for each in self.graphs]
        return replace(self, operations=found)

    def end(self) -> None:
        """Note it of all operations: a condition or an error prevents some."""
        for operations in self.operations:
            for each in operations:
                each.end()

    def detach(self) -> None:
        """Destroy the graphs, which only one node has."""
        for each in self.graphs:
            each.destroy()


@dataclass(eq=False)
class Condition:
    """A value by which a conditional node chooses the graphs that it executes; kernels set it."""

    graph: Graph  # the node belongs to it, or to a graph in it
    # The value at the beginning of each launch; ``None`` if it stays what it was.
    default: int | None
    value: int = 0
    has_node: bool = False  # whether a node uses it


@dataclass(eq=False)
class ConditionalOperation(GraphOperation):
    """The execution of graphs as long as a condition holds, or of the one that it selects."""

    condition: Condition


@dataclass(eq=False)
class MemoryOperation(Operation):
    """The allocation of memory, or its end, as a node; the address is the same at each launch."""

    address: int

    def frees(self, address: int) -> bool:
        """Return whether it is the end of the allocation at an address."""
        is_free = self.kind == CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_FREE
        return is_free and self.address == address


def child_graph(graph: Graph) -> GraphOperation:
    """Return the operation that executes a graph, which no other node has."""
    kind = CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH
    return GraphOperation(kind, lambda: None, (graph,), lambda: (0,), ())


@dataclass(eq=False)
class Node:
    """A node of a graph."""

    graph: Graph
    operation: Operation
    original: Node | None = None  # the node that this one is a clone of
    handle: int = 0
    # The nodes that it depends on directly, as keys.
    before: dict[Node, None] = field(default_factory=dict)
    # The nodes that depend on it directly, likewise.
    after: dict[Node, None] = field(default_factory=dict)

    def replace(self, operation: Operation) -> None:
        """Let it have another operation."""
        operation.attach()
        self.operation.detach()
        self.operation = operation


class Graph:
    """Nodes, in the order of their creation, and edges."""

    def __init__(self, handles: HandleTable, parent: Graph | None = None) -> None:
        self._handles = handles  # takes the graph and its nodes
        # The graph whose node executes this one; ``None`` of a graph of the program.
        self.parent = parent
        self.conditions: list[Condition] = []  # the conditions that were created for it
        self.executables = 0  # the number of its executable graphs
        self.nodes: list[Node] = []
        self.objects: Counter[UserObject] = Counter()  # with the references of this graph
        self.handle = handles.add(self)

    def add(self, operation: Operation, dependencies: Sequence[Node]) -> Node:
        """Add a node that runs after its dependencies.

        Raises:
            Refusal: A dependency is repeated, or a node of another graph.
        """
        self.check_dependencies(dependencies)
        operation.attach()
        node = Node(self, operation)
        node.handle = self._handles.add(node)
        self.nodes.append(node)
        self._link((before, node) for before in dependencies)
        return node

    def _link(self, edges: Iterable[tuple[Node, Node]]) -> None:
        for before, after in edges:
            after.before[before] = before.after[after] = None

    def _unlink(self, edges: Iterable[tuple[Node, Node]]) -> None:
        for before, after in edges:
            del after.before[before], before.after[after]

    def connect(self, edges: Sequence[tuple[Node, Node]]) -> None:
        """Add edges.

        Raises:
            Refusal: An edge exists, connects a node with itself, or one of another graph.
        """
        self.check_own(itertools.chain.from_iterable(edges))
        for before, after in edges:
            refuse_if(before is after, "a node cannot depend on itself")
            if after in before.after or edges.count((before, after)) > 1:
                raise Refusal("INVALID_VALUE", "the graph already has this dependency")
        self._link(edges)

    def disconnect(self, edges: Sequence[tuple[Node, Node]]) -> None:
        """Remove edges; `Refusal` if the graph does not have one of them, or has memory nodes."""
        self.check_can_shrink()
        if any(edge[1] not in edge[0].after or edges.count(edge) > 1 for edge in edges):
            raise Refusal("INVALID_VALUE", "the dependency is not in the graph")
        self._unlink(edges)

    def check_dependencies(self, nodes: Sequence[Node]) -> None:
        """Raise `Refusal` if a node is repeated, or belongs to another graph."""
        refuse_if(len(set(nodes)) < len(nodes), "a dependency is repeated")
        self.check_own(nodes)

    def check_own(self, nodes: Iterable[Node]) -> None:
        """Raise `Refusal` if a node belongs to another graph."""
        if any(node.graph is not self for node in nodes):
            raise Refusal("INVALID_VALUE", "the node belongs to another graph")

    def edges(self) -> list[tuple[Node, Node]]:
        """Return the edges, those of a node together."""
        return [(before, after) for before in self.nodes for after in before.after]

    def with_ancestors(self, nodes: Iterable[Node]) -> set[Node]:
        """Return nodes and everything that they depend on."""
        found: set[Node] = set()
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if node not in found:
                found.add(node)
                waiting += node.before
        return found

    def in_order(self) -> list[Node]:
        """Return the nodes in an order of execution; those of a cycle are left out."""
        missing = {node: len(node.before) for node in self.nodes}
        ready = [node for node in self.nodes if not node.before]
        for node in ready:  # grows
            for after in node.after:
                missing[after] -= 1
                if not missing[after]:
                    ready.append(after)
        return ready

    def clone(self) -> Graph:
        """Return a copy, whose nodes have these as originals."""
        made = Graph(self._handles)
        copies: dict[Node, Node] = {}
        for node in self.nodes:
            copies[node] = made.add(node.operation.for_clone(), [])
            copies[node].original = node
        made._link((copies[before], copies[after]) for before, after in self.edges())
        for each, count in self.objects.items():
            made.retain(each, count)
        return made

    def contains(self, other: Graph | None) -> bool:
        """Return whether it is another graph, or a node in it executes that one."""
        return other is not None and (other is self or self.contains(other.parent))

    def retain(self, item: UserObject, count: int) -> None:
        """Add references to an object of the program."""
        item.references += count
        self.objects[item] += count

    def release(self, item: UserObject, count: int) -> None:
        """Remove references of this graph; `Refusal` if it does not have as many."""
        refuse_if(count > self.objects[item], "references of others cannot be removed")
        self.objects[item] -= count
        item.release(count, self._handles)

    def all_graphs(self) -> Iterator[Graph]:
        """Yield this graph and those that its nodes execute."""
        yield self
        for node in self.nodes:
            for each in node.operation.graphs:
                yield from each.all_graphs()

    def all_nodes(self) -> list[Node]:
        """Return its nodes and those of the graphs that they execute."""
        return [node for graph in self.all_graphs() for node in graph.nodes]

    def is_unique(self) -> bool:
        """Return whether it has nodes that do not permit copies, or two executable graphs."""
        unique = MemoryOperation | ConditionalOperation
        return any(isinstance(each.operation, unique) for each in self.all_nodes())

    def check_can_be_cloned(self) -> None:
        """Raise `Refusal` if the program cannot copy it."""
        words = "a graph with memory nodes or conditional nodes cannot be copied"
        refuse_if(self.is_unique(), words, "NOT_SUPPORTED")

    def check_can_shrink(self) -> None:
        """Raise `Refusal` if nodes and edges cannot be removed."""
        words = "nodes and edges of a graph with memory nodes cannot be removed"
        has_memory = any(isinstance(each.operation, MemoryOperation) for each in self.nodes)
        refuse_if(has_memory, words, "NOT_SUPPORTED")

    def destroy_node(self, node: Node) -> None:
        """Remove a node with its edges; `Refusal` if the graph has memory nodes."""
        self.check_can_shrink()
        self._unlink([edge for edge in self.edges() if node in edge])
        self.nodes.remove(node)
        self._end(node)

    def destroy(self) -> None:
        """Make the handles of the graph and its nodes invalid."""
        for node in self.nodes:
            self._end(node)
        for item, count in (+self.objects).items():
            item.release(count, self._handles)
        self._handles.remove(self.handle)

    def _end(self, node: Node) -> None:
        self._handles.remove(node.handle)
        node.operation.detach()
