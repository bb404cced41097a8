"""The happens-before order of the lanes of a batch.

Causality order (PTX manual 8.8), represented for the synchronization patterns of kernels. Per lane
there is one timestamp for all threads of its block (block barriers), one for all of its warp (warp
barriers) and, after a synchronization of only some threads, one for each lane of the warp or each
warp of the block. Timestamps of other blocks are in a `VectorClock`, shared by lanes with the same
ones.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from cudarun.emulator.detectors.agents import kinds_of
from cudarun.emulator.detectors.vector_clocks import (
    AFTER_GRIDS,
    BLOCK,
    NOTHING,
    THREAD,
    THREAD_BITS,
    THREAD_MASK,
    VISIBLE,
    WARP,
    ClockTable,
    Completions,
    LogicalClock,
    VectorClock,
)
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.barriers import Arrival
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.lanes import Indices, Lanes, distinct, groups
from cudarun.emulator.machine.threads import WARP as WARP_SIZE
from cudarun.emulator.numerics.arrays import Array, Mask

_NEVER = np.iinfo(np.int64).max
_IN_WARP = np.arange(WARP_SIZE)
_MOST_UNUSED = 256  # clocks beside twice as many as are in use


class KnownAtBarrier(NamedTuple):
    """Knowledge of some lanes of a block at their arrival at a barrier."""

    warps: Indices  # their warps in the block
    timestamp: int  # the time of the arrival
    of_block: int  # up to when accesses of their block happen before
    of_warps: Array  # the same per warp of it
    clock: VectorClock  # the same of other blocks, and of asynchronous operations


class HappensBefore:
    """The happens-before order of the lanes of a batch."""

    def __init__(self, batch: Batch, logical_clock: LogicalClock) -> None:
        self.batch = batch
        self.logical_clock = logical_clock
        self.threads = batch.threads.threads
        self.warps = batch.threads.warps
        self._in_block = np.arange(batch.lanes) % self.threads
        self.begin(0)

    def begin(self, first_block: int) -> None:
        """Reset the order for new blocks."""
        lanes = self.batch.lanes
        # Per lane, the index of its thread in the grid.
        self.thread = first_block * self.threads + np.arange(lanes)
        self.numbers = self.thread & THREAD_MASK  # the same, truncated to `THREAD_BITS`
        # Per lane, the timestamp up to which accesses of its block happen before.
        self.of_block = np.zeros(lanes, dtype=np.int64)
        self._of_warp = np.zeros(lanes, dtype=np.int64)
        self._of_lanes: Array | None = None  # per lane of its warp
        self._of_warps: Array | None = None  # per warp of its block
        self._clock = np.zeros(lanes, dtype=np.intp)
        self._clocks = ClockTable()
        # What lanes know of the asynchronous operations of threads.
        self.completions = Completions(lanes, self.threads, first_block * self.threads)
        self.has_block_fences = False  # True after a fence whose scope is only the block
        self._fenced = {level: np.zeros(lanes, dtype=np.int64) for level in ("block", "grid")}
        self._last_fences: dict[str, tuple[Array, Array, Array]] = {}
        self._arrivals = np.zeros(lanes, dtype=np.int64)  # at the barrier of the cluster
        self._of_clusters: dict[tuple[int, int], VectorClock] = {}  # by number, of these arrivals
        self._begun = self.logical_clock.now

    # --- barriers --------------------------------------------------------------------------------

    def blocks_synchronize(self, lanes: Lanes) -> None:
        """Order all lanes of whole blocks after a barrier."""
        self.of_block[lanes] = self.logical_clock.now
        self.completions.blocks_synchronize(lanes)
        self._share_clocks(lanes, self.batch.threads.block_of[lanes])

    def barrier(self, released: Sequence[Arrival]) -> None:
        """Order lanes after a barrier at which some only arrive."""
        block_of, alive = self.batch.threads.block_of, self.batch.alive
        parts: dict[int, list[tuple[Arrival, Indices]]] = {}
        for arrival in released:
            lanes = lane_sets.indices(arrival.lanes)
            for block, positions in groups(block_of[lanes]):
                parts.setdefault(block, []).append((arrival, lanes[positions]))
        for block, each in parts.items():
            members = np.concatenate([lanes for _, lanes in each])
            waiting = [lanes for arrival, lanes in each if arrival.path is not None]
            if len(waiting) == len(each) and len(members) >= np.sum(alive & (block_of == block)):
                self.blocks_synchronize(np.sort(members))
            elif waiting:
                known = [(arrival.known or self.arrived(lanes))[block] for arrival, lanes in each]
                self._synchronize_warps(known, np.concatenate(waiting))

    def arrived(self, lanes: Lanes) -> dict[int, KnownAtBarrier]:
        """Return by block what lanes know at their arrival at a barrier."""
        found, of_warps = {}, np.zeros(self.warps, dtype=np.int64)
        members = lane_sets.indices(lanes)
        for block, positions in groups(self.batch.threads.block_of[members]):
            here = members[positions]
            found[block] = KnownAtBarrier(
                np.unique(self._in_block[here] // WARP_SIZE),
                self.logical_clock.now,
                self.of_block[here].max(),
                of_warps if self._of_warps is None else self._of_warps[here].max(axis=0),
                self._joined(here).joined(self.completions.clock(here)),
            )
        return found

    def _synchronize_warps(self, known: Sequence[KnownAtBarrier], waiting: Indices) -> None:
        """Order some warps of a block after each other, with a timestamp per warp."""
        if self._of_warps is None:
            self._of_warps = np.zeros((len(self.thread), self.warps), dtype=np.int64)
        arrived = np.full(self.warps, _NEVER)
        clock = NOTHING
        for each in known:
            arrived[each.warps] = np.minimum(arrived[each.warps], each.timestamp)
            clock = clock.joined(each.clock)
        arrived[arrived == _NEVER] = 0
        self._of_warps[waiting] = np.max([arrived, *(each.of_warps for each in known)], axis=0)
        self.of_block[waiting] = max(each.of_block for each in known)
        if len(clock):
            self._forget_unused_clocks()
            self._clock[waiting] = self._clocks.add(clock)
        self.completions.news[waiting] = False

    def warps_synchronize(self, lanes: Lanes, masks: Array | None) -> None:
        """Order lanes after those of their member masks; without masks after their warps."""
        threads, now = self.batch.threads, self.logical_clock.now
        members = lane_sets.indices(lanes)
        group = warp = threads.slot_of[lanes] // WARP_SIZE
        whole = np.ones(len(warp), dtype=np.bool_)
        if masks is not None:
            living = threads.warp_bits(np.flatnonzero(self.batch.alive))[warp]
            whole = (living & ~masks) == 0
        if masks is None or whole.all():
            self._join_timestamps(members, group, self.of_block, self._of_warps)
        else:  # groups of lanes smaller than warps, with a timestamp per lane
            if self._of_lanes is None:
                self._of_lanes = np.zeros((len(self.thread), WARP_SIZE), dtype=np.int64)
            keys = warp.astype(np.int64) << 32 | masks.astype(np.int64)
            _, group = np.unique(keys, return_inverse=True)
            known = self.of_block, self._of_warp, self._of_lanes, self._of_warps
            self._join_timestamps(members, group, *known)
            named = (masks[:, None] >> np.arange(WARP_SIZE, dtype=np.uint32)) & 1 != 0
            self._of_lanes[lanes] = np.where(named, now, self._of_lanes[lanes])
        self._of_warp[members[whole]] = now
        self._share_clocks(lanes, group)

    def _join_timestamps(self, lanes: Indices, group: Array, *of: Array | None) -> None:
        """Set the timestamps of lanes to the latest of their group."""
        order = group.argsort(kind="stable")
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        lengths = np.diff(np.append(starts, len(order)))
        for array in of:
            if array is not None:
                latest = np.maximum.reduceat(array[lanes[order]], starts, axis=0)
                array[lanes[order]] = np.repeat(latest, lengths, axis=0)

    def clusters_arrive(self, lanes: Lanes, relaxed: bool) -> None:
        """Release what lanes know at the barrier of their cluster, or what they have fenced."""
        threads = self.batch.threads
        self._arrivals[lanes] += 1
        members = lane_sets.indices(lanes)
        # Threads that exit together can have arrived at different barriers before.
        arrivals = self._arrivals[members] * threads.room + threads.block_of[members]
        for _, positions in groups(arrivals):
            here = members[positions]
            number = int(self.thread[here[0]]) // self.threads
            clock = VectorClock(np.array([BLOCK + number]), np.array([self._begun]))
            if not relaxed:
                clock = clock.joined(self._clock_now(here))
            elif len(fenced := here[self._fenced["block"][here] > 0]):
                clock = clock.joined(self.released_clock(fenced, "block"))
            key = int(threads.cluster_of[here[0]]), int(self._arrivals[here[0]])
            self._of_clusters[key] = clock.joined(self._of_clusters.get(key, NOTHING))

    def clusters_synchronize(self, lanes: Lanes) -> None:
        """Order lanes after the arrivals of all lanes of their cluster."""
        waiting = lane_sets.indices(lanes)
        for cluster, positions in groups(self.batch.threads.cluster_of[waiting]):
            here = waiting[positions]
            known = self._of_clusters.get((cluster, int(self._arrivals[here[0]])), NOTHING)
            blocks = self.thread[here] // self.threads
            self.of_block[here] = np.maximum(self.of_block[here], known.get(BLOCK + blocks))
            self.acquire(here, known)

    # --- release and acquire ---------------------------------------------------------------------

    def fence(self, lanes: Lanes, scope: str) -> None:
        """Record a fence of lanes: later writes release what happened before it."""
        self._last_fences.clear()
        self._fenced["block"][lanes] = self.logical_clock.now
        if scope != "cta":
            self._fenced["grid"][lanes] = self.logical_clock.now
        else:
            self.has_block_fences = True

    def has_fenced(self, lanes: Indices, level: str) -> Mask:
        """Return which lanes can release something, as they or others of their block fenced."""
        _, _, by_block = self._fences_of(level)
        return by_block[self.batch.threads.block_of[lanes]] > 0

    def released_clock(self, lanes: Indices, level: str) -> VectorClock:
        """Return the join of the clocks that lanes release by writes after their fences.

        They include accesses of other threads of the block that happen before and have been fenced,
        by those threads, by this one or by another one of the block: kernels have barriers both
        before and after the fence.
        """
        fenced, by_warp, by_block = self._fences_of(level)
        return self._clock_of(lanes, fenced, by_warp, by_block)

    def _clock_now(self, lanes: Indices) -> VectorClock:
        """Return the join of the clocks of lanes, as after a fence of each."""
        room, now = self.batch.threads.room, np.array(self.logical_clock.now)
        fenced = np.broadcast_to(now, len(self.thread))
        never = np.broadcast_to(np.array(_NEVER), (room, self.warps))
        return self._clock_of(lanes, fenced, never, never[:, 0])

    def _clock_of(
        self, lanes: Indices, fenced: Array, by_warp: Array, by_block: Array
    ) -> VectorClock:
        """Return the join of the clocks of lanes up to the fences of each, its warp and block."""
        slot, warp = self.batch.threads.block_of[lanes], self._in_block[lanes] // WARP_SIZE
        thread = self.thread[lanes]
        block = thread // self.threads
        own, near = fenced[lanes], by_warp[slot, warp]
        parts = [THREAD + thread, BLOCK + block, WARP + block * self.warps + warp]
        times = [
            own,
            np.minimum(self.of_block[lanes], by_block[slot]),
            np.minimum(self._of_warp[lanes], near),
        ]
        if self._of_lanes is not None:
            start = thread - self._in_block[lanes] % WARP_SIZE
            parts.append((start[:, None] + _IN_WARP).ravel() + THREAD)
            times.append(np.minimum(self._of_lanes[lanes], near[:, None]).ravel())
        if self._of_warps is not None:
            first = WARP + block * self.warps
            parts.append((first[:, None] + np.arange(self.warps)).ravel())
            fences = np.maximum(by_warp[slot], own[:, None])
            times.append(np.minimum(self._of_warps[lanes], fences).ravel())
        keys, known = np.concatenate(parts), np.concatenate(times)
        if len(lanes) == self.threads and block[0] == block[-1]:
            # one timestamp for what all threads of a block know of it
            lowest = own.min()
            later = (known > lowest).nonzero()[0]
            keys, known = np.append(keys[later], BLOCK + block[0]), np.append(known[later], lowest)
        result = VectorClock.latest(keys, known)
        return result.joined(self._joined(lanes)).joined(self.completions.clock(lanes))

    def _joined(self, lanes: Indices) -> VectorClock:
        """Return the join of the clocks of lanes."""
        result = NOTHING
        for index in distinct(self._clock[lanes]):
            result = result.joined(self._clocks.clocks[index])
        return result

    # --- asynchronous operations -----------------------------------------------------------------

    def make_visible(self, lanes: Lanes, spaces: Collection[str]) -> None:
        """Record a fence: the async proxy sees what happens before, for threads after it."""
        members = lane_sets.indices(lanes)
        for _, positions in groups(self.batch.threads.block_of[members]):
            here = members[positions]
            self.acquire(here, self._clock_now(here).made_visible(spaces))

    def invisible(self, lanes: Indices, words: Array, space: str) -> Mask:
        """Return per lane whether no fence has made an access visible to the async proxy."""
        known = self._known_by_clock(lanes, words & THREAD_MASK, VISIBLE[space])
        return words >> THREAD_BITS > known

    def is_after_grids(self, lanes: Indices) -> Mask:
        """Return which lanes know that the grids before are complete."""
        keys = np.full(len(lanes), AFTER_GRIDS)
        return self._clocks.get(self._clock[lanes], keys) > 0

    def has_heard_of(self, lanes: Indices, blocks: Array) -> Mask:
        """Return per lane whether anything in another block happens before its next access."""
        found = np.zeros(len(lanes), dtype=np.bool_)
        for index, members in groups(self._clock[lanes]):
            for block, those in groups(blocks[members]):
                found[members[those]] = self._clocks.clocks[index].knows_block(block, self.threads)
        return found

    def representatives(self, lanes: Indices) -> list[int]:
        """Return one of each lanes that know the same of other blocks."""
        found: list[int] = lanes[np.unique(self._clock[lanes], return_index=True)[1]].tolist()
        return found

    def _fences_of(self, level: str) -> tuple[Array, Array, Array]:
        """Return the last fence of each lane, of each warp and of each block."""
        if level not in self._last_fences:
            fenced = self._fenced[level]
            missing = self.batch.threads.room * self.threads - len(fenced)  # of the last block
            rows = (np.pad(fenced, (0, missing)) if missing else fenced).reshape(-1, self.threads)
            by_warp = np.maximum.reduceat(rows, np.arange(0, self.threads, WARP_SIZE), axis=1)
            self._last_fences[level] = fenced, by_warp, by_warp.max(axis=1)
        return self._last_fences[level]

    def acquire(self, lanes: Indices, clock: VectorClock) -> None:
        """Order lanes after a released clock."""
        self._forget_unused_clocks()
        for index, members in groups(self._clock[lanes]):
            known = self._clocks.clocks[index]
            joined = known.joined(clock)
            if joined is not known:
                self._clock[lanes[members]] = self._clocks.add(joined)

    def shuffled(self, lanes: Lanes, masks: Array) -> None:
        """Order lanes after what others of their member masks have acquired.

        A shuffle is no memory barrier, but passes on the value by which a lane knows of a release.
        """
        if len(self._clocks.clocks) == 1:
            return
        members = lane_sets.indices(lanes)
        if (self._clock[members] == self._clock[members[0]]).all():
            return
        warp = self.batch.threads.slot_of[lanes] // WARP_SIZE
        for _, positions in groups(warp.astype(np.int64) << 32 | masks.astype(np.int64)):
            self.acquire(members[positions], self._joined(members[positions]))

    def _share_clocks(self, lanes: Lanes, of: Array) -> None:
        """Join the clocks of the lanes of each group."""
        if len(self._clocks.clocks) == 1 and not self.completions.is_used:
            return
        self._forget_unused_clocks()
        members = lane_sets.indices(lanes)
        room = len(self._clocks.clocks)
        pairs = np.sort(of.astype(np.int64) * room + self._clock[members])
        pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]]
        group = pairs // room
        several = set(group[1:][group[1:] == group[:-1]].tolist())
        news = self.completions.news
        several.update(of[news[members]].tolist())
        for number, positions in groups(of) if several else ():
            if number in several:
                here = members[positions]
                known = self._joined(here).joined(self.completions.clock(here))
                self._clock[here] = self._clocks.add(known)
                news[here] = False

    def _forget_unused_clocks(self) -> None:
        if len(self._clocks.clocks) > 2 * self._clocks.kept + _MOST_UNUSED:
            self._clock = self._clocks.keep(self._clock)

    # --- query -----------------------------------------------------------------------------------

    def unordered(self, lanes: Indices, words: Array) -> Mask:
        """Return per lane whether another thread's access does not happen before its next one.

        Args:
            words: Per lane an access: the timestamp above `THREAD_BITS`, the thread below; 0: none.
        """
        timestamps, others = words >> THREAD_BITS, words & THREAD_MASK
        own = self.thread[lanes]
        here = others // self.threads == own // self.threads
        ordered = (others == own) | (here & (timestamps <= self.of_block[lanes])) | (words == 0)
        rest = (~ordered).nonzero()[0]
        for is_used, known in (
            (self.completions.is_used, self.completions.known),
            (True, self._known_here),
            (len(self._clocks.clocks) > 1, self._known_by_clock),
        ):
            if len(rest) and is_used:
                ordered[rest] = timestamps[rest] <= known(lanes[rest], others[rest])
                rest = rest[~ordered[rest]]
        result: Mask = ~ordered
        return result

    def _known_here(self, lanes: Indices, others: Array) -> Array:
        """Return the timestamps for threads of the lanes' own block, by warps; 0 for others."""
        block, place = np.divmod(others, self.threads)
        here = block == self.thread[lanes] // self.threads
        warp = place // WARP_SIZE
        same = here & (warp == self._in_block[lanes] // WARP_SIZE)
        known: Array = np.where(same, self._of_warp[lanes], 0)
        if self._of_lanes is not None:
            of_lanes = self._of_lanes[lanes, place % WARP_SIZE]
            known = np.maximum(known, np.where(same, of_lanes, 0))
        if self._of_warps is not None:
            known = np.maximum(known, np.where(here, self._of_warps[lanes, warp], 0))
        return known

    def _known_by_clock(self, lanes: Indices, others: Array, of: int = 0) -> Array:
        """Return the timestamps for threads or agents in the lanes' vector clocks."""
        kinds = kinds_of(others)
        blocks, place = np.divmod(others - kinds, self.threads)
        warps = blocks * self.warps + place // WARP_SIZE
        keys = np.array([THREAD + others, WARP + kinds + warps, BLOCK + kinds + blocks]) + of
        known: Array = self._clocks.get(self._clock[lanes], keys).max(axis=0)
        return known
