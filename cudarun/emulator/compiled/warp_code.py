"""The code of one warp: ``step`` runs it until none of its lanes can continue.

Lanes wait in masks, one per basic block. The lowest block in the text with waiting lanes runs next,
as in the interpreter, so that diverged lanes reconverge and effects have the same order
(``schedule.py``). `step` returns when all lanes have exited or wait at a barrier, or when the warp
lets others run in a loop that may wait for them; ``run`` (``grids.py``) calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from cudarun.emulator.code import (
    Action,
    BlockCode,
    FunctionCode,
    Lanewise,
    RegisterUse,
    Role,
    Terminator,
    Use,
)
from cudarun.emulator.compiled import layout
from cudarun.emulator.compiled.accesses import AccessCode
from cudarun.emulator.compiled.actions import CALLED_FUNCTIONS, action_name, action_rules
from cudarun.emulator.compiled.barriers import CountedBarriers
from cudarun.emulator.compiled.groups import WarpgroupCode, group_blocks
from cudarun.emulator.compiled.inlining import PointerCall, StackCheck
from cudarun.emulator.compiled.layout import FAILS, WAITS, YIELDS, WarpState, warp_state
from cudarun.emulator.compiled.lowering import LaneFunctions, lane_type, results_of
from cudarun.emulator.compiled.memory import field, pointer_to, store_field
from cudarun.emulator.compiled.operators import Untraceable
from cudarun.emulator.compiled.registers import FixedValues, WarpRegisters
from cudarun.emulator.compiled.schedule import LaneSchedule
from cudarun.emulator.compiled.sites import CallbackSite, CallbackSites, call_back, pass_sources
from cudarun.emulator.compiled.vectors import (
    WIDTH,
    CodeBuilder,
    LaneVector,
    ModuleText,
    constant,
    splat,
)
from cudarun.emulator.compiled.waiting import may_wait_for_blocks, waiting_loops
from cudarun.emulator.machine.barriers import BarrierWait, WarpBarrier
from cudarun.emulator.machine.clusters import ClusterArrive, ClusterWait
from cudarun.emulator.machine.control import Branch, Exit, IndexedBranch, Jump, Trap
from cudarun.emulator.machine.frame import each

_PARAMETERS = "ptr %ctx, i32 %warp"
_MOST_VALUES = 4000  # registers at block starts; of larger functions they are kept in memory
_MOST_OPERATIONS = 4000  # for which LLVM takes about 10 s
_ARRIVALS = -1  # the register with the member masks of lanes at barriers of warps


class WarpCode:
    """Compiles the function of a kernel.

    Args:
        module: The module.
        function: The function.
        depths: Of each block, how many functions have called its function.

    Attributes:
        function: The function.
        fixed: The values that a launch has for all lanes.
        sites: The places that call back.
        state: The layout of a warp's state.
        barriers: The barriers in the code, in the order of their masks.
        warp_barriers: The barriers of warps.
        cluster_barriers: The waits for the cluster.
        counted: The barriers, if they are counted by their numbers.
        waits_for_blocks: Whether loops may wait for other blocks.
    """

    def __init__(self, module: ModuleText, function: FunctionCode, depths: Sequence[int]) -> None:
        self._code = CodeBuilder(module)
        self.function = function
        self.fixed = FixedValues()
        self.sites = CallbackSites()
        self._registers = WarpRegisters(self._code, function, self.fixed)
        self._accesses = AccessCode(self._code, self._registers, self.sites)
        self._functions = LaneFunctions(module)
        self.barriers = [b for b in function.blocks if isinstance(b.terminator, BarrierWait)]
        self.warp_barriers = [b for b in function.blocks if isinstance(b.terminator, WarpBarrier)]
        self.cluster_barriers = [
            b for b in function.blocks if isinstance(b.terminator, ClusterWait)
        ]
        self.waits_for_blocks = may_wait_for_blocks(function)
        self._synchronizing = [b for b in function.blocks if b.sync_mask is not None]
        self._loops = waiting_loops(function, depths)
        self._used = _slots_used(function)
        blocks, registers = len(function.blocks), len(self._used)
        operations = sum(len(block.operations) for block in function.blocks)
        if operations > _MOST_OPERATIONS:
            raise Untraceable(f"a function of {operations} instructions")
        self._in_state = blocks * registers > _MOST_VALUES
        slots = self._kept()
        if self._in_state:
            slots = [slot for slot in sorted(self._used) if self._registers.is_shared(slot)]
        kept = {slot: self._registers.bytes_of(slot) for slot in slots}
        if self.warp_barriers:
            kept[_ARRIVALS] = 4 * WIDTH
        groups = group_blocks(function.blocks)
        self._groups = WarpgroupCode(self._code, groups, blocks)
        self.counted = CountedBarriers(
            self._code, self._registers, self.barriers, blocks + len(groups)
        )
        self.state: WarpState = warp_state(
            blocks + len(groups) + len(self.counted.entries),
            len(self.barriers),
            len(self.warp_barriers),
            len(self.cluster_barriers),
            counted=self.counted.are_used,
            kept=kept,
        )
        if self._in_state:
            every = self.state.registers.items()
            self._registers.in_state = {slot: at for slot, at in every if slot != _ARRIVALS}
        self._schedule = LaneSchedule(self._code, self.state, self._loops)
        self._actions = action_rules(
            self._code,
            self._registers,
            self._accesses,
            self._functions,
            partial(self._groups.is_whole, self.state),
        )

    def _kept(self) -> list[int]:
        """Return the registers that are kept while lanes wait for other warps, or are parked."""
        slots = 0
        for block in (*self.barriers, *self.warp_barriers, *self.cluster_barriers):
            for after in block.terminator.successors:
                slots |= self.function.blocks[after].live_in
        for block in self.function.blocks if self._loops else self._synchronizing:
            slots |= block.live_in
        return [slot for slot in each(slots) if slot in self._used]

    # --- the function ----------------------------------------------------------------------------

    def define(self) -> None:
        """Add ``step`` to the module.

        Raises:
            Untraceable: Something in the function has no rule.
        """
        code = self._code
        self._enter()
        self._schedule.dispatch()
        for block in self.function.blocks:
            self._block(block)
        if self.warp_barriers:
            self._check_warp_barriers()
        self.counted.continue_with_results(self.state, self._schedule)
        self._leave()
        head = f"define internal i32 @step({_PARAMETERS}) noinline #0 {{"
        code.module.define("step", "\n".join([head, *code.lines, "}"]))

    def _enter(self) -> None:
        code, state = self._code, self.state
        code.label("entry")
        for name, offset in (("cache", layout.CACHE), ("constants", layout.CONSTANTS)):
            code.line(f"%{name}.at = getelementptr i8, ptr %ctx, i64 {offset}")
        states = field(code, "%ctx", layout.STATES, "ptr")
        wide = code.scalar("zext i32 %warp to i64")
        place = code.scalar(f"mul i64 {wide}, {state.size}")
        code.line(f"%state = getelementptr i8, ptr {states}, i64 {place}")
        code.line(f"%warp.words = mul i64 {wide}, {4 * WIDTH}")
        code.line(f"%lane.row.at = getelementptr i8, ptr %ctx, i64 {layout.LANE_ROW}")
        code.line("%lane.row = load i64, ptr %lane.row.at, align 8")
        first = code.scalar(f"mul i64 {wide}, {WIDTH}")
        lanes = constant(np.arange(WIDTH, dtype=np.int64))
        spread = code.broadcast("i64", first)
        code.line(f"%thread = add {spread.typed}, {lanes.name}")
        self._schedule.declare()
        self._groups.declare()
        self.counted.declare()
        self._registers.declare(sorted(self._used))
        if self.warp_barriers:
            code.line("%arrivals = alloca <32 x i32>, align 64")
        waiting = [b.index for b in self.function.blocks if self._may_wait(b)]
        self._schedule.enter(waiting + self._groups.entries + self.counted.entries)
        if not state.registers:
            self._schedule.begin()
            return
        resumed = field(code, "%state", state.RESUMED, "i32")
        fresh = code.scalar(f"icmp eq i32 {resumed}, 0")
        code.line(f"br i1 {fresh}, label %fresh, label %restore")
        code.label("fresh")
        if self._in_state:
            self._clear()
        code.line("br label %dispatch")
        code.label("restore")
        for slot, offset in state.registers.items():
            if slot in self._registers.in_state:
                continue
            pointer = pointer_to(code, "%state", offset)
            if slot == _ARRIVALS:
                code.line(f"%kept.arrivals = load <32 x i32>, ptr {pointer}, align 4")
                code.line("store <32 x i32> %kept.arrivals, ptr %arrivals, align 64")
            else:
                self._registers.restore(slot, pointer)
        self._schedule.begin()

    def _clear(self) -> None:
        """Write zeros to the registers in the state."""
        code, state = self._code, self.state
        first = min(state.registers.values())
        pointer = pointer_to(code, "%state", first)
        size = state.size - first
        code.module.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        code.line(f"call void @llvm.memset.p0.i64(ptr {pointer}, i8 0, i64 {size}, i1 false)")

    def _may_wait(self, block: BlockCode) -> bool:
        """Return whether lanes can wait to run a block when ``step`` is called."""
        afters = {
            after
            for each_ in (*self.barriers, *self.warp_barriers, *self.cluster_barriers)
            for after in each_.terminator.successors
        }
        return block.index == 0 or block.index in afters or self._groups.waits(block)

    def _leave(self) -> None:
        code, state = self._code, self.state
        code.label("leave")
        alive = field(code, "%state", state.ALIVE, "i32")
        dead = code.scalar(f"icmp eq i32 {alive}, 0")
        code.line(f"br i1 {dead}, label %end, label %save")
        code.label("save")
        if self._schedule.yields:
            code.line(f"%answer = phi i32 [ {WAITS}, %leave ], [ {YIELDS}, %yield ]")
        for slot, offset in state.registers.items():
            if slot in self._registers.in_state:
                continue
            pointer = pointer_to(code, "%state", offset)
            if slot == _ARRIVALS:
                masks = code.scalar("load <32 x i32>, ptr %arrivals, align 64")
                code.line(f"store <32 x i32> {masks}, ptr {pointer}, align 4")
            else:
                self._registers.save(slot, pointer)
        store_field(code, "%state", state.RESUMED, "i32", "1")
        answer = "%answer" if self._schedule.yields else str(WAITS)
        code.line(f"ret i32 {self.counted.answer(self._groups.answer(answer))}")
        code.label("end")
        code.line(f"ret i32 {self.counted.answer(self._groups.answer(str(WAITS)))}")
        code.label("fault")
        code.line(f"ret i32 {FAILS}")

    # --- blocks ----------------------------------------------------------------------------------

    def _block(self, block: BlockCode) -> None:
        code = self._code
        code.label(f"enter.{block.index}")
        if block.sync_mask is not None:
            self._synchronize(block)
        mask = code.scalar("load i32, ptr %MASK")
        self._registers.mask = code.from_mask(mask)
        self._accesses.block = block.index
        for operation in block.operations:
            try:
                self._operation(operation, mask)
            except Untraceable as reason:
                raise Untraceable(f"{reason} (PTX line {operation.site.line})") from None
        rule = _TERMINATORS.get(type(block.terminator))
        if rule is None:
            site = block.terminator.site
            name = type(block.terminator).__name__ if site is None else f"instruction {site.name}"
            raise Untraceable(name)
        rule(self, block, mask)

    def _operation(self, operation: Lanewise | Action, mask: str) -> None:
        if isinstance(operation, Action):
            rule = self._actions.get(type(operation.action))
            if operation.action in CALLED_FUNCTIONS:
                rule = self._accesses.call
            if rule is None:
                raise Untraceable(action_name(operation))
            rule(operation, mask)
            return
        name = self._functions.name_of(operation)
        given = [self._registers.source(use) for use in operation.sources]
        kinds = [lane_type(use) for use in operation.destinations]
        results = results_of(self._code, name, given, kinds)
        for use, value in zip(operation.destinations, results, strict=True):
            self._registers.write(use, value)

    def _synchronize(self, block: BlockCode) -> None:
        """Let lanes wait until all live lanes of their member masks are here."""
        code, state = self._code, self.state
        if self._groups.waits(block):
            self._groups.wait(block, state)
            return
        assert block.sync_mask is not None
        arrived = code.scalar("load i32, ptr %MASK")
        parked = field(code, "%state", state.parked(block.index), "i32")
        here = code.scalar(f"or i32 {arrived}, {parked}")
        alive = field(code, "%state", state.ALIVE, "i32")
        whole = code.scalar(f"icmp eq i32 {here}, {alive}")
        ready, some, run = (code.fresh(stem) for stem in ("ready", "some", "run"))
        code.line(f"br i1 {whole}, label %{ready}, label %{some}")
        code.label(some)
        members = code.bitcast(self._registers.source(block.sync_mask), "i32")
        complete = self._complete(members, alive, here)
        rest = code.scalar(f"xor i32 {complete}, {here}")
        store_field(code, "%state", state.parked(block.index), "i32", rest)
        code.line(f"store i32 {complete}, ptr %MASK")
        none = code.scalar(f"icmp eq i32 {complete}, 0")
        code.line(f"br i1 {none}, label %dispatch, label %{run}")
        code.label(ready)
        store_field(code, "%state", state.parked(block.index), "i32", "0")
        code.line(f"store i32 {here}, ptr %MASK")
        code.line(f"br label %{run}")
        code.label(run)

    def _complete(self, members: LaneVector, alive: str, here: str) -> str:
        """Return the lanes that are here, as are all live lanes of their member masks."""
        code = self._code
        absent = code.scalar(f"and i32 {alive}, {code.scalar(f'xor i32 {here}, -1')}")
        missing = code.binary("and", members, code.broadcast("i32", absent))
        complete = code.to_mask(code.compare("eq", missing, splat("i32", 0)))
        return code.scalar(f"and i32 {complete}, {here}")

    # --- terminators -----------------------------------------------------------------------------

    def _jump(self, block: BlockCode, mask: str) -> None:
        assert isinstance(block.terminator, Jump)
        self._schedule.proceed(block.terminator.target, block.index, mask)

    def _branch(self, block: BlockCode, mask: str) -> None:
        code, branch = self._code, block.terminator
        assert isinstance(branch, Branch)
        assert branch.condition is not None
        if branch.target == branch.otherwise:
            self._schedule.proceed(branch.target, block.index, mask)
            return
        condition = self._registers.source(branch.condition)
        taken = code.to_mask(code.binary("and", condition, self._registers.mask))
        other = code.scalar(f"xor i32 {taken}, {mask}")
        every, some, none, both = (code.fresh(s) for s in ("every", "some", "none", "both"))
        whole = code.scalar(f"icmp eq i32 {other}, 0")
        code.line(f"br i1 {whole}, label %{every}, label %{some}")
        code.label(every)
        self._schedule.proceed(branch.target, block.index, mask)
        code.label(some)
        nobody = code.scalar(f"icmp eq i32 {taken}, 0")
        code.line(f"br i1 {nobody}, label %{none}, label %{both}")
        code.label(none)
        self._schedule.proceed(branch.otherwise, block.index, mask)
        code.label(both)
        self._schedule.diverge({branch.target: taken, branch.otherwise: other}, block.index, mask)

    def _indexed_branch(self, block: BlockCode, mask: str) -> None:
        code, branch = self._code, block.terminator
        assert isinstance(branch, IndexedBranch)
        index = self._registers.source(branch.index)
        beyond = code.compare("uge", index, splat("i32", len(branch.targets)))
        wrong = code.to_mask(code.binary("and", beyond, self._registers.mask))
        inside, outside = code.fresh("inside"), code.fresh("outside")
        good = code.scalar(f"icmp eq i32 {wrong}, 0")
        code.line(f"br i1 {good}, label %{inside}, label %{outside}")
        code.label(outside)
        self._fail(block, mask)
        code.label(inside)
        targets: dict[int, str] = {}
        for number, target in enumerate(branch.targets.tolist()):
            here = code.compare("eq", index, splat("i32", number))
            lanes = code.to_mask(code.binary("and", here, self._registers.mask))
            both = code.scalar(f"or i32 {targets[target]}, {lanes}") if target in targets else lanes
            targets[target] = both
        self._schedule.diverge(targets, block.index, mask)

    def _pointer_call(self, block: BlockCode, mask: str) -> None:
        code, call = self._code, block.terminator
        assert isinstance(call, PointerCall)
        pointer = self._registers.source(call.pointer)
        targets, left = {}, mask
        for function, first in call.targets:
            same = code.compare("eq", pointer, self._registers.source(function))
            targets[first] = code.to_mask(code.binary("and", same, self._registers.mask))
            left = code.scalar(f"xor i32 {left}, {targets[first]}")
        known, unknown = code.fresh("known"), code.fresh("unknown")
        good = code.scalar(f"icmp eq i32 {left}, 0")
        code.line(f"br i1 {good}, label %{known}, label %{unknown}")
        code.label(unknown)
        self._fail(block, mask)
        code.label(known)
        if targets:
            self._schedule.diverge(targets, block.index, mask)
        else:
            code.line("unreachable")

    def _stack_check(self, block: BlockCode, mask: str) -> None:
        code, check = self._code, block.terminator
        assert isinstance(check, StackCheck)
        limit = field(code, "%ctx", layout.LOCAL_BYTES, "i64")
        room = code.scalar(f"icmp ule i64 {check.needed}, {limit}")
        fits, over = code.fresh("fits"), code.fresh("over")
        code.line(f"br i1 {room}, label %{fits}, label %{over}")
        code.label(over)
        self._fail(block, mask)
        code.label(fits)
        self._schedule.proceed(check.target, block.index, mask)

    def _trap(self, block: BlockCode, mask: str) -> None:
        self._fail(block, mask)

    def _fail(self, block: BlockCode, mask: str) -> None:
        """Call back to raise the fault of a terminator, which reads its operands."""
        reads = block.terminator.reads
        site = CallbackSite(block.terminator, block.index, tuple(map(lane_type, reads)), ())
        pass_sources(self._code, [self._registers.source(use) for use in reads])
        call_back(self._code, self.sites.add(site), mask)
        self._code.line("br label %fault")

    def _exit(self, block: BlockCode, mask: str) -> None:
        code, state = self._code, self.state
        alive = field(code, "%state", state.ALIVE, "i32")
        left = code.scalar(f"xor i32 {alive}, {mask}")
        store_field(code, "%state", state.ALIVE, "i32", left)
        for other in self._synchronizing:
            parked = field(code, "%state", state.parked(other.index), "i32")
            store_field(code, "%state", state.parked(other.index), "i32", "0")
            self._schedule.wait(other.index, parked)
        self._groups.lanes_exit(state)
        code.line(f"br label %{'arrived' if self.warp_barriers else 'dispatch'}")

    # --- barriers --------------------------------------------------------------------------------

    def _barrier(self, block: BlockCode, mask: str) -> None:
        if self.counted.are_used:
            self.counted.arrive(block, self.state, self._schedule, mask, self._fail)
            return
        self._schedule.add(self.state.waiting(self.barriers.index(block)), mask)
        self._code.line("br label %dispatch")

    def _cluster_arrive(self, block: BlockCode, mask: str) -> None:
        assert isinstance(block.terminator, ClusterArrive)
        self._count(self.state.cluster_arrived)
        self._schedule.proceed(block.terminator.after, block.index, mask)

    def _cluster_wait(self, block: BlockCode, mask: str) -> None:
        self._count(self.state.cluster_waited)
        place = self.cluster_barriers.index(block)
        self._schedule.add(self.state.cluster_waiting(place), mask)
        self._code.line("br label %dispatch")

    def _count(self, offset: int) -> None:
        """Increment a counter of each active lane."""
        code = self._code
        pointer = pointer_to(code, "%state", offset)
        before = code.vector(f"load <32 x i32>, ptr {pointer}, align 4", "i32")
        after = code.binary("add", before, code.cast("zext", self._registers.mask, "i32"))
        code.line(f"store {after.typed}, ptr {pointer}, align 4")

    def _warp_barrier(self, block: BlockCode, mask: str) -> None:
        code, barrier = self._code, block.terminator
        assert isinstance(barrier, WarpBarrier)
        alive = field(code, "%state", self.state.ALIVE, "i32")
        whole = code.scalar(f"icmp eq i32 {mask}, {alive}")
        through, waits = code.fresh("through"), code.fresh("waits")
        code.line(f"br i1 {whole}, label %{through}, label %{waits}")
        code.label(through)
        self._schedule.proceed(barrier.after, block.index, mask)
        code.label(waits)
        members = code.bitcast(self._registers.source(barrier.mask), "i32")
        old = code.vector("load <32 x i32>, ptr %arrivals, align 64", "i32")
        masks = code.select(self._registers.mask, members, old)
        code.line(f"store {masks.typed}, ptr %arrivals, align 64")
        self._schedule.add(self.state.warp_waiting(self.warp_barriers.index(block)), mask)
        code.line("br label %arrived")

    def _check_warp_barriers(self) -> None:
        """Release the lanes whose member masks have arrived at barriers of the warp."""
        code, state = self._code, self.state
        code.label("arrived")
        places = range(len(self.warp_barriers))
        waiting = [field(code, "%state", state.warp_waiting(place), "i32") for place in places]
        here = "0"
        for mask in waiting:
            here = code.scalar(f"or i32 {here}, {mask}")
        alive = field(code, "%state", state.ALIVE, "i32")
        masks = code.vector("load <32 x i32>, ptr %arrivals, align 64", "i32")
        ready = self._complete(masks, alive, here)
        for place, block, mask in zip(places, self.warp_barriers, waiting, strict=True):
            released = code.scalar(f"and i32 {mask}, {ready}")
            rest = code.scalar(f"xor i32 {mask}, {released}")
            store_field(code, "%state", state.warp_waiting(place), "i32", rest)
            (after,) = block.terminator.successors
            self._schedule.wait(after, released)
        code.line("br label %dispatch")


_TERMINATORS: dict[type[Terminator], Callable[[WarpCode, BlockCode, str], None]] = {
    Jump: WarpCode._jump,
    Branch: WarpCode._branch,
    IndexedBranch: WarpCode._indexed_branch,
    Exit: WarpCode._exit,
    Trap: WarpCode._trap,
    PointerCall: WarpCode._pointer_call,
    StackCheck: WarpCode._stack_check,
    BarrierWait: WarpCode._barrier,
    WarpBarrier: WarpCode._warp_barrier,
    ClusterArrive: WarpCode._cluster_arrive,
    ClusterWait: WarpCode._cluster_wait,
}


def _uses(function: FunctionCode) -> Iterator[Use]:
    """Yield the operands of a function."""
    for block in function.blocks:
        yield from block.terminator.reads
        if block.sync_mask is not None:
            yield block.sync_mask
        for operation in block.operations:
            yield from operation.sources
            yield from operation.destinations


def _slots_used(function: FunctionCode) -> set[int]:
    """Return the slots of registers that the function's blocks read or write."""
    used = {use.slot for use in _uses(function) if isinstance(use, RegisterUse)}
    return {slot for slot in used if function.slots[slot].role is Role.REGISTER}
