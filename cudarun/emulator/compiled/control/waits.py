"""The waits of a warp: for the lanes of a member mask, for other warps, and for the cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cudarun.emulator.code import BlockCode, Terminator
from cudarun.emulator.compiled.access.shadow import count_synchronization
from cudarun.emulator.compiled.control.barriers import CountedBarriers
from cudarun.emulator.compiled.control.schedule import LaneSchedule
from cudarun.emulator.compiled.control.snapshot import Snapshot
from cudarun.emulator.compiled.lanes.vectors import WIDTH, CodeBuilder, LaneVector, splat
from cudarun.emulator.compiled.products.groups import WarpgroupCode
from cudarun.emulator.compiled.state.layout import MEETS, WarpState
from cudarun.emulator.compiled.state.memory import field, pointer_to, store_field
from cudarun.emulator.compiled.state.registers import WarpRegisters
from cudarun.emulator.compiled.sync_checks import SyncChecks
from cudarun.emulator.machine.barriers import BarrierWait, WarpBarrier
from cudarun.emulator.machine.clusters import ClusterArrive, ClusterWait
from cudarun.emulator.machine.control import Jump
from cudarun.records import dataclass

ARRIVALS = -1
"""The register with the member masks of lanes at barriers of warps."""

ARRIVAL_BYTES = 4 * WIDTH

Rule = Callable[[BlockCode, str], None]
"""Adds the code of a terminator: the arguments are its block and the mask of the active lanes."""


@dataclass(frozen=True, slots=True)
class WaitPoints:
    """The blocks of a function where lanes wait, in the order of their masks.

    Attributes:
        barriers: Those that end with a barrier.
        warp_barriers: Those that end with a barrier of warps.
        cluster_barriers: Those that end with a wait for the cluster.
        synchronizing: Those that begin with a warp-synchronous operation.
        meetings: Those of them at which lanes can wait for each other.
    """

    barriers: list[BlockCode]
    warp_barriers: list[BlockCode]
    cluster_barriers: list[BlockCode]
    synchronizing: list[BlockCode]
    meetings: list[list[BlockCode]]

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

    @property
    def afters(self) -> set[int]:
        """The blocks that lanes run after they have waited at a barrier."""
        return {
            after
            for block in (*self.barriers, *self.warp_barriers, *self.cluster_barriers)
            for after in block.terminator.successors
        }


class WarpWaits:
    """The code of the waits.

    Args:
        code: Where it goes.
        registers: The registers.
        points: Where lanes wait.
        counted: The barriers, if they are counted by their numbers.
        groups: The waits of warpgroups.
        state: The layout of the warp's state.
        schedule: Selects the lanes that run next.
        snapshot: The registers of waiting lanes.
        fail: Adds the code that raises the fault of a terminator.
        is_observed: Whether accesses are recorded for detectors.
        checks: Checks lanes for synchronization errors; ``None`` without this detector.
    """

    def __init__(
        self,
        code: CodeBuilder,
        registers: WarpRegisters,
        points: WaitPoints,
        counted: CountedBarriers,
        groups: WarpgroupCode,
        state: WarpState,
        schedule: LaneSchedule,
        snapshot: Snapshot | None,
        fail: Rule,
        *,
        is_observed: bool,
        checks: SyncChecks | None,
    ) -> None:
        self._code = code
        self._registers = registers
        self._points = points
        self._counted = counted
        self._groups = groups
        self._state = state
        self._schedule = schedule
        self._snapshot = snapshot
        self._fail = fail
        self._is_observed = is_observed
        self._checks = checks
        parking = [] if schedule.transitions or not snapshot else points.synchronizing
        self._parks = [block.index for block in parking if not groups.waits(block)]
        self.rules: dict[type[Terminator], Rule] = {
            Jump: self._jump,
            BarrierWait: self._barrier,
            WarpBarrier: self._warp_barrier,
            ClusterArrive: self._cluster_arrive,
            ClusterWait: self._cluster_wait,
        }

    # --- the member masks of lanes at barriers of warps ------------------------------------------

    def declare(self) -> None:
        """Reserve the variables."""
        if self._points.warp_barriers:
            self._code.line("%arrivals = alloca <32 x i32>, align 64")

    def save(self, pointer: str) -> None:
        """Store the member masks to memory."""
        masks = self._code.scalar("load <32 x i32>, ptr %arrivals, align 64")
        self._code.line(f"store <32 x i32> {masks}, ptr {pointer}, align 4")

    def restore(self, pointer: str) -> None:
        """Load the member masks from memory."""
        self._code.line(f"%kept.arrivals = load <32 x i32>, ptr {pointer}, align 4")
        self._code.line("store <32 x i32> %kept.arrivals, ptr %arrivals, align 64")

    # --- warp-synchronous operations -------------------------------------------------------------

    def synchronized(self, mask: str, members: LaneVector | None) -> None:
        """Record for detectors that lanes synchronize; ``None`` stands for whole warps."""
        alive = field(self._code, "%state", self._state.ALIVE, "i32")
        count_synchronization(self._code, mask, alive, members, self._state.SYNCS)

    def synchronize(self, block: BlockCode) -> None:
        """Let lanes wait until all live lanes of their member masks are at a block."""
        code, state = self._code, self._state
        if self._groups.waits(block):
            self._groups.wait(block)
            return
        assert block.sync_mask is not None
        arrived = code.scalar("load i32, ptr %MASK")
        transitions = self._schedule.transitions
        if transitions is not None:
            members = code.bitcast(self._registers.source(block.sync_mask), "i32")
            complete = transitions.gather(block.index, arrived, members)
            code.line(f"store i32 {complete}, ptr %MASK")
            self._may_meet(block)
            none, run = code.scalar(f"icmp eq i32 {complete}, 0"), code.fresh("run")
            code.line(f"br i1 {none}, label %dispatch, label %{run}")
            code.label(run)
            return
        alive = field(code, "%state", state.ALIVE, "i32")
        whole, some = code.scalar(f"icmp eq i32 {arrived}, {alive}"), code.fresh("some")
        run = f"run.{block.index}"
        code.line(f"br i1 {whole}, label %{run}, label %{some}")
        code.label(some)
        parked = field(code, "%state", state.parked(block.index), "i32")
        here = code.scalar(f"or i32 {arrived}, {parked}")
        assert self._snapshot is not None
        self._snapshot.restore_operand(block.sync_mask, parked)
        members = code.bitcast(self._registers.source(block.sync_mask), "i32")
        complete = self._complete(members, alive, here)
        rest = code.scalar(f"xor i32 {complete}, {here}")
        store_field(code, "%state", state.parked(block.index), "i32", rest)
        same, changes = code.scalar(f"icmp eq i32 {complete}, {arrived}"), code.fresh("changes")
        code.line(f"br i1 {same}, label %{run}, label %{changes}")
        code.label(changes)
        self._may_meet(block)
        self._snapshot.restore(code.scalar(f"and i32 {complete}, {parked}"))
        self._schedule.wait(block.index, complete)
        self._snapshot.save(code.scalar(f"and i32 {rest}, {arrived}"))
        code.label(run)

    def _may_meet(self, block: BlockCode) -> None:
        if any(block in each for each in self._points.meetings):
            store_field(self._code, "%state", self._state.MEETING, "i32", "1")

    def answer(self, given: str) -> str:
        """Return the answer of ``step``: also whether lanes wait at several places to meet."""
        code, state = self._code, self._state
        if not self._points.meetings:
            return given
        may, check, answered = code.fresh("may"), code.fresh("check"), code.fresh("answered")
        code.line(f"br label %{may}")
        code.label(may)
        began = code.scalar(f"icmp ne i32 {field(code, '%state', state.MEETING, 'i32')}, 0")
        code.line(f"br i1 {began}, label %{check}, label %{answered}")
        code.label(check)
        store_field(code, "%state", state.MEETING, "i32", "0")
        several = "false"
        for blocks in self._points.meetings:
            before = "false"
            for block in blocks:
                parked = field(code, "%state", state.parked(block.index), "i32")
                here = code.scalar(f"icmp ne i32 {parked}, 0")
                both = code.scalar(f"and i1 {before}, {here}")
                several = code.scalar(f"or i1 {several}, {both}")
                before = code.scalar(f"or i1 {before}, {here}")
        meets = code.scalar(f"select i1 {several}, i32 {MEETS}, i32 0")
        code.line(f"br label %{answered}")
        code.label(answered)
        found = code.scalar(f"phi i32 [ 0, %{may} ], [ {meets}, %{check} ]")
        return code.scalar(f"or i32 {given}, {found}")

    def _jump(self, block: BlockCode, mask: str) -> None:
        code, jump = self._code, block.terminator
        assert isinstance(jump, Jump)
        if self._parks and block.through:
            alive = field(code, "%state", self._state.ALIVE, "i32")
            whole, some = code.scalar(f"icmp eq i32 {mask}, {alive}"), code.fresh("some")
            label = "run" if jump.target in self._parks else "enter"
            code.line(f"br i1 {whole}, label %{label}.{jump.target}, label %{some}")
            code.label(some)
        self._schedule.proceed(jump.target, block.index, mask)

    def _complete(self, members: LaneVector, alive: str, here: str) -> str:
        """Return the lanes that are here, as are all live lanes of their member masks."""
        code = self._code
        absent = code.scalar(f"and i32 {alive}, {code.scalar(f'xor i32 {here}, -1')}")
        missing = code.binary("and", members, code.broadcast("i32", absent))
        complete = code.to_mask(code.compare("eq", missing, splat("i32", 0)))
        return code.scalar(f"and i32 {complete}, {here}")

    def lanes_exit(self) -> None:
        """Check again which lanes can continue, because others have exited; dispatch."""
        transitions = self._schedule.transitions
        if transitions is not None:
            transitions.scatter()
        self._groups.lanes_exit()
        after = "arrived" if self._points.warp_barriers else "dispatch"
        self._code.line(f"br label %{'unpark' if self._parks else after}")

    def unpark(self) -> None:
        """Let the lanes that wait for others of their member mask look again who is there."""
        code, state = self._code, self._state
        if not self._parks:
            return
        code.label("unpark")
        dead = code.scalar(f"icmp eq i32 {field(code, '%state', state.ALIVE, 'i32')}, 0")
        code.line(f"br i1 {dead}, label %dispatch, label %unpark.lanes")
        code.label("unpark.lanes")
        every = "0"
        for block in self._parks:
            lanes = field(code, "%state", state.parked(block), "i32")
            store_field(code, "%state", state.parked(block), "i32", "0")
            self._schedule.wait(block, lanes)
            every = code.scalar(f"or i32 {every}, {lanes}")
        assert self._snapshot is not None
        self._snapshot.restore(every)
        code.line(f"br label %{'arrived' if self._points.warp_barriers else 'dispatch'}")

    # --- barriers --------------------------------------------------------------------------------

    def _barrier(self, block: BlockCode, mask: str) -> None:
        if self._counted.are_used:
            self._counted.arrive(block, self._schedule, mask, self._fail)
            return
        place = self._points.barriers.index(block)
        if self._checks is not None:
            self._checks.arrive(place)
        self._schedule.add(self._state.waiting(place), mask)
        self._code.line("br label %dispatch")

    def _cluster_arrive(self, block: BlockCode, mask: str) -> None:
        assert isinstance(block.terminator, ClusterArrive)
        self._count(self._state.cluster_arrived)
        self._schedule.proceed(block.terminator.after, block.index, mask)

    def _cluster_wait(self, block: BlockCode, mask: str) -> None:
        self._count(self._state.cluster_waited)
        place = self._points.cluster_barriers.index(block)
        self._schedule.add(self._state.cluster_waiting(place), mask)
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
        alive = field(code, "%state", self._state.ALIVE, "i32")
        whole = code.scalar(f"icmp eq i32 {mask}, {alive}")
        through, waits = code.fresh("through"), code.fresh("waits")
        code.line(f"br i1 {whole}, label %{through}, label %{waits}")
        code.label(through)
        if self._is_observed:
            self.synchronized(mask, self._registers.source(barrier.mask))
        if self._checks is not None:
            members = code.bitcast(self._registers.source(barrier.mask), "i32")
            self._checks.members(mask, members)
        self._schedule.proceed(barrier.after, block.index, mask)
        code.label(waits)
        members = code.bitcast(self._registers.source(barrier.mask), "i32")
        old = code.vector("load <32 x i32>, ptr %arrivals, align 64", "i32")
        masks = code.select(self._registers.mask, members, old)
        code.line(f"store {masks.typed}, ptr %arrivals, align 64")
        place = self._points.warp_barriers.index(block)
        self._schedule.add(self._state.warp_waiting(place), mask)
        code.line("br label %arrived")

    def check_warp_barriers(self) -> None:
        """Release the lanes whose member masks have arrived at barriers of the warp."""
        code, state, barriers = self._code, self._state, self._points.warp_barriers
        if not barriers:
            return
        code.label("arrived")
        places = range(len(barriers))
        waiting = [field(code, "%state", state.warp_waiting(place), "i32") for place in places]
        here = "0"
        for mask in waiting:
            here = code.scalar(f"or i32 {here}, {mask}")
        alive = field(code, "%state", state.ALIVE, "i32")
        masks = code.vector("load <32 x i32>, ptr %arrivals, align 64", "i32")
        ready = self._complete(masks, alive, here)
        if self._checks is not None:
            self._checks.members(ready, masks)
        for place, block, mask in zip(places, barriers, waiting, strict=True):
            released = code.scalar(f"and i32 {mask}, {ready}")
            rest = code.scalar(f"xor i32 {mask}, {released}")
            store_field(code, "%state", state.warp_waiting(place), "i32", rest)
            (after,) = block.terminator.successors
            self._schedule.wait(after, released)
        code.line("br label %dispatch")
