"""The lanes that are running now, as an action sees them.

An action, an instruction that is more than arithmetic on lanes, is called as
``action(active, sources, destinations)``: ``active`` tells which lanes run it and gives access to
the launch, the arrays hold one value per active lane, and destinations are to be written in full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.lanes import Indices, Lanes
from cudarun.emulator.machine.report import describe

if TYPE_CHECKING:
    from cudarun.emulator.code import BlockCode, Site, Use
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.frame import Code, Frame

Array = npt.NDArray[Any]


class Active:
    """The running lanes, and where their registers are.

    They run over a **window** of arrays: part of the registers' home, when the lanes are
    contiguous, or a bank into which their registers have been gathered. In a bank, lanes that have
    left since then are holes: still computed on, never looked at.

    Attributes:
        batch: The blocks that run side by side.
        path: Where the lanes are: the calling blocks, then the block they run.
        frame: The registers of their function.
        members: The lanes of the window.
        width: How many lanes the window has, holes included.
        home: Whether the window is in the registers' home.
        valid: Which lanes of the window are not holes; ``None`` if there are no holes.
        count: How many lanes are active.
        loaded: In a bank: the slots that have been gathered or written.
        dirty: In a bank: the slots that were written.
        block: The block they run.
        code: That block, bound to the window.
        site: The instruction that runs, where one can fail.
    """

    __slots__ = (
        "_lanes", "_positions", "batch", "block", "code", "count", "dirty", "frame", "home",
        "loaded", "members", "path", "site", "valid", "width",
    )  # fmt: skip

    code: Code
    block: BlockCode
    site: Site | None

    def __init__(self, batch: Batch, path: tuple[int, ...], frame: Frame, members: Lanes) -> None:
        self.batch = batch
        self.path = path
        self.frame = frame
        self.members = members
        self.width = self.count = lane_sets.count(members)
        self.home = isinstance(members, slice)
        self.valid: npt.NDArray[np.bool_] | None = None
        self.loaded = 0
        self.dirty = 0
        self.site = None
        self._positions: Indices | None = None
        self._lanes: Lanes | None = members

    @property
    def lanes(self) -> Lanes:
        """The active lanes, by their place in the batch."""
        if self._lanes is None:
            members = self.members
            assert not isinstance(members, slice)
            self._lanes = members.take(self.positions)
        return self._lanes

    @property
    def positions(self) -> Indices:
        """Where the active lanes are in the window."""
        if self._positions is None:
            if self.valid is None:
                self._positions = np.arange(self.width, dtype=np.intp)
            else:
                self._positions = np.flatnonzero(self.valid)
        return self._positions

    def keep(self, valid: npt.NDArray[np.bool_], count: int) -> None:
        """Make holes of all lanes but the valid ones, of which there are ``count``."""
        self.valid = valid
        self.count = count
        self._positions = None
        self._lanes = None

    def repack(self, members: Indices) -> None:
        """Take note that the bank now holds these lanes and no others."""
        self.members = members
        self.width = self.count = len(members)
        self.valid = None
        self._positions = None
        self._lanes = members

    # --- for actions and terminators -------------------------------------------------------------

    def read(self, use: Use) -> Array:
        """The values of an operand for the active lanes."""
        values = self.frame.view(self, use)
        return values if self.valid is None else values.take(self.positions, axis=0)

    def scratch(self, dtype: npt.DTypeLike, index: int = 0) -> Array:
        """An array with an item for each active lane; the same one for the same index."""
        return self.batch.scratch.take(np.dtype(dtype), index, self.count)

    def per_lane(self, array: Array) -> Array:
        """The active lanes' items of an array over all lanes of the batch."""
        lanes = self.lanes
        return array[lanes] if isinstance(lanes, slice) else array.take(lanes, axis=0)

    def lane(self, index: int) -> int:
        """The lane of the batch that is the ``index``-th active one."""
        lanes = self.lanes
        return int(lanes.start + index if isinstance(lanes, slice) else lanes[index])

    def some(self, positions: Indices) -> Active:
        """Only the active lanes at some positions, for an access that not all make."""
        lanes = lane_sets.indices(self.lanes)[positions]
        part = Active(self.batch, self.path, self.frame, lane_sets.of(lanes))
        part.site = self.site
        return part

    def fault(self, result: int, what: str, index: int, *details: str) -> DeviceFault:
        """The fault of the ``index``-th active lane, ready to be raised."""
        return DeviceFault(result, describe(self, what, self.lane(index), details))
