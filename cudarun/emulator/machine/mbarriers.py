"""Barrier objects in shared memory (PTX manual 9.7.13.15).

A phase completes when no arrivals and no bytes are outstanding; a state, which an arrival returns,
is the object before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.access import Access, AccessKind, AsynchronousAction, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.barrier_objects import (
    BYTES,
    COUNT,
    NO_BYTES,
    PENDING,
    PHASE,
    FailedWait,
    after,
    fields,
)
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.words import Words

_WORD = np.dtype(np.uint64)
_FAILED = 719


def object_access(
    words: Words, space: str, address: int, *, order: str, kind: AccessKind = AccessKind.MBARRIER
) -> Access:
    """Return the access to an object, at the address operand of a number."""
    scope = words.get("scope") or "cta"
    return Access(space, _WORD, 1, kind, words.offsets[address], order=order, scope=scope)


class Initialize(MemoryAction):
    """``mbarrier.init``; ``mbarrier.inval`` writes zeros, which are no object."""

    def __init__(self, words: Words) -> None:
        access = Access(words.space, _WORD, 1, AccessKind.WRITE, words.offsets[0])
        if "inval" in words:
            access = object_access(words, words.space, 0, order="relaxed")
        self.accesses = (access,)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Write the objects, or zeros."""
        words = np.zeros(active.count, dtype=np.uint64)
        if len(sources) > 1:
            counts = sources[1].astype(np.uint64)
            if not ((counts >= 1) & (counts <= COUNT)).all():
                lane = int(np.argmin((counts >= 1) & (counts <= COUNT)))
                raise active.fault(_FAILED, f"mbarrier.init with a count of {counts[lane]}", lane)
            words = counts | counts << np.uint64(PENDING) | np.uint64(NO_BYTES << BYTES)
        (access,) = self.accesses
        access.store(active, sources[0], words[:, None])


class BarrierChange(MemoryAction):
    """An operation that changes objects; lanes with the same object are serialized.

    The last access is that to the object.

    Attributes:
        arrives: True for an arrival, which decrements the pending count.
        drops: True if it decrements the expected count of later phases, too.
    """

    arrives = True
    drops = False

    def __init__(self, words: Words) -> None:
        order = words.get("sem") or ("release" if self.arrives else "relaxed")
        order = "acq_rel" if order == "release" else order
        self.accesses = (object_access(words, words.space, 0, order=order),)

    def change(
        self, active: Active, addresses: Array, counts: Array | int, owed: Array | int = 0
    ) -> Array:
        """Apply ``counts`` and ``owed`` bytes, one per active lane; return the objects before."""
        states = np.zeros(active.count, dtype=np.uint64)
        counts, owed = (np.broadcast_to(each, active.count) for each in (counts, owed))
        for view, index, positions, _ in self.accesses[-1].locate(active, addresses):
            rows = np.arange(active.count) if positions is None else positions
            order = np.argsort(index, kind="stable")
            starts = np.flatnonzero(np.diff(index[order], prepend=-1))
            for run in np.split(order, starts[1:]) if len(order) > 1 else [order]:
                lanes = rows[run]
                place = int(index[run[0]])
                states[lanes], view[place], completes = self._turns(
                    active, int(view[place]), lanes, counts[lanes], owed[lanes]
                )
                if completes:
                    last = int(view[place]) >> PHASE ^ 1
                    observer = active.batch.observer
                    observer.phase_completed(active.batch, place * _WORD.itemsize, last)
        return states

    def _turns(
        self, active: Active, word: int, lanes: Array, counts: Array, owed: Array
    ) -> tuple[Array, int, bool]:
        """Return the states that lanes get from one object in turn, and its final value.

        The last result is whether a phase of it is complete.
        """
        expected, pending, bytes_owed, phase = fields(word)
        total = int(counts.sum())
        if 0 < total <= pending and self.arrives and not self.drops and not owed.any():
            before = np.cumsum(counts) - counts
            states = np.uint64(word) - (before.astype(np.uint64) << np.uint64(PENDING))
            found = after(expected, pending - total, bytes_owed, phase)
            return states, found, found >> PHASE != phase
        states, completes = np.zeros(len(lanes), dtype=np.uint64), False
        for turn, (count, more) in enumerate(zip(counts.tolist(), owed.tolist(), strict=True)):
            states[turn] = word
            expected, pending, bytes_owed, phase = fields(word)
            if count > pending:
                what = f"{count} arrivals at an mbarrier object with {pending} pending arrivals"
                raise active.fault(_FAILED, what, int(lanes[turn]))
            remaining = expected - count if self.drops else expected
            word = after(remaining, pending - count, bytes_owed + more, phase)
            completes |= word >> PHASE != phase
        return states, word, completes


class Arrive(BarrierChange):
    """``mbarrier.arrive`` and ``mbarrier.arrive_drop``, also with ``.expect_tx``."""

    def __init__(self, words: Words) -> None:
        self.drops = "arrive_drop" in words
        self.expects = words["kind"] == "expect_tx"
        super().__init__(words)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Arrive; the destinations are the states before."""
        given = sources[1].astype(np.int64) if len(sources) > 1 else int(not self.expects)
        counts, owed = (1, given) if self.expects else (given, 0)
        states = self.change(active, sources[0], counts, owed)
        np.copyto(destinations[0], states)


class Transactions(BarrierChange):
    """``mbarrier.expect_tx`` and ``mbarrier.complete_tx``."""

    arrives = False

    def __init__(self, words: Words) -> None:
        self.sign = 1 if "expect_tx" in words else -1
        super().__init__(words)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Add expected bytes, or complete them."""
        self.change(active, sources[0], 0, self.sign * sources[1].astype(np.int64))


class ArriveAfterCopies(AsynchronousAction, BarrierChange):
    """``cp.async.mbarrier.arrive``: an arrival when the lane's copies so far are complete.

    Without ``.noinc`` it first increments the pending count, which thus does not change.
    """

    follows = "cp.async"

    def __init__(self, words: Words) -> None:
        self.counts = int(bool(words["noinc"]))
        super().__init__(words)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Arrive at once."""
        self.change(active, sources[0], self.counts)

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Arrive."""
        yield partial(self.change, active, sources[0], 1)


class PhaseTest(MemoryAction):
    """``mbarrier.test_wait`` and ``mbarrier.try_wait``: a test whether a phase is complete.

    The latter may suspend a thread for a while; here it never does.
    """

    def __init__(self, words: Words) -> None:
        self.parity = bool(words.get("parity"))
        order = words.get("sem") or "acquire"
        access = object_access(words, words.space, 0, order=order, kind=AccessKind.READ)
        self.accesses = (access,)

    def phases(self, sources: Arrays) -> Array:
        """Return the parity of the phase that each lane waits for."""
        given = sources[1].astype(np.uint64)
        return given & np.uint64(1) if self.parity else given >> np.uint64(PHASE)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Write whether the phase of the state, or of the parity, is complete."""
        asked = self.phases(sources)
        (access,) = self.accesses
        failed = []
        for view, index, positions, _ in access.locate(active, sources[0]):
            rows = slice(None) if positions is None else positions
            phases = asked[rows]
            complete = view.take(index) >> np.uint64(PHASE) != phases
            destinations[0][rows] = complete
            if not complete.all():
                left = np.flatnonzero(~complete)
                lanes = lane_sets.pick(active.lanes, left if positions is None else positions[left])
                failed.append(FailedWait(lanes, view, index[left], phases[left], active.site))
        active.batch.failed_waits[self] = failed


def pending_count(state: Array, d: Array) -> None:
    """``mbarrier.pending_count``: the arrivals that were pending in a state."""
    np.copyto(d, state >> np.uint64(PENDING) & np.uint64(COUNT), casting="unsafe")
