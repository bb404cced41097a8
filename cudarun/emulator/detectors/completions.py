"""Knowledge of the lanes of a batch about the completion of asynchronous operations of threads.

A thread knows of its own agents by its waits. A barrier of the block makes this known to the block,
and is frequent in pipelines of copies: therefore it needs no vector clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.detectors.agents import FIRST_AGENT, NUMBERED, kinds_of, of_thread
from cudarun.emulator.detectors.groups import distinct
from cudarun.emulator.detectors.vector_clocks import BLOCK, NOTHING, VectorClock
from cudarun.emulator.numerics.arrays import Array

if TYPE_CHECKING:
    from cudarun.emulator.machine.lanes import Indices, Lanes


_KIND_BITS = 29
_KINDS = NUMBERED - FIRST_AGENT >> _KIND_BITS


class Completions:
    """Per lane, the timestamps up to which operations of its agents are known to be complete.

    Args:
        lanes: The number of lanes.
        threads: The threads of a block.
    """

    def __init__(self, lanes: int, threads: int) -> None:
        self._threads = threads
        self._own = np.zeros((_KINDS, lanes), dtype=np.int64)  # known to the thread itself
        self._of_block = np.zeros_like(self._own)  # known to the threads of its block
        self._first = 0
        # Per lane, whether others in its block may not know what it knows.
        self.news = np.zeros(lanes, dtype=np.bool_)
        self.is_used = False  # True after the first wait

    def begin(self, first_thread: int) -> None:
        """Forget everything, for new blocks."""
        self._first = first_thread
        self.is_used = False
        for array in (self._own, self._of_block, self.news):
            array[:] = 0

    def complete(self, lanes: Indices, kind: int, timestamps: Array) -> None:
        """Note operations of an agent of each lane, up to a timestamp."""
        known = self._own[kind - FIRST_AGENT >> _KIND_BITS]
        known[lanes] = np.maximum(known[lanes], timestamps)
        self.news[lanes] = self.is_used = True

    def blocks_synchronize(self, lanes: Lanes) -> None:
        """Make known to whole blocks what each of their lanes knows."""
        if self.is_used:
            self._of_block[:, lanes] = self._own[:, lanes]
            self.news[lanes] = False

    def known(self, lanes: Indices, others: Array) -> Array:
        """Return the timestamp up to which each lane knows of an agent in its block."""
        kinds = kinds_of(others)
        places = (kinds - FIRST_AGENT >> _KIND_BITS) % (_KINDS + 1)
        slots = others - kinds - self._first
        here = (kinds > 0) & (places < _KINDS) & (slots // self._threads == lanes // self._threads)
        places, slots = np.where(here, places, 0), np.where(here, slots, 0)
        own = np.where(slots == lanes, self._own[places, slots], 0)
        found: Array = np.where(here, np.maximum(own, self._of_block[places, slots]), 0)
        return found

    def clock(self, lanes: Indices) -> VectorClock:
        """Return what lanes know of agents in their block."""
        if not self.is_used:
            return NOTHING
        told = lanes[self.news[lanes]]
        found = VectorClock.latest(self._keys(told).ravel(), self._own[:, told].ravel())
        return found.joined(self._of_blocks(lanes))

    def _keys(self, lanes: Indices) -> Array:
        """Return the keys of the agents of lanes, a row for each kind."""
        kinds = FIRST_AGENT + (np.arange(_KINDS)[:, None] << _KIND_BITS)
        return of_thread(kinds, self._first + lanes)

    def _of_blocks(self, lanes: Indices) -> VectorClock:
        """Return what the blocks of lanes know: a timestamp for each, and later ones."""
        keys, times = [], []
        for block in distinct(lanes // self._threads):
            members = np.arange(block * self._threads, (block + 1) * self._threads)
            agents, own = self._keys(members), self._of_block[:, members]
            lowest = own.min(axis=1)
            later = own > lowest[:, None]
            number = self._first // self._threads + block
            keys += [BLOCK + of_thread(kinds_of(agents[:, 0]), number), agents[later]]
            times += [lowest, own[later]]
        return VectorClock.latest(np.concatenate(keys), np.concatenate(times))
