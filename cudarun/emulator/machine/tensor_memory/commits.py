"""Completion of operations on tensor memory: ``tcgen05.commit`` (PTX manual 9.7.16.12)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.machine.asynchronous import AsynchronousAction
from cudarun.emulator.machine.bulk_copies import for_blocks
from cudarun.emulator.machine.mbarriers import BarrierChange, object_access
from cudarun.emulator.numerics.arrays import Array, Arrays

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.words import Words


class CommitTensors(AsynchronousAction, BarrierChange):
    """An arrival when the operations that the thread has issued so far are complete."""

    follows = "tcgen05"

    def __init__(self, words: Words) -> None:
        self.multicast = "mask" in words.given
        access = object_access(words, words.space, 0, order="acq_rel")
        access.scope = "cluster"
        self.accesses = (access,)

    def objects(self, sources: Arrays) -> Array:
        """Return the addresses of the objects."""
        return sources[0]

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Arrive at the object of each thread, or at those of several blocks."""
        objects = sources[0]
        if self.multicast:
            active, (objects,) = for_blocks(active, sources[1], (objects,), ())
        none = np.zeros(active.count, np.int64)
        yield partial(self.change, active, objects, none + 1, none)
