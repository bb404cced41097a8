"""The call graph of a module: the functions that a kernel reaches, recursion, and stack."""

from __future__ import annotations

from collections.abc import Set
from graphlib import CycleError, TopologicalSorter

from cudarun.emulator.code import FunctionCode
from cudarun.emulator.machine.system import SYSTEM_FUNCTIONS


class CallGraph:
    """The functions of a module and their calls.

    No method is recursive: a valid chain of calls can be longer than Python's own stack.

    Args:
        code: The decoded functions by name.
        kernels: The names of the kernels, which are launched, and which no pointer can call.
    """

    def __init__(self, code: dict[str, FunctionCode], kernels: Set[str]) -> None:
        self._code = code
        self._kernels = kernels & code.keys()  # without those that another module defines
        self._callable = code.keys() - kernels - SYSTEM_FUNCTIONS.keys()
        self._pointed = tuple(name for name in code if name in self._callable)
        self._callees = {name: self._called_by(function) for name, function in code.items()}

    def _called_by(self, function: FunctionCode) -> tuple[str, ...]:
        """Return the functions that a function calls, or whose address it takes."""
        if function.indirect:
            return self._pointed
        used = function.calls | function.symbols
        return tuple(name for name in used if name in self._callable)

    def reached(self, function: FunctionCode) -> list[FunctionCode]:
        """Return a function and all functions that can be called from it."""
        found = {function.name: function}
        pending = [function.name]
        while pending:
            for name in self._callees[pending.pop()]:
                if name not in found:
                    found[name] = self._code[name]
                    pending.append(name)
        return list(found.values())

    def launched(self, function: FunctionCode) -> list[FunctionCode]:
        """Return a kernel and the kernels that it, and in turn they, can launch."""
        found = {function.name: function}
        pending = [function]
        while pending:
            for each in self.reached(pending.pop()):
                for name in each.symbols & self._kernels:
                    if name not in found:
                        found[name] = self._code[name]
                        pending.append(self._code[name])
        return list(found.values())

    def stack_bytes(self, function: FunctionCode, *, to_last_variable: bool = False) -> int | None:
        """Return the local memory of a function and its deepest chain of calls.

        Args:
            to_last_variable: Leave out frames without local variables at the end, and return
                ``None`` if functions allocate memory.

        Returns:
            Bytes; ``None`` if functions that it reaches can call themselves, or call by pointers.
        """
        reached = self.reached(function)
        if any(each.indirect for each in reached):  # the function itself could be called
            return None
        if to_last_variable and any(each.allocates for each in reached):
            return None
        callees = {each.name: self._callees[each.name] for each in reached}
        deepest: dict[str, int] = {}
        try:
            for name in TopologicalSorter(callees).static_order():
                each = self._code[name]
                below = [deepest[callee] for callee in callees[name]]
                ends_here = not any(below) if to_last_variable else not below
                deepest[name] = each.local_bytes if ends_here else each.frame_bytes + max(below)
        except CycleError:
            return None
        return deepest[function.name]
