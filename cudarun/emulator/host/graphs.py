"""Graphs of operations, and executable graphs: driver API, section 6.23.

An operation is one node's work. A graph is executed node by node, in an order that respects the
edges, as one piece of work of a stream.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any

from cuda.bindings.driver import CUgraphNodeType

from cudarun.base.records import dataclass
from cudarun.emulator.host.devices import EmulatedDevice
from cudarun.emulator.host.handles import HandleTable
from cudarun.emulator.host.refusal import Refusal


@dataclass(eq=False)
class Operation:
    """Work that can be submitted to a stream, or be a node of a graph.

    Attributes:
        work: Executes it. The driver is locked, unless it is a kernel.
    """

    kind: CUgraphNodeType
    work: Callable[[], None]

    @property
    def device(self) -> EmulatedDevice | None:
        """The device on which a kernel runs; ``None`` for any other work."""
        return None

    def attach(self) -> None:
        """Prepare for one more node that has this operation; nothing in general."""

    def detach(self) -> None:
        """Release the resources of a node that had this operation; nothing in general."""


@dataclass(eq=False)
class StructuredOperation(Operation):
    """An operation that a structure of the bindings describes, which a program can ask for."""

    structure: Any


@dataclass(eq=False)
class UserObject:
    """An object of the program, destroyed with the last reference to it.

    Attributes:
        destroy: Destroys it.
        references: Those of the program and of graphs.
    """

    destroy: Callable[[], object]
    references: int
    handle: int = 0

    def release(self, count: int, handles: HandleTable) -> None:
        """Remove references.

        Raises:
            Refusal: There are not as many.
        """
        if not 0 < count <= self.references:
            raise Refusal("INVALID_VALUE", f"{self.references} references, {count} to be removed")
        self.references -= count
        if not self.references:
            handles.remove(self.handle)
            self.destroy()


@dataclass(eq=False)
class ChildGraph(Operation):
    """The execution of a graph as a node of another one."""

    graph: Graph

    def detach(self) -> None:
        """Destroy the graph, which only one node has."""
        self.graph.destroy()


@dataclass(eq=False)
class MemoryOperation(Operation):
    """The allocation of memory, or its end, as a node; the address is the same at each launch."""

    address: int

    def frees(self, address: int) -> bool:
        """Return whether it is the end of the allocation at an address."""
        is_free = self.kind == CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_FREE
        return is_free and self.address == address


def child_graph(graph: Graph) -> ChildGraph:
    """Return the operation that executes a copy of a graph."""
    kind = CUgraphNodeType.CU_GRAPH_NODE_TYPE_GRAPH
    return ChildGraph(kind, lambda: None, graph.clone())


@dataclass(eq=False)
class Node:
    """A node of a graph.

    Attributes:
        original: The node that this one is a clone of.
        before: The nodes that it depends on directly, as keys.
        after: The nodes that depend on it directly, likewise.
    """

    graph: Graph
    operation: Operation
    original: Node | None = None
    handle: int = 0
    before: dict[Node, None] = field(default_factory=dict)
    after: dict[Node, None] = field(default_factory=dict)


class Graph:
    """Nodes, in the order of their creation, and edges."""

    def __init__(self, handles: HandleTable) -> None:
        self._handles = handles
        self.nodes: list[Node] = []
        self.objects: Counter[UserObject] = Counter()  # with the references of this graph
        self.handle = handles.add(self)

    def add(self, operation: Operation, dependencies: Sequence[Node]) -> Node:
        """Add a node that runs after its dependencies.

        Raises:
            Refusal: A dependency is repeated, or a node of another graph.
        """
        if len(set(dependencies)) < len(dependencies):
            raise Refusal("INVALID_VALUE", "a dependency is repeated")
        self._check_own(dependencies)
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
        self._check_own(itertools.chain.from_iterable(edges))
        for before, after in edges:
            if before is after:
                raise Refusal("INVALID_VALUE", "a node cannot depend on itself")
            if after in before.after or edges.count((before, after)) > 1:
                raise Refusal("INVALID_VALUE", "the graph already has this dependency")
        self._link(edges)

    def disconnect(self, edges: Sequence[tuple[Node, Node]]) -> None:
        """Remove edges.

        Raises:
            Refusal: The graph does not have one of them.
        """
        if any(edge[1] not in edge[0].after or edges.count(edge) > 1 for edge in edges):
            raise Refusal("INVALID_VALUE", "the dependency is not in the graph")
        self._unlink(edges)

    def _check_own(self, nodes: Iterable[Node]) -> None:
        if any(node.graph is not self for node in nodes):
            raise Refusal("INVALID_VALUE", "the node belongs to another graph")

    def roots(self) -> list[Node]:
        """Return the nodes without dependencies, the newest first."""
        return [node for node in reversed(self.nodes) if not node.before]

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
            operation = node.operation
            if isinstance(operation, ChildGraph):
                operation = child_graph(operation.graph)
            copies[node] = made.add(operation, [])
            copies[node].original = node
        made._link((copies[before], copies[after]) for before, after in self.edges())
        for each, count in self.objects.items():
            made.retain(each, count)
        return made

    def retain(self, item: UserObject, count: int) -> None:
        """Add references to an object of the program."""
        item.references += count
        self.objects[item] += count

    def release(self, item: UserObject, count: int) -> None:
        """Remove references of this graph; `Refusal` if it does not have as many."""
        if count > self.objects[item]:
            raise Refusal("INVALID_VALUE", "references of others cannot be removed")
        self.objects[item] -= count
        item.release(count, self._handles)

    def all_objects(self) -> Iterator[UserObject]:
        """Yield the objects that this graph and its child graphs refer to."""
        yield from +self.objects
        for node in self.nodes:
            if isinstance(node.operation, ChildGraph):
                yield from node.operation.graph.all_objects()

    def destroy_node(self, node: Node) -> None:
        """Remove a node with its edges."""
        self.nodes.remove(node)
        self._unlink([edge for edge in self.edges() if node in edge])
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


@dataclass(eq=False)
class ExecutableGraph:
    """An executable graph: a copy of a graph, whose operations can be replaced.

    Attributes:
        graph: The copy.
        nodes: The nodes of the copy in their order, by the handles of the originals.
        disabled: Nodes of the copy that are not executed.
    """

    graph: Graph
    flags: int
    nodes: dict[int, Node] = field(default_factory=dict)
    handle: int = 0
    disabled: set[Node] = field(default_factory=set)

    def operations(self) -> list[Operation]:
        """Return everything to execute, child graphs included, in its order."""
        return list(_flattened(each for each in self.nodes.values() if each not in self.disabled))

    def release_operation(self, handles: HandleTable) -> Operation:
        """Retain the objects of the graph; return the work that releases them after a launch."""
        objects = [*self.graph.all_objects()]
        for each in objects:
            each.references += 1

        def release() -> None:
            for each in objects:
                each.release(1, handles)

        return Operation(CUgraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY, release)

    def node(self, original: Node) -> Node:
        """Return the copy of a node of the graph that this one was created from.

        Raises:
            Refusal: There is none.
        """
        if original.handle not in self.nodes:
            words = "the executable graph was not created from the node's graph"
            raise Refusal("INVALID_VALUE", words)
        return self.nodes[original.handle]

    def update(self, graph: Graph) -> None:
        """Take over the operations of a graph with the same nodes and edges.

        Raises:
            Refusal: They are not the same.
        """
        pairs = list(_matched(self.graph, graph))
        for own, other in pairs:
            other.operation.attach()
            own.operation.detach()
            own.operation = other.operation

    def left_allocated(self) -> set[int]:
        """Return the addresses of the memory that it allocates and does not free."""
        addresses: dict[CUgraphNodeType, set[int]] = {}
        for operation in self.operations():
            if isinstance(operation, MemoryOperation):
                addresses.setdefault(operation.kind, set()).add(operation.address)
        types = CUgraphNodeType
        allocated = addresses.get(types.CU_GRAPH_NODE_TYPE_MEM_ALLOC, set())
        return allocated - addresses.get(types.CU_GRAPH_NODE_TYPE_MEM_FREE, set())

    def destroy(self, handles: HandleTable) -> None:
        """Make the handle invalid."""
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
    if not is_same:
        raise Refusal("GRAPH_EXEC_UPDATE_FAILURE", "the graphs have different nodes or edges")
    for before, after in copies.items():
        if isinstance(before.operation, ChildGraph) and isinstance(after.operation, ChildGraph):
            yield from _matched(before.operation.graph, after.operation.graph)
        else:
            yield before, after


def _flattened(nodes: Iterable[Node]) -> Iterable[Operation]:
    for node in nodes:
        operation = node.operation
        if isinstance(operation, ChildGraph):
            yield from _flattened(operation.graph.in_order())
        else:
            yield operation


def instantiate(graph: Graph, flags: int, handles: HandleTable) -> ExecutableGraph:
    """Return an executable graph; later changes of the graph do not affect it.

    Raises:
        Refusal: The dependencies form a cycle.
    """
    copy = graph.clone()
    order = copy.in_order()
    if len(order) < len(copy.nodes):
        copy.destroy()
        raise Refusal("INVALID_VALUE", "the dependencies of the graph form a cycle")
    made = ExecutableGraph(copy, flags)
    made.nodes = {node.original.handle: node for node in order if node.original is not None}
    made.handle = handles.add(made)
    return made
