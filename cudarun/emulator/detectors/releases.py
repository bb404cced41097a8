"""Release and acquire through memory: the clocks released at each address.

A thread releases its accesses before a fence by an atomic or volatile write after it; with
``.release`` the fence is part of the write. An atomic or volatile read of the address acquires
them; a fence after the read is not required, because many kernels that are considered correct have
none. An atomic operation adds to the released clocks, a store replaces them (PTX manual 8.7,
release and acquire patterns). At an ``mbarrier`` object a thread acquires what has been released in
the phases that are complete.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from cudarun.emulator.detectors.happens_before import HappensBefore
from cudarun.emulator.detectors.vector_clocks import NOTHING, VectorClock
from cudarun.emulator.machine.access import Access, AccessKind
from cudarun.emulator.machine.lanes import Indices, groups
from cudarun.emulator.machine.spaces import Footprint, Section
from cudarun.emulator.numerics.arrays import Array

_ANYBODY = -1
_NO_PHASE = NOTHING, NOTHING, NOTHING
_SHARED_KEYS = 40  # the block index is above this bit of the key of a shared memory address


class ReleasedClocks:
    """The released clocks by address.

    Each is for all threads, or for those of one block: a fence may be ``.cta`` only.
    """

    def __init__(self) -> None:
        self._clocks: dict[int, dict[int, VectorClock]] = {}
        self._sorted: Array | None = None  # the addresses; None after a change
        # of the incomplete phase, and up to the last one of each parity
        self._phases: dict[int, tuple[VectorClock, VectorClock, VectorClock]] = {}

    def acquire(
        self, access: Access, part: Footprint, order: HappensBefore, lanes: Indices
    ) -> None:
        """Acquire the clocks released at the addresses that lanes read."""
        if not self._clocks or not _acquires(access):
            return
        keys = self._keys_of(part, order, lanes)
        found = self._released(keys)
        for key, members in groups(keys[found]):
            self._acquire(key, order, lanes[found[members]])

    def acquire_phases(
        self, part: Footprint, order: HappensBefore, lanes: Indices, parities: Array
    ) -> None:
        """Acquire the clocks of the phases of ``mbarrier`` objects that lanes wait for.

        A test that fails does so, too: it acquires what an earlier one could.
        """
        for key, members in groups(self._keys_of(part, order, lanes)):
            for parity, clock in enumerate(self._phases.get(key, _NO_PHASE)[1:]):
                order.acquire(lanes[members[parities[members] == parity]], clock)

    def release(
        self, access: Access, part: Footprint, order: HappensBefore, lanes: Indices, agents: Array
    ) -> None:
        """Release the clocks of lanes that write atomically or volatile.

        Args:
            agents: At an ``mbarrier`` object, the agents whose operations are complete for it.
        """
        if not access.writes:
            return
        releasing = order.has_fenced(lanes, "block")
        if access.kind is AccessKind.MBARRIER:
            for key, members in groups(self._keys_of(part, order, lanes)):
                incomplete, even, odd = self._phases.get(key, _NO_PHASE)
                here = lanes[members[releasing[members]]]
                if len(here):
                    incomplete = incomplete.joined(order.released_clock(here, "block"))
                if len(agents):
                    times = np.full(len(members), order.logical_clock.now)
                    incomplete = incomplete.joined(VectorClock.latest(agents[members], times))
                self._phases[key] = incomplete, even, odd
            return
        replaces = not access.reads and bool(self._clocks)
        if not (replaces or releasing.any()):
            return
        keys = self._keys_of(part, order, lanes)
        if replaces:
            for key in set(keys[self._released(keys)].tolist()):
                del self._clocks[key]
                self._sorted = None
        every = releasing.all()
        for key, members in groups(keys):
            writers = lanes[members] if every else lanes[members[releasing[members]]]
            if len(writers):
                self._add(key, access, part, order, writers)
            if _acquires(access) and len(writers) > 1:  # the instruction serializes them
                self._acquire(key, order, lanes[members])

    def complete_phase(self, place: int, parity: int, order: HappensBefore) -> None:
        """Let waits for a phase of an ``mbarrier`` object acquire what has been released there."""
        key = int(self._keys(np.array([place]), order)[0])
        incomplete, even, odd = self._phases.get(key, _NO_PHASE)
        complete = incomplete.joined(even).joined(odd)
        self._phases[key] = NOTHING, *((even, complete) if parity else (complete, odd))

    def _released(self, keys: Array) -> Indices:
        """Return the positions of the addresses at which something is released."""
        if not self._clocks:
            return np.zeros(0, dtype=np.intp)
        if self._sorted is None:
            self._sorted = np.fromiter(self._clocks, dtype=np.int64, count=len(self._clocks))
            self._sorted.sort()
        places = np.minimum(self._sorted.searchsorted(keys), len(self._sorted) - 1)
        found: Indices = (self._sorted[places] == keys).nonzero()[0]
        return found

    def _keys_of(self, part: Footprint, order: HappensBefore, lanes: Indices) -> Array:
        """Return a number for each address."""
        if not isinstance(part.region, Section):
            return part.offsets + part.region.base
        return self._keys(part.offsets, order)

    def _keys(self, places: Array, order: HappensBefore) -> Array:
        """Return a number for each place in shared memory."""
        stride = order.batch.launch.shared_stride
        owner = places // stride + order.thread[0] // order.threads
        keys: Array = -1 - (owner << _SHARED_KEYS | places % stride)
        return keys

    def _acquire(self, key: int, order: HappensBefore, lanes: Indices) -> None:
        for whom, clock in self._clocks.get(key, {}).items():
            if whom == _ANYBODY:
                order.acquire(lanes, clock)
                continue
            inside = lanes[order.thread[lanes] // order.threads == whom]
            if len(inside):
                order.acquire(inside, clock)

    def _add(
        self, key: int, access: Access, part: Footprint, order: HappensBefore, writers: Indices
    ) -> None:
        if key not in self._clocks:
            self._clocks[key] = defaultdict(lambda: NOTHING)
            self._sorted = None
        here = self._clocks[key]
        if isinstance(part.region, Section):
            # Threads that access it are in the block, or in the cluster, for which a fence of the
            # block is too narrow; the two are not distinguished.
            here[_ANYBODY] = here[_ANYBODY].joined(order.released_clock(writers, "block"))
            return
        if access.scope != "cta":
            here[_ANYBODY] = here[_ANYBODY].joined(order.released_clock(writers, "grid"))
            if not order.has_block_fences:  # then its block acquires the same clock
                return
        blocks = order.thread[writers] // order.threads
        for block in set(blocks.tolist()):
            inside = writers[blocks == block]
            here[block] = here[block].joined(order.released_clock(inside, "block"))


def _acquires(access: Access) -> bool:
    """Return whether an atomic or volatile access acquires; an arrival at an mbarrier does not."""
    return access.reads and access.kind is not AccessKind.MBARRIER
