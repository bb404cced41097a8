"""The loops of a function, and the loads that decide when they end."""

from __future__ import annotations

from collections.abc import Iterator

from cudarun.emulator.code import Action, FunctionCode, Operation, Site, slots_of
from cudarun.emulator.machine.access import Access
from cudarun.emulator.machine.transfers import MemoryLoad

_Slots = tuple[set[int], set[int]]
"""The registers that an operation reads, and those that it writes."""

_Operations = list[tuple[Operation, _Slots]]


class Loops:
    """The operations of a function in its loops."""

    def __init__(self, function: FunctionCode) -> None:
        self._function = function
        self._blocks = [[(each, _slots(each)) for each in b.operations] for b in function.blocks]

    def operations(self, body: set[int]) -> Iterator[Operation]:
        """Yield the operations of some blocks."""
        for block in sorted(body):
            yield from self._function.blocks[block].operations

    def deciding_loads(self, body: set[int]) -> Iterator[tuple[Site, Access]]:
        """Yield the loads of a loop that always have one address and can end it."""
        exits = {
            block.terminator.condition.slot
            for block in map(self._function.blocks.__getitem__, body)
            if block.terminator.condition is not None
            and not body.issuperset(block.terminator.successors)
        }
        operations = [each for block in sorted(body) for each in self._blocks[block]]
        varying = _varying(operations)
        deciding = _origins(exits, [slots for _, slots in operations])
        for operation, (sources, destinations) in operations:
            action = operation.action
            if not isinstance(action, MemoryLoad) or deciding.isdisjoint(destinations):
                continue
            if varying.isdisjoint(sources):
                yield operation.site, action.accesses[0]


def polling_sites(function: FunctionCode) -> set[Site]:
    """Return the loads by which threads wait in loops for other threads."""
    loops = Loops(function)
    bodies = (loop_body(function, start) for start in starts_of_loops(function))
    return {site for body in bodies for site, _ in loops.deciding_loads(body)}


def _varying(operations: _Operations) -> set[int]:
    """Return the registers whose values can change from one iteration of a loop to the next."""
    found = {slot for _, (_, destinations) in operations for slot in destinations}
    count = len(found) + 1
    while len(found) < count:
        count = len(found)
        kept = set()
        for operation, (sources, destinations) in operations:
            if isinstance(operation, Action) or not found.isdisjoint(sources):
                kept |= destinations
        found = kept
    return found


def _origins(results: set[int], slots: list[_Slots]) -> set[int]:
    """Return the registers that the values of some registers depend on, with these."""
    found = set(results)
    count = 0
    while len(found) > count:
        count = len(found)
        for sources, destinations in reversed(slots):
            if not found.isdisjoint(destinations):
                found |= sources
    return found


def _slots(operation: Operation) -> _Slots:
    return slots_of(operation.sources), slots_of(operation.destinations)


def starts_of_loops(function: FunctionCode) -> list[int]:
    """Return the targets of jumps back."""
    targets = {
        successor
        for block in function.blocks
        for successor in block.terminator.successors
        if successor <= block.index
    }
    return sorted(targets)


def loop_body(function: FunctionCode, start: int) -> set[int]:
    """Return the blocks that a thread can execute between two executions of a block."""
    reached, left = {start}, [start]
    while left:
        for successor in function.blocks[left.pop()].terminator.successors:
            if successor not in reached:
                reached.add(successor)
                left.append(successor)
    before: dict[int, list[int]] = {}
    for block in reached:
        for successor in function.blocks[block].terminator.successors:
            before.setdefault(successor, []).append(block)
    left = [start]
    inside: set[int] = set()
    while left:
        for block in before.get(left.pop(), ()):
            if block not in inside:
                inside.add(block)
                left.append(block)
    return inside
