"""The base of the classes that compile groups of instructions which access memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.access.accesses import AccessCode
from cudarun.emulator.compiled.lanes.lowering import lane_type
from cudarun.emulator.compiled.lanes.vectors import LaneVector
from cudarun.emulator.compiled.state.registers import LoweringRules
from cudarun.emulator.compiled.state.sites import pass_values, take_results


class AccessRules(LoweringRules):
    """The code of a group of instructions that access memory, or that the caller may execute."""

    def __init__(self, accesses: AccessCode) -> None:
        super().__init__(accesses._code, accesses._registers)
        self._accesses = accesses  # compiles the check of addresses

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
        chosen, join = code.fresh("chosen"), code.fresh("join")
        code.leave_if(good, chosen, "called", ", !prof !1")
        self._accesses.executed(operation, sources, mask)
        code.line(f"br label %{join}")
        code.label(chosen)
        pass_values(code, fast(), len(sources))  # the columns in which the caller's results are
        code.line(f"br label %{join}")
        code.label(join)
        return take_results(code, len(sources), tuple(map(lane_type, operation.destinations)))
