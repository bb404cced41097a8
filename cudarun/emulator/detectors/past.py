"""What the lanes of a batch know: which accesses of other threads come before what they do now.

Causality order (PTX manual 8.8) in the shape that kernels give it. Per lane there is one moment for
all threads of its block (barriers of the block), one for all of its warp (warp barriers), and where
somebody has waited for only some threads, one for each lane of the warp or each warp of the block.
What a lane knows of other blocks is a `Clock`, shared by all that know the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.detectors.clocks import BLOCK, NOTHING, THREAD, WARP, Clock, Timeline
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.threads import WARP as WARP_SIZE
from cudarun.emulator.machine.threads import WARPGROUP

if TYPE_CHECKING:
    from cudarun.emulator.machine.barriers import Arrival
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.lanes import Indices, Lanes

Array = npt.NDArray[Any]

THREAD_BITS = 32
_THREAD_MASK = (1 << THREAD_BITS) - 1
_NEVER = np.iinfo(np.int64).max


class Past:
    """The knowledge of all lanes of a batch.

    Attributes:
        thread: Per lane, the number of its thread in the grid.
        numbers: The same, cut to `THREAD_BITS`.
        of_block: Per lane, up to which moment it knows all threads of its block.
    """

    def __init__(self, batch: Batch, timeline: Timeline) -> None:
        self.batch = batch
        self.timeline = timeline
        self.threads = batch.threads.threads
        self.warps = batch.threads.warps
        lanes = batch.lanes
        self.thread = np.zeros(lanes, dtype=np.int64)
        self.numbers = np.zeros(lanes, dtype=np.int64)
        self.of_block = np.zeros(lanes, dtype=np.int64)
        self._of_warp = np.zeros(lanes, dtype=np.int64)
        self._of_lanes: Array | None = None  # per lane of its warp
        self._of_warps: Array | None = None  # per warp of its block
        self._clock = np.zeros(lanes, dtype=np.intp)
        self._clocks = [NOTHING]
        self._fenced = {level: np.zeros(lanes, dtype=np.int64) for level in ("block", "grid")}
        self._arrived = np.zeros(lanes, dtype=np.int64)
        self._in_block = np.arange(lanes) % self.threads

    def begin(self, first_block: int) -> None:
        """New blocks are in the lanes, which know nothing yet."""
        self.thread[:] = first_block * self.threads + np.arange(len(self.thread))
        self.numbers[:] = self.thread & _THREAD_MASK
        for array in (self.of_block, self._of_warp, self._arrived, *self._fenced.values()):
            array[:] = 0
        self._of_lanes = self._of_warps = None
        self._clock[:] = 0
        self._clocks = [NOTHING]

    # --- meeting at barriers ---------------------------------------------------------------------

    def blocks_meet(self, lanes: Lanes) -> None:
        """All lanes of whole blocks have waited for each other."""
        self.of_block[lanes] = self.timeline.now
        self._share_clocks(lanes, self.batch.threads.block_of[lanes])

    def barrier(self, released: Sequence[Arrival]) -> None:
        """Lanes have waited for lanes of their block, or have only arrived."""
        lanes = np.concatenate([lane_sets.indices(arrival.lanes) for arrival in released])
        waits = np.repeat(
            [arrival.path is not None for arrival in released],
            [lane_sets.count(arrival.lanes) for arrival in released],
        )
        moments = np.repeat(
            [self.timeline.now if a.path is not None else a.moment for a in released],
            [lane_sets.count(arrival.lanes) for arrival in released],
        )
        block_of = self.batch.threads.block_of[lanes]
        alive = np.bincount(
            self.batch.threads.block_of[self.batch.alive], minlength=self.batch.threads.room
        )
        for block in np.unique(block_of):
            here = block_of == block
            members, waiting = lanes[here], lanes[here & waits]
            if len(members) == len(waiting) >= alive[block]:
                self.blocks_meet(np.sort(members))
            elif len(waiting):
                self._some_meet(members, moments[here], waiting)

    def _some_meet(self, members: Indices, moments: Array, waiting: Indices) -> None:
        """Some warps of a block: what is known then is known by warp."""
        if self._of_warps is None:
            self._of_warps = np.zeros((len(self.thread), self.warps), dtype=np.int64)
        arrived = np.full(self.warps, _NEVER)
        np.minimum.at(arrived, self._in_block[members] // WARP_SIZE, moments)
        arrived[arrived == _NEVER] = 0
        known = np.maximum(arrived, self._of_warps[members].max(axis=0))
        self._of_warps[waiting] = known
        self.of_block[waiting] = self.of_block[members].max()
        self._share_clocks(members, np.zeros(len(members), dtype=np.intp), waiting)

    def warps_meet(self, lanes: Lanes, masks: Array | None) -> None:
        """Lanes have waited for those of their member masks; for the whole warp without."""
        threads, now = self.batch.threads, self.timeline.now
        warp = threads.slot_of[lanes] // WARP_SIZE
        if masks is not None:
            living = threads.warp_bits(np.flatnonzero(self.batch.alive))[warp]
            whole = (living & ~masks) == 0
            if not whole.all():
                self._groups_meet(lane_sets.indices(lanes), warp, masks, whole)
                return
        self._of_warp[lanes] = now
        starts = np.flatnonzero(np.diff(warp, prepend=-1))
        lengths = np.diff(np.append(starts, len(warp)))
        for array in (self.of_block, self._of_warps):
            if array is not None:
                best = np.maximum.reduceat(array[lanes], starts, axis=0)
                array[lanes] = np.repeat(best, lengths, axis=0)
        self._share_clocks(lanes, warp)

    def warpgroups_meet(self, lanes: Lanes) -> None:
        """Lanes of whole warpgroups have waited for what they did together."""
        members = lane_sets.indices(lanes)
        group = self.batch.threads.slot_of[members] // WARP_SIZE
        block = self.batch.threads.block_of[members]
        group = (group - block * self.warps) // (WARPGROUP // WARP_SIZE) + block * self.warps
        for number in np.unique(group):
            here = members[group == number]
            self._some_meet(here, np.full(len(here), self.timeline.now), here)

    def _groups_meet(self, lanes: Indices, warp: Array, masks: Array, whole: Array) -> None:
        """Groups of lanes smaller than warps."""
        now = self.timeline.now
        if self._of_lanes is None:
            self._of_lanes = np.zeros((len(self.thread), WARP_SIZE), dtype=np.int64)
        keys = warp.astype(np.int64) << 32 | masks.astype(np.int64)
        _, group = np.unique(keys, return_inverse=True)
        order = np.argsort(group, kind="stable")
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        for array in (self.of_block, self._of_warp, self._of_lanes, self._of_warps):
            if array is not None:
                best = np.maximum.reduceat(array[lanes[order]], starts, axis=0)
                array[lanes] = best[group]
        members = (masks[:, None] >> np.arange(WARP_SIZE, dtype=np.uint32)) & 1 != 0
        self._of_lanes[lanes] = np.where(members, now, self._of_lanes[lanes])
        self._of_warp[lanes[whole]] = now
        self._share_clocks(lanes, group)

    def clusters_arrive(self, lanes: Lanes) -> None:
        """Lanes have arrived at the barrier of their cluster."""
        self._arrived[lanes] = self.timeline.now

    def clusters_meet(self, lanes: Lanes) -> None:
        """Lanes have waited for all of their cluster, which know each other's blocks then."""
        threads = self.batch.threads
        waiting = lane_sets.indices(lanes)
        for cluster in np.unique(threads.cluster_of[waiting]):
            members = np.flatnonzero(threads.cluster_of == cluster)
            moments = np.full(threads.room, self.timeline.now)
            living = members[self.batch.alive[members]]
            np.minimum.at(moments, threads.block_of[living], self._arrived[living])
            here = waiting[threads.cluster_of[waiting] == cluster]
            blocks = np.unique(threads.block_of[members])
            numbers = self.thread[blocks * self.threads] // self.threads
            known = Clock.latest(BLOCK + numbers, moments[blocks])
            for index in np.unique(self._clock[members]):
                known = known.joined(self._clocks[index])
            self.of_block[here] = moments[threads.block_of[here]]
            self._clock[here] = self._number(known)

    # --- meeting through memory ------------------------------------------------------------------

    def fence(self, lanes: Lanes, scope: str) -> None:
        """Lanes have executed a fence: what came before it can be published."""
        self._fenced["block"][lanes] = self.timeline.now
        if scope != "cta":
            self._fenced["grid"][lanes] = self.timeline.now

    def has_fenced(self, lanes: Indices, level: str) -> npt.NDArray[np.bool_]:
        """Which lanes have something to publish, since they or others of their block fenced."""
        fenced = self._fenced[level]
        if not fenced.any():
            return np.zeros(len(lanes), dtype=np.bool_)
        in_block = np.zeros(self.batch.threads.room, dtype=np.bool_)
        in_block[self.batch.threads.block_of[fenced > 0]] = True
        found: npt.NDArray[np.bool_] = in_block[self.batch.threads.block_of[lanes]]
        return found

    def published(self, lane: int, level: str) -> Clock:
        """What a lane passes on that writes to memory after its fence.

        What others of its block did counts when it knows of it and they have fenced it, or it has
        since, or somebody else of their block: a barrier before or after the fence, both are seen
        in kernels.
        """
        fenced = self._fenced[level]
        first = lane - int(self._in_block[lane])
        block, thread = int(self.thread[lane]) // self.threads, int(self.thread[lane])
        warp = int(self._in_block[lane]) // WARP_SIZE
        of_block = fenced[first : first + self.threads]
        by_warp = np.maximum.reduceat(of_block, np.arange(0, self.threads, WARP_SIZE))
        pairs = [
            (THREAD + thread, int(fenced[lane])),
            (BLOCK + block, min(int(self.of_block[lane]), int(of_block.max()))),
            (WARP + block * self.warps + warp, min(int(self._of_warp[lane]), int(by_warp[warp]))),
        ]
        if self._of_lanes is not None:
            known = np.minimum(self._of_lanes[lane], by_warp[warp])
            start = thread - int(self._in_block[lane]) % WARP_SIZE
            pairs += [(THREAD + start + other, int(m)) for other, m in enumerate(known)]
        if self._of_warps is not None:
            known = np.minimum(self._of_warps[lane], np.maximum(by_warp, fenced[lane]))
            pairs += [(WARP + block * self.warps + w, int(m)) for w, m in enumerate(known)]
        own = Clock.of((key, moment) for key, moment in pairs if moment)
        return own.joined(self._clocks[self._clock[lane]])

    def acquire(self, lanes: Indices, clock: Clock) -> None:
        """Lanes have read what somebody published."""
        self._forget_unused_clocks()
        for index in np.unique(self._clock[lanes]):
            known = self._clocks[index]
            joined = known.joined(clock)
            if joined is not known:
                same = lanes[self._clock[lanes] == index]
                self._clock[same] = self._number(joined)

    def _share_clocks(self, lanes: Lanes, groups: Array, to: Indices | None = None) -> None:
        """Let the lanes of each group know of other blocks what any of them does.

        Args:
            lanes: The lanes.
            groups: A number for each.
            to: The lanes that get to know it, where that is not all of a single group.
        """
        if len(self._clocks) == 1:
            return
        self._forget_unused_clocks()
        members = lane_sets.indices(lanes)
        pairs = np.unique(np.stack([groups, self._clock[members]]), axis=1)
        several, counts = np.unique(pairs[0], return_counts=True)
        for group in several[counts > 1]:
            joined = NOTHING
            for index in pairs[1, pairs[0] == group]:
                joined = joined.joined(self._clocks[index])
            self._clock[members[groups == group] if to is None else to] = self._number(joined)

    def _number(self, clock: Clock) -> int:
        self._clocks.append(clock)
        return len(self._clocks) - 1

    def _forget_unused_clocks(self) -> None:
        if len(self._clocks) > 2 * len(self.thread) + 64:
            used = np.union1d(self._clock, [0])
            self._clock = np.searchsorted(used, self._clock)
            self._clocks = [self._clocks[index] for index in used]

    # --- the question that all this is for -------------------------------------------------------

    def unordered(self, lanes: Indices, words: Array) -> npt.NDArray[np.bool_]:
        """Per lane, whether an access of another thread does not come before what it does now.

        Args:
            lanes: Lanes of the batch.
            words: For each the moment of an access above `THREAD_BITS`, the thread below; 0: none.
        """
        moments, others = words >> THREAD_BITS, words & _THREAD_MASK
        own = self.thread[lanes]
        blocks = others // self.threads
        here = blocks == own // self.threads
        ordered = (others == own) | (here & (moments <= self.of_block[lanes])) | (words == 0)
        rest = np.flatnonzero(~ordered)
        if len(rest):
            known = np.where(here[rest], self._known_here(lanes[rest], others[rest]), 0)
            if len(self._clocks) > 1:
                known = np.maximum(known, self._known_by_clock(lanes[rest], others[rest]))
            ordered[rest] = moments[rest] <= known
        result: npt.NDArray[np.bool_] = ~ordered
        return result

    def _known_here(self, lanes: Indices, others: Array) -> Array:
        """The moment up to which lanes know threads of their own block, by warps."""
        place = others % self.threads
        warp = place // WARP_SIZE
        same = warp == self._in_block[lanes] // WARP_SIZE
        known: Array = np.where(same, self._of_warp[lanes], 0)
        if self._of_lanes is not None:
            known = np.where(
                same, np.maximum(known, self._of_lanes[lanes, place % WARP_SIZE]), known
            )
        if self._of_warps is not None:
            known = np.maximum(known, self._of_warps[lanes, warp])
        return known

    def _known_by_clock(self, lanes: Indices, others: Array) -> Array:
        """The moment up to which lanes know threads by their clocks."""
        known = np.zeros(len(lanes), dtype=np.int64)
        numbers = self._clock[lanes]
        blocks = others // self.threads
        warps = blocks * self.warps + others % self.threads // WARP_SIZE
        for number in np.unique(numbers):
            same = np.flatnonzero(numbers == number)
            clock = self._clocks[number]
            best = clock.get(THREAD + others[same])
            for keys in (WARP + warps[same], BLOCK + blocks[same]):
                best = np.maximum(best, clock.get(keys))
            known[same] = best
        return known
