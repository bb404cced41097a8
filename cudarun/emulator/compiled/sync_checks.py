"""The checks of compiled code for the detector of synchronization errors.

Like the checks of accesses, they only find out whether there can be a finding.
"""

from __future__ import annotations

from cudarun.emulator.code import Action, FunctionCode
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state.layout import WarpState
from cudarun.emulator.compiled.state.memory import field, store_field
from cudarun.emulator.compiled.state.registers import LoweringRules, WarpRegisters
from cudarun.emulator.compiled.state.sites import pass_values
from cudarun.emulator.compiled.warps import shuffle_pattern
from cudarun.emulator.machine.passing import following_blocks
from cudarun.emulator.machine.warps import Shuffle, WarpAction


class SyncChecks(LoweringRules):
    """The code of the checks."""

    def __init__(self, code: CodeBuilder, registers: WarpRegisters, function: FunctionCode) -> None:
        super().__init__(code, registers)
        following = following_blocks(function).values()
        self._marked = {index for each in following for index in (each.loads, each.accesses)}

    def enter(self, block: int, mask: str) -> None:
        """Record lanes that begin a block with code that follows a barrier or a warp operation."""
        if block in self._marked:
            passed = field(self._code, "%state", WarpState.PASSED, "i32")
            both = self._code.scalar(f"or i32 {passed}, {mask}")
            store_field(self._code, "%state", WarpState.PASSED, "i32", both)

    def arrive(self, place: int) -> None:
        """Check that the lanes of a block arrive at the same barrier, by its place in the code."""
        call(self._code, "void", "check_place", f"ptr %ctx, i64 {place + 1}")

    def collective(self, operation: Action, mask: str) -> None:
        """Check the lanes that execute a warp-synchronous operation."""
        code, action = self._code, operation.action
        assert isinstance(action, WarpAction)
        if action.waits_for != "mask":
            call(code, "void", "check_whole", f"ptr %ctx, i32 {mask}")
            return
        members = code.bitcast(self._registers.source(operation.sources[-1]), "i32")
        self.members(mask, members)
        if isinstance(action, Shuffle):
            b, c = (self._registers.source(use) for use in operation.sources[1:3])
            pass_values(code, [members, *shuffle_pattern(code, action, b, c)])
            call(code, "void", "check_partners", f"ptr %ctx, ptr %state, i32 {mask}")

    def members(self, mask: str, members: LaneVector) -> None:
        """Check that lanes are in their member masks, and that the others there have the same."""
        code = self._code
        pass_values(code, [members])
        call(code, "void", "check_members", f"ptr %ctx, ptr %state, i32 {mask}")
