"""The waits of a warp: for the lanes of a member mask, for other warps, and for the cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudarun.base.records import dataclass
from cudarun.emulator.code import BlockCode, Terminator
from cudarun.emulator.compiled.control.barriers import CountedBarriers
from cudarun.emulator.compiled.control.schedule import LaneSchedule
from cudarun.emulator.compiled.lanes.vectors import CodeBuilder, LaneVector, splat
from cudarun.emulator.compiled.native.functions import call
from cudarun.emulator.compiled.products.groups import WarpgroupCode
from cudarun.emulator.compiled.state.memory import field, pointer_to, store_field
from cudarun.emulator.compiled.state.registers import LoweringRules, WarpRegisters
from cudarun.emulator.compiled.state.sites import pass_values
from cudarun.emulator.compiled.sync_checks import SyncChecks
from cudarun.emulator.machine.barriers import BarrierWait, WarpBarrier
from cudarun.emulator.machine.clusters import ClusterArrive, ClusterWait
from cudarun.emulator.machine.control import Jump

Rule = Callable[[BlockCode, str], None]
"""Adds the code of a terminator: the arguments are its block and the mask of the active lanes."""


@dataclass(frozen=True, slots=True)
class WaitPoints:
    """The blocks of a function where lanes wait, in the order of their masks."""

    barriers: list[BlockCode]  # those that end with a barrier
    warp_barriers: list[BlockCode]  # those that end with a barrier of warps
    cluster_barriers: list[BlockCode]  # those that end with a wait for the cluster
    synchronizing: list[BlockCode]  # those that begin with a warp-synchronous operation
    meetings: list[list[BlockCode]]  # those of them at which lanes can wait for each other

    @classmethod
    def of(cls, blocks: Sequence[BlockCode]) -> WaitPoints:
        """Return those of some blocks."""

        def ending(kind: type[Terminator]) -> list[BlockCode]:
            return [block for block in blocks if isinstance(block.terminator, kind)]

        synchronizing = [block for block in blocks if block.sync_mask is not None]
        same: dict[str, list[BlockCode]] = {}
        for block in synchronizing:
            same.setdefault(block.meets, []).append(block)
        meetings = [each for name, each in same.items() if name and len(each) > 1]
        kinds = ending(BarrierWait), ending(WarpBarrier), ending(ClusterWait)
        return cls(*kinds, synchronizing, meetings)

    def needed(self, blocks: Sequence[BlockCode]) -> int:
        """Return the slots that lanes need afterwards which have waited for other warps."""
        waits = {block.index for block in self.synchronizing if block.sync_warps > 1}
        slots = 0
        for index in waits | self.afters:
            slots |= blocks[index].live_in
        return slots

    def meeting_of(self, blocks: Sequence[BlockCode]) -> list[int]:
        """Return the number of the meeting at each block, from 1 on, if there are meetings."""
        numbers = {each.index: place for place, met in enumerate(self.meetings, 1) for each in met}
        return [numbers.get(block.index, 0) for block in blocks] if numbers else []

    @property
    def afters(self) -> set[int]:
        """The blocks that lanes run after they have waited at a barrier."""
        return {
            after
            for block in (*self.barriers, *self.warp_barriers, *self.cluster_barriers)
            for after in block.terminator.successors
        }


class WarpWaits(LoweringRules):
    """The code of the waits."""

    def __init__(
        self,
        code: CodeBuilder,
        registers: WarpRegisters,
        points: WaitPoints,
        counted: CountedBarriers,
        groups: WarpgroupCode,
        schedule: LaneSchedule,
        fail: Rule,
        *,
        is_observed: bool,
        checks: SyncChecks | None,
    ) -> None:
        super().__init__(code, registers)
        self._points = points  # where lanes wait
        self._counted = counted  # the barriers, if they are counted by their numbers
        self._groups = groups
        self._state = schedule.state
        self._snapshot = schedule.snapshot
        self._schedule = schedule  # selects the lanes that run next
        self._fail = fail  # adds the code that raises the fault of a terminator
        self._is_observed = is_observed  # whether accesses are recorded for detectors
        # Checks lanes for synchronization errors; ``None`` without this detector.
        self._checks = checks
        self._parks = {block.index for block in points.synchronizing if not groups.waits(block)}
        self.rules: dict[type[Terminator], Rule] = {
            Jump: self._jump,
            BarrierWait: self._barrier,
            WarpBarrier: self._warp_barrier,
            ClusterArrive: self._cluster_barrier,
            ClusterWait: self._cluster_barrier,
        }

    # --- warp-synchronous operations -------------------------------------------------------------

    def synchronized(self, mask: str, members: LaneVector | None) -> None:
        """Record for detectors that lanes synchronize; ``None`` stands for whole warps."""
        every = splat("i32", 0xFFFFFFFF) if members is None else self._code.bitcast(members, "i32")
        pass_values(self._code, [every])
        given = f"ptr %ctx, ptr %state, i32 {mask}"
        call(self._code, "void", "count_synchronization", given)

    def synchronize(self, block: BlockCode) -> None:
        """Let lanes wait until all live lanes of their member masks are at a block."""
        code, state = self._code, self._state
        if self._groups.waits(block):
            self._groups.wait(block)
            return
        assert block.sync_mask is not None
        arrived = code.scalar("load i32, ptr %MASK")
        alive = field(code, "%state", state.ALIVE, "i32")
        run = f"run.{block.index}"
        code.leave_if(code.scalar(f"icmp eq i32 {arrived}, {alive}"), run, "some")
        parked = field(code, "%state", state.parked(block.index), "i32")
        here = code.scalar(f"or i32 {arrived}, {parked}")
        self._snapshot.restore_operand(block.sync_mask, parked)
        members = code.bitcast(self._registers.source(block.sync_mask), "i32")
        absent = code.scalar(f"and i32 {alive}, {code.scalar(f'xor i32 {here}, -1')}")
        missing = code.binary("and", members, code.broadcast("i32", absent))
        complete = code.to_mask(code.compare("eq", missing, splat("i32", 0)))
        complete = code.scalar(f"and i32 {complete}, {here}")
        rest = code.scalar(f"xor i32 {complete}, {here}")
        store_field(code, "%state", state.parked(block.index), "i32", rest)
        code.leave_if(code.scalar(f"icmp eq i32 {complete}, {arrived}"), run, "changes")
        if any(block in each for each in self._points.meetings):
            store_field(code, "%state", state.MEETING, "i32", "1")
        self._snapshot.restore(code.scalar(f"and i32 {complete}, {parked}"))
        self._schedule.wait(block.index, complete)
        self._snapshot.save(code.scalar(f"and i32 {rest}, {arrived}"))
        code.label(run)

    def _jump(self, block: BlockCode, mask: str) -> None:
        code, jump = self._code, block.terminator
        assert isinstance(jump, Jump)
        if self._parks and block.through:
            alive = field(code, "%state", self._state.ALIVE, "i32")
            label = "run" if jump.target in self._parks else "enter"
            whole = code.scalar(f"icmp eq i32 {mask}, {alive}")
            code.leave_if(whole, f"{label}.{jump.target}", "some")
        self._schedule.proceed(jump.target, block.index, mask)

    def lanes_exit(self) -> None:
        """Check again which lanes can continue, because others have exited; dispatch."""
        self._groups.lanes_exit()
        looks = self._parks or self._points.warp_barriers
        self._code.line(f"br label %{'look' if looks else 'dispatch'}")

    def look(self) -> None:
        """Let the lanes that wait for others of their warp look again who is there."""
        code = self._code
        if not self._parks and not self._points.warp_barriers:
            return
        code.label("look")
        if self._parks:
            lanes = call(code, "i32", "unpark", "ptr %state")
            self._schedule.release(lanes)
            self._snapshot.restore(lanes)
        if self._points.warp_barriers:
            self._schedule.release(call(code, "i32", "release_warp", "ptr %ctx, ptr %state"))
        code.line("br label %dispatch")

    # --- barriers --------------------------------------------------------------------------------

    def _barrier(self, block: BlockCode, mask: str) -> None:
        if self._counted.are_used:
            self._counted.arrive(block, self._schedule, mask, self._fail)
            return
        place = self._points.barriers.index(block)
        if self._checks is not None:
            self._checks.arrive(place)
        self._schedule.add(self._state.mask("waiting", place), mask)
        self._code.line("br label %dispatch")

    def _cluster_barrier(self, block: BlockCode, mask: str) -> None:
        """Count the arrivals, or the waits, of each active lane."""
        arrives = isinstance(block.terminator, ClusterArrive)
        counter = self._state.mask("cluster_arrived" if arrives else "cluster_waited")
        pointer = pointer_to(self._code, "%state", counter)
        call(self._code, "void", "count_lanes", f"ptr {pointer}, i32 {mask}")
        if arrives:
            self._schedule.proceed(block.terminator.successors[0], block.index, mask)
            return
        place = self._points.cluster_barriers.index(block)
        self._schedule.add(self._state.mask("cluster_waiting", place), mask)
        self._code.line("br label %dispatch")

    def _warp_barrier(self, block: BlockCode, mask: str) -> None:
        code, barrier = self._code, block.terminator
        assert isinstance(barrier, WarpBarrier)
        alive = field(code, "%state", self._state.ALIVE, "i32")
        whole, waits = code.scalar(f"icmp eq i32 {mask}, {alive}"), code.fresh("waits")
        code.leave_unless(whole, waits, "through")
        if self._is_observed:
            self.synchronized(mask, self._registers.source(barrier.mask))
        if self._checks is not None:
            members = code.bitcast(self._registers.source(barrier.mask), "i32")
            self._checks.members(mask, members)
        self._schedule.proceed(barrier.after, block.index, mask)
        code.label(waits)
        members = code.bitcast(self._registers.source(barrier.mask), "i32")
        pass_values(code, [members])
        place = self._points.warp_barriers.index(block)
        given = f"ptr %ctx, ptr %state, i32 {mask}, i32 {place}"
        self._schedule.release(call(code, "i32", "wait_for_warp", given))
        code.line("br label %dispatch")
