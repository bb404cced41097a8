"""Thread block clusters: barriers and distributed shared memory (PTX manual 9.7.13, 5.1.7).

A ``shared::cluster`` address has the rank of a block, plus one, above bit 24; 0 is the block of the
lane itself, so that every ``shared::cta`` address is one, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.code import Site, Terminator
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.lanes import Lanes
from cudarun.emulator.machine.spaces import RANK_SHIFT, SHARED_WINDOW
from cudarun.emulator.numerics.arrays import Array, Arrays

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.schedules.schedule import Path
    from cudarun.emulator.words import Words


_OFFSET = (1 << RANK_SHIFT) - 1
_RANK_BITS = 32 - RANK_SHIFT


class ClusterBarrier:
    """The barriers of all clusters of a batch.

    Arrival and wait are separate, so each lane counts both: it continues from its ``n``-th wait
    when all live lanes of its cluster have arrived ``n`` times.
    """

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        # Waiting lanes: the path on which they continue, the lanes, and the instruction.
        self.waiting: list[tuple[Path, Lanes, Site]] = []
        self._arrived = np.zeros(batch.lanes, dtype=np.int64)
        self._waited = np.zeros(batch.lanes, dtype=np.int64)

    def begin(self) -> None:
        """Reset the counters for new blocks."""
        self._arrived[:] = 0
        self._waited[:] = 0

    def arrive(self, lanes: Lanes, *, relaxed: bool) -> None:
        """Count the arrival of lanes, which do not wait."""
        self._arrived[lanes] += 1
        self.batch.observer.clusters_arrive(self.batch, lanes, relaxed)
        self.recheck()

    def wait(self, path: Path, lanes: Lanes, site: Site) -> None:
        """Let lanes whose registers are written back wait for the others."""
        self._waited[lanes] += 1
        self.waiting.append((path, lanes, site))
        self.recheck()

    def skip(self, lanes: Lanes) -> None:
        """Count a wait of lanes that do not wait."""
        self._waited[lanes] += 1

    def recheck(self) -> None:
        """Release lanes whose cluster has arrived; lanes that have exited count as arrived."""
        if not self.waiting:
            return
        cluster = self.batch.threads.cluster_of
        least = np.full(int(cluster[-1]) + 1, np.iinfo(np.int64).max)
        living = np.flatnonzero(self.batch.alive)
        np.minimum.at(least, cluster[living], self._arrived[living])
        waiting, self.waiting = self.waiting, []
        for path, lanes, site in waiting:
            free = least[cluster[lanes]] >= self._waited[lanes]
            if free.any():
                released = lane_sets.select(lanes, free)
                self.batch.observer.clusters_synchronize(self.batch, released)
                self.batch.wait(path, released)
            if not free.all():
                self.waiting.append((path, lane_sets.select(lanes, ~free), site))


class ClusterArrive(Terminator):
    """``barrier.cluster.arrive``; ``relaxed`` orders no accesses to memory."""

    def __init__(self, after: int, site: Site, *, relaxed: bool) -> None:
        super().__init__((after,), site=site)
        self.after = after
        self.relaxed = relaxed

    def finish(self, batch: Batch, active: Active) -> None:
        """Arrive and continue."""
        batch.clusters.arrive(active.lanes, relaxed=self.relaxed)
        batch.proceed(active, self.after)


class ClusterWait(Terminator):
    """``barrier.cluster.wait``."""

    site: Site

    def __init__(self, after: int, site: Site) -> None:
        super().__init__((after,), site=site)
        self.after = after

    def finish(self, batch: Batch, active: Active) -> None:
        """Continue when all lanes of the cluster have arrived."""
        function = active.frame.function
        path = (*active.path[:-1], function.base + self.after)
        lanes = batch.write_back(active, function.blocks[self.after].live_in)
        batch.clusters.wait(path, lanes, self.site)


def other_blocks(active: Active, offsets: Array, stride: int) -> tuple[Array, Array]:
    """Split ``shared::cluster`` offsets: the offset in a block's memory, and where that starts.

    An offset is huge if the cluster has no such block.
    """
    threads, launch = active.batch.threads, active.batch.launch
    block = active.per_lane(threads.block_of)
    rank = (offsets >> np.uint64(RANK_SHIFT)).astype(np.int64)
    first = block - block % launch.cluster_blocks
    owner = np.where(rank == 0, block, first + rank - 1)
    known = rank <= launch.cluster_blocks
    within = np.where(known, offsets & np.uint64(_OFFSET), offsets)
    return within, np.where(known, owner, 0) * stride


def address_in_block(addresses: Array, ranks: Array) -> Array:
    """Return ``shared::cluster`` addresses, generic ones too, of the same place in other blocks."""
    kept = addresses & ~np.uint64((1 << _RANK_BITS) - 1 << RANK_SHIFT)
    return kept | (ranks.astype(np.uint64) + np.uint64(1)) << np.uint64(RANK_SHIFT)


def in_block_of(addresses: Array, others: Array) -> Array:
    """Return ``shared::cluster`` addresses with the ranks in others."""
    ranks = np.uint64((1 << _RANK_BITS) - 1 << RANK_SHIFT)
    return addresses.astype(np.uint64) & ~ranks | others.astype(np.uint64) & ranks


def rank_of(address: int) -> int:
    """Return the rank of a block in an address, plus one; 0 if there is none."""
    return address >> RANK_SHIFT & (1 << _RANK_BITS) - 1


class MapAddress:
    """``mapa``: the address of the same variable in another block of the cluster."""

    def __init__(self, words: Words) -> None:
        self.base = 0 if words["space"] else SHARED_WINDOW

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Put the rank into the address."""
        self.map(*sources, *destinations)

    def map(self, address: Array, rank: Array, d: Array) -> None:
        """Write addresses in the blocks with some ranks."""
        mapped = (address.astype(np.uint64) - np.uint64(self.base)) & np.uint64(_OFFSET)
        ranked = (rank.astype(np.uint64) + np.uint64(1)) << np.uint64(RANK_SHIFT)
        np.copyto(d, (mapped | ranked) + np.uint64(self.base), casting="unsafe")


class RankOfAddress:
    """``getctarank``: which block of the cluster an address belongs to."""

    def __init__(self, words: Words) -> None:
        self.base = 0 if words["space"] else SHARED_WINDOW

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Return the rank in the address; the lane's own if there is none."""
        own = active.per_lane(active.batch.threads.special("%cluster_ctarank"))
        self.rank(sources[0], own, destinations[0])

    def rank(self, address: Array, own: Array, d: Array) -> None:
        """Write the ranks of addresses; ``own`` are those of the lanes."""
        rank = (address.astype(np.uint64) - np.uint64(self.base)) >> np.uint64(RANK_SHIFT)
        result = np.where(rank == 0, own.astype(np.uint64), rank - np.uint64(1))
        np.copyto(d, result, casting="unsafe")
