"""Barriers of thread blocks, warps and clusters (PTX manual 9.7.13, parallel synchronization)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import (
    Action,
    BlockCode,
    ConstantUse,
    RegisterUse,
    SinkUse,
    Site,
    Terminator,
    Use,
)
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.lanes import Indices, Lanes
from cudarun.emulator.machine.threads import WARP
from cudarun.emulator.numerics.arrays import Array, Mask, distinct
from cudarun.emulator.numerics.bits import population

if TYPE_CHECKING:
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.frame import Frame
    from cudarun.emulator.machine.schedules.schedule import Path


BARRIERS_PER_BLOCK = 16


@dataclass(frozen=True)
class Result:
    """The destination of ``barrier.red`` and the value of each lane."""

    operation: str
    frame: Frame
    destination: RegisterUse
    given: Mask


@dataclass(frozen=True)
class Arrival:
    """Lanes that have arrived at a barrier."""

    barrier: int | None  # the barrier's number; ``None`` for the barrier of a warp
    lanes: Lanes  # the lanes
    # Per lane, the number of threads that complete it, 0 for all of the block; or the member mask
    # of the warp.
    expected: Array
    # The path on which they continue; ``None`` for lanes that arrive without waiting.
    path: Path | None
    site: Site  # the instruction
    result: Result | None = None  # the result of a reduction
    known: Any = None  # what the launch's observer knows of lanes that arrive without waiting

    def subset(self, chosen: Mask) -> Arrival:
        """Return the arrival of some of the lanes."""
        result = self.result and replace(self.result, given=self.result.given[chosen])
        lanes = lane_sets.select(self.lanes, chosen)
        return replace(self, lanes=lanes, expected=self.expected[chosen], result=result)


class Barriers:
    """All lanes of a batch that have arrived at an incomplete barrier."""

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.arrivals: list[Arrival] = []

    def arrive(self, arrival: Arrival) -> None:
        """Add lanes, their registers written back, and release those of complete barriers."""
        self.arrivals.append(arrival)
        self._release(arrival.barrier)

    def recheck(self) -> None:
        """Check for completion after lanes have exited, which count as arrived."""
        for barrier in {arrival.barrier for arrival in self.arrivals}:
            self._release(barrier)

    def _release(self, barrier: int | None) -> None:
        here = [arrival for arrival in self.arrivals if arrival.barrier == barrier]
        complete = self._warps_complete(here) if barrier is None else self._blocks_complete(here)
        if not any(mask.any() for mask in complete):
            return
        self.arrivals = [arrival for arrival in self.arrivals if arrival.barrier != barrier]
        released = []
        for arrival, mask in zip(here, complete, strict=True):
            if mask.any():
                released.append(arrival.subset(mask))
            if not mask.all():
                self.arrivals.append(arrival.subset(~mask))
        self._reduce([arrival for arrival in released if arrival.result is not None])
        if barrier is None:
            self.batch.observer.warp_barriers(self.batch, released)
        else:
            self.batch.observer.barrier(self.batch, released)
        for arrival in released:
            if arrival.path is not None:
                self.batch.wait(arrival.path, arrival.lanes)

    def _blocks_complete(self, here: list[Arrival]) -> list[Mask]:
        threads = self.batch.threads
        living = threads.warp_bits(np.flatnonzero(self.batch.alive))
        total = np.zeros(len(living) // threads.warps, np.int64)
        all_arrived = np.zeros(len(total), np.bool_)
        for lanes in _rounds(here):
            arrived = threads.warp_bits(lanes)
            missing = living & ~arrived
            # Hardware counts by warps: a warp whose live lanes have all arrived counts as 32.
            whole = (arrived != 0) & (missing == 0)
            counts = np.where(whole, WARP, population(arrived)).reshape(-1, threads.warps)
            total += counts.sum(axis=1).astype(np.int64)
            all_arrived |= (missing == 0).reshape(-1, threads.warps).all(axis=1)
        complete = []
        for arrival in here:
            block = threads.block_of[arrival.lanes]
            expected = arrival.expected
            done = np.where(expected == 0, all_arrived[block], total[block] >= expected)
            complete.append(done)
        return complete

    def _warps_complete(self, here: list[Arrival]) -> list[Mask]:
        threads = self.batch.threads
        arrived = lane_sets.union([arrival.lanes for arrival in here])
        masks = np.concatenate([arrival.expected for arrival in here])
        lanes = np.concatenate([lane_sets.indices(arrival.lanes) for arrival in here])
        order = np.argsort(lanes)
        ready = threads.complete(arrived, masks[order], self.batch.alive)
        return [ready[np.searchsorted(lanes[order], lane_sets.indices(a.lanes))] for a in here]

    def _reduce(self, released: list[Arrival]) -> None:
        blocks = self.batch.threads.room
        true, total = np.zeros(blocks, dtype=np.int64), np.zeros(blocks, dtype=np.int64)
        for arrival in released:
            assert arrival.result is not None
            block = self.batch.threads.block_of[arrival.lanes]
            true += np.bincount(block, weights=arrival.result.given, minlength=blocks).astype(int)
            total += np.bincount(block, minlength=blocks)
        for arrival in released:
            result = arrival.result
            assert result is not None
            value = {"popc": true, "and": true == total, "or": true > 0}[result.operation]
            block = self.batch.threads.block_of[arrival.lanes]
            result.frame.write_registers(result.destination, arrival.lanes, value[block])


def _rounds(arrivals: Sequence[Arrival]) -> list[Lanes]:
    """Return the lanes that have arrived, then those that have arrived twice, and so on.

    A thread counts each time: it can arrive without waiting, and then wait at the same barrier.
    """
    lanes = np.concatenate([lane_sets.indices(arrival.lanes) for arrival in arrivals])
    order = np.argsort(lanes, kind="stable")
    lanes = lanes[order]
    is_first = np.diff(lanes, prepend=-1) != 0
    if is_first.all():
        return [lanes]
    places = np.arange(len(lanes))
    times = places - np.maximum.accumulate(np.where(is_first, places, 0))
    return [lanes[times == each] for each in range(int(times.max()) + 1)]


class BarrierWait(Terminator):
    """``barrier.sync``, ``barrier.arrive`` and ``barrier.red``, and their older names ``bar.…``."""

    site: Site

    def __init__(
        self,
        number: Use,
        expected: Use | None,
        after: int,
        site: Site,
        *,
        arrive: bool = False,
        reduction: tuple[str, RegisterUse, Use] | None = None,
    ) -> None:
        given = () if reduction is None else (reduction[2],)
        count = () if expected is None else (expected,)
        super().__init__((after,), (number, *count, *given), site=site)
        self.number = number  # the barrier's number
        # The number of threads that complete it; by default all of the block.
        self.expected = expected
        self.after = after  # the block that follows
        self.arrive = arrive  # the lanes do not wait
        self.reduction = reduction  # the operation, its destination and the predicate of each lane

    def finish(self, batch: Batch, active: Active) -> None:
        """Suspend the lanes until their barrier is complete."""
        if self._is_complete_at_once(batch, active):
            batch.observer.blocks_synchronize(batch, active.lanes)
            batch.proceed(active, self.after)
            return
        active.site = self.site
        numbers = active.read(self.number).copy()
        self._check(active, numbers >= BARRIERS_PER_BLOCK, numbers, "barrier number")
        expected = np.zeros(active.count, dtype=np.uint32)
        if self.expected is not None:
            expected = active.read(self.expected).copy()
            self._check(active, expected % WARP != 0, expected, "barrier thread count")
        result = None
        if self.reduction is not None:
            operation, destination, given = self.reduction
            result = Result(operation, active.frame, destination, active.read(given).copy())
        path, lanes = batch.leave_for(active, self.after)
        if self.arrive:
            batch.wait(path, lanes)
        for number in distinct(numbers):
            arrival = Arrival(
                barrier=int(number),
                lanes=lanes,
                expected=expected,
                path=None if self.arrive else path,
                site=self.site,
                result=result,
                known=batch.observer.arrived(batch, lanes) if self.arrive else None,
            )
            batch.barriers.arrive(arrival.subset(numbers == number))

    def _is_complete_at_once(self, batch: Batch, active: Active) -> bool:
        """Return whether these are all lanes of some blocks and no lane has arrived before them."""
        members = active.members
        return (
            isinstance(members, slice)
            and isinstance(self.number, ConstantUse)
            and self.expected is None
            and self.reduction is None
            and not batch.barriers.arrivals
            and members.start % batch.threads.threads == 0
            and members.stop % batch.threads.threads == 0
        )

    def _check(self, active: Active, wrong: Mask, values: Array, what: str) -> None:
        if wrong.any():
            lane = int(np.argmax(wrong))
            raise active.fault(719, f"invalid {what}: {int(values[lane])}", lane)


class WarpBarrier(Terminator):
    """``bar.warp.sync``: lanes wait for all live lanes of their member mask."""

    site: Site

    def __init__(self, mask: Use, after: int, site: Site) -> None:
        super().__init__((after,), (mask,), site=site)
        self.mask = mask
        self.after = after

    def finish(self, batch: Batch, active: Active) -> None:
        """Suspend the lanes until the lanes of their mask have arrived."""
        if batch.threads.whole_warps(active):
            batch.observer.warp_barrier(active, self.mask)
            batch.proceed(active, self.after)
            return
        masks = active.read(self.mask).copy()
        path, lanes = batch.leave_for(active, self.after)
        batch.barriers.arrive(Arrival(None, lanes, masks, path, self.site))


# --- instructions at several places --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Party:
    """Lanes that wait for others at one place."""

    path: Path  # the path of the lanes
    frame: Frame  # their registers, written back
    block: BlockCode  # the block of the instruction
    lanes: Indices  # the lanes

    @property
    def masks(self) -> Array:
        """The member mask of each lane."""
        assert self.block.sync_mask is not None
        return self.frame.register_values(self.block.sync_mask, self.lanes)

    @property
    def operation(self) -> Action:
        """The instruction."""
        (operation,) = self.block.operations
        assert isinstance(operation, Action)
        return operation


def meet(batch: Batch, parties: Sequence[Party]) -> list[Indices]:
    """Execute an instruction for the lanes whose whole member mask is in some of the parties.

    A lane waits until all live lanes of its member mask have executed the instruction with the same
    qualifiers and mask (PTX manual 9.7.9.6 and 9.7.13), wherever it stands: an H100 runs shuffles
    in both branches of a divergent warp as one. What instructions with different qualifiers do is
    not defined: their lanes wait for each other forever.

    Returns:
        These lanes, by party. They continue with the next block.
    """
    every = np.concatenate([each.lanes for each in parties])
    masks = np.concatenate([each.masks for each in parties])
    ready = np.zeros(len(every), dtype=np.bool_)
    for mask in distinct(masks):
        same = masks == mask
        ready[same] = batch.threads.complete(every[same], masks[same], batch.alive)
    starts = np.cumsum([len(each.lanes) for each in parties])[:-1]
    released = [
        party.lanes[chosen] for party, chosen in zip(parties, np.split(ready, starts), strict=True)
    ]
    if ready.any():
        _execute(batch, parties, released, masks[ready])
    return released


def _execute(
    batch: Batch, parties: Sequence[Party], released: Sequence[Indices], masks: Array
) -> None:
    """Execute the instruction, with the operands of each lane's place."""
    lanes = np.concatenate(released)
    order = np.argsort(lanes)
    first = parties[0]
    active = Active(batch, first.path, first.frame, lane_sets.of(lanes[order]))
    active.site = first.operation.site
    places = [*zip(parties, released, strict=True)]
    sources = [
        np.concatenate(
            [
                each.frame.register_values(each.operation.sources[index], lanes)
                for each, lanes in places
            ]
        )[order]
        for index in range(len(first.operation.sources))
    ]
    most = max((each.operation.destinations for each in parties), key=len)
    results = [
        np.zeros(len(lanes), dtype=use.type.dtype)
        for use in most
        if isinstance(use, RegisterUse | SinkUse)
    ]
    batch.observer.warps_synchronize(batch, active.lanes, masks[order])
    first.operation.action(active, tuple(sources), tuple(results))
    for party, chosen in places:
        at = np.searchsorted(lanes[order], chosen)
        for use, values in zip(party.operation.destinations, results, strict=False):
            if isinstance(use, RegisterUse):
                party.frame.write_registers(use, chosen, values[at])


def meet_elsewhere(batch: Batch, block: BlockCode) -> None:
    """Let the lanes that wait at a block meet those that wait for them at other places."""
    parties = []
    for path, lanes in batch.synchronizing.items():
        function, other = batch.launch.locate(path[-1])
        if block.meets and other.meets == block.meets:
            frame = batch.frame(len(path) - 1, function)
            parties.append(Party(path, frame, other, lane_sets.indices(lanes)))
    if len(parties) < 2:
        return
    for party, released in zip(parties, meet(batch, parties), strict=True):
        if len(released):
            left = np.setdiff1d(party.lanes, released)
            del batch.synchronizing[party.path]
            if len(left):
                batch.synchronizing[party.path] = lane_sets.of(left)
            (after,) = party.block.terminator.successors
            path = (*party.path[:-1], party.frame.function.base + after)
            batch.wait(path, lane_sets.of(released))
