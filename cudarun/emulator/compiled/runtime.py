"""Launches of compiled kernels: their memory, the run of their blocks, and the callback."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Generator, Sequence

import numpy as np

from cudarun.emulator.code import Action, RegisterUse
from cudarun.emulator.compiled.access.barrier_objects import OBJECT_TEST
from cudarun.emulator.compiled.access.reductions import reduce_at
from cudarun.emulator.compiled.access.tensor_entries import TensorEntries
from cudarun.emulator.compiled.access_cache import AccessCache
from cudarun.emulator.compiled.fixed_values import block_values, fixed_values, lane_values
from cudarun.emulator.compiled.frame_memory import FrameMemory
from cudarun.emulator.compiled.kernels import CompiledKernel, resident_blocks
from cudarun.emulator.compiled.lanes.lowering import LaneType
from cudarun.emulator.compiled.lanes.vectors import WIDTH
from cudarun.emulator.compiled.meetings import WarpMeeting
from cudarun.emulator.compiled.observation import ObservedLaunch, Suspicion
from cudarun.emulator.compiled.products.products import ProductOfWarp
from cudarun.emulator.compiled.queue import BlockQueue
from cudarun.emulator.compiled.scheduled_blocks import ScheduledBlocks
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.compiled.state.sites import CallbackSite
from cudarun.emulator.compiled.waiting_lanes import WaitingLanes, last_call
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine.access import Access, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.clusters import other_blocks
from cudarun.emulator.machine.frame import SparseFrame
from cudarun.emulator.machine.lanes import of
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.report import check_tensor_memory, describe_deadlock
from cudarun.emulator.machine.spaces import Region
from cudarun.emulator.machine.standstill import Standstill
from cudarun.emulator.numerics.arrays import Array, Arrays

_FIRST_JUMPS = 1 << 14  # back, before the first tick at the most
_MOST_JUMPS = 1 << 20  # back in a block, until its lanes are preempted
_FIRST_OPERATIONS = 1 << 18  # of a warp, in some milliseconds
_LEAST_INTERVAL = 64
_TICK_SECONDS = 0.02
_MOST_GROWTH = 8.0
_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_LANES = np.arange(WIDTH)
_TRUTH = LaneType(np.dtype(np.bool_))


class CompiledRun:
    """One thread's part of a launch of a compiled kernel.

    Args:
        on_tick: Called from time to time.
        lead: The part of another thread, with which it shares what does not change.
        jumps: The `jumps` of what has run the blocks before, with other code; none by default.
    """

    def __init__(
        self,
        kernel: CompiledKernel,
        launch: Launch,
        queue: BlockQueue,
        on_tick: Callable[[], object],
        lead: CompiledRun | None = None,
        jumps: Sequence[int] = (),
    ) -> None:
        self._kernel = kernel
        self._launch = launch
        self._queue = queue
        self._on_tick = on_tick
        first = max(_FIRST_OPERATIONS // max(kernel.operations, 1), _LEAST_INTERVAL)
        self._interval = min(first, _FIRST_JUMPS, _MOST_JUMPS)  # back before the first tick
        self._ticked = time.perf_counter()
        self._calling = 0  # the slot of the last callback
        self._failed = 0  # the block that raised the error
        self._slots = slots = resident_blocks(kernel, launch)
        self._jumps = list(jumps) or [0] * slots  # back, until the last tick and since preemption
        # After so many jumps more.
        self._next_tick = [min(self._interval, _MOST_JUMPS - each) for each in self._jumps]
        self._batch = batch = Batch(launch, slots)
        batch.begin(0, slots)
        batch.waiting.clear()
        self._frame = frame = SparseFrame(batch, kernel.code.function, 0)
        self._sites = kernel.code.sites.sites
        self.spent = 0.0  # the processor time of the last blocks that ran together
        self.seconds = 0.0  # the same per block
        self._error: BaseException | None = None
        self._blocks = [-1] * slots  # those of the batch's lanes, by slot
        self._warps = warps = batch.threads.warps
        self._state_bytes = kernel.code.state.size
        self._states = layout.aligned_bytes(max(slots * warps * self._state_bytes, 1))
        self._frames = FrameMemory(kernel, launch.local_stride)
        self._standstill = Standstill(launch)
        tests = max(len(kernel.code.sites.tests), 1)
        self._tests = np.zeros((slots, tests, warps), dtype=OBJECT_TEST)
        self._scratch = np.zeros(layout.COLUMNS * layout.COLUMN_BYTES, dtype=np.uint8)
        self._shared = batch.section("shared")
        self._observed = None
        if kernel.observation is not None:
            self._observed = ObservedLaunch(kernel.observation, launch, batch)
        observe = self._observed.tensor if self._observed else lambda *_: 0
        self._tensors = TensorEntries(kernel.code.sites.tensors, observe)
        self._cache = AccessCache(kernel, launch, slots, self._shared, self._observed)
        self._constants: Array = lead._constants if lead else fixed_values(kernel, launch, frame)
        self._lane_registers: Array = lead._lane_registers if lead else lane_values(kernel, batch)
        answers = self._answers()
        next(answers)
        self._callback = _Callback(answers.send)
        cache = self._cache.memory
        fields = (
            (layout.CONSTANTS, self._constants.ctypes.data, 0),
            (layout.CACHE, cache.ctypes.data, cache.strides[0]),
            (layout.LANE_REGISTERS, self._lane_registers.ctypes.data, 0),
            (layout.LANE_ROW, 4 * warps * WIDTH, 0),
            (layout.SCRATCH, self._scratch.ctypes.data, 0),
            (layout.STATES, self._states.ctypes.data, warps * self._state_bytes),
            (layout.CALLBACK, ctypes.cast(self._callback, ctypes.c_void_p).value or 0, 0),
            (layout.SHARED, self._shared.bytes.ctypes.data, launch.shared_stride),
            (layout.SHARED_STRIDE, launch.shared_stride if launch.shared_bytes else 0, 0),
            (layout.SHARED_START, launch.shared_start, 0),
            (layout.SHARED_BYTES, launch.shared_bytes, 0),
            (layout.SHARED_RESERVED, launch.reserved_bytes, 0),
            (layout.WARPS, warps, 0),
            (layout.THREADS, launch.block_threads, 0),
            (layout.SLOTS, slots, 0),
            (layout.CLUSTER, launch.cluster_blocks, 0),
            (layout.AT_ONCE, slots if launch.config.cooperative else launch.cluster_blocks, 0),
            (layout.LOCAL_BYTES, launch.local_stride, 0),
            *self._local_fields(),
            (layout.FRAMES, self._frames.address, 0),
            (layout.TENSORS, self._tensors.memory.ctypes.data, 0),
            (layout.CONCURRENT, queue.threads > 1, 0),
            (layout.TESTS, self._tests.ctypes.data, self._tests.strides[0]),
            (layout.TESTS_BYTES, self._tests.strides[0] if len(kernel.code.sites.tests) else 0, 0),
            *(self._observed.fields() if self._observed else ()),
        )
        row = [0] * (layout.CONTEXT_BYTES // 8)
        for offset, value, _ in fields:
            row[offset // 8] = value
        self._contexts = np.array([row] * slots, dtype=np.uint64)
        self._first_context = self._contexts.ctypes.data
        for offset, _, step in fields:
            if step and slots > 1:
                steps = np.arange(0, step * slots, step, dtype=np.uint64)
                self._contexts[:, offset // 8] += steps
        self._contexts[:, layout.TICKS // 8] = self._next_tick
        schedule = launch.config.schedule
        self._scheduled = None
        if schedule is not None:
            self._scheduled = ScheduledBlocks(schedule, batch, self._contexts)
        rows = self._states.reshape(slots, warps, -1)
        self._waiting = WaitingLanes(
            kernel, batch, self._contexts, rows, frame, self._frames, self._tests, self._place
        )

    def _local_fields(self) -> list[tuple[int, int, int]]:
        launch = self._launch
        if not launch.uses_local:
            return []
        address = self._batch.section("local").bytes.ctypes.data
        size = launch.local_stride * launch.block_threads
        return [(layout.LOCAL, address, size), (layout.LOCAL_SIZE, size, 0)]

    # --- running ---------------------------------------------------------------------------------

    def jumps(self) -> list[int]:
        """Return the jumps back of each slot since lanes were preempted."""
        left = self._contexts[:, layout.TICKS // 8].astype(np.int64)
        return list(np.add(self._jumps, self._next_tick) - left)

    def set_concurrent(self, value: bool) -> None:
        """Set whether other threads run blocks from now on; only this run's thread may call it."""
        self._contexts[:, layout.CONCURRENT // 8] = value

    def run(self) -> bool:
        """Run the next blocks of the queue; return whether there were any.

        A fault is passed to the queue, any other error is raised.
        """
        first, count = self._queue.take()
        if not count:
            return False
        rows = block_values(self._kernel, self._launch, first, count)
        started = time.thread_time()
        given = first, count, rows.ctypes.data, rows.strides[0]
        if self._kernel.run(self._first_context, *given) != 0:
            if isinstance(self._error, DeviceFault):
                self._queue.fail(self._failed, self._error)
            elif self._error is not None:
                raise self._error
            return False
        self._check_suspicion(0)
        try:
            for slot in range(self._slots):
                self._check_tensor_memory(slot)
        except DeviceFault as fault:
            self._queue.fail(max(self._blocks), fault)
            return False
        self.spent = time.thread_time() - started
        self.seconds = self.spent / count
        self._queue.complete(count, self.spent)
        return True

    def _check_suspicion(self, slot: int) -> None:
        if self._contexts[slot, layout.SUSPECTED // 8]:
            raise Suspicion

    # --- the callback ----------------------------------------------------------------------------

    def _answers(self) -> Generator[int, int, None]:
        """Answer compiled code, which sends its context; errors are raised when it has returned.

        A signal handler runs when the generator continues, so that its error is caught here. A
        function would raise it before its first statement, and ctypes would ignore it.
        """
        answer = layout.RETRY
        slot = 0
        while True:
            try:
                while True:
                    context = yield answer
                    slot = (context - self._first_context) // layout.CONTEXT_BYTES
                    answer = self._answer(slot)
            except GeneratorExit:
                return
            except BaseException as error:
                self._error = error
                self._failed = int(self._contexts[slot, layout.BLOCK // 8])
                answer = layout.FAULT

    def _answer(self, slot: int) -> int:
        number, warp, mask = last_call(self._contexts[slot])
        self._calling = slot
        if number <= layout.TICK_SITE:
            return self._tick(slot)
        with self._queue.actions:
            self._place(slot)
            if number == layout.DEADLOCK_SITE:
                self._waiting.note_parked(np.arange(slot, slot + self._launch.cluster_blocks))
                raise describe_deadlock(self._batch)
            if number == layout.ENDED_SITE:
                assert self._scheduled is not None
                self._scheduled.ended(slot)
                return layout.RETRY
            if number == layout.STALL_SITE:
                return self._check_standstill()
            if number == layout.MEETING_SITE:
                return self._meet(slot, warp)
            return self._execute(self._sites[number], slot, warp, mask)

    def _tick(self, slot: int) -> int:
        """Let signals and other threads be served, and other lanes from time to time.

        Returns:
            ``FAULT`` if the blocks need not be run.
        """
        self._check_suspicion(slot)
        now = time.perf_counter()
        if self._scheduled and self._scheduled.interleaves:
            self._scheduled.end_turn(slot)
            answer = layout.PREEMPT
            if now - self._ticked < _TICK_SECONDS:
                return answer
        else:
            change = min(_TICK_SECONDS / max(now - self._ticked, 1e-6), _MOST_GROWTH)
            self._interval = min(max(int(self._interval * change), _LEAST_INTERVAL), _MOST_JUMPS)
            # preempted after a fixed number of jumps, so that it does not depend on the time
            self._jumps[slot] = jumps = (self._jumps[slot] + self._next_tick[slot]) % _MOST_JUMPS
            self._next_tick[slot] = min(self._interval, _MOST_JUMPS - jumps)
            self._contexts[slot, layout.TICKS // 8] = self._next_tick[slot]
            answer = layout.RETRY if jumps else layout.PREEMPT
        self._ticked = now
        running = self._contexts[:, layout.RUNNING // 8] != 0
        lowest = int(self._contexts[running, layout.BLOCK // 8].min())
        self._queue.reach(lowest)
        self._on_tick()
        return layout.FAULT if self._queue.is_over(lowest) else answer

    def _check_standstill(self) -> int:
        """Let blocks go on that fill the slots and wait for others, unless this has no end.

        Raises:
            DeviceFault: No thread makes progress.
        """
        if self._scheduled and not self._scheduled.stalls():
            return layout.RETRY
        if self._slots == self._launch.resident_blocks and self.thread_states() is not None:
            parts = self._states, self._shared.bytes, self._batch.section("local").bytes
            self._standstill.check(None, [self._batch], parts)
        return layout.RETRY

    def thread_states(self) -> Batch | None:
        """Return the batch with the lanes of the running blocks; ``None`` if none runs."""
        return self._batch if self._waiting.note_all(self._calling) else None

    def _place(self, slot: int) -> None:
        """Assign the lanes of a slot, and of its cluster, to the running blocks."""
        size = self._launch.cluster_blocks
        for place in range(slot // size * size, slot // size * size + size):
            block = int(self._contexts[place, layout.BLOCK // 8])
            if block != self._blocks[place]:
                self._check_tensor_memory(place)
                self._blocks[place] = block
                self._batch.threads.place(block, 1, place)
                threads = self._launch.block_threads
                self._batch.stack.begin(slice(place * threads, (place + 1) * threads))

    def _check_tensor_memory(self, slot: int) -> None:
        """Check that the last block of a slot has deallocated its tensor memory."""
        if self._blocks[slot] >= 0:
            check_tensor_memory(self._batch, slot)
            self._batch.tensor.begin(slice(slot, slot + 1))

    def _execute(self, site: CallbackSite, slot: int, warp: int, mask: int) -> int:
        """Execute an instruction for the active lanes of a warp, or find the region it accesses."""
        positions = np.flatnonzero(mask >> _LANES & 1)
        first_lane = slot * self._launch.block_threads + warp * WIDTH
        path, running = self._frames.path(site.block), of(positions + first_lane)
        active = Active(self._batch, path, self._frame, running)
        columns = [self._column(place, kind) for place, kind in enumerate(site.sources)]
        lanes = slice(positions[0], positions[0] + 1) if len(positions) == 1 else positions
        sources = tuple(column[lanes] for column in columns)
        work, active.site = site.work, site.work.site
        if not isinstance(work, Action):
            for use, values in zip(work.reads, sources, strict=True):
                if isinstance(use, RegisterUse) and len(self._frame.registers[use.slot]) > 1:
                    self._frame.write_registers(use, active.lanes, values)
            work.finish(self._batch, active)
            return layout.FAULT
        if site.entries and self._find_all(site, active, sources, positions):
            return layout.RETRY
        if site.tensor is not None and self._tensors.enter(site.tensor, work, active, sources):
            return layout.RETRY
        if self._observed and isinstance(work.action, MemoryAction):
            raise Suspicion  # these accesses are not observed
        if self._queue.threads > 1 and isinstance(work.action, Atomic):
            function = self._kernel.reduction(work.action)
            if function is not None:
                reduce_at(function, work.action, active, sources)
                return layout.DONE
        first = len(site.sources)
        results = [self._column(first + n, kind) for n, kind in enumerate(site.destinations)]
        chosen = tuple(result[positions].copy() for result in results)
        if isinstance(work.action, ProductOfWarp):
            self._note_living(slot)
        action = self._scheduled.instead_of(work) if self._scheduled else work.action
        with np.errstate(all="ignore"):
            action(active, sources, chosen)
        for result, values in zip(results, chosen, strict=True):
            result[positions] = values
        return layout.DONE

    def _note_living(self, slot: int) -> None:
        self._batch.alive[:] = False
        cluster = np.arange(slot, slot + self._launch.cluster_blocks)
        self._batch.alive[self._waiting.lanes(cluster, self._kernel.code.state.ALIVE)] = True

    def _meet(self, slot: int, warp: int) -> int:
        if self._observed:
            raise Suspicion  # the interpreter observes it
        self._note_living(slot)
        state = self._states.reshape(self._slots, self._warps, -1)[slot, warp]
        first = slot * self._launch.block_threads + warp * WIDTH
        given = self._kernel.code, self._batch, self._frame, self._frames.path, state, first
        return layout.DONE if WarpMeeting(*given).execute() else layout.RETRY

    def _column(self, place: int, kind: LaneType) -> Array:
        """Return an operand in the scratch."""
        start = place * layout.COLUMN_BYTES
        size = kind.dtype.itemsize * kind.elements * WIDTH
        column: Array = self._scratch[start : start + size].view(kind.dtype)
        return column.reshape(kind.shape())

    def _find_all(
        self, site: CallbackSite, active: Active, sources: Arrays, positions: Array
    ) -> bool:
        """Return whether each access is in one region; the entries are changed then."""
        first = len(site.sources)
        if site.has_lanes and self._column(first + len(site.entries), _TRUTH).any():
            return False
        for turn, (entry, addresses) in enumerate(zip(site.entries, sources, strict=False)):
            makers = active
            if site.has_lanes:
                lanes = self._column(first + turn, _TRUTH)[positions]
                if not lanes.any():
                    continue
                chosen = np.flatnonzero(lanes)
                makers, addresses = active.some(chosen), addresses[chosen]
            access = self._kernel.code.sites.entries[entry]
            region = access.region(makers, int(addresses[0]) + access.offset)
            if region is None or not self._inside(access, region, makers, addresses):
                return False
            self._cache.enter(entry, access, region)
        return True

    def _inside(self, access: Access, region: Region, active: Active, addresses: Array) -> bool:
        """Return whether all accesses are valid in a region, or in other blocks of the cluster."""
        if region is not self._shared or self._shared.ranks is None:
            return access._inside(active, region, addresses) is not None
        offsets = access.wide(addresses) - np.uint64(access.first_address(region))
        if self._kernel.code.maps_addresses and not access.is_own:
            block = active.per_lane(active.batch.threads.block_of)
            offsets, _ = other_blocks(active.batch, block, offsets, self._launch.shared_stride)
        else:
            offsets -= active.per_lane(self._shared.ranks)
        start, last = access.bounds(self._launch, region)
        misplaced = (offsets < start) | (offsets >= max(last + 1, start))
        return not (misplaced | (offsets & np.uint64(access.bytes - 1) != 0)).any()
