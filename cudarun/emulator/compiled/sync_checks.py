"""The checks of compiled code for the detector of synchronization errors.

Like the checks of accesses, they only find out whether there can be a finding.
"""

from __future__ import annotations

from cudarun.emulator.code import Action, FunctionCode
from cudarun.emulator.compiled.lanes.vectors import WIDTH, CodeBuilder, LaneVector, splat
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.layout import WarpState
from cudarun.emulator.compiled.state.memory import field, store_field
from cudarun.emulator.compiled.state.registers import LoweringRules, WarpRegisters
from cudarun.emulator.compiled.state.sites import pass_values
from cudarun.emulator.compiled.warps import LANES, shuffle_pattern
from cudarun.emulator.machine.passing import following_blocks
from cudarun.emulator.machine.warps import Shuffle, WarpAction


def suspect(code: CodeBuilder, found: str, bits: int) -> None:
    """Record that there may be a finding if a number of some bits is not 0."""
    wide = code.scalar(f"zext i{bits} {found} to i64")
    before = field(code, "%ctx", layout.SUSPECTED, "i64")
    after = code.scalar(f"or i64 {before}, {wide}")
    store_field(code, "%ctx", layout.SUSPECTED, "i64", after)


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
        code = self._code
        before = field(code, "%ctx", layout.BARRIER, "i64")
        differs = code.scalar(f"icmp ne i64 {before}, {place + 1}")
        waits = code.scalar(f"icmp ne i64 {before}, 0")
        suspect(code, code.scalar(f"and i1 {waits}, {differs}"), 1)
        store_field(code, "%ctx", layout.BARRIER, "i64", str(place + 1))

    def collective(self, operation: Action, mask: str) -> None:
        """Check the lanes that execute a warp-synchronous operation."""
        code, action = self._code, operation.action
        assert isinstance(action, WarpAction)
        if action.waits_for != "mask":
            suspect(code, code.scalar(f"xor i32 {mask}, -1"), WIDTH)
            return
        members = code.bitcast(self._registers.source(operation.sources[-1]), "i32")
        self.members(mask, members)
        if isinstance(action, Shuffle):
            b, c = (self._registers.source(use) for use in operation.sources[1:3])
            other, in_range = shuffle_pattern(code, action, b, c)
            alive = code.broadcast("i32", field(code, "%state", WarpState.ALIVE, "i32"))
            place = code.binary("and", other, splat("i32", WIDTH - 1))
            partners = code.binary("lshr", code.binary("and", members, alive), place)
            absent = code.binary("xor", code.cast("trunc", partners, "i1"), splat("i1", True))
            wrong = code.binary("and", code.binary("and", in_range, absent), self._registers.mask)
            wrong = code.binary("and", wrong, code.compare("ne", place, LANES))
            suspect(code, code.to_mask(wrong), WIDTH)

    def members(self, mask: str, members: LaneVector) -> None:
        """Check that lanes are in their member masks, and that the others there have the same."""
        code = self._code
        pass_values(code, [members])
        call(code, "void", "check_members", f"ptr %ctx, ptr %state, i32 {mask}")
