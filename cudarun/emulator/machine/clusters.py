"""Thread block clusters: barriers and distributed shared memory (PTX manual 9.7.13, 5.1.7).

A ``shared::cluster`` address has the rank of a block from bit 24 on, also a block's own addresses:
in code of ptxas, the address of a variable has ``SR_CgaCtaId`` there. Accesses to ``shared::cta``
ignore it. Modules that cannot address other blocks are compiled without ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.code import Site, Terminator
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.lanes import Lanes
from cudarun.emulator.machine.spaces import RANK_SHIFT
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.temporaries import Function, result_of

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.schedules.schedule import Path
    from cudarun.emulator.words import Words


RANK_OFFSET = (1 << RANK_SHIFT) - 1
_RANKS = (1 << 32 - RANK_SHIFT) - 1
_RANK_BITS = np.uint64(_RANKS << RANK_SHIFT)


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
        batch.clusters.wait(*batch.leave_for(active, self.after), self.site)


def own_ranks(active: Active) -> Array:
    """Return the rank of the block of each active lane in its cluster."""
    return active.per_lane(active.batch.threads.special("%cluster_ctarank"))


def other_blocks(batch: Batch, block: Array, offsets: Array, stride: int) -> tuple[Array, Array]:
    """Split offsets with ranks: the offset in a block's memory, and where that starts.

    An offset is huge if the cluster has no such block.

    Args:
        block: The block of each lane.
        stride: Bytes from the memory of one block to that of the next.
    """
    blocks = batch.launch.cluster_blocks
    rank = (offsets >> np.uint64(RANK_SHIFT)).astype(np.int64)
    known = (rank >= 0) & (rank < blocks)
    within = np.where(known, offsets & np.uint64(RANK_OFFSET), offsets)
    return within, np.where(known, block - block % blocks + rank, 0) * stride


def address_in_block(addresses: Array, ranks: Array) -> Array:
    """Return ``shared::cluster`` addresses, generic ones too, of the same place in other blocks."""
    above = (ranks.astype(np.uint64) & np.uint64(_RANKS)) << np.uint64(RANK_SHIFT)
    return addresses.astype(np.uint64) & ~_RANK_BITS | above


def in_block_of(addresses: Array, others: Array) -> Array:
    """Return ``shared::cluster`` addresses with the ranks in others."""
    return addresses.astype(np.uint64) & ~_RANK_BITS | others.astype(np.uint64) & _RANK_BITS


def rank_of(address: int) -> int:
    """Return the rank of a block in an address."""
    return address >> RANK_SHIFT & _RANKS


@result_of
def own_address(address: Array, rank: Array) -> Array:
    """Return the address of a variable in the block of each lane."""
    return address.astype(np.uint64) + (rank.astype(np.uint64) << np.uint64(RANK_SHIFT))


def map_address(words: Words) -> Function:
    """Return ``mapa``: the address of the same variable in another block of the cluster."""
    return result_of(address_in_block)


def rank_of_address(words: Words) -> Function:
    """Return ``getctarank``: which block of the cluster an address belongs to."""
    return result_of(
        lambda address: address.astype(np.uint64) >> np.uint64(RANK_SHIFT) & np.uint64(_RANKS)
    )
