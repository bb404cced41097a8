"""The lifetime of shared memory that other blocks of a cluster access.

A block has shared memory from its start to its exit. Another block may only access it if the start
happens before, and if the access happens before the exit (programming guide, distributed shared
memory). Both are mostly ensured by barriers of the cluster.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.detectors.happens_before import HappensBefore
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.lanes import Indices, groups
from cudarun.emulator.numerics.arrays import Array

NOT_STARTED = "nothing orders the start of the other block before the access"
UNREAD = "no cp.async.bulk.wait_group.read of the copying thread before its exit"
EXITED = "nothing orders the access before the exit of the other block"


class SharedLifetimes:
    """The accesses of a batch to the shared memory of other blocks of their clusters."""

    def __init__(self, batch: Batch, order: HappensBefore) -> None:
        self._batch = batch
        self._order = order  # the order of its lanes
        self._ranks = batch.launch.cluster_blocks
        # per lane and rank, the last access that may come after the exit of the block, and where
        self._last = np.zeros((batch.lanes, self._ranks), dtype=np.int64)
        self._offsets = np.zeros_like(self._last)

    def begin(self) -> None:
        """Forget the accesses of other blocks."""
        self._last[:] = 0

    def accessed(self, lanes: Indices, offsets: Array, words: Array) -> dict[str, Indices]:
        """Note accesses; return the positions of those that are wrong, by the reason.

        Args:
            offsets: Per lane, the first byte in the section of shared memory.
            words: Per lane, the timestamp and the thread.
        """
        threads, first = self._batch.threads, self._batch.first_block
        owner = offsets // self._batch.launch.shared_stride
        others = np.flatnonzero(owner != threads.block_of[lanes])
        if not len(others):
            return {}
        lanes, owner = lanes[others], owner[others]
        living = np.bincount(threads.block_of[self._batch.alive], minlength=threads.room)
        self._last[lanes, owner % self._ranks] = words[others]
        self._offsets[lanes, owner % self._ranks] = offsets[others]
        return {
            NOT_STARTED: others[~self._order.has_heard_of(lanes, owner + first)],
            EXITED: others[living[owner] == 0],
        }

    def exited(self, lanes: Indices) -> Array:
        """Return the accesses to blocks that end with lanes that do not know of them.

        The second row has the first byte of each in the section of shared memory.
        """
        threads, found = self._batch.threads, [np.zeros((2, 0), dtype=np.int64)]
        for block, positions in groups(threads.block_of[lanes]):
            exiting, rank = lanes[positions], block % self._ranks
            start = (block - rank) * threads.threads
            cluster = slice(start, start + self._ranks * threads.threads)
            column, offsets = self._last[cluster, rank], self._offsets[cluster, rank]
            noted = column.nonzero()[0]
            for lane in self._order.representatives(exiting) if len(noted) else ():
                left = self._order.unordered(np.full(len(noted), lane), column[noted])
                column[noted[~left]] = 0
                noted = noted[left]
            own = slice(block * threads.threads, (block + 1) * threads.threads)
            if len(noted) and not self._batch.alive[own].any():
                found.append(np.stack([column[noted], offsets[noted]]))
                column[noted] = 0
        return np.concatenate(found, axis=1)
