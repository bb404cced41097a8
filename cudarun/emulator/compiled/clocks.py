"""The code of reads of the clock: ``%clock``, ``%globaltimer``."""

from __future__ import annotations

import time

from cudarun.emulator.code import Action
from cudarun.emulator.compiled.lanes.lowering import lane_type
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.memory import field
from cudarun.emulator.compiled.state.registers import LoweringRules
from cudarun.emulator.machine.special_registers import ReadMoment

_SECOND = 1_000_000_000  # nanoseconds


class ClockReads(LoweringRules):
    """The code of reads of the clock."""

    def read(self, operation: Action, mask: str) -> None:
        """Compile a read by ``clock_gettime``, of the clock that the interpreter reads."""
        code, action = self._code, operation.action
        assert isinstance(action, ReadMoment)
        code.module.declare("declare i32 @clock_gettime(i32, ptr)")
        clock = time.CLOCK_REALTIME if action.is_global else time.CLOCK_MONOTONIC
        moment = field(code, "%ctx", layout.SCRATCH, "ptr")  # struct timespec
        code.scalar(f"call i32 @clock_gettime(i32 {clock}, ptr {moment})")
        seconds = field(code, moment, 0, "i64")
        rest = field(code, moment, 8, "i64")
        now = code.scalar(f"mul i64 {seconds}, {_SECOND}")
        now = code.scalar(f"add i64 {now}, {rest}")
        if action.is_high:
            now = code.scalar(f"lshr i64 {now}, 32")
        (use,) = operation.destinations
        kind = lane_type(use).element
        if kind != "i64":
            now = code.scalar(f"trunc i64 {now} to {kind}")
        self._registers.write(use, code.broadcast(kind, now))
