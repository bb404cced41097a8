"""The code of one warp: ``step`` runs it until none of its lanes can continue.

Lanes wait in masks, one per basic block. The lowest block in the text with waiting lanes runs next,
as in the interpreter, so that diverged lanes reconverge and effects have the same order
(``schedule.py``). `step` returns when all lanes have exited or wait at a barrier, or when the warp
lets others run in a loop that may wait for them; ``run`` (``native/grids.c``) calls it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from cudarun.emulator.code import Action, BlockCode, ConstantUse, FunctionCode, Lanewise, Terminator
from cudarun.emulator.compiled.access.accesses import MOST_ACCESSES, AccessCode
from cudarun.emulator.compiled.access.memory import MemoryFunctions
from cudarun.emulator.compiled.actions import UNCOMPILED, action_name, action_rules
from cudarun.emulator.compiled.control.allocation import (
    needed_slots,
    own_places,
    place_registers,
    slots_used,
)
from cudarun.emulator.compiled.control.barriers import CountedBarriers
from cudarun.emulator.compiled.control.block_ends import BlockEnds
from cudarun.emulator.compiled.control.call_frames import CallFrames, frame_layout
from cudarun.emulator.compiled.control.outlining import MOST_OPERATIONS
from cudarun.emulator.compiled.control.schedule import LaneSchedule
from cudarun.emulator.compiled.control.shared_operations import SharedOperations
from cudarun.emulator.compiled.control.snapshot import Snapshot
from cudarun.emulator.compiled.control.waiting import WaitingLoops
from cudarun.emulator.compiled.control.waits import Rule, WaitPoints, WarpWaits
from cudarun.emulator.compiled.lanes.lowering import LaneFunctions, lane_type, results_of
from cudarun.emulator.compiled.lanes.operators import Untraceable
from cudarun.emulator.compiled.lanes.vectors import WIDTH, CodeBuilder, ModuleText, constant
from cudarun.emulator.compiled.native.functions import KernelConstants
from cudarun.emulator.compiled.products.groups import WarpgroupCode, group_blocks
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.layout import FAILS, WAITS, YIELDS, WarpState
from cudarun.emulator.compiled.state.memory import field, pointer_to, store_field
from cudarun.emulator.compiled.state.registers import FixedValues, WarpRegisters, literals_of
from cudarun.emulator.compiled.state.shared_functions import SharedFunctions
from cudarun.emulator.compiled.state.sites import CallbackSites
from cudarun.emulator.compiled.sync_checks import SyncChecks
from cudarun.emulator.decode.loops import starts_of_loops
from cudarun.emulator.machine.clusters import ClusterArrive, ClusterWait
from cudarun.emulator.machine.control import Exit
from cudarun.emulator.machine.frame import each, mask_of
from cudarun.emulator.machine.matrices import MatrixTransfer, WarpMatrixTransfer
from cudarun.emulator.machine.schedules.pending import SCHEDULED
from cudarun.emulator.machine.warps import WarpAction

_CLUSTER_BARRIERS = (ClusterArrive, ClusterWait)
_PARAMETERS = "ptr %ctx, i32 %warp"
_MOST_VALUES = 4000  # registers at block starts, in functions whose operations are in line
_MOST_INLINE = 1000  # operations in line, for which LLVM takes about 3 s
_MOST_OPTIMIZED = 250  # blocks of large kernels, whose ends LLVM optimizes in about 1 s
_MOST_OPERATIONS = 32000


def has_many_values(function: FunctionCode) -> bool:
    """Return whether the registers of a function are in the state of its warps."""
    runs = sum(not block.through for block in function.blocks)
    return runs * slots_used(function).bit_count() > _MOST_VALUES


def is_large(function: FunctionCode) -> bool:
    """Return whether the operations of a function are not in line, if it calls no functions."""
    return has_many_values(function) or len(function.operations) > _MOST_INLINE


class WarpCode:
    """Compiles the function of a kernel.

    Args:
        depths: Of each block, how many functions have called its function.
        memory: The functions that load and store.
        finds_sync_errors: Whether a detector of synchronization errors does.
        interleaves: Whether a schedule draws the order of warps; ``None`` without a schedule.
        is_quick: Whether operations are no code of the kernel's own, whatever their number, so that
            it is compiled in a short time.
    """

    def __init__(
        self,
        module: ModuleText,
        function: FunctionCode,
        depths: Sequence[int],
        memory: MemoryFunctions,
        *,
        finds_sync_errors: bool = False,
        interleaves: bool | None = None,
        is_quick: bool = False,
    ) -> None:
        self._code = CodeBuilder(module)
        self.function = function
        self.fixed = FixedValues()  # the values that a launch has for all lanes
        self.sites = CallbackSites()  # the places that call back
        self._registers = WarpRegisters(self._code, function, self.fixed)
        self._memory = memory
        self._is_scheduled = interleaves is not None
        checks = SyncChecks(self._code, self._registers, function) if finds_sync_errors else None
        self._checks = checks
        # Whether accesses may be in the shared memory of other blocks: hardly without ``mapa``.
        self.maps_addresses = any(
            isinstance(each, Lanewise) and each.name.startswith("mapa")
            for each in function.operations
        )
        shared = SharedFunctions(self._code, self._registers, self._values)
        self._accesses = AccessCode(
            self._code,
            self._registers,
            shared,
            self.sites,
            memory,
            in_cluster=self.maps_addresses,
        )
        self._functions = LaneFunctions(module)
        self.points = WaitPoints.of(function.blocks)  # where lanes wait
        polling = WaitingLoops(function)
        self.waits_for_blocks = polling.waits_for_blocks  # whether loops may wait for other blocks
        self._loops = polling.costs(depths)
        self._used = slots_used(function)
        blocks, operations = len(function.blocks), len(function.operations)
        # The layout of the frames of calls; ``None`` if all functions are inlined.
        self.frames = frame_layout(function, self._registers)
        first_called = blocks if self.frames is None else self.frames.first
        loops = any(each < first_called for each in starts_of_loops(function))
        self._yields = loops or bool(self.points.meetings) or bool(interleaves)
        is_partial = self._yields or bool(self.points.synchronizing)
        if operations > (_MOST_OPERATIONS if self.frames is None else MOST_OPERATIONS):
            raise Untraceable(f"a function of {operations} instructions")
        self._in_state = has_many_values(function)
        self.is_large = self.frames is None and (is_quick or is_large(function))
        self._in_state = self._in_state or self.is_large
        first_shared = 0 if self._in_state else first_called  # large kernels have few places
        every, waiting = self._registers.shared, self.points.needed(function.blocks)
        self._waiting = waiting
        self._needed = needed_slots(function.blocks, waiting, every, first_shared)
        places: dict[int, int] = {}
        if self._in_state:
            place = place_registers if self.is_large else own_places
            found = place(function, self._registers, self._used)
            places, kept = found.of, found.sizes
        else:
            slots = each((every if is_partial else waiting) & self._used)
            kept = {slot: self._registers.bytes_of(slot) for slot in slots}
        groups = group_blocks(function.blocks)
        self.groups = WarpgroupCode(self._code, groups, blocks)  # the waits of warpgroups
        # The barriers, if they are counted by their numbers.
        self.counted = CountedBarriers(
            self._code, self._registers, self.points.barriers, blocks + len(groups)
        )
        self._releases = bool(groups) or self.counted.are_used
        clusters = any(isinstance(b.terminator, _CLUSTER_BARRIERS) for b in function.blocks)
        # The layout of a warp's state.
        self.state = WarpState(
            blocks + len(groups) + len(self.counted.entries),
            len(self.points.barriers),
            len(self.points.warp_barriers),
            len(self.points.cluster_barriers),
            has_clusters=clusters,
            counted=self.counted.are_used,
            kept=kept,
        )
        self._shared: SharedOperations | None = None
        if self._in_state:
            offsets = self.state.registers
            self._registers.in_state = {slot: offsets[place] for slot, place in places.items()}
        if self.is_large:
            module.shares_functions = is_quick
            self._shared = SharedOperations(self._code, self._registers, shared)
        else:  # which share no code
            self._registers.literals = literals_of(function)
        aside = dict(self._saved(every & ~waiting))
        snapshot = Snapshot(self._code, self._registers, function.blocks, self._needed, aside)
        self._schedule = LaneSchedule(
            self._code,
            self.state,
            self._loops,
            self.frames,
            snapshot,
            yields=self._yields,
            interleaves=bool(interleaves),
            inline=not self.is_large,
        )
        self._calls = self._call_frames()
        ends = BlockEnds(self._code, self._registers, self.sites, self._schedule)
        self._waits = WarpWaits(
            self._code,
            self._registers,
            self.points,
            self.counted,
            self.groups,
            self._schedule,
            ends.fail,
            is_observed=memory.is_observed,
            checks=checks,
        )
        self._rules: dict[type[Terminator], Rule] = {
            Exit: self._exit,
            **ends.rules,
            **self._waits.rules,
            **(self._calls.rules if self._calls else {}),
        }
        self._actions = action_rules(self._accesses)

    def _call_frames(self) -> CallFrames | None:
        """Return the code of calls of outlined functions.

        Raises:
            Untraceable: Lanes in such a function could wait for others, or others for these.
        """
        function, frames = self.function, self.frames
        if frames is None:
            return None
        if any(loop >= frames.first for loop in self._loops):
            raise Untraceable("a loop that may wait for other threads in a recursive function")
        ends = any(isinstance(block.terminator, Exit) for block in function.blocks[frames.first :])
        if ends and (self.points.synchronizing or self.points.warp_barriers):
            raise Untraceable("exit in a recursive function")
        self._registers.has_frames = True
        return CallFrames(self._code, self._registers, function, frames, self._schedule)

    @property
    def facts(self) -> KernelConstants:
        """The constants of the kernel that the functions in C use."""
        return KernelConstants(
            self.state,
            self.counted.targets,
            self.counted.reduces,
            _afters(self.points.warp_barriers),
            _afters(self.points.cluster_barriers),
            self.groups.blocks,
            self.points.meeting_of(self.function.blocks),
        )

    # --- the function ----------------------------------------------------------------------------

    def define(self) -> None:
        """Add ``step`` to the module; `Untraceable` if something in the function has no rule."""
        code = self._code
        self._enter()
        self._schedule.dispatch()
        for block in self.function.blocks:
            self._block(block)
        self._waits.look()
        if not self.is_large:
            self._registers.needed = self._waiting
        self.counted.continue_with_results(self._schedule)
        if self._calls:
            self._calls.end()
        self._leave()
        is_quick = code.module.shares_functions
        many = self.is_large and len(self.function.blocks) > _MOST_OPTIMIZED
        attributes = f"{'' if is_quick else 'internal'} noinline{' optnone' * (is_quick or many)}"
        code.define(f"i32 @step({_PARAMETERS})", attributes)
        if self._shared is not None:
            self._shared.define()

    def _enter(self) -> None:
        code, state = self._code, self.state
        code.label("entry")
        states = field(code, "%ctx", layout.STATES, "ptr")
        wide = code.scalar("zext i32 %warp to i64")
        place = code.scalar(f"mul i64 {wide}, {state.size}")
        code.line(f"%state = getelementptr i8, ptr {states}, i64 {place}")
        self._values()
        self._schedule.declare()
        if self._calls:
            self._calls.declare()
        if self._releases:
            code.line("%ANSWER = alloca i32")
            code.line(f"store i32 {WAITS}, ptr %ANSWER")
        self._registers.declare(each(self._used & ~mask_of(self._registers.in_state)))
        # the blocks that lanes can wait to run when ``step`` is called
        waiting = sorted({0, *self.points.afters, *self.groups.blocks})
        self._schedule.enter(waiting + self.groups.entries + self.counted.entries)
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
        for slot, offset in self._saved(self._waiting):
            self._registers.restore(slot, pointer_to(code, "%state", offset))
        self._schedule.begin()

    def _saved(self, slots: int) -> list[tuple[int, int]]:
        """Return those of some registers that are saved to the warp's state, and where."""
        if self._in_state:
            return []
        return [(slot, at) for slot, at in self.state.registers.items() if slots >> slot & 1]

    def place_of(self, slot: int) -> int | None:
        """Return the offset of a waiting lane's register in the state, if it is kept there."""
        return self._registers.in_state.get(slot, self.state.registers.get(slot))

    def _values(self) -> None:
        """Define the values that the code of operations uses."""
        code = self._code
        for name, offset in (("cache", layout.CACHE), ("constants", layout.CONSTANTS)):
            code.line(f"%{name}.at = getelementptr i8, ptr %ctx, i64 {offset}")
        wide = code.scalar("zext i32 %warp to i64")
        code.line(f"%warp.words = mul i64 {wide}, {4 * WIDTH}")
        code.line(f"%lane.row.at = getelementptr i8, ptr %ctx, i64 {layout.LANE_ROW}")
        code.line("%lane.row = load i64, ptr %lane.row.at, align 8")
        first = code.scalar(f"mul i64 {wide}, {WIDTH}")
        lanes = constant(np.arange(WIDTH, dtype=np.int64))
        spread = code.broadcast("i64", first)
        code.line(f"%thread = add {spread.typed}, {lanes.name}")
        for turn in range(MOST_ACCESSES):
            code.line(f"%places{turn} = alloca <{WIDTH} x i64>, align 64")

    def _clear(self) -> None:
        """Write zeros to the registers in the state."""
        code, state = self._code, self.state
        first = min(state.registers.values())
        pointer = pointer_to(code, "%state", first)
        size = state.size - first
        code.module.declare("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        code.line(f"call void @llvm.memset.p0.i64(ptr {pointer}, i8 0, i64 {size}, i1 false)")

    def _leave(self) -> None:
        code, state = self._code, self.state
        code.label("leave")
        alive = field(code, "%state", state.ALIVE, "i32")
        dead = code.scalar(f"icmp eq i32 {alive}, 0")
        code.line(f"br i1 {dead}, label %end, label %save")
        code.label("save")
        if self._schedule.yields:
            code.line(f"%answer = phi i32 [ {WAITS}, %leave ], [ {YIELDS}, %leaving ]")
        for slot, offset in self._saved(self._waiting):
            self._registers.save(slot, pointer_to(code, "%state", offset))
        store_field(code, "%state", state.RESUMED, "i32", "1")
        answer = "%answer" if self._schedule.yields else str(WAITS)
        code.line(f"ret i32 {self._answer(answer)}")
        code.label("end")
        code.line(f"ret i32 {self._answer(str(WAITS))}")
        code.label("fault")
        code.line(f"ret i32 {FAILS}")

    def _answer(self, answer: str) -> str:
        """Return an answer of ``step``: other warps have to run if some have been released."""
        if not self._releases:
            return answer
        return self._code.scalar(f"or i32 {answer}, {self._code.scalar('load i32, ptr %ANSWER')}")

    # --- blocks ----------------------------------------------------------------------------------

    def _block(self, block: BlockCode) -> None:
        code = self._code
        code.label(f"enter.{block.index}")
        if block.sync_mask is not None:
            self._waits.synchronize(block)
        mask = code.scalar("load i32, ptr %MASK")
        self._registers.mask = code.from_mask(mask)
        self._registers.needed = self._needed[block.index]
        self._accesses.block = block.index
        if self._checks is not None:
            self._checks.enter(block.index, mask)
        for operation in block.operations:
            try:
                if self._shared is None:
                    self._operation(operation, mask)
                else:
                    self._shared.add(operation, partial(self._operation, operation))
            except Untraceable as reason:
                raise Untraceable(f"{reason} (PTX line {operation.site.line})") from None
        if self._shared is not None:
            self._shared.call(mask)
        rule = self._rules.get(type(block.terminator))
        if rule is None:
            site = block.terminator.site
            name = type(block.terminator).__name__ if site is None else f"instruction {site.name}"
            raise Untraceable(name)
        rule(block, mask)

    def _observe(self, operation: Action, mask: str) -> None:
        """Record that an operation synchronizes the warp, and who makes its accesses."""
        action = operation.action
        self._memory.is_joint = isinstance(action, MatrixTransfer | WarpMatrixTransfer)
        if isinstance(action, WarpAction) and action.waits_for:
            if action.waits_for == "warp":  # shuffles and votes do not order accesses
                self._waits.synchronized(mask, None)
            if self._checks is not None:
                self._checks.collective(operation, mask)

    def _operation(self, operation: Lanewise | Action, mask: str) -> None:
        if isinstance(operation, Action):
            if operation.action in UNCOMPILED:
                raise Untraceable(action_name(operation))
            rule = self._actions.get(type(operation.action), self._accesses.call)
            if self._is_scheduled and isinstance(operation.action, SCHEDULED):
                rule = self._accesses.call
            if self._memory.is_observed:
                self._observe(operation, mask)
            rule(operation, mask)
            return
        name = self._functions.name_of(operation)
        passes = self._shared is not None and self._functions.is_short(name)
        given = [
            self._registers.passed(use)
            if passes and isinstance(use, ConstantUse)
            else self._registers.source(use)
            for use in operation.sources
        ]
        kinds = [lane_type(use) for use in operation.destinations]
        self._accesses._finish(operation, results_of(self._code, name, given, kinds))

    # --- the end of a block -----------------------------------------------------------------------

    def _exit(self, block: BlockCode, mask: str) -> None:
        code, state = self._code, self.state
        alive = field(code, "%state", state.ALIVE, "i32")
        left = code.scalar(f"xor i32 {alive}, {mask}")
        store_field(code, "%state", state.ALIVE, "i32", left)
        self._waits.lanes_exit()


def _afters(barriers: Sequence[BlockCode]) -> list[int]:
    return [block.terminator.successors[0] for block in barriers]
