"""Loops that may wait for other threads: at their jumps back, a warp lets other warps run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cudarun.emulator.code import (
    Action,
    FunctionCode,
    Operation,
    ParameterUse,
    RegisterUse,
    Use,
)
from cudarun.emulator.compiled.control.calls import first_outlined_block, outlined_calls
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.mbarriers import Wait
from cudarun.emulator.machine.transfers import MemoryLoad

STRONG_COST, WEAK_COST = 512, 1

_Slots = tuple[set[int], set[int]]
"""The registers that an operation reads, and those that it writes."""

_Operations = list[tuple[Operation, _Slots]]


class _Loop(NamedTuple):
    """A loop, and the spaces by which it may wait for other threads.

    Attributes:
        body: Its blocks, and those of the outlined functions that they call.
        strong: The spaces of strong loads, tests of ``mbarrier`` objects, and atomic operations
            whose result is used.
        weak: The spaces of weak loads from one address that can end it.
    """

    body: set[int]
    strong: set[str]
    weak: set[str]


class WaitingLoops:
    """The loops of a function that may wait for other threads.

    Args:
        function: The function.

    Attributes:
        waits_for_blocks: Whether one may wait for threads of other blocks, by global memory.
    """

    def __init__(self, function: FunctionCode) -> None:
        operations = [[(each, _slots(each)) for each in b.operations] for b in function.blocks]
        self._loops: dict[int, _Loop] = {}
        for target in starts_of_loops(function):
            body = _with_called(function, loop_body(function, target))
            inside = [each for block in sorted(body) for each in operations[block]]
            strong = _spaces_of_waits(operation for operation, _ in inside)
            self._loops[target] = _Loop(body, strong, _spaces_of_weak_waits(function, body, inside))
        spaces = {space for loop in self._loops.values() for space in loop.strong | loop.weak}
        self.waits_for_blocks = bool(spaces - {"shared"})

    def costs(self, depths: Sequence[int]) -> dict[int, int]:
        """Return the cost of a jump back to each of them, by its block.

        Args:
            depths: Of each block, how many functions have called its function. A weak load costs as
                much as a strong one in a called function.
        """
        found = {}
        for target, loop in self._loops.items():
            if loop.strong:
                found[target] = STRONG_COST
            elif loop.weak:
                calls = any(depths[block] > depths[target] for block in loop.body)
                found[target] = STRONG_COST if calls else WEAK_COST
        return found


def _spaces_of_waits(operations: Iterable[Operation]) -> set[str]:
    """Return the spaces by which the instructions of a loop may wait for other threads."""
    found = set()
    for operation in operations:
        if isinstance(operation, Action):
            action = operation.action
            if isinstance(action, Wait):
                found.add("shared")
            elif isinstance(action, MemoryLoad | Atomic):
                (access,) = action.accesses
                if access.strong if isinstance(action, MemoryLoad) else action.wanted:
                    found.add(access.space)
    return found - {"local"}


def _spaces_of_weak_waits(
    function: FunctionCode, body: set[int], operations: _Operations
) -> set[str]:
    """Return the spaces of the weak loads that always have one address and can end a loop."""
    exits = {
        block.terminator.condition.slot
        for block in map(function.blocks.__getitem__, body)
        if block.terminator.condition is not None
        and not body.issuperset(block.terminator.successors)
    }
    varying = _varying(operations)
    deciding = _origins(exits, [slots for _, slots in operations])
    found = set()
    for operation, (sources, destinations) in operations:
        if isinstance(operation, Action) and isinstance(operation.action, MemoryLoad):
            (access,) = operation.action.accesses
            if varying.isdisjoint(sources) and not deciding.isdisjoint(destinations):
                found.add(access.space)
    return found - {"local", "param", "const"}


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
    return _slots_of(operation.sources), _slots_of(operation.destinations)


def _slots_of(uses: Iterable[Use]) -> set[int]:
    return {use.slot for use in uses if isinstance(use, RegisterUse | ParameterUse)}


def blocks_in_loops(function: FunctionCode) -> set[int]:
    """Return the blocks that can run more than once for a thread."""
    found = set(range(first_outlined_block(function), len(function.blocks)))
    for target in starts_of_loops(function):
        found |= loop_body(function, target)
    return found


def _with_called(function: FunctionCode, blocks: set[int]) -> set[int]:
    """Return some blocks, and those of the outlined functions that they call."""
    calls = outlined_calls(function)
    found = set(blocks)
    left = [calls[block].callee.start for block in blocks & calls.keys()]
    while left:
        block = left.pop()
        if block not in found:
            found.add(block)
            left += function.blocks[block].terminator.successors
            left += [calls[block].callee.start] if block in calls else []
    return found


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
