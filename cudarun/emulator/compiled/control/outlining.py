"""Functions that are not inlined: compiled code has one copy of their blocks.

These are the functions that can call themselves, the targets of a call through a pointer that has
many, and, where inlined code would be too large, functions that are called from several places.
"""

from __future__ import annotations

from collections.abc import Iterable
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

from cudarun.emulator.code import Action, FunctionCode
from cudarun.emulator.compiled.control.waiting import WaitingLoops
from cudarun.emulator.machine.barriers import BarrierWait, WarpBarrier
from cudarun.emulator.machine.clusters import ClusterArrive, ClusterWait
from cudarun.emulator.machine.control import FunctionCall
from cudarun.emulator.machine.stack import StackAllocate, StackRestore

if TYPE_CHECKING:
    from cudarun.emulator.program import ModuleCode

MOST_OPERATIONS = 4000  # of a kernel and what it calls, for which LLVM takes about 10 s
_MOST_TARGETS = 8  # of a call through a pointer, to inline them

_BARRIERS = (BarrierWait, WarpBarrier, ClusterArrive, ClusterWait)


class CallPlan:
    """The functions that a kernel calls, and those of them that are outlined."""

    def __init__(self, kernel: FunctionCode, program: ModuleCode) -> None:
        self._program = program
        self._calls: dict[str, list[list[str]]] = {}  # the targets of each call of a function
        self._find_calls(kernel)
        # The functions that each of them calls, directly or not.
        self.reached = {name: self._reached_from(name) for name in self._calls}
        self._obstacles: dict[str, str] = {}
        # The names of the functions to outline.
        self.outlined = {name for name in self._calls if name in self.reached[name]}
        for calls in self._calls.values():
            for targets in calls:
                if len(targets) > _MOST_TARGETS:
                    self._outline(targets)
        if self._operations() > MOST_OPERATIONS:
            sites = [name for calls in self._calls.values() for names in calls for name in names]
            self._outline(name for name in self._calls if sites.count(name) > 1)

    def targets(self, call: FunctionCall) -> list[FunctionCode]:
        """Return the functions that a call can call, in the order of the text."""
        program = self._program
        if isinstance(call.callee, str):
            return [program.code[call.callee]]
        found = [
            function
            for name, function in program.code.items()
            if name not in program.kernels
            and len(function.parameters) == len(call.arguments)
            and len(function.results) == len(call.results)
        ]
        return sorted(found, key=lambda function: function.base)

    def obstacle(self, name: str) -> str:
        """Return why a function cannot be outlined; empty if it can."""
        for each in (name, *sorted(self.reached[name])):
            if each not in self._obstacles:
                self._obstacles[each] = _obstacle(self._program.code[each])
            if self._obstacles[each]:
                return f"{self._obstacles[each]} in function {each}"
        return ""

    def _find_calls(self, kernel: FunctionCode) -> None:
        left = [kernel]
        while left:
            function = left.pop()
            if function.name in self._calls:
                continue
            calls = [
                self.targets(block.terminator)
                for block in function.blocks
                if isinstance(block.terminator, FunctionCall)
            ]
            self._calls[function.name] = [[each.name for each in targets] for targets in calls]
            left += [each for targets in calls for each in targets]

    def _reached_from(self, name: str) -> set[str]:
        found: set[str] = set()
        left = [name]
        while left:
            new = {each for targets in self._calls[left.pop()] for each in targets} - found
            found |= new
            left += new
        return found

    def _outline(self, names: Iterable[str]) -> None:
        self.outlined |= {name for name in names if not self.obstacle(name)}

    def _operations(self) -> int:
        """Return the number of operations of the kernel and all that it calls, inlined."""
        inlined = {
            name: [each for targets in calls for each in targets if each not in self.outlined]
            for name, calls in self._calls.items()
        }
        total: dict[str, int] = {}
        for name in TopologicalSorter(inlined).static_order():
            own = len(self._program.code[name].operations)
            total[name] = own + sum(total[each] for each in inlined[name])
        kernel = next(iter(self._calls))
        return total[kernel] + sum(total[name] for name in self.outlined)


def _obstacle(function: FunctionCode) -> str:
    """Return what lanes would have to wait for in a function while others have not called it."""
    for block in function.blocks:
        if isinstance(block.terminator, _BARRIERS):
            return "a barrier"
        if block.sync_mask is not None:
            return "a warp-synchronous instruction"
        for each in block.operations:
            if isinstance(each, Action) and isinstance(each.action, StackAllocate | StackRestore):
                return "alloca"
    if WaitingLoops(function).costs([0] * len(function.blocks)):
        return "a loop that may wait for other threads"
    return ""
