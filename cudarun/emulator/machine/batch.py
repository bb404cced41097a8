"""A batch: some thread blocks run side by side, and the order in which their lanes run.

The threads of a block are consecutive lanes, the blocks of a batch follow each other. Lanes wait in
groups, one per **path**: the chain of basic blocks they were called from, then the block they
are to run. The lowest path runs first, which is where lanes that parted come together again. A
group that jumps back to a loop which could be waiting for other threads loses its turn after a
while, so that a thread spinning on a lock does not keep the owner from giving it back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.code import BlockCode, FunctionCode
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.access import Access, Region, Section, section_window
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.barriers import Barriers
from cudarun.emulator.machine.clusters import ClusterBarrier
from cudarun.emulator.machine.control import FunctionCall
from cudarun.emulator.machine.frame import Frame
from cudarun.emulator.machine.lanes import Indices, Lanes
from cudarun.emulator.machine.report import describe_deadlock
from cudarun.emulator.machine.scratch import Scratch
from cudarun.emulator.machine.spaces import WINDOWS
from cudarun.emulator.machine.stack import Stack
from cudarun.emulator.machine.threads import Threads

if TYPE_CHECKING:
    from cudarun.emulator.machine.launch import Launch

Array = npt.NDArray[Any]
Path = tuple[int, ...]

# A jump back to a loop that could be waiting for other threads costs what its block says: much
# where the loop holds an atomic, little where it only loads. When a group has used up the patience
# while others wait, the one that has waited longest may run some blocks before the lowest path has
# its right again. When all lanes are in such loops for long, it may be other batches they wait for.
_PATIENCE = 4096
_TENURE = 256
_STALLED = 1 << 19


class Batch:
    """Some thread blocks of a launch, and all they need to run.

    Args:
        launch: What all batches of the launch share.
        blocks: For how many thread blocks there is to be room.
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
        self.gated: dict[Path, Lanes] = {}
        self.barriers = Barriers(self)
        self.clusters = ClusterBarrier(self)
        self.stack = Stack(self)
        self.recent: dict[Access, Region] = {}
        self.shuffles: dict[tuple[object, ...], tuple[Array, Array]] = {}
        self._frames: dict[tuple[int, str], Frame] = {}
        self._sections: dict[str, Section] = {}
        self._patience = _PATIENCE
        self._tenure = 0
        self._stall = 0

    def begin(self, first_block: int, blocks: int) -> None:
        """Place thread blocks in the lanes, all at the start of the kernel."""
        self.threads.place(first_block, blocks)
        count = blocks * self.launch.block_threads
        if "shared" in self._sections:
            self._sections["shared"].bytes[:] = 0
        self.alive[:count] = True
        self.alive[count:] = False
        self.living = count
        self.clusters.begin()
        self.stack.begin()
        self.observer.begin(self, first_block, blocks)
        self.waiting[(self.launch.kernel_function.base,)] = [slice(0, count)]

    def run(self) -> Iterator[None]:
        """Run until all lanes have ended; yields when they seem to wait for another batch.

        Raises:
            DeviceFault: What a lane did is a fault, or no lane can go on.
        """
        while self.living:
            while self.waiting:
                self._enter(self._choose())
                while (active := self.active) is not None:
                    for function, arguments in active.code.entries:
                        function(*arguments)
                    active.code.terminator.finish(self, active)
                if self._stall > _STALLED:
                    self._stall = 0
                    yield
            if self.living:
                raise describe_deadlock(self)

    # --- which lanes run next --------------------------------------------------------------------

    def _choose(self) -> Path:
        self._tenure = 0
        if self._patience <= 0 and len(self.waiting) > 1:
            self._patience = _PATIENCE
            self._tenure = _TENURE
            return next(iter(self.waiting))  # waits longest
        return min(self.waiting)

    def _enter(self, path: Path) -> None:
        """Make the lanes that wait at a path the active ones."""
        lanes = lane_sets.union(self.waiting.pop(path))
        function, block = self.launch.locate(path[-1])
        if block.gate is not None:
            admitted = self._pass_gate(path, lanes, function, block)
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
                active.frame.load(members, missing)
            active.loaded |= missing | block.writes
            active.dirty |= block.writes
        active.block = block
        active.code = active.frame.code(active, block)

    def proceed(self, active: Active, target: int) -> None:
        """The active lanes go on with a block of the same function."""
        function = active.frame.function
        block = function.blocks[target]
        path = (*active.path[:-1], function.base + target)
        backward = target <= active.block.index
        if backward and block.polls:
            self._polled(block)
        if self._stall > _STALLED or (self.waiting and self._must_wait(path, backward=backward)):
            self.leave(active, path, block.live_in)
            return
        if block.gate is not None and not self.threads.whole_warps(active, block.gate_warps):
            self.leave(active, path, block.live_in)
            return
        active.path = path
        self._run_next(active, block)

    def _polled(self, block: BlockCode) -> None:
        if self.waiting:
            self._patience -= block.polls
        else:
            self._stall += block.polls

    def _must_wait(self, path: Path, *, backward: bool) -> bool:
        """Whether lanes that reach a path stop there: others are there or behind, or it is time."""
        if path in self.waiting:
            return True
        if self._tenure > 0:
            self._tenure -= 1
            return False
        return (backward and self._patience <= 0) or min(self.waiting) < path

    # --- where lanes go --------------------------------------------------------------------------

    def wait(self, path: Path, lanes: Lanes) -> None:
        """Let lanes, their registers at home, wait for their turn at a path."""
        self.waiting.setdefault(path, []).append(lanes)

    def settle(self, active: Active, live: int) -> Lanes:
        """Put the registers of the active lanes home; nothing is active then."""
        lanes = active.lanes
        if not active.home:
            slots = active.dirty & live
            if slots:
                positions = slice(0, active.width) if active.valid is None else active.positions
                active.frame.store(lanes, positions, slots)
        self.active = None
        return lanes

    def leave(self, active: Active, path: Path, live: int) -> None:
        """Let the active lanes wait at a path."""
        self.wait(path, self.settle(active, live))

    def part(self, active: Active, target: int, otherwise: int) -> None:
        """Lanes go to one of two blocks by the condition of the block they have run."""
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
        elif active.home:
            self._part_home(active, condition, target, otherwise)
        elif target < otherwise:
            self._part_bank(active, condition, chosen, target, otherwise)
        else:
            valid = True if active.valid is None else active.valid
            condition = np.logical_and(np.logical_not(condition), valid)
            self._part_bank(active, condition, active.count - chosen, otherwise, target)

    def _part_home(self, active: Active, condition: Array, target: int, otherwise: int) -> None:
        lanes = active.lanes
        prefix, base = active.path[:-1], active.frame.function.base
        self.wait((*prefix, base + target), lane_sets.select(lanes, condition))
        self.wait((*prefix, base + otherwise), lane_sets.select(lanes, ~condition))
        self.active = None

    def _part_bank(
        self, active: Active, staying: Array, count: int, target: int, otherwise: int
    ) -> None:
        """Keep the lanes that go to ``target`` in the bank, send the rest home to wait."""
        going = ~staying
        if active.valid is not None:
            going &= active.valid
        positions = np.flatnonzero(going)
        members = active.members
        assert not isinstance(members, slice)
        lanes = members.take(positions)
        function = active.frame.function
        slots = active.dirty & function.blocks[otherwise].live_in
        active.frame.store(lanes, positions, slots)
        self.wait((*active.path[:-1], function.base + otherwise), lane_sets.of(lanes))
        active.keep(staying.copy(), count)
        if 2 * count < active.width:
            self._repack(active, function.blocks[target].live_in)
        self.proceed(active, target)

    def _repack(self, active: Active, live: int) -> None:
        positions, lanes = active.positions, active.lanes
        assert not isinstance(lanes, slice)
        active.loaded &= live
        active.frame.repack(positions, active.loaded)
        active.repack(lanes)

    def scatter(self, active: Active, targets: Indices) -> None:
        """Each lane goes to the block that ``targets`` has for it."""
        function = active.frame.function
        wanted = np.unique(targets)
        if len(wanted) == 1:
            self.proceed(active, int(wanted[0]))
            return
        live = 0
        for target in wanted:
            live |= function.blocks[target].live_in
        path = active.path
        lanes = self.settle(active, live)
        for target in wanted:
            chosen = lane_sets.select(lanes, targets == target)
            self.wait((*path[:-1], function.base + int(target)), chosen)

    def exit(self, active: Active) -> None:
        """The active lanes end."""
        self.alive[active.lanes] = False
        self.living -= active.count
        self.active = None
        self.recheck()

    def recheck(self) -> None:
        """Lanes have ended: those that wait for the others may be complete now."""
        for path, lanes in self.gated.items():
            self.wait(path, lanes)
        self.gated.clear()
        self.barriers.recheck()
        self.clusters.recheck()

    # --- calls -----------------------------------------------------------------------------------

    def frame(self, depth: int, function: FunctionCode) -> Frame:
        """The registers of a function at a call depth."""
        frame = self._frames.get((depth, function.name))
        if frame is None:
            frame = self._frames[(depth, function.name)] = Frame(self, function, depth)
        return frame

    def call(self, path: Path, lanes: Lanes, function: FunctionCode, call: FunctionCall) -> None:
        """Lanes whose registers are at home enter a function."""
        depth = len(path) - 1
        caller = self.frame(depth, self.launch.locate(path[-1])[0])
        callee = self.frame(depth + 1, function)
        self.stack.enter(depth, lanes, caller.function, function, call.site)
        for formal, actual in zip(function.parameters, call.arguments, strict=True):
            _hand_over(caller.home[actual], callee.home[formal], lanes)
        self.wait((*path, function.base), lanes)

    def give_back(self, active: Active) -> None:
        """The active lanes return to their caller."""
        callee = active.frame
        live = 0
        for slot in callee.function.results:
            live |= 1 << slot
        path = active.path[:-1]
        lanes = self.settle(active, live)
        self.stack.leave(len(path), lanes)
        function, block = self.launch.locate(path[-1])
        caller = self.frame(len(path) - 1, function)
        call = block.terminator
        assert isinstance(call, FunctionCall)
        for formal, actual in zip(callee.function.results, call.results, strict=True):
            _hand_over(callee.home[formal], caller.home[actual], lanes)
        self.wait((*path[:-1], function.base + call.after), lanes)

    # --- gates -----------------------------------------------------------------------------------

    def _pass_gate(
        self, path: Path, lanes: Lanes, function: FunctionCode, block: BlockCode
    ) -> Lanes | None:
        """The lanes whose whole member mask is here; the others stay until it is."""
        if path in self.gated:
            lanes = lane_sets.union([lanes, self.gated.pop(path)])
        frame = self.frame(len(path) - 1, function)
        assert block.gate is not None
        masks = frame.home_values(block.gate, lanes)
        ready = self.threads.complete(lanes, masks, self.alive, block.gate_warps)
        if ready.all():
            return lanes
        self.gated[path] = lane_sets.select(lanes, ~ready)
        return lane_sets.select(lanes, ready) if ready.any() else None

    # --- what lanes have -------------------------------------------------------------------------

    def special(self, name: str) -> Array:
        """A special register: a value per lane, or a single one."""
        return self.threads.special(name)

    def section(self, name: str) -> Section:
        """Shared, local or parameter memory, made when it is first needed."""
        if name not in self._sections:
            self._sections[name] = self._make_section(name)
        return self._sections[name]

    def section_at(self, address: int) -> Section | None:
        """The one in whose window a generic address is."""
        name = section_window(address)
        return None if name is None else self.section(name)

    def _make_section(self, name: str) -> Section:
        launch = self.launch
        if name == "param":
            return Section(
                name, WINDOWS[name], launch.kernel.parameter_bytes, launch.parameters, None
            )
        if name == "shared":
            size, stride, owner = launch.shared_bytes, launch.shared_stride, self.threads.block_of
            count = self.threads.room
        else:
            size = stride = launch.local_stride
            owner, count = np.arange(self.lanes), self.lanes
        memory = np.zeros(count * stride, dtype=np.uint8)
        starts = owner * stride if count > 1 else None
        return Section(name, WINDOWS[name], size, memory, starts)


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
