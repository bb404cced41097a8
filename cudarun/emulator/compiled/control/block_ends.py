"""The ends of basic blocks: jumps, branches, calls of inlined functions, faults."""

from __future__ import annotations

from collections.abc import Mapping

from cudarun.emulator.code import BlockCode, Terminator
from cudarun.emulator.compiled.control.calls import FrameEntry, PointerCall
from cudarun.emulator.compiled.control.schedule import LaneSchedule
from cudarun.emulator.compiled.control.waits import Rule
from cudarun.emulator.compiled.lanes.lowering import lane_type
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, splat
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import field
from cudarun.emulator.compiled.state.registers import LoweringRules, WarpRegisters
from cudarun.emulator.compiled.state.sites import (
    CallbackSite,
    CallbackSites,
    call_back,
    pass_values,
)
from cudarun.emulator.machine.control import Branch, IndexedBranch, Trap


class BlockEnds(LoweringRules):
    """The code of the ends of blocks that lanes leave at once.

    Args:
        code: The code of ``step``.
        sites: Takes the places that call back.
        schedule: The lanes that can run.
    """

    def __init__(
        self,
        code: CodeBuilder,
        registers: WarpRegisters,
        sites: CallbackSites,
        schedule: LaneSchedule,
    ) -> None:
        super().__init__(code, registers)
        self._sites = sites
        self._schedule = schedule
        # Adds the code of each kind, for the active lanes.
        self.rules: Mapping[type[Terminator], Rule] = {
            Branch: self._branch,
            IndexedBranch: self._indexed_branch,
            Trap: self.fail,
            PointerCall: self._pointer_call,
            FrameEntry: self._enter_frame,
        }

    def _branch(self, block: BlockCode, mask: str) -> None:
        code, branch = self._code, block.terminator
        assert isinstance(branch, Branch)
        assert branch.condition is not None
        if branch.target == branch.otherwise:
            self._schedule.proceed(branch.target, block.index, mask)
            return
        taken = code.scalar(f"and i32 {self._registers.lanes(branch.condition)}, {mask}")
        targets = branch.target, branch.otherwise
        other = code.scalar(f"xor i32 {taken}, {mask}")
        lanes = {branch.target: taken, branch.otherwise: other}
        if not self._schedule.polls(targets, block.index):
            if self._schedule.can_end_turn(targets, block.index):
                self._schedule.tick(block.index, mask, lanes)
            self._schedule.advance(targets, mask, taken)
            return
        some, both = code.fresh("some"), code.fresh("both")
        code.leave_unless(code.scalar(f"icmp eq i32 {other}, 0"), some, "every")
        self._schedule.proceed(branch.target, block.index, mask)
        code.label(some)
        code.leave_unless(code.scalar(f"icmp eq i32 {taken}, 0"), both, "none")
        self._schedule.proceed(branch.otherwise, block.index, mask)
        code.label(both)
        self._schedule.diverge(lanes, block.index, mask)

    def _indexed_branch(self, block: BlockCode, mask: str) -> None:
        code, branch = self._code, block.terminator
        assert isinstance(branch, IndexedBranch)
        index = self._registers.source(branch.index)
        beyond = code.compare("uge", index, splat("i32", len(branch.targets)))
        wrong = code.to_mask(code.binary("and", beyond, self._registers.mask))
        self._fail_unless(code.scalar(f"icmp eq i32 {wrong}, 0"), block, mask)
        targets: dict[int, str] = {}
        for number, target in enumerate(branch.targets.tolist()):
            here = code.compare("eq", index, splat("i32", number))
            lanes = code.to_mask(code.binary("and", here, self._registers.mask))
            both = code.scalar(f"or i32 {targets[target]}, {lanes}") if target in targets else lanes
            targets[target] = both
        self._schedule.diverge(targets, block.index, mask)

    def _pointer_call(self, block: BlockCode, mask: str) -> None:
        code, end = self._code, block.terminator
        assert isinstance(end, PointerCall)
        pointer = self._registers.source(end.pointer)
        targets, left = {}, mask
        for function, first in end.targets:
            same = code.compare("eq", pointer, self._registers.source(function))
            targets[first] = code.to_mask(code.binary("and", same, self._registers.mask))
            left = code.scalar(f"xor i32 {left}, {targets[first]}")
        self._fail_unless(code.scalar(f"icmp eq i32 {left}, 0"), block, mask)
        if targets:
            self._schedule.diverge(targets, block.index, mask)
        else:
            code.line("unreachable")

    def _enter_frame(self, block: BlockCode, mask: str) -> None:
        code, entry = self._code, block.terminator
        assert isinstance(entry, FrameEntry)
        limit = field(code, "%ctx", layout.LOCAL_BYTES, "i64")
        end = str(entry.needed)
        if self._schedule.frames is not None:
            end = code.scalar(f"add i64 {code.scalar('load i64, ptr %STACK')}, {end}")
        self._fail_unless(code.scalar(f"icmp ule i64 {end}, {limit}"), block, mask)
        given = f"ptr %ctx, i32 %warp, i32 {mask}, i64 {end}, i64 {entry.callee.frame_bytes}"
        call(code, "void", "mark_frames", given, inline=True)
        self._schedule.proceed(entry.target, block.index, mask)

    def _fail_unless(self, good: str, block: BlockCode, mask: str) -> None:
        """Raise the fault of a terminator if a condition is false."""
        valid = self._code.fresh("valid")
        self._code.leave_if(good, valid, "invalid")
        self.fail(block, mask)
        self._code.label(valid)

    def fail(self, block: BlockCode, mask: str) -> None:
        """Call back to raise the fault of a terminator, which reads its operands."""
        reads = block.terminator.reads
        site = CallbackSite(block.terminator, block.index, tuple(map(lane_type, reads)), ())
        pass_values(self._code, [self._registers.source(use) for use in reads])
        call_back(self._code, self._sites.add(site), mask)
        self._code.line("br label %fault")
