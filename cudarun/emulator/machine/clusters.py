"""Thread block clusters: their barrier, and each other's shared memory (PTX manual 9.7.13, 5.1.7).

A ``shared::cluster`` address has the rank of a block, plus one, above bit 24; 0 there means the
block of the lane itself, so that every ``shared::cta`` address is one, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.code import Site, Terminator
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.lanes import Lanes
from cudarun.emulator.machine.spaces import RANK_SHIFT, SHARED_WINDOW

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.batch import Batch, Path
    from cudarun.emulator.words import Words

Array = npt.NDArray[Any]
Arrays = tuple[Array, ...]

_OFFSET = (1 << RANK_SHIFT) - 1


class ClusterBarrier:
    """The barrier of every cluster of a batch.

    Threads arrive and wait apart, so each lane counts how often it has done either: it may go on
    from its ``n``-th wait when all living lanes of its cluster have arrived ``n`` times.

    Attributes:
        waiting: Lanes that wait: where they go on, which they are, and the instruction.
    """

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.waiting: list[tuple[Path, Lanes, Site]] = []
        self._arrived = np.zeros(batch.lanes, dtype=np.int64)
        self._waited = np.zeros(batch.lanes, dtype=np.int64)

    def begin(self) -> None:
        """New blocks are in the lanes."""
        self._arrived[:] = 0
        self._waited[:] = 0

    def arrive(self, lanes: Lanes) -> None:
        """Lanes arrive; they do not wait."""
        self._arrived[lanes] += 1
        self.batch.observer.clusters_arrive(self.batch, lanes)
        self.recheck()

    def wait(self, path: Path, lanes: Lanes, site: Site) -> None:
        """Lanes whose registers are at home wait for the others."""
        self._waited[lanes] += 1
        self.waiting.append((path, lanes, site))
        self.recheck()

    def recheck(self) -> None:
        """Let those go on whose cluster has arrived; lanes that have ended count as arrived."""
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
                self.batch.observer.clusters_meet(self.batch, released)
                self.batch.wait(path, released)
            if not free.all():
                self.waiting.append((path, lane_sets.select(lanes, ~free), site))


class ClusterArrive(Terminator):
    """``barrier.cluster.arrive``."""

    def __init__(self, after: int, site: Site) -> None:
        super().__init__((after,), site=site)
        self.after = after

    def finish(self, batch: Batch, active: Active) -> None:
        """The lanes arrive and go on."""
        batch.clusters.arrive(active.lanes)
        batch.proceed(active, self.after)


class ClusterWait(Terminator):
    """``barrier.cluster.wait``."""

    def __init__(self, after: int, site: Site) -> None:
        super().__init__((after,), site=site)
        self.after = after
        self.wait_site = site

    def finish(self, batch: Batch, active: Active) -> None:
        """The lanes go on when all of their cluster have arrived."""
        function = active.frame.function
        path = (*active.path[:-1], function.base + self.after)
        lanes = batch.settle(active, function.blocks[self.after].live_in)
        batch.clusters.wait(path, lanes, self.wait_site)


def other_blocks(active: Active, offsets: Array) -> tuple[Array, Array]:
    """Offsets with a rank in them: the offset in that block's shared memory, and where it begins.

    An offset is huge where the cluster has no such block.
    """
    threads, launch = active.batch.threads, active.batch.launch
    block = active.per_lane(threads.block_of)
    rank = (offsets >> np.uint64(RANK_SHIFT)).astype(np.int64)
    first = block - block % launch.cluster_blocks
    owner = np.where(rank == 0, block, first + rank - 1)
    known = rank <= launch.cluster_blocks
    within = np.where(known, offsets & np.uint64(_OFFSET), offsets)
    return within, np.where(known, owner, 0) * launch.shared_stride


class MapAddress:
    """``mapa``: the address of the same variable in another block of the cluster."""

    def __init__(self, words: Words) -> None:
        self.base = 0 if words["space"] else SHARED_WINDOW

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Put the rank into the address."""
        address, rank = (source.astype(np.uint64) for source in sources)
        mapped = (address - np.uint64(self.base)) & np.uint64(_OFFSET)
        mapped |= (rank + np.uint64(1)) << np.uint64(RANK_SHIFT)
        np.copyto(destinations[0], mapped + np.uint64(self.base), casting="unsafe")


class RankOfAddress:
    """``getctarank``: which block of the cluster an address belongs to."""

    def __init__(self, words: Words) -> None:
        self.base = 0 if words["space"] else SHARED_WINDOW

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Take the rank from the address; the lane's own where there is none."""
        rank = (sources[0].astype(np.uint64) - np.uint64(self.base)) >> np.uint64(RANK_SHIFT)
        own = active.per_lane(active.batch.special("%cluster_ctarank"))
        result = np.where(rank == 0, own, rank - np.uint64(1))
        np.copyto(destinations[0], result, casting="unsafe")
