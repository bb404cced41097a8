"""Asynchronous operations of a batch between their issue and their completion.

A schedule decides when one goes on: it reads its source, and later writes its destination. At the
latest it does so when a thread waits for its group, at the second test of its barrier object (the
first one fails, as it may), when all lanes only poll, or when all have exited.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import Action, ActionFunction, RegisterUse, Use
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.access import AsynchronousAction, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.lanes import Indices
from cudarun.emulator.machine.mbarriers import ArriveAfterCopies, PhaseTest
from cudarun.emulator.machine.schedules.pending_products import PendingProducts
from cudarun.emulator.machine.schedules.schedule import Schedule
from cudarun.emulator.machine.spaces import RANK_SHIFT
from cudarun.emulator.machine.tensor_memory.transfers import LoadTensorMemory
from cudarun.emulator.machine.transfers import GridDependency, GroupControl
from cudarun.emulator.machine.warpgroups import MultiplyAsync
from cudarun.emulator.memory import UNDEFINED_BYTE
from cudarun.emulator.numerics.arrays import Array, Arrays

SCHEDULED = (AsynchronousAction, GroupControl, PhaseTest)
"""The actions of which compiled code lets a schedule decide when they have effects."""


class LateResult(AsynchronousAction):
    """An operation that reads memory and writes its registers at any time."""

    def __init__(self, operation: Action) -> None:
        action = operation.action
        assert isinstance(action, MultiplyAsync | LoadTensorMemory)
        self.queue = self.follows = action.accesses[0].agent
        self._action = action
        self._updated = action.accumulators if isinstance(action, MultiplyAsync) else 0
        self._uses = operation.destinations

    def prepare(self, sources: Arrays, destinations: Arrays) -> None:
        """Write the registers that nothing may use before the results, at the issue."""
        for place, destination in enumerate(destinations):
            undefined = np.full(destination.dtype.itemsize, UNDEFINED_BYTE, dtype=np.uint8)
            is_updated = place < self._updated
            np.copyto(
                destination, sources[place] if is_updated else undefined.view(destination.dtype)
            )

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Compute the registers of lanes."""
        registers = [_register(use, active) for use in self._uses]
        results = tuple(array[rows].copy() for array, rows in registers)
        updated = results[: self._updated]
        self._action(active, (*updated, *sources[self._updated :]), results)
        for (array, rows), values in zip(registers, results, strict=True):
            array[rows] = values
        yield from ()


def _register(use: Use, some: Active) -> tuple[Array, Array]:
    """Return where a register of lanes is, which may be active, and its rows."""
    assert isinstance(use, RegisterUse)
    frame, lanes, active = some.frame, lane_sets.indices(some.lanes), some.batch.active
    if active is not None and active.frame is frame and not active.in_place:
        members = lane_sets.indices(active.members)
        rows = members.searchsorted(lanes)
        if active.loaded >> use.slot & 1 and members.take(rows[:1], mode="clip") == lanes[0]:
            active.dirty |= 1 << use.slot
            return frame.view(active, use), rows
    return frame.register_file(use), lanes


@dataclass(slots=True, eq=False)
class _Operation:
    """An operation of some lanes."""

    action: AsynchronousAction
    active: Active
    sources: Arrays  # the operands, one for each lane
    groups: Array  # per lane, the number of groups that it had committed before
    objects: Array  # per lane, its barrier object; empty without one
    # The number of accesses to memory after which it goes on; ``None`` at the last time.
    due: int | None
    tests: int = 0  # the tests of its object since its issue
    # What is left to do once it has read its source; ``None`` before.
    writes: list[Callable[[], object]] | None = None

    @property
    def lanes(self) -> Indices:
        """The lanes."""
        return lane_sets.indices(self.active.lanes)

    def part(self, positions: Indices) -> _Operation:
        """Return the operation of the lanes at some positions."""
        return replace(
            self,
            active=self.active.some(positions),
            sources=tuple(source[positions] for source in self.sources),
            groups=self.groups[positions],
            objects=self.objects[positions] if len(self.objects) else self.objects,
        )

    def read(self) -> list[Callable[[], object]]:
        """Read the source; return what writes the destination."""
        if self.writes is None:
            self.writes = list(self.action.transfers(self.active, self.sources))
        return self.writes


class PendingOperations:
    """The operations of a batch that have been issued and are not complete."""

    def __init__(self, batch: Batch, schedule: Schedule) -> None:
        self._batch = batch
        self._schedule = schedule
        self._operations: list[_Operation] = []  # in the order of their issue
        self._commits: dict[str, Array] = {}  # by queue, the groups that each lane has committed
        self._accesses = 0
        self._late: dict[str, bool] = {}  # whether products can be computed late, by function

    def instead_of(self, operation: Action) -> ActionFunction:
        """Return the action to execute instead of one that issues, awaits or may meet operations.

        Those that a detector observes complete at once: it finds what does not wait for them.
        """
        action, late = operation.action, None
        if not isinstance(action, MemoryAction | GroupControl | GridDependency):
            return action
        is_result = isinstance(action, MultiplyAsync | LoadTensorMemory)
        if is_result and self._can_be_late(operation.site.function):
            late = LateResult(operation)
        return partial(self._run, action, late)

    def _can_be_late(self, name: str) -> bool:
        """Return whether the products of a function can be computed late."""
        if name not in self._late:
            function = self._batch.launch.functions[name]
            self._late[name] = PendingProducts.of(function).can_be_late
        return self._late[name]

    def complete_all(self) -> None:
        """Complete all operations, and the grid before."""
        overlap = self._batch.launch.config.overlap
        if overlap is not None:
            overlap.complete_before()
        self._commits.clear()
        for operation in list(self._operations):
            self._finish(operation)

    def complete_of(self, lanes: range) -> None:
        """Complete the operations of lanes that have exited."""
        for operation in list(self._operations):
            exited = (operation.lanes >= lanes.start) & (operation.lanes < lanes.stop)
            part = self._part(operation, exited)
            if part is not None:
                self._finish(part)

    def elapse(self, accesses: int) -> None:
        """Count accesses to memory; let operations go on that are due."""
        self._accesses += accesses
        self._continue()

    # --- actions ---------------------------------------------------------------------------------

    def _run(
        self,
        action: MemoryAction | GroupControl | GridDependency,
        late: LateResult | None,
        active: Active,
        sources: Arrays,
        destinations: Arrays,
    ) -> None:
        """Execute an action; ``late`` writes its registers when lanes wait for them."""
        match action:
            case AsynchronousAction():
                self._issue(action, active, sources)
                return
            case GroupControl(commits=True):
                self._committed(action.queue)[active.lanes] += 1
            case GroupControl():
                self._wait(action, active)
            case GridDependency(waits=waits):
                self._depend(active, waits=waits)
            case PhaseTest():
                self._test(action, active, sources)
        if late is not None:
            is_pending = any(each.action.queue == late.queue for each in self._operations)
            if is_pending or self._schedule.is_late():
                late.prepare(sources, destinations)
                self._issue(late, active, sources)
                return
        elif self._schedule.interleaves and isinstance(action, MemoryAction):
            self.elapse(1)
        action(active, sources, destinations)

    def _issue(self, action: AsynchronousAction, active: Active, sources: Arrays) -> None:
        whole = active.some(np.arange(active.count))
        objects = np.zeros(0, dtype=np.int64)
        if action.queue == "mbarrier":
            objects = _keys(active, action.objects(sources), action)
        if isinstance(action, ArriveAfterCopies) and not action.counts:
            action.change(active, sources[0], -1)  # a pending arrival more
        delay = None if isinstance(action, LateResult) else self._schedule.delay()
        operation = _Operation(
            action,
            whole,
            tuple(np.array(source) for source in sources),
            self._committed(action.queue)[whole.lanes].copy(),
            objects,
            None if delay is None else self._accesses + delay,
        )
        self._operations.append(operation)
        self._continue()

    def _depend(self, active: Active, *, waits: bool) -> None:
        overlap = self._batch.launch.config.overlap
        if overlap is None:
            return
        if waits:
            overlap.complete_before()
            return
        batch, living = self._batch, None
        blocks = batch.first_block + batch.threads.block_of
        if batch.is_last and batch.first_block + batch.blocks == batch.launch.blocks:
            living = set(blocks[batch.alive].tolist())
        overlap.trigger(set(blocks[active.lanes].tolist()), living, self._schedule)

    def _wait(self, wait: GroupControl, active: Active) -> None:
        """Complete the groups of the lanes that a wait does not leave pending."""
        left = -1 if wait.pending is None else wait.pending
        complete = np.zeros(self._batch.lanes, dtype=np.int64)
        complete[active.lanes] = self._committed(wait.queue)[active.lanes] - left
        for operation in list(self._operations):
            if operation.action.queue == wait.queue:
                awaited = operation.groups < complete[operation.lanes]
                part = self._part(operation, awaited)
                if part is not None and wait.reads:
                    part.read()
                elif part is not None:
                    self._finish(part)

    def _test(self, action: PhaseTest, active: Active, sources: Arrays) -> None:
        tested = _keys(active, sources[0], action)
        for operation in list(self._operations):
            part = self._part(operation, np.isin(operation.objects, tested))
            if part is not None:
                part.tests += 1
                if part.tests > 1:
                    self._finish(part)

    # --- operations ------------------------------------------------------------------------------

    def _committed(self, queue: str) -> Array:
        return self._commits.setdefault(queue, np.zeros(self._batch.lanes, dtype=np.int64))

    def _continue(self) -> None:
        """Let operations go on that are due."""
        for operation in list(self._operations):
            if operation.due is None or operation.due > self._accesses:
                continue
            if operation.writes is not None:
                self._finish(operation)
                continue
            self._finish_before(operation)
            operation.read()
            delay = self._schedule.delay()
            operation.due = None if delay is None else self._accesses + delay
            if delay == 0:
                self._finish(operation)

    def _part(self, operation: _Operation, chosen: Array) -> _Operation | None:
        """Separate the operation of some lanes; one that has read its source stays whole."""
        if not chosen.any():
            return None
        if chosen.all() or operation.writes is not None:
            return operation
        place = self._operations.index(operation)
        parts = [operation.part(np.flatnonzero(each)) for each in (chosen, ~chosen)]
        self._operations[place : place + 1] = parts
        return parts[0]

    def _finish(self, operation: _Operation) -> None:
        """Complete an operation, if it is not complete, after those that come before it."""
        if operation not in self._operations:
            return
        self._finish_before(operation)
        for write in operation.read():
            write()
        self._operations.remove(operation)

    def _finish_before(self, operation: _Operation) -> None:
        """Complete the operations of the same lanes that an operation follows."""
        for earlier in self._operations[: self._operations.index(operation)]:
            if earlier.action.queue == operation.action.follows:
                part = self._part(earlier, np.isin(earlier.lanes, operation.lanes))
                if part is not None:
                    self._finish(part)


def _keys(active: Active, objects: Array, action: MemoryAction) -> Array:
    """Return numbers of barrier objects: their places in the shared memory of a cluster's block."""
    offsets = objects.astype(np.int64) + action.accesses[-1].offset & (1 << RANK_SHIFT) - 1
    return active.per_lane(active.batch.threads.cluster_of) << RANK_SHIFT | offsets
