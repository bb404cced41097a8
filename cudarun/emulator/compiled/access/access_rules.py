"""The base of the classes that compile groups of instructions which access memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.accesses import AccessCode
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector
from cudarun.emulator.compiled.state.registers import LoweringRules, WarpRegisters


class AccessRules(LoweringRules):
    """The code of a group of instructions that access memory, or that the caller may execute.

    Args:
        code: Where it goes.
        registers: The registers.
        accesses: Compiles the check of addresses.
    """

    def __init__(self, code: CodeBuilder, registers: WarpRegisters, accesses: AccessCode) -> None:
        super().__init__(code, registers)
        self._accesses = accesses

    def _wide(self, value: LaneVector) -> LaneVector:
        """Return numbers of 32 or 64 bits as such of 64."""
        return value if value.bits == 64 else self._code.cast("zext", value, "i64")

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
