"""Loops that may wait for other threads: at their jumps back, a warp lets other warps run."""

from __future__ import annotations

from cudarun.emulator.code import Action, FunctionCode
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.mbarriers import Wait
from cudarun.emulator.machine.transfers import MemoryLoad


def waiting_loops(function: FunctionCode) -> frozenset[int]:
    """Return the first blocks of the loops that may wait for other threads.

    These are the loops with a strong load, a test of an ``mbarrier`` object, or an atomic operation
    whose result is used.
    """
    found = set()
    for block in function.blocks:
        for target in block.terminator.successors:
            if target <= block.index and target not in found:
                body = loop_body(function, target)
                if any(
                    _waits(operation) for each in body for operation in _actions(function, each)
                ):
                    found.add(target)
    return frozenset(found)


def _actions(function: FunctionCode, block: int) -> list[Action]:
    return [each for each in function.blocks[block].operations if isinstance(each, Action)]


def _waits(operation: Action) -> bool:
    action = operation.action
    if isinstance(action, MemoryLoad):
        (access,) = action.accesses
        return access.strong and access.space != "local"
    return isinstance(action, Wait) or (isinstance(action, Atomic) and action.wanted)


def blocks_in_loops(function: FunctionCode) -> set[int]:
    """Return the blocks that can run more than once for a thread."""
    targets = {
        successor
        for block in function.blocks
        for successor in block.terminator.successors
        if successor <= block.index
    }
    found: set[int] = set()
    for target in sorted(targets):
        found |= loop_body(function, target)
    return found


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
