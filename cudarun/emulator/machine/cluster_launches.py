"""``clusterlaunchcontrol``: a running block takes the work of a cluster that has not begun.

A request takes the last cluster of the grid that has not begun, which then never begins. The answer
has 16 bytes, in an order of our own: whether there was one, then the block in it that is the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.machine.access import AccessKind
from cudarun.emulator.machine.bulk_copies import BulkTransfer, ClusterAccess, for_blocks
from cudarun.emulator.machine.threads import block_coordinates
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.numerics.temporaries import Function, result_of

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.words import Words

_ANSWER = 16  # bytes


class CancelLaunch(BulkTransfer):
    """``clusterlaunchcontrol.try_cancel``."""

    cancels_launches = True

    def __init__(self, words: Words) -> None:
        self.multicast = bool(words.get("multicast::cluster::all"))
        space, offset = words.space, words.offsets[0]
        answer = ClusterAccess(space, np.dtype(np.uint32), 4, AccessKind.WRITE, offset)
        self.accesses = (answer.by("mbarrier"),)
        self.report_to(words, space, 1)

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Request for each lane, then write the answers and complete their bytes."""
        launch, (to, objects) = active.batch.launch, sources
        answers = np.zeros((active.count, 4), dtype=np.uint32)
        for answer in answers:
            block = launch.cancel()
            if block is not None:
                (place,), _ = block_coordinates(launch, np.array([block]))
                answer[:] = 1, *place
        if self.multicast:
            masks = np.full(active.count, (1 << launch.cluster_blocks) - 1)
            active, (to, answers, objects) = for_blocks(active, masks, (to, objects), (answers,))
        yield partial(self.accesses[0].store, active, to, answers)
        yield partial(self.complete, active, objects, to, np.full(active.count, _ANSWER))


def canceled(words: Words) -> Function:
    """Return ``query_cancel.is_canceled``."""
    return result_of(lambda answer: answer.view(np.uint32)[:, 0] != 0)


def first_block(words: Words) -> Function:
    """Return ``query_cancel.get_first_ctaid``, of one axis or of all of them."""
    axis = words.get("axis")

    def operate(answer: Array, *places: Array) -> None:
        parts = answer.view(np.uint32)
        chosen = ["xyz".index(axis[-1]) + 1] if axis else [1, 2, 3, 0]
        for place, part in zip(places, chosen, strict=False):
            np.copyto(place, parts[:, part])

    return operate
