"""Loops that may wait for other threads: at their jumps back, a warp lets other warps run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cudarun.emulator.code import Action, FunctionCode, Operation
from cudarun.emulator.compiled.control.calls import first_outlined_block, outlined_calls
from cudarun.emulator.decode.loops import Loops, loop_body, starts_of_loops
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.mbarriers import PhaseTest
from cudarun.emulator.machine.transfers import MemoryLoad

STRONG_COST, WEAK_COST = 512, 1


class _Loop(NamedTuple):
    """A loop, and the spaces by which it may wait for other threads."""

    body: set[int]  # its blocks, and those of the outlined functions that they call
    # The spaces of strong loads, tests of ``mbarrier`` objects, and atomic operations whose result
    # is used.
    strong: set[str]
    weak: set[str]  # the spaces of weak loads from one address that can end it


class WaitingLoops:
    """The loops of a function that may wait for other threads."""

    def __init__(self, function: FunctionCode) -> None:
        self._loops: dict[int, _Loop] = {}
        loops = Loops(function)
        for target in starts_of_loops(function):
            body = _with_called(function, loop_body(function, target))
            strong = _spaces_of_waits(loops.operations(body))
            weak = {access.space for _, access in loops.deciding_loads(body)}
            self._loops[target] = _Loop(body, strong, weak - {"local", "param", "const"})
        spaces = {space for loop in self._loops.values() for space in loop.strong | loop.weak}
        # Whether one may wait for threads of other blocks, by global memory.
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
            if isinstance(action, PhaseTest):
                found.add("shared")
            elif isinstance(action, MemoryLoad | Atomic):
                (access,) = action.accesses
                if access.strong if isinstance(action, MemoryLoad) else action.wanted:
                    found.add(access.space)
    return found - {"local"}


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
