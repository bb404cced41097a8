"""The lanes of blocks that compiled code runs, entered in a batch as the interpreter has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import Action
from cudarun.emulator.compiled.frame_memory import FrameMemory
from cudarun.emulator.compiled.kernels import CompiledKernel
from cudarun.emulator.compiled.lanes.vectors import WIDTH
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.barrier_objects import FailedWait
from cudarun.emulator.machine.barriers import Arrival
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.clusters import ClusterWait
from cudarun.emulator.machine.frame import Frame
from cudarun.emulator.machine.lanes import of
from cudarun.emulator.machine.mbarriers import PhaseTest
from cudarun.emulator.numerics.arrays import Array, distinct

_LANES = np.arange(WIDTH)


def last_call(context: Array) -> tuple[int, int, int]:
    """Return the site, the warp and the lanes of a block's last callback."""
    words = context.view(np.int32)
    site, warp, mask = (
        int(words[offset // 4])
        for offset in (layout.SITE, layout.CALLING_WARP, layout.CALLING_MASK)
    )
    return site, warp, mask & 0xFFFFFFFF


@dataclass(slots=True)
class WaitingLanes:
    """The lanes of the running blocks."""

    kernel: CompiledKernel
    batch: Batch  # the batch, with a block per slot
    contexts: Array  # the context of each slot
    states: Array  # the states of the warps of each slot
    frame: Frame  # the registers of the batch
    frames: FrameMemory  # the frames of calls
    tests: Array  # the last tests of ``mbarrier`` objects by slot, instruction and warp
    # Assigns the lanes of a cluster to the blocks that run, given its first slot.
    place: Callable[[int], None]

    def note_all(self, calling: int) -> bool:
        """Enter the lanes of all running blocks; ``calling`` is the slot of the last callback.

        Returns:
            Whether there are any.
        """
        batch, launch = self.batch, self.batch.launch
        size = launch.cluster_blocks
        running = np.flatnonzero(self.contexts[::size, layout.RUNNING // 8]) * size
        for noted in (batch.waiting, batch.barriers.arrivals, batch.clusters.waiting):
            noted.clear()
        batch.synchronizing.clear()
        batch.failed_waits.clear()
        launch.excluded = 0
        if not len(running):  # the last ones have ended
            return False
        _, warp, _ = last_call(self.contexts[calling])
        first = calling * launch.block_threads + warp * WIDTH
        for path, mask in self.frames.waiting():  # in called functions, of the warp that runs
            batch.wait(path, of(np.flatnonzero(mask >> _LANES & 1) + first))
        for slot in running.tolist():
            self.place(slot)
        slots = (running[:, None] + np.arange(size)).reshape(-1)
        self.note_parked(slots)
        for block in self.kernel.code.function.blocks:
            lanes = self.lanes(slots, self.kernel.code.state.pending(block.index))
            if len(lanes):
                batch.wait(self.frames.path(block.index), of(lanes))
        waiting = self._noted()
        for slot in slots.tolist():
            self._note_running(slot, waiting)
        for number, operation in enumerate(self.kernel.code.sites.tests):
            self._note_test(number, operation, slots)
        if len(slots) == launch.resident_blocks:
            begun = int(self.contexts[slots, layout.BLOCK // 8].max()) + 1
            launch.excluded = launch.blocks - begun
        return True

    def lanes(self, slots: Array, offset: int) -> Array:
        """Return the lanes of some slots whose bits are set in a mask of the states."""
        masks = np.ascontiguousarray(self.states[slots, :, offset : offset + 4])
        bits = np.unpackbits(masks.reshape(len(slots), -1), axis=1, bitorder="little")
        place, thread = np.nonzero(bits)
        lanes: Array = slots[place] * self.batch.launch.block_threads + thread
        return lanes

    def note_parked(self, slots: Array) -> None:
        """Enter the lanes that wait for others in the batch."""
        points, state, batch = self.kernel.code.points, self.kernel.code.state, self.batch
        for place, block in enumerate(points.barriers):
            lanes = self.lanes(slots, state.mask("waiting", place))
            numbers = self._barrier_numbers(lanes)
            for number in distinct(numbers):
                self._add_arrival(int(number), lanes[numbers == number], block.terminator)
        for place, block in enumerate(points.warp_barriers):
            lanes = self.lanes(slots, state.mask("warp_waiting", place))
            self._add_arrival(None, lanes, block.terminator)
        for place, block in enumerate(points.cluster_barriers):
            lanes = self.lanes(slots, state.mask("cluster_waiting", place))
            if len(lanes):
                assert isinstance(block.terminator, ClusterWait)
                path = self.frames.path(block.terminator.after)
                batch.clusters.waiting.append((path, of(lanes), block.terminator.site))
        for block in self.kernel.code.function.blocks:
            lanes = self.lanes(slots, state.parked(block.index))
            if len(lanes):
                batch.synchronizing[self.frames.path(block.index)] = of(lanes)

    def _barrier_numbers(self, lanes: Array) -> Array:
        """Return the number of the barrier at which each of some waiting lanes waits."""
        state = self.kernel.code.state
        if not state.counted:
            return np.zeros(len(lanes), dtype=np.uint32)
        slots, threads = np.divmod(lanes, self.batch.launch.block_threads)
        warps, places = np.divmod(threads, WIDTH)
        numbers: Array = self.states.view(np.uint32)[
            slots, warps, state.mask("barrier_number") // 4 + places
        ]
        return numbers

    def _add_arrival(self, number: int | None, lanes: Array, terminator: Any) -> None:
        if len(lanes):
            expected = np.zeros(len(lanes), dtype=np.uint32)
            path = self.frames.path(terminator.after)
            arrival = Arrival(number, of(lanes), expected, path, terminator.site)
            self.batch.barriers.arrivals.append(arrival)

    def _noted(self) -> Array:
        """Return for each lane of the batch whether it has been entered."""
        batch = self.batch
        noted = [each for parts in batch.waiting.values() for each in parts]
        noted += [arrival.lanes for arrival in batch.barriers.arrivals]
        noted += [each for _, each, _ in batch.clusters.waiting]
        noted += batch.synchronizing.values()
        mask = np.zeros(len(self.contexts) * batch.launch.block_threads, dtype=bool)
        for lanes in noted:
            mask[lane_sets.indices(lanes)] = True
        return mask

    def _note_running(self, slot: int, waiting: Array) -> None:
        """Enter the lanes of the last callback in the batch, if they do not wait anywhere."""
        number, warp, mask = last_call(self.contexts[slot])
        if layout.TICK_SITE < number < 0 or not mask:  # none, before the first callback
            return
        sites = self.kernel.code.sites.sites
        block = layout.TICK_SITE - number if number < 0 else sites[number].block
        first = slot * self.batch.launch.block_threads + warp * WIDTH
        running = np.flatnonzero(mask >> _LANES & 1) + first
        running = np.intersect1d(
            running, self.lanes(np.array([slot]), self.kernel.code.state.ALIVE)
        )
        running = running[~waiting[running]]
        if len(running):
            self.batch.wait(self.frames.path(block), of(running))

    def _note_test(self, number: int, operation: Action, slots: Array) -> None:
        """Enter the lanes whose last test of an ``mbarrier`` object failed."""
        assert isinstance(operation.action, PhaseTest)
        tests = self.tests[slots, number]  # by slot and warp
        slot, warp, place = np.nonzero(tests["failed"][..., None] >> _LANES & 1)
        if not len(slot):
            return
        lanes = slots[slot] * self.batch.launch.block_threads + warp * WIDTH + place
        phases = tests["asked"][slot, warp] >> place.astype(np.uint32) & 1
        active = Active(self.batch, self.frames.path(0), self.frame, of(lanes))
        (access,) = operation.action.accesses
        self.batch.failed_waits[number] = [
            FailedWait(lanes[rows], view, places, phases[rows], operation.site)
            for view, places, positions, _ in access.locate(
                active, tests["addresses"][slot, warp, place]
            )
            for rows in [slice(None) if positions is None else positions]
        ]
