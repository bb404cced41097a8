"""Release and acquire through memory: the clocks released at each address.

A thread releases its accesses before a fence by an atomic or volatile write after it; with
``.release`` the fence is part of the write. An atomic or volatile read of the address acquires
them; a fence after the read is not required, because many kernels that are considered correct have
none. An atomic operation adds to the released clocks, a store replaces them (PTX manual 8.7,
release and acquire patterns).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.detectors.vector_clocks import NOTHING, VectorClock
from cudarun.emulator.machine.access import Access, Section

if TYPE_CHECKING:
    from cudarun.emulator.detectors.footprints import Footprint
    from cudarun.emulator.detectors.happens_before import HappensBefore
    from cudarun.emulator.machine.lanes import Indices

Array = npt.NDArray[Any]

_ANYBODY = -1
_SHARED_KEYS = 40  # the block index is above this bit of the key of a shared memory address


class ReleasedClocks:
    """The released clocks by address.

    Each is for all threads, or for those of one block: a fence may be ``.cta`` only.
    """

    def __init__(self) -> None:
        self._clocks: dict[int, dict[int, VectorClock]] = {}
        self._keys = np.zeros(0, dtype=np.int64)

    def acquire(
        self, access: Access, part: Footprint, order: HappensBefore, lanes: Indices
    ) -> None:
        """Acquire the clocks released at the addresses that lanes read."""
        if not self._clocks or not access.reads:
            return
        keys = self._keys_of(part, order, lanes)
        found = np.isin(keys, self._keys)
        for key in np.unique(keys[found]):
            self._acquire(int(key), order, lanes[keys == key])

    def release(
        self, access: Access, part: Footprint, order: HappensBefore, lanes: Indices
    ) -> None:
        """Release the clocks of lanes that write atomically or volatile."""
        if not access.writes:
            return
        keys = self._keys_of(part, order, lanes)
        releasing = order.has_fenced(lanes, "block")
        if not access.reads and self._clocks:
            for key in np.unique(keys[np.isin(keys, self._keys)]):
                del self._clocks[int(key)]
                self._keys = self._keys[self._keys != key]
        for key in np.unique(keys[releasing]):
            writers = lanes[releasing & (keys == key)]
            self._add(int(key), access, part, order, writers)
            if access.reads and len(writers) > 1:  # the instruction serializes them
                self._acquire(int(key), order, lanes[keys == key])

    def _keys_of(self, part: Footprint, order: HappensBefore, lanes: Indices) -> Array:
        """Return a number for each address."""
        if not isinstance(part.region, Section):
            return part.offsets + part.region.base
        stride = order.batch.launch.shared_stride
        owner = part.offsets // stride + order.thread[0] // order.threads
        keys: Array = -1 - (owner << _SHARED_KEYS | part.offsets % stride)
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
        here = self._clocks.setdefault(key, {})
        if len(here) == 0:
            self._keys = np.append(self._keys, key)
        for lane in map(int, writers):
            block = int(order.thread[lane]) // order.threads
            if isinstance(part.region, Section):
                # Threads that access it are in the block, or in the cluster, for which a fence
                # of the block is too narrow; the two are not distinguished.
                here[_ANYBODY] = here.get(_ANYBODY, NOTHING).joined(
                    order.released_clock(lane, "block")
                )
                continue
            here[block] = here.get(block, NOTHING).joined(order.released_clock(lane, "block"))
            if access.scope != "cta":
                here[_ANYBODY] = here.get(_ANYBODY, NOTHING).joined(
                    order.released_clock(lane, "grid")
                )
