"""The code of operations of a warp: shuffle, vote, match, reduction, reads of the clock."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from cudarun.emulator.code import Action, ConstantUse
from cudarun.emulator.compiled.lanes.lowering import lane_type
from cudarun.emulator.compiled.lanes.tracing import TracedArray
from cudarun.emulator.compiled.lanes.vectors import (
    WIDTH,
    CodeBuilder,
    LaneVector,
    constant,
    splat,
    vector_type,
)
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.state.registers import LoweringRules
from cudarun.emulator.compiled.state.sites import pass_values, take_results
from cudarun.emulator.machine.special_registers import ReadMoment
from cudarun.emulator.machine.transfers import Fence
from cudarun.emulator.machine.warps import Match, Reduce, Shuffle, Vote

LANES = constant(np.arange(WIDTH, dtype=np.uint32))  # the lanes of a warp

_ALL = splat("i32", 0xFFFFFFFF)


class WarpOperations(LoweringRules):
    """The code of operations between lanes, of fences, and of reads of the clock."""

    # --- shuffle ---------------------------------------------------------------------------------

    def shuffle(self, operation: Action, mask: str) -> None:
        """Compile ``shfl``."""
        code, action = self._code, operation.action
        assert isinstance(action, Shuffle)
        value, b, c, *_ = self._sources(operation)
        bits = code.bitcast(value, "i32")
        other, in_range = shuffle_pattern(code, action, b, c)
        place = code.select(in_range, other, LANES)
        place = code.binary("and", place, splat("i32", WIDTH - 1))
        present = code.binary("lshr", code.broadcast("i32", mask), place)
        active = code.cast("trunc", present, "i1")
        constants = [self._registers.literal(use) for use in operation.sources[1:3]]
        if all(isinstance(use, ConstantUse) for use in constants):
            lanes = np.arange(WIDTH)
            given = [int(use.value[0]) for use in constants if isinstance(use, ConstantUse)]
            found, inside = action.named(lanes, *given)
            places = np.where(inside, found, lanes) & (WIDTH - 1)
            moved = code.shuffle(bits, places.tolist())
        else:
            moved = self._permuted(bits, place)
        result = code.select(active, moved, splat("i32", 0))
        self._registers.write(operation.destinations[0], code.bitcast(result, value.element))
        for use in operation.destinations[1:]:
            self._registers.write(use, in_range)

    def _permuted(self, value: LaneVector, place: LaneVector) -> LaneVector:
        """Return the value of the lane that each lane names."""
        code = self._code
        kind = vector_type("i32")
        if not code.module.defines("permute"):  # through memory
            inner, gather = CodeBuilder(code.module), "@llvm.masked.gather.v32i32.v32p0"
            code.module.declare(f"declare {kind} {gather}(<32 x ptr>, i32, <32 x i1>, {kind})")
            inner.line(f"%at = alloca {kind}, align 64")
            inner.line(f"store {kind} %value, ptr %at, align 64")
            pointers = inner.scalar(f"getelementptr i32, ptr %at, {kind} %place")
            given = f"<32 x ptr> {pointers}, i32 4, {splat('i1', True).typed}, {kind} poison"
            inner.line(f"ret {kind} {inner.scalar(f'call {kind} {gather}({given})')}")
            inner.define(f"{kind} @permute({kind} %value, {kind} %place)", "internal")
        return code.vector(f"call {kind} @permute({value.typed}, {place.typed})", "i32")

    # --- vote, activemask, elect -----------------------------------------------------------------

    def vote(self, operation: Action, mask: str) -> None:
        """Compile ``vote``."""
        code, action = self._code, operation.action
        assert isinstance(action, Vote)
        value = self._registers.source(operation.sources[0])
        members = _ALL
        if len(operation.sources) > 1:
            members = self._registers.source(operation.sources[1])
        members = code.bitcast(members, "i32")
        true = code.to_mask(code.binary("and", value, self._registers.mask))
        found = code.binary("and", code.broadcast("i32", true), members)
        present = code.binary("and", code.broadcast("i32", mask), members)
        every = code.compare("eq", found, present)
        none = code.compare("eq", found, splat("i32", 0))
        (target,) = operation.destinations
        match action.words["mode"]:
            case "ballot":
                self._registers.write(target, found)
            case "all":
                self._registers.write(target, every)
            case "any":
                self._registers.write(target, code.binary("xor", none, splat("i1", True)))
            case _:
                self._registers.write(target, code.binary("or", every, none))

    def active_mask(self, operation: Action, mask: str) -> None:
        """Compile ``activemask``."""
        self._registers.write(operation.destinations[0], self._code.broadcast("i32", mask))

    def elect(self, operation: Action, mask: str) -> None:
        """Compile ``elect.sync``."""
        code = self._code
        members = self._registers.source(operation.sources[0])
        here = code.binary("and", code.broadcast("i32", mask), members)
        leader = code.vector(f"call {here.type} @llvm.cttz.v32i32({here.typed}, i1 false)", "i32")
        code.module.declare(f"declare {here.type} @llvm.cttz.v32i32({here.type}, i1)")
        self._registers.write(operation.destinations[0], leader)
        for use in operation.destinations[1:]:
            self._registers.write(use, code.compare("eq", leader, LANES))

    # --- match and reductions --------------------------------------------------------------------

    def match(self, operation: Action, mask: str) -> None:
        """Compile ``match.sync``."""
        code, action = self._code, operation.action
        assert isinstance(action, Match)
        sources = self._sources(operation)
        pass_values(code, sources)
        size, every = sources[0].bits // 8, int(action.words["mode"] == "all")
        call(code, "void", "match_lanes", f"ptr %ctx, i32 {mask}, i32 {size}, i32 {every}")
        kinds = [lane_type(use) for use in operation.destinations]
        self._finish(operation, take_results(code, 2, kinds))

    def reduce(self, operation: Action, mask: str) -> None:
        """Compile ``redux.sync``: lanes with equal member masks are a group."""
        code, action = self._code, operation.action
        assert isinstance(action, Reduce)
        value, members = self._sources(operation)
        signed = operation.sources[0].type.signed  # type: ignore[union-attr]
        kind = action.words["op"]
        name = f"reduce_{('s' if signed else 'u') + kind if kind in ('min', 'max') else kind}"
        pass_values(code, [value, members])
        call(code, "void", name, f"ptr %ctx, i32 {mask}")
        self._finish(operation, take_results(code, 2, [lane_type(operation.destinations[0])]))

    # --- fences and clocks -----------------------------------------------------------------------

    def fence(self, operation: Action, mask: str) -> None:
        """Compile a fence; one of the system orders accesses for the program that shares memory."""
        assert isinstance(operation.action, Fence)
        if operation.action.scope == "sys":
            self._code.line("fence seq_cst")

    def read_clock(self, operation: Action, mask: str) -> None:
        """Compile a read of ``%clock`` or ``%globaltimer``, of the clock of the interpreter."""
        code, action = self._code, operation.action
        assert isinstance(action, ReadMoment)
        clock = time.CLOCK_REALTIME if action.is_global else time.CLOCK_MONOTONIC
        now = call(code, "i64", "nanoseconds", f"i32 {clock}")
        if action.is_high:
            now = code.scalar(f"lshr i64 {now}, 32")
        (use,) = operation.destinations
        kind = lane_type(use).element
        if kind != "i64":
            now = code.scalar(f"trunc i64 {now} to {kind}")
        self._registers.write(use, code.broadcast(kind, now))


def shuffle_pattern(
    code: CodeBuilder, action: Shuffle, b: LaneVector, c: LaneVector
) -> tuple[LaneVector, LaneVector]:
    """Return the lane that each lane of a shuffle names, and whether it is in range."""
    kind = np.dtype(np.int32)
    given: Any = [TracedArray.of(code, each, kind, (WIDTH,)) for each in (b, c)]
    lanes = np.arange(WIDTH, dtype=kind)
    pattern: Any = action.named(lanes, *given)
    other, in_range = pattern
    return other.read(), in_range.read()
