"""The code of barriers with a number, a count, arrivals without a wait, or a reduction.

``native/barriers.c`` has the functions that count arrivals and complete barriers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudarun.emulator.code import BlockCode, ConstantUse
from cudarun.emulator.compiled.control.schedule import LaneSchedule
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, splat
from cudarun.emulator.compiled.native.functions import call, two_words
from cudarun.emulator.compiled.state.layout import FAILS
from cudarun.emulator.compiled.state.memory import pointer_to
from cudarun.emulator.compiled.state.registers import LoweringRules, WarpRegisters
from cudarun.emulator.compiled.state.sites import pass_values
from cudarun.emulator.machine.barriers import BarrierWait

_WORDS = "<32 x i32>"


def are_counted(barriers: Sequence[BlockCode]) -> bool:
    """Return whether a barrier is more than one of all threads of the block, with the number 0."""
    return not all(map(_is_plain, barriers))


def _is_plain(block: BlockCode) -> bool:
    barrier = block.terminator
    assert isinstance(barrier, BarrierWait)
    number = barrier.number
    is_zero = isinstance(number, ConstantUse) and int(number.value[0]) == 0
    waits = barrier.expected is None and barrier.reduction is None and not barrier.arrive
    return is_zero and waits


class CountedBarriers(LoweringRules):
    """The barriers of a block in ``step``.

    Lanes with the result of a reduction continue at an entry beyond the basic blocks.

    Args:
        code: The code of ``step``.
        barriers: The blocks that end with barriers.
        first: The number of the first entry.
    """

    def __init__(
        self, code: CodeBuilder, registers: WarpRegisters, barriers: list[BlockCode], first: int
    ) -> None:
        super().__init__(code, registers)
        self._barriers = barriers
        self.are_used = are_counted(barriers)
        reductions = [block for block in barriers if _reduces(block)] if self.are_used else []
        self._entries = {block.index: first + place for place, block in enumerate(reductions)}

    @property
    def entries(self) -> list[int]:
        """The entries beyond the basic blocks."""
        return list(self._entries.values())

    def arrive(
        self,
        block: BlockCode,
        schedule: LaneSchedule,
        mask: str,
        fail: Callable[[BlockCode, str], None],
    ) -> None:
        """Let the active lanes arrive, and wait if the barrier is one to wait at."""
        code, barrier, here = self._code, block.terminator, self._registers.mask
        assert isinstance(barrier, BarrierWait)
        number = code.bitcast(self._registers.source(barrier.number), "i32")
        expected = splat("i32", 0)
        if barrier.expected is not None:
            expected = code.bitcast(self._registers.source(barrier.expected), "i32")
        place, given = 0, "0"
        if not barrier.arrive:
            place = 1 + self._barriers.index(block)
            if barrier.reduction is not None:
                predicates = self._registers.source(barrier.reduction[2])
                given = code.to_mask(code.binary("and", predicates, here))
        pass_values(code, [number, expected])
        arguments = f"ptr %ctx, ptr %state, i32 {mask}, i32 {place}, i32 {given}"
        released, answer = two_words(code, call(code, "i64", "arrive_at_barriers", arguments))
        good, valid = code.scalar(f"icmp ne i32 {answer}, {FAILS}"), code.fresh("valid")
        code.leave_if(good, valid, "invalid", ", !prof !1")
        fail(block, mask)
        code.label(valid)
        schedule.release(released)
        code.combine("or", "ANSWER", answer)
        if barrier.arrive:
            schedule.proceed(barrier.after, block.index, mask)
        else:
            code.line("br label %dispatch")

    def continue_with_results(self, schedule: LaneSchedule) -> None:
        """Add the entries at which lanes get the results of reductions."""
        code = self._code
        for block in self._barriers:
            if block.index not in self._entries:
                continue
            barrier = block.terminator
            assert isinstance(barrier, BarrierWait)
            assert barrier.reduction is not None
            operation, destination, _ = barrier.reduction
            code.label(f"enter.{self._entries[block.index]}")
            mask = code.scalar("load i32, ptr %MASK")
            self._registers.mask = code.from_mask(mask)
            true, total = (
                code.vector(
                    f"load {_WORDS}, ptr {pointer_to(code, '%state', offset)}, align 4", "i32"
                )
                for offset in map(schedule.state.mask, ("barrier_held", "barrier_total"))
            )
            value = true
            if operation == "and":
                value = code.compare("eq", true, total)
            elif operation == "or":
                value = code.compare("ne", true, splat("i32", 0))
            self._registers.write(destination, value)
            schedule.proceed(barrier.after, block.index, mask)

    @property
    def targets(self) -> list[int]:
        """The blocks at which lanes continue after each barrier."""
        return [
            self._entries.get(block.index, block.terminator.successors[0])
            for block in self._barriers
        ]

    @property
    def reduces(self) -> list[bool]:
        """For each barrier, true if it has a reduction."""
        return list(map(_reduces, self._barriers))


def _reduces(block: BlockCode) -> bool:
    return isinstance(block.terminator, BarrierWait) and block.terminator.reduction is not None
