"""Loops that may wait for other threads: at their jumps back, a warp lets other warps run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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


def waiting_loops(function: FunctionCode, depths: Sequence[int]) -> dict[int, int]:
    """Return the cost of a jump back to each loop that may wait for other threads, by its block.

    These are the loops with a strong load, a test of an ``mbarrier`` object, or an atomic operation
    whose result is used; and, at low cost, those that a weak load from one address can end.

    Args:
        function: The function.
        depths: Of each block, how many functions have called its function. A weak load costs as
            much as a strong one in a called function.
    """
    found = {}
    for target in _back_targets(function):
        body = _with_called(function, loop_body(function, target))
        if _spaces_of_waits(function, body):
            found[target] = STRONG_COST
        elif _spaces_of_weak_waits(function, body):
            calls = any(depths[block] > depths[target] for block in body)
            found[target] = STRONG_COST if calls else WEAK_COST
    return found


def may_wait_for_blocks(function: FunctionCode) -> bool:
    """Return whether loops may wait for threads of other blocks, by global memory."""
    spaces: set[str] = set()
    for target in _back_targets(function):
        body = _with_called(function, loop_body(function, target))
        spaces |= _spaces_of_waits(function, body) | _spaces_of_weak_waits(function, body)
    return bool(spaces - {"shared"})


def _spaces_of_waits(function: FunctionCode, body: set[int]) -> set[str]:
    """Return the spaces by which the instructions of a loop may wait for other threads."""
    found = set()
    for operation in _operations(function, body):
        if isinstance(operation, Action):
            action = operation.action
            if isinstance(action, Wait):
                found.add("shared")
            elif isinstance(action, MemoryLoad | Atomic):
                (access,) = action.accesses
                if access.strong if isinstance(action, MemoryLoad) else action.wanted:
                    found.add(access.space)
    return found - {"local"}


def _spaces_of_weak_waits(function: FunctionCode, body: set[int]) -> set[str]:
    """Return the spaces of the weak loads that always have one address and can end a loop."""
    exits = {
        block.terminator.condition.slot
        for block in map(function.blocks.__getitem__, body)
        if block.terminator.condition is not None
        and not body.issuperset(block.terminator.successors)
    }
    operations = _operations(function, body)
    slots = [(_slots(each.sources), _slots(each.destinations)) for each in operations]
    varying = _varying(operations, slots)
    deciding = _origins(exits, slots)
    found = set()
    for operation, (sources, destinations) in zip(operations, slots, strict=True):
        if isinstance(operation, Action) and isinstance(operation.action, MemoryLoad):
            (access,) = operation.action.accesses
            if varying.isdisjoint(sources) and not deciding.isdisjoint(destinations):
                found.add(access.space)
    return found - {"local", "param", "const"}


def _varying(operations: list[Operation], slots: list[_Slots]) -> set[int]:
    """Return the registers whose values can change from one iteration of a loop to the next."""
    found = {slot for _, destinations in slots for slot in destinations}
    count = len(found) + 1
    while len(found) < count:
        count = len(found)
        kept = set()
        for operation, (sources, destinations) in zip(operations, slots, strict=True):
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


def _operations(function: FunctionCode, body: set[int]) -> list[Operation]:
    return [operation for block in sorted(body) for operation in function.blocks[block].operations]


def _slots(uses: Iterable[Use]) -> set[int]:
    return {use.slot for use in uses if isinstance(use, RegisterUse | ParameterUse)}


def blocks_in_loops(function: FunctionCode) -> set[int]:
    """Return the blocks that can run more than once for a thread."""
    found = set(range(first_outlined_block(function), len(function.blocks)))
    for target in _back_targets(function):
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


def _back_targets(function: FunctionCode) -> list[int]:
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
