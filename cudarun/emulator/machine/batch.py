"""A batch of thread blocks that are executed together, and the scheduling of their lanes.

The threads of a block are consecutive lanes, the blocks of a batch follow each other. Lanes wait in
groups, one per **path**: the chain of basic blocks they were called from, then their next block.
`turns` decides which group is dispatched next.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cudarun.emulator.code import Action, ActionFunction, BlockCode, FunctionCode
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.access import Access
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.barrier_objects import FailedWait
from cudarun.emulator.machine.barriers import Barriers, meet_elsewhere
from cudarun.emulator.machine.clusters import ClusterBarrier
from cudarun.emulator.machine.control import FunctionCall
from cudarun.emulator.machine.frame import Frame, Scratch, mask_of
from cudarun.emulator.machine.lanes import Indices, Lanes
from cudarun.emulator.machine.launch import OPERATION_WORK, Launch
from cudarun.emulator.machine.observer import NO_OBSERVER
from cudarun.emulator.machine.report import check_tensor_memory, describe_deadlock
from cudarun.emulator.machine.schedules.schedule import IssuedOperations, Path, turns
from cudarun.emulator.machine.spaces import RANK_SHIFT, WINDOWS, Region, Section
from cudarun.emulator.machine.stack import Stack
from cudarun.emulator.machine.tensor_memory.allocations import TENSOR_BYTES, TensorAllocations
from cudarun.emulator.machine.threads import Threads
from cudarun.emulator.numerics.arrays import Array, distinct

# Lanes that are in loops for long may be waiting for other batches: see the cost in `turns`.
_STALL_LIMIT = 1 << 19


class HandOver(Exception):
    """The blocks of a batch are to be run by another engine, from their beginning."""


class Batch:
    """Some thread blocks of a launch and their state.

    Args:
        launch: The launch.
        blocks: The maximum number of thread blocks.
    """

    def __init__(self, launch: Launch, blocks: int) -> None:
        self.launch = launch
        self.observer = launch.observer
        self.threads = Threads(launch, blocks)
        self.lanes = self.threads.lanes
        self.scratch = Scratch(self.lanes)
        self.alive = np.zeros(self.lanes, dtype=np.bool_)
        self.living = 0
        self.active: Active | None = None
        self.waiting: dict[Path, list[Lanes]] = {}
        self.synchronizing: dict[Path, Lanes] = {}
        self.barriers = Barriers(self)
        self.clusters = ClusterBarrier(self)
        self.stack = Stack(self)
        self.recent: dict[Access, Region] = {}
        self.failed_waits: dict[object, list[FailedWait]] = {}
        self.tensor = TensorAllocations(self.threads.room)
        self._turns = turns(self.waiting, lambda: self.threads.places, launch.config.schedule)
        self.operations: IssuedOperations | None = None  # without: they complete at once
        self.shuffles: dict[tuple[object, ...], tuple[Array, Array, bool]] = {}
        self._frames: dict[tuple[int, str], Frame] = {}
        self._sections: dict[str, Section] = {}
        self._stall = 0
        self.first_block = self.blocks = 0
        self.is_last = False  # all other batches that have begun are before it, and have ended
        self._visited: set[int] = set()  # the basic blocks that have been executed

    def begin(self, first_block: int, blocks: int) -> None:
        """Assign thread blocks to the lanes, all at the start of the kernel."""
        self.first_block, self.blocks = first_block, blocks
        self.threads.place(first_block, blocks)
        count = blocks * self.launch.block_threads
        for name in self._sections.keys() & {"shared", "local", "tensor"}:
            self.launch.undefine(self._sections[name])
        self.barriers.arrivals.clear()
        self.failed_waits.clear()
        self.tensor.begin(slice(None))
        self._visited.clear()
        self.alive[:count] = True
        self.alive[count:] = False
        self.living = count
        self.clusters.begin()
        self.stack.begin()
        self._turns.begin()
        self.observer.begin(self, first_block, blocks)
        self.waiting[(self.launch.kernel_function.base,)] = [slice(0, count)]

    def run(self) -> Iterator[None]:
        """Run until all lanes have exited; yield when they seem to wait for another batch.

        Raises:
            DeviceFault: A lane caused a fault, or there is a deadlock.
            HandOver: Another engine is to run the blocks, as `Launch.hands_over` says.
        """
        while self.living:
            while self.waiting:
                self._dispatch(*self._turns.next_lanes())
                while (active := self.active) is not None:
                    for function, arguments in active.code.entries:
                        function(*arguments)
                    active.code.terminator.finish(self, active)
                if self._stall > _STALL_LIMIT:
                    self._stall = 0
                    self._complete_operations()
                    self._turns.stalled()
                    yield
            if self.living:
                raise describe_deadlock(self)
        self._complete_operations()

    def instead_of(self, operation: Action) -> ActionFunction:
        """Return the action to execute instead of the operation's."""
        if self.operations is not None and self.observer is NO_OBSERVER:
            return self.operations.instead_of(operation)
        return self.observer.instead_of(operation)

    def _complete_operations(self) -> None:
        if self.operations is not None:
            self.operations.complete_all()

    def state(self) -> Iterator[Array]:
        """Yield all that decides how lanes continue that wait to run, or for others."""
        yield self.alive
        for path in sorted(self.waiting):
            yield np.array(path)
            yield np.sort(lane_sets.indices(lane_sets.union(self.waiting[path])))
        for frame in self._frames.values():
            registers = frame.registers
            yield from registers if isinstance(registers, list) else registers.values()
        for section in self._sections.values():
            yield section.bytes

    # --- which lanes run next --------------------------------------------------------------------

    def _dispatch(self, path: Path, lanes: Lanes) -> None:
        """Activate lanes that waited at a path."""
        function, block = self.launch.locate(path[-1])
        if block.sync_mask is not None:
            admitted = self._synchronized(path, lanes, function, block)
            if admitted is None:
                return
            lanes = admitted
        active = Active(self, path, self.frame(len(path) - 1, function), lanes)
        self.active = active
        self._run_next(active, block)

    def _run_next(self, active: Active, block: BlockCode) -> None:
        members = active.members
        if not isinstance(members, slice):
            missing = block.reads & ~active.loaded
            if missing:
                active.frame.gather(members, missing)
            active.loaded |= missing | block.writes
            active.dirty |= block.writes
        active.block = block
        first = active.path[-1]
        self._visited.add(first)
        operations = len(block.operations)
        if block.through and block.sync_mask is not None and self.threads.whole_warps(active):
            function = active.frame.function
            active.block = function.blocks[block.through]
            active.path = (*active.path[:-1], function.base + block.through)
            self._visited.update(range(first, active.path[-1] + 1))
            together = function.blocks[block.index : block.through + 1]
            operations = sum(len(each.operations) for each in together)
        self.launch.work += operations * (OPERATION_WORK + active.width)
        active.code = active.frame.code(active, block)

    def proceed(self, active: Active, target: int) -> None:
        """Continue the active lanes with a block of the same function."""
        function = active.frame.function
        block = function.blocks[target]
        path = (*active.path[:-1], function.base + target)
        backward = self._polled(active, target)
        if backward and self.is_last and self.launch.hands_over(self._visited):
            raise HandOver
        if self._stall > _STALL_LIMIT or (
            self.waiting and self._turns.must_wait(path, backward=backward)
        ):
            self.suspend(active, path, block.live_in)
            return
        if block.sync_mask is not None and not self.threads.whole_warps(active, block.sync_warps):
            self.suspend(active, path, block.live_in)
            return
        active.path = path
        self._run_next(active, block)

    def _polled(self, active: Active, target: int) -> bool:
        """Count a jump to a block if it is one back; return whether it is."""
        if target > active.block.index:
            return False
        cost = active.frame.function.blocks[target].polls
        self._stall += cost
        self._turns.polled(cost)
        return True

    # --- divergence and control flow -------------------------------------------------------------

    def wait(self, path: Path, lanes: Lanes) -> None:
        """Let lanes whose registers are written back wait at a path."""
        self.waiting.setdefault(path, []).append(lanes)

    def write_back(self, active: Active, live: int) -> Lanes:
        """Write the active lanes' registers back to the register file, and deactivate the lanes."""
        lanes = active.lanes
        if not active.in_place:
            slots = active.dirty & live
            if slots:
                positions = slice(0, active.width) if active.valid is None else active.positions
                active.frame.write_back(lanes, positions, slots)
        self.active = None
        return lanes

    def leave_for(self, active: Active, target: int) -> tuple[Path, Lanes]:
        """Write the active lanes back; return them and their path to a block of the function."""
        function = active.frame.function
        path = (*active.path[:-1], function.base + target)
        return path, self.write_back(active, function.blocks[target].live_in)

    def suspend(self, active: Active, path: Path, live: int) -> None:
        """Write the active lanes back and let them wait at a path."""
        self.wait(path, self.write_back(active, live))

    def diverge(self, active: Active, target: int, otherwise: int) -> None:
        """Send lanes to one of two blocks by the condition of the block they have executed."""
        condition = active.code.condition
        assert condition is not None
        if len(condition) != active.width:
            self.proceed(active, target if condition[0] else otherwise)
            return
        if active.valid is not None:
            condition = np.logical_and(condition, active.valid)
        chosen = int(np.count_nonzero(condition))
        if chosen == active.count:
            self.proceed(active, target)
        elif chosen == 0:
            self.proceed(active, otherwise)
        elif active.in_place:
            lanes, prefix = active.lanes, active.path[:-1]
            base = active.frame.function.base
            self._polled(active, min(target, otherwise))
            self.wait((*prefix, base + target), lane_sets.select(lanes, condition))
            self.wait((*prefix, base + otherwise), lane_sets.select(lanes, ~condition))
            self.active = None
        elif target < otherwise:
            self._diverge_compacted(active, condition, chosen, target, otherwise)
        else:
            valid = True if active.valid is None else active.valid
            condition = np.logical_and(np.logical_not(condition), valid)
            self._diverge_compacted(active, condition, active.count - chosen, otherwise, target)

    def _diverge_compacted(
        self, active: Active, staying: Array, count: int, target: int, otherwise: int
    ) -> None:
        """Keep the lanes that go to ``target`` active, write the others back to wait."""
        going = ~staying
        if active.valid is not None:
            going &= active.valid
        positions = np.flatnonzero(going)
        members = active.members
        assert not isinstance(members, slice)
        lanes = members.take(positions)
        function = active.frame.function
        slots = active.dirty & function.blocks[otherwise].live_in
        active.frame.write_back(lanes, positions, slots)
        self.wait((*active.path[:-1], function.base + otherwise), lane_sets.of(lanes))
        active.restrict(staying.copy(), count)
        if 2 * count < active.width:
            active.loaded &= function.blocks[target].live_in
            active.frame.compact(active.positions, active.loaded)
            active.compact(lane_sets.indices(active.lanes))
        self.proceed(active, target)

    def scatter(self, active: Active, targets: Indices) -> None:
        """Send each lane to the block that ``targets`` has for it."""
        function = active.frame.function
        wanted = distinct(targets)
        if len(wanted) == 1:
            self.proceed(active, int(wanted[0]))
            return
        live = 0
        for target in wanted:
            live |= function.blocks[target].live_in
        path = active.path
        lanes = self.write_back(active, live)
        self._polled(active, int(wanted[0]))
        for target in wanted:
            chosen = lane_sets.select(lanes, targets == target)
            self.wait((*path[:-1], function.base + int(target)), chosen)

    def exit(self, active: Active) -> None:
        """End the active lanes."""
        self.alive[active.lanes] = False
        self.living -= active.count
        if self.tensor.sizes:
            blocks = self.threads.block_of
            for block in np.setdiff1d(blocks[active.lanes], blocks[self.alive]).tolist():
                check_tensor_memory(self, block, active.block.terminator.site)
        self.observer.lanes_exited(self, active.lanes)
        self.active = None
        self.recheck()

    def recheck(self) -> None:
        """Check after lanes have exited whether lanes that waited for them can continue."""
        for path, lanes in self.synchronizing.items():
            self.wait(path, lanes)
        self.synchronizing.clear()
        self.barriers.recheck()
        self.clusters.recheck()

    # --- calls -----------------------------------------------------------------------------------

    def frame(self, depth: int, function: FunctionCode) -> Frame:
        """Return the registers of a function at a call depth."""
        frame = self._frames.get((depth, function.name))
        if frame is None:
            frame = self._frames[(depth, function.name)] = Frame(self, function, depth)
        return frame

    def call(self, path: Path, lanes: Lanes, function: FunctionCode, call: FunctionCall) -> None:
        """Let lanes whose registers are written back enter a function."""
        depth = len(path) - 1
        caller = self.frame(depth, self.launch.locate(path[-1])[0])
        callee = self.frame(depth + 1, function)
        self.stack.enter(depth, lanes, caller.function, function, call.site)
        for formal, actual in zip(function.parameters, call.arguments, strict=True):
            _hand_over(caller.registers[actual], callee.registers[formal], lanes)
        self.wait((*path, function.base), lanes)

    def return_to_caller(self, active: Active) -> None:
        """Return the active lanes to their caller."""
        callee = active.frame
        path = active.path[:-1]
        lanes = self.write_back(active, mask_of(callee.function.results))
        self.stack.leave(len(path), lanes)
        function, block = self.launch.locate(path[-1])
        caller = self.frame(len(path) - 1, function)
        call = block.terminator
        assert isinstance(call, FunctionCall)
        for formal, actual in zip(callee.function.results, call.results, strict=True):
            _hand_over(callee.registers[formal], caller.registers[actual], lanes)
        self.wait((*path[:-1], function.base + call.after), lanes)

    # --- warp-synchronous operations -------------------------------------------------------------

    def _synchronized(
        self, path: Path, lanes: Lanes, function: FunctionCode, block: BlockCode
    ) -> Lanes | None:
        """Return the lanes whose whole member mask has arrived; the others wait until it has."""
        if path in self.synchronizing:
            lanes = lane_sets.union([lanes, self.synchronizing.pop(path)])
        frame = self.frame(len(path) - 1, function)
        assert block.sync_mask is not None
        masks = frame.register_values(block.sync_mask, lanes)
        ready = self.threads.complete(lanes, masks, self.alive, block.sync_warps)
        if ready.all():
            return lanes
        self.synchronizing[path] = lane_sets.select(lanes, ~ready)
        meet_elsewhere(self, block)
        return lane_sets.select(lanes, ready) if ready.any() else None

    # --- memory sections -------------------------------------------------------------------------

    @property
    def sections(self) -> set[Section]:
        """The memory of blocks and threads that has been accessed."""
        return {each for name, each in self._sections.items() if name != "param"}

    def section(self, name: str) -> Section:
        """Return shared, local or parameter memory, created on first use."""
        if name not in self._sections:
            self._sections[name] = self._make_section(name)
        return self._sections[name]

    def _make_section(self, name: str) -> Section:
        launch = self.launch
        if name == "param":
            return Section(
                name, WINDOWS[name], launch.kernel.parameter_bytes, launch.parameters, None
            )
        base = WINDOWS[name]
        count = self.threads.room
        if name == "tensor":
            size = stride = TENSOR_BYTES
        elif name == "shared":
            base += launch.shared_start
            size, stride = launch.shared_bytes, launch.shared_stride
        else:
            size, stride, count = launch.local_bytes, launch.local_stride, self.lanes
        memory = np.empty(count * stride, dtype=np.uint8)
        starts = None
        if count > 1:
            owner = np.arange(count) if name == "local" else self.threads.block_of
            starts = owner * stride
        section = Section(name, base, size, memory, starts, 0 if name == "local" else stride)
        if launch.has_ranks and name != "local":
            ranks = (self.threads.block_of % launch.cluster_blocks).astype(np.uint64)
            section.ranks = ranks << np.uint64(RANK_SHIFT)
        launch.undefine(section)
        return section


def _hand_over(source: Array, target: Array, lanes: Lanes) -> None:
    """Copy an argument or a result of some lanes; one is a register, the other may be parameters.

    A register's value is the first bytes of a parameter. ``source`` may be a single value.
    """
    values = source[lanes] if len(source) > 1 else source
    if (values.dtype, values.shape[1:]) == (target.dtype, target.shape[1:]):
        target[lanes] = values
        return
    given = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
    room = target.view(np.uint8).reshape(len(target), -1)
    size = min(given.shape[1], room.shape[1])
    room[lanes, :size] = given[:, :size]
