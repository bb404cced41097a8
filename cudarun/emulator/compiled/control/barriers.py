"""The code of barriers with a number, a count, arrivals without a wait, or a reduction.

Each warp's state has the lanes that have arrived at each of the 16 barriers of the block, and how
often. Every arrival checks whether its barrier is complete, as do lanes that exit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudarun.emulator.code import BlockCode, ConstantUse, Use
from cudarun.emulator.compiled.control.schedule import LaneSchedule
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector, ModuleText, splat
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.layout import BARRIER_ROUNDS, WarpState
from cudarun.emulator.compiled.state.memory import field, pointer_to, store_field
from cudarun.emulator.compiled.state.registers import WarpRegisters
from cudarun.emulator.machine.barriers import BARRIERS_PER_BLOCK, BarrierWait
from cudarun.emulator.machine.threads import WARP

_WORDS = "<32 x i32>"

_WAITING = """
define internal i32 @barrier.waiting(ptr %state) noinline #0 {{
entry:
  br label %next
next:
  %place = phi i64 [ 0, %entry ], [ %after, %next ]
  %found = phi i32 [ 0, %entry ], [ %both, %next ]
  %masks = getelementptr i8, ptr %state, i64 {first}
  %at = getelementptr i32, ptr %masks, i64 %place
  %mask = load i32, ptr %at, align 4
  %both = or i32 %found, %mask
  %after = add i64 %place, 1
  %more = icmp ult i64 %after, {count}
  br i1 %more, label %next, label %done
done:
  ret i32 %both
}}"""


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


class CountedBarriers:
    """The barriers of a block in ``step``, and the functions that complete them.

    Lanes with the result of a reduction continue at an entry beyond the basic blocks.

    Args:
        code: The code of ``step``.
        registers: The registers.
        barriers: The blocks that end with barriers.
        first: The number of the first entry.
    """

    def __init__(
        self, code: CodeBuilder, registers: WarpRegisters, barriers: list[BlockCode], first: int
    ) -> None:
        self._code = code
        self._registers = registers
        self._barriers = barriers
        self.are_used = are_counted(barriers)
        reductions = [block for block in barriers if _reduces(block)] if self.are_used else []
        self._entries = {block.index: first + place for place, block in enumerate(reductions)}

    @property
    def entries(self) -> list[int]:
        """The entries beyond the basic blocks."""
        return list(self._entries.values())

    def declare(self) -> None:
        """Reserve the variable with the answer of a warp that has released others."""
        if self.are_used:
            self._code.line("%COMPLETED = alloca i32")
            self._code.line(f"store i32 {layout.WAITS}, ptr %COMPLETED")

    def answer(self, answer: str) -> str:
        """Return the answer of ``step``: other warps have to run if some have been released."""
        if not self.are_used:
            return answer
        completed = self._code.scalar("load i32, ptr %COMPLETED")
        return self._code.scalar(f"or i32 {answer}, {completed}")

    # --- in step ---------------------------------------------------------------------------------

    def arrive(
        self,
        block: BlockCode,
        state: WarpState,
        schedule: LaneSchedule,
        mask: str,
        fail: Callable[[BlockCode, str], None],
    ) -> None:
        """Let the active lanes arrive, and wait if the barrier is one to wait at."""
        code, barrier, here = self._code, block.terminator, self._registers.mask
        assert isinstance(barrier, BarrierWait)
        number = code.bitcast(self._registers.source(barrier.number), "i32")
        expected = splat("i32", 0)
        wrong = self._unless(barrier.number, code.compare("uge", number, splat("i32", 16)))
        if barrier.expected is not None:
            expected = code.bitcast(self._registers.source(barrier.expected), "i32")
            low = code.binary("and", expected, splat("i32", WARP - 1))
            odd = self._unless(barrier.expected, code.compare("ne", low, splat("i32", 0)))
            wrong = code.scalar(f"or i32 {wrong}, {odd}")
        valid, invalid = code.fresh("valid"), code.fresh("invalid")
        good = code.scalar(f"icmp eq i32 {wrong}, 0")
        code.line(f"br i1 {good}, label %{valid}, label %{invalid}, !prof !1")
        code.label(invalid)
        fail(block, mask)
        code.label(valid)
        if not barrier.arrive:
            self._keep(state.barrier_number, here, number)
            self._keep(state.barrier_expected, here, expected)
            place = self._barriers.index(block)
            if barrier.reduction is not None:
                given = code.to_mask(
                    code.binary("and", self._registers.source(barrier.reduction[2]), here)
                )
                held = field(code, "%state", state.barrier_given, "i32")
                rest = code.scalar(f"and i32 {held}, {code.scalar(f'xor i32 {mask}, -1')}")
                both = code.scalar(f"or i32 {rest}, {given}")
                store_field(code, "%state", state.barrier_given, "i32", both)
            schedule.add(state.waiting(place), mask)
        before = self._waiting(state)
        self._each_number(barrier, number, expected, mask)
        after = code.scalar(f"xor i32 {self._waiting(state)}, -1")
        released = code.scalar(f"and i32 {before}, {after}")
        pending = code.scalar("load i32, ptr %PENDING")
        code.line(f"store i32 {code.scalar(f'or i32 {pending}, {released}')}, ptr %PENDING")
        if barrier.arrive:
            schedule.proceed(barrier.after, block.index, mask)
        else:
            code.line("br label %dispatch")

    def _unless(self, use: Use, wrong: LaneVector) -> str:
        """Return the active lanes with a wrong operand; a constant has been checked."""
        if isinstance(use, ConstantUse):
            return "0"
        return self._code.to_mask(self._code.binary("and", wrong, self._registers.mask))

    def _keep(self, offset: int, here: LaneVector, value: LaneVector) -> None:
        """Store a word of each active lane in the state."""
        code, pointer = self._code, pointer_to(self._code, "%state", offset)
        old = code.vector(f"load {_WORDS}, ptr {pointer}, align 4", "i32")
        code.line(f"store {code.select(here, value, old).typed}, ptr {pointer}, align 4")

    def _waiting(self, state: WarpState) -> str:
        """Return the lanes of the warp that wait at any barrier."""
        name, count = "barrier.waiting", len(self._barriers)
        if not self._code.module.defines(name):
            text = _WAITING.format(first=state.waiting(0), count=count)
            self._code.module.define(name, text.strip())
        return self._code.scalar(f"call i32 @{name}(ptr %state)")

    def _each_number(
        self, barrier: BarrierWait, number: LaneVector, expected: LaneVector, mask: str
    ) -> None:
        """Let the active lanes arrive: those with the same number together."""
        code = self._code
        code.module.declare("declare i32 @llvm.cttz.i32(i32, i1)")
        again, done = code.fresh("arrive"), code.fresh("arrived")
        start, left, rest = (code.fresh(stem) for stem in ("start", "%left", "%rest"))
        code.line(f"br label %{start}")
        code.label(start)
        code.line(f"br label %{again}")
        code.label(again)
        code.line(f"{left} = phi i32 [ {mask}, %{start} ], [ {rest}, %{again} ]")
        first = code.scalar(f"call i32 @llvm.cttz.i32(i32 {left}, i1 false)")
        lane = code.scalar(f"and i32 {first}, 31")
        chosen = code.scalar(f"extractelement {number.typed}, i32 {lane}")
        count = "0"
        if barrier.arrive:
            count = code.scalar(f"extractelement {expected.typed}, i32 {lane}")
        same = code.to_mask(code.compare("eq", number, code.broadcast("i32", chosen)))
        lanes = code.scalar(f"and i32 {same}, {left}")
        code.line(f"call void @barrier.add(ptr %state, i32 {chosen}, i32 {lanes})")
        found = code.scalar(f"call i32 @barrier.check(ptr %ctx, i32 {chosen}, i32 {count})")
        old = code.scalar("load i32, ptr %COMPLETED")
        some = code.scalar(f"icmp ne i32 {found}, 0")
        new = code.scalar(f"select i1 {some}, i32 {layout.YIELDS}, i32 {old}")
        code.line(f"store i32 {new}, ptr %COMPLETED")
        code.line(f"{rest} = xor i32 {left}, {lanes}")
        none = code.scalar(f"icmp eq i32 {rest}, 0")
        code.line(f"br i1 {none}, label %{done}, label %{again}")
        code.label(done)

    def continue_with_results(self, state: WarpState, schedule: LaneSchedule) -> None:
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
            held, total = (
                code.vector(
                    f"load {_WORDS}, ptr {pointer_to(code, '%state', offset)}, align 4", "i32"
                )
                for offset in (state.barrier_held, state.barrier_total)
            )
            value = held
            if operation == "and":
                value = code.compare("eq", held, total)
            elif operation == "or":
                value = code.compare("ne", held, splat("i32", 0))
            self._registers.write(destination, value)
            schedule.proceed(barrier.after, block.index, mask)

    # --- functions -------------------------------------------------------------------------------

    def define(self, module: ModuleText, state: WarpState) -> None:
        """Add the functions that complete barriers to a module."""
        module.declare("declare i32 @llvm.ctpop.i32(i32)")
        _define_add(module, state)
        targets = []
        for block in self._barriers:
            (after,) = block.terminator.successors
            targets.append((self._entries.get(block.index, after), _reduces(block)))
        _define_check(module, state, targets)
        _define_recheck(module)


def _reduces(block: BlockCode) -> bool:
    return isinstance(block.terminator, BarrierWait) and block.terminator.reduction is not None


def _count(code: CodeBuilder, alive: str, lanes: str) -> str:
    """Return how many threads lanes of a warp count as: all live ones as 32."""
    absent = code.scalar(f"and i32 {alive}, {code.scalar(f'xor i32 {lanes}, -1')}")
    whole = code.scalar(f"icmp eq i32 {absent}, 0")
    some = code.scalar(f"icmp ne i32 {lanes}, 0")
    both = code.scalar(f"and i1 {whole}, {some}")
    number = code.scalar(f"call i32 @llvm.ctpop.i32(i32 {lanes})")
    return code.scalar(f"select i1 {both}, i32 {WARP}, i32 {number}")


def _place(code: CodeBuilder, pointer: str, base: int, number: str, size: int) -> str:
    """Return a pointer to the part of a barrier in a warp's state."""
    wide = code.scalar(f"zext i32 {number} to i64")
    offset = code.scalar(f"mul i64 {wide}, {size}")
    return pointer_to(code, pointer_to(code, pointer, base), offset)


def _define_add(module: ModuleText, state: WarpState) -> None:
    """Define the arrival of lanes of a warp; some may have arrived before."""
    code = CodeBuilder(module)
    code.label("entry")
    at = _place(code, "%state", state.barrier_arrived, "%number", 4 * BARRIER_ROUNDS)
    rest = "%lanes"
    for turn in range(BARRIER_ROUNDS):
        held = field(code, at, 4 * turn, "i32")
        store_field(code, at, 4 * turn, "i32", code.scalar(f"or i32 {held}, {rest}"))
        rest = code.scalar(f"and i32 {held}, {rest}")
    extra = _place(code, "%state", state.barrier_extra, "%number", 4)
    more = _count(code, field(code, "%state", state.ALIVE, "i32"), rest)
    store_field(
        code, extra, 0, "i32", code.scalar(f"add i32 {field(code, extra, 0, 'i32')}, {more}")
    )
    code.line("ret void")
    head = "define internal void @barrier.add(ptr %state, i32 %number, i32 %lanes) noinline #0 {"
    module.define("barrier.add", "\n".join([head, *code.lines, "}"]))


def _define_check(
    module: ModuleText, state: WarpState, targets: Sequence[tuple[int, bool]]
) -> None:
    """Define the check of a barrier: if it is complete, its lanes are released.

    The function returns a mask that is not 0 if there are any. ``%given`` is the count of lanes
    that arrive without waiting, else 0.
    """
    code = CodeBuilder(module)
    code.label("entry")
    states = field(code, "%ctx", layout.STATES, "ptr")
    warps = field(code, "%ctx", layout.WARPS, "i64")
    code.line("br label %count")

    code.label("count")
    code.line("%counted = phi i64 [ 0, %entry ], [ %counted.next, %count ]")
    code.line("%total = phi i32 [ 0, %entry ], [ %total.now, %count ]")
    code.line(f"%all = phi i32 [ {(1 << BARRIER_ROUNDS) - 1}, %entry ], [ %all.now, %count ]")
    at = pointer_to(code, states, code.scalar(f"mul i64 %counted, {state.size}"))
    alive = field(code, at, state.ALIVE, "i32")
    arrivals = _place(code, at, state.barrier_arrived, "%number", 4 * BARRIER_ROUNDS)
    extra = _place(code, at, state.barrier_extra, "%number", 4)
    total = code.scalar(f"add i32 %total, {field(code, extra, 0, 'i32')}")
    missing = "0"
    for turn in range(BARRIER_ROUNDS):
        lanes = field(code, arrivals, 4 * turn, "i32")
        total = code.scalar(f"add i32 {total}, {_count(code, alive, lanes)}")
        absent = code.scalar(f"and i32 {alive}, {code.scalar(f'xor i32 {lanes}, -1')}")
        some = code.scalar(f"icmp ne i32 {absent}, 0")
        bit = code.scalar(f"select i1 {some}, i32 {1 << turn}, i32 0")
        missing = code.scalar(f"or i32 {missing}, {bit}")
    code.line(f"%total.now = add i32 {total}, 0")
    code.line(f"%all.now = and i32 %all, {code.scalar(f'xor i32 {missing}, -1')}")
    code.line("%counted.next = add i64 %counted, 1")
    code.line(f"%counted.more = icmp ult i64 %counted.next, {warps}")
    code.line("br i1 %counted.more, label %count, label %counted.all")
    code.label("counted.all")
    code.line("%everybody = icmp ne i32 %all.now, 0")
    everybody = code.broadcast("i1", "%everybody")
    count = code.broadcast("i32", "%total.now")
    number = code.broadcast("i32", "%number")
    code.line("br label %choose")

    code.label("choose")
    code.line("%chosen = phi i64 [ 0, %counted.all ], [ %chosen.next, %choose ]")
    code.line("%found = phi i32 [ 0, %counted.all ], [ %found.now, %choose ]")
    code.line("%true = phi i32 [ 0, %counted.all ], [ %true.now, %choose ]")
    code.line("%taken = phi i32 [ 0, %counted.all ], [ %taken.now, %choose ]")
    at = pointer_to(code, states, code.scalar(f"mul i64 %chosen, {state.size}"))
    waiting = reducing = "0"
    for place, (_, reduces) in enumerate(targets):
        lanes = field(code, at, state.waiting(place), "i32")
        waiting = code.scalar(f"or i32 {waiting}, {lanes}")
        if reduces:
            reducing = code.scalar(f"or i32 {reducing}, {lanes}")
    own, expected = (
        code.vector(f"load {_WORDS}, ptr {pointer_to(code, at, offset)}, align 4", "i32")
        for offset in (state.barrier_number, state.barrier_expected)
    )
    mine = code.scalar(f"and i32 {waiting}, {code.to_mask(code.compare('eq', own, number))}")
    uncounted = code.compare("eq", expected, splat("i32", 0))
    enough = code.compare("ule", expected, count)
    ready = code.to_mask(code.select(uncounted, everybody, enough))
    done = code.scalar(f"and i32 {mine}, {ready}")
    store_field(code, at, state.barrier_done, "i32", done)
    store_field(code, at, state.barrier_rest, "i32", code.scalar(f"xor i32 {mine}, {done}"))
    code.line(f"%found.now = or i32 %found, {done}")
    taking = code.scalar(f"and i32 {done}, {reducing}")
    true = code.scalar(f"and i32 {taking}, {field(code, at, state.barrier_given, 'i32')}")
    for name, lanes in (("true", true), ("taken", taking)):
        amount = code.scalar(f"call i32 @llvm.ctpop.i32(i32 {lanes})")
        code.line(f"%{name}.now = add i32 %{name}, {amount}")
    code.line("%chosen.next = add i64 %chosen, 1")
    code.line(f"%chosen.more = icmp ult i64 %chosen.next, {warps}")
    code.line("br i1 %chosen.more, label %choose, label %chosen.all")
    code.label("chosen.all")
    code.line("%some = icmp ne i32 %found.now, 0")
    code.line("%counts = icmp ne i32 %given, 0")
    code.line("%given.enough = icmp uge i32 %total.now, %given")
    code.line("%alone = and i1 %counts, %given.enough")
    code.line("%complete = or i1 %some, %alone")
    code.line("br i1 %complete, label %free, label %end")

    code.label("free")
    code.line("%freed = phi i64 [ 0, %chosen.all ], [ %freed.next, %free ]")
    at = pointer_to(code, states, code.scalar(f"mul i64 %freed, {state.size}"))
    arrivals = _place(code, at, state.barrier_arrived, "%number", 4 * BARRIER_ROUNDS)
    for turn in range(BARRIER_ROUNDS):
        left = "0" if turn else field(code, at, state.barrier_rest, "i32")
        store_field(code, arrivals, 4 * turn, "i32", left)
    store_field(code, _place(code, at, state.barrier_extra, "%number", 4), 0, "i32", "0")
    done = field(code, at, state.barrier_done, "i32")
    for place, (target, reduces) in enumerate(targets):
        held = field(code, at, state.waiting(place), "i32")
        lanes = code.scalar(f"and i32 {held}, {done}")
        store_field(code, at, state.waiting(place), "i32", code.scalar(f"xor i32 {held}, {lanes}"))
        pending = field(code, at, state.pending(target), "i32")
        both = code.scalar(f"or i32 {pending}, {lanes}")
        store_field(code, at, state.pending(target), "i32", both)
        if reduces:
            for offset, value in (
                (state.barrier_held, "%true.now"),
                (state.barrier_total, "%taken.now"),
            ):
                pointer = pointer_to(code, at, offset)
                old = code.vector(f"load {_WORDS}, ptr {pointer}, align 4", "i32")
                new = code.select(code.from_mask(lanes), code.broadcast("i32", value), old)
                code.line(f"store {new.typed}, ptr {pointer}, align 4")
    code.line("%freed.next = add i64 %freed, 1")
    code.line(f"%freed.more = icmp ult i64 %freed.next, {warps}")
    code.line("br i1 %freed.more, label %free, label %end")
    code.label("end")
    code.line("ret i32 %found.now")
    head = "define internal i32 @barrier.check(ptr %ctx, i32 %number, i32 %given) noinline #0 {"
    module.define("barrier.check", "\n".join([head, *code.lines, "}"]))


def _define_recheck(module: ModuleText) -> None:
    """Define the check of all barriers, after lanes may have exited."""
    code = CodeBuilder(module)
    code.label("entry")
    code.line("br label %next")
    code.label("next")
    code.line("%number = phi i32 [ 0, %entry ], [ %number.next, %next ]")
    code.line("%found = phi i32 [ 0, %entry ], [ %found.now, %next ]")
    code.line("%released = call i32 @barrier.check(ptr %ctx, i32 %number, i32 0)")
    code.line("%found.now = or i32 %found, %released")
    code.line("%number.next = add i32 %number, 1")
    code.line(f"%more = icmp ult i32 %number.next, {BARRIERS_PER_BLOCK}")
    code.line("br i1 %more, label %next, label %done")
    code.label("done")
    code.line("ret i32 %found.now")
    head = "define internal i32 @barrier.recheck(ptr %ctx) noinline #0 {"
    module.define("barrier.recheck", "\n".join([head, *code.lines, "}"]))
