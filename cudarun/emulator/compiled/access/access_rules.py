"""The base of the classes that compile groups of instructions which access memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.accesses import AccessCode
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector
from cudarun.emulator.compiled.state.registers import WarpRegisters


class AccessRules:
    """The code of a group of instructions.

    Args:
        code: Where it goes.
        registers: The registers.
        accesses: Compiles the check of addresses.
    """

    def __init__(self, code: CodeBuilder, registers: WarpRegisters, accesses: AccessCode) -> None:
        self._code = code
        self._registers = registers
        self._accesses = accesses

    def _sources(self, operation: Action) -> list[LaneVector]:
        """Return the values of the sources."""
        return [self._registers.source(use) for use in operation.sources]

    def _finish(self, operation: Action, results: Sequence[LaneVector]) -> None:
        """Write the results to the destinations."""
        for use, value in zip(operation.destinations, results, strict=True):
            self._registers.write(use, value)

    def _executed_unless(
        self,
        good: str,
        operation: Action,
        sources: list[LaneVector],
        mask: str,
        fast: Callable[[], Sequence[LaneVector]],
    ) -> list[LaneVector]:
        """Return the results of ``fast`` if a condition is true, and of the caller if it is not."""
        code = self._code
        chosen, fast_exit, called, called_exit, join = (
            code.fresh(stem) for stem in ("chosen", "chosen.exit", "called", "called.exit", "join")
        )
        code.line(f"br i1 {good}, label %{chosen}, label %{called}, !prof !1")
        code.label(called)
        executed = self._accesses.executed(operation, sources, mask)
        code.line(f"br label %{called_exit}")
        code.label(called_exit)
        code.line(f"br label %{join}")
        code.label(chosen)
        results = fast()
        code.line(f"br label %{fast_exit}")
        code.label(fast_exit)
        code.line(f"br label %{join}")
        code.label(join)
        return [
            code.vector(
                f"phi {a.type} [ {a.name}, %{fast_exit} ], [ {b.name}, %{called_exit} ]",
                a.element,
                a.count,
            )
            for a, b in zip(results, executed, strict=True)
        ]
