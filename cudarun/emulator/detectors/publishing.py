"""Threads that meet through memory: what is published at an address, and who gets to know it.

A thread publishes what it did before a fence when it writes to an address after it, atomically or
volatile; with ``.release`` the fence is part of the write. Who reads the address in such a way
knows what is published there: whether it needs a fence after that is not asked, because kernels
that everybody takes for correct have none. An atomic operation adds to what is published, a store
begins anew (PTX manual 8.7, release and acquire patterns).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.detectors.clocks import NOTHING, Clock
from cudarun.emulator.machine.access import Access, Section

if TYPE_CHECKING:
    from cudarun.emulator.detectors.past import Past
    from cudarun.emulator.detectors.touched import Touched
    from cudarun.emulator.machine.lanes import Indices

Array = npt.NDArray[Any]

_ANYBODY = -1
_SHARED_KEYS = 40  # a block's number is above this bit of the key of a place in shared memory


class Published:
    """The clocks at all addresses where somebody has published something.

    Each is for everybody, or for the threads of one block: a fence may be ``.cta`` only.
    """

    def __init__(self) -> None:
        self._clocks: dict[int, dict[int, Clock]] = {}
        self._keys = np.zeros(0, dtype=np.int64)

    def read(self, access: Access, part: Touched, past: Past, lanes: Indices) -> None:
        """Lanes read what may be published."""
        if not self._clocks or not access.reads:
            return
        keys = self._keys_of(part, past, lanes)
        found = np.isin(keys, self._keys)
        for key in np.unique(keys[found]):
            self._hand_out(int(key), past, lanes[keys == key])

    def written(self, access: Access, part: Touched, past: Past, lanes: Indices) -> None:
        """Lanes write, atomically or volatile, and so publish what they may."""
        if not access.writes:
            return
        keys = self._keys_of(part, past, lanes)
        publishing = past.has_fenced(lanes, "block")
        if not access.reads and self._clocks:
            for key in np.unique(keys[np.isin(keys, self._keys)]):
                del self._clocks[int(key)]
                self._keys = self._keys[self._keys != key]
        for key in np.unique(keys[publishing]):
            writers = lanes[publishing & (keys == key)]
            self._add(int(key), access, part, past, writers)
            if access.reads and len(writers) > 1:  # they take turns within the instruction
                self._hand_out(int(key), past, lanes[keys == key])

    def _keys_of(self, part: Touched, past: Past, lanes: Indices) -> Array:
        """A number for each place."""
        if not isinstance(part.region, Section):
            return part.offsets + part.region.base
        stride = past.batch.launch.shared_stride
        owner = part.offsets // stride + past.thread[0] // past.threads
        keys: Array = -1 - (owner << _SHARED_KEYS | part.offsets % stride)
        return keys

    def _hand_out(self, key: int, past: Past, lanes: Indices) -> None:
        for whom, clock in self._clocks.get(key, {}).items():
            if whom == _ANYBODY:
                past.acquire(lanes, clock)
                continue
            inside = lanes[past.thread[lanes] // past.threads == whom]
            if len(inside):
                past.acquire(inside, clock)

    def _add(self, key: int, access: Access, part: Touched, past: Past, writers: Indices) -> None:
        here = self._clocks.setdefault(key, {})
        if len(here) == 0:
            self._keys = np.append(self._keys, key)
        for lane in map(int, writers):
            block = int(past.thread[lane]) // past.threads
            if isinstance(part.region, Section):
                # Who reaches it is in the block, or in the cluster, where a fence of the block
                # is too narrow; that is not told apart.
                here[_ANYBODY] = here.get(_ANYBODY, NOTHING).joined(past.published(lane, "block"))
                continue
            here[block] = here.get(block, NOTHING).joined(past.published(lane, "block"))
            if access.scope != "cta":
                here[_ANYBODY] = here.get(_ANYBODY, NOTHING).joined(past.published(lane, "grid"))
