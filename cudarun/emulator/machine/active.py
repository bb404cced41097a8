"""The active lanes, as seen by an action.

An action, an instruction that is more than arithmetic on lanes, is called as
``action(active, sources, destinations)``: ``active`` has the lanes that execute it and gives access
to the launch, the arrays have one value per active lane, and destinations must be written in full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.lanes import Indices, Lanes
from cudarun.emulator.machine.report import Report
from cudarun.emulator.numerics.arrays import Array

if TYPE_CHECKING:
    from cudarun.emulator.code import BlockCode, Site, Use
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.frame import Code, Frame


class Active:
    """The active lanes and their registers.

    Contiguous lanes run in place, on a range of the register file. For others the registers have
    been gathered: they run on compacted registers. Lanes that have diverged since then are
    inactive: they are still computed on, but the results are ignored.

    Attributes:
        batch: The blocks that run side by side.
        path: The path of the lanes: the calling blocks, then the block they execute.
        frame: The registers of their function.
        members: The lanes of the range or of the compacted registers.
        width: The number of members, including inactive ones.
        in_place: True if the lanes run on a range of the register file.
        valid: The active mask of the members; ``None`` if all are active.
        count: The number of active lanes.
        loaded: The slots that have been gathered or written, if compacted.
        dirty: The slots that have been written, if compacted.
        block: The block they execute.
        code: That block, bound to the members' registers.
        site: The instruction being executed, if it can fail.
    """

    __slots__ = (
        "_lanes", "_positions", "batch", "block", "code", "count", "dirty", "frame", "in_place",
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
        self.in_place = isinstance(members, slice)
        self.valid: npt.NDArray[np.bool_] | None = None
        self.loaded = 0
        self.dirty = 0
        self.site = None
        self._positions: Indices | None = None
        self._lanes: Lanes | None = members

    @property
    def lanes(self) -> Lanes:
        """The active lanes, by index in the batch."""
        if self._lanes is None:
            members = self.members
            assert not isinstance(members, slice)
            self._lanes = members.take(self.positions)
        return self._lanes

    @property
    def positions(self) -> Indices:
        """The positions of the active lanes among the members."""
        if self._positions is None:
            if self.valid is None:
                self._positions = np.arange(self.width, dtype=np.intp)
            else:
                self._positions = np.flatnonzero(self.valid)
        return self._positions

    def restrict(self, valid: npt.NDArray[np.bool_], count: int) -> None:
        """Set the active mask; ``count`` lanes of it are active."""
        self.valid = valid
        self.count = count
        self._positions = None
        self._lanes = None

    def compact(self, members: Indices) -> None:
        """Replace the members, after their registers have been compacted."""
        self.members = members
        self.width = self.count = len(members)
        self.valid = None
        self._positions = None
        self._lanes = members

    # --- for actions and terminators -------------------------------------------------------------

    def read(self, use: Use) -> Array:
        """Return the values of an operand for the active lanes."""
        values = self.frame.view(self, use)
        return values if self.valid is None else values.take(self.positions, axis=0)

    def scratch(self, dtype: npt.DTypeLike, index: int = 0) -> Array:
        """Return an array with an item for each active lane; the same one for the same index."""
        return self.batch.scratch.take(np.dtype(dtype), index, self.count)

    def per_lane(self, array: Array) -> Array:
        """Return the active lanes' items of an array over all lanes of the batch."""
        lanes = self.lanes
        return array[lanes] if isinstance(lanes, slice) else array.take(lanes, axis=0)

    def lane(self, index: int) -> int:
        """Return the lane of the batch that is the ``index``-th active one."""
        lanes = self.lanes
        return int(lanes.start + index if isinstance(lanes, slice) else lanes[index])

    def some(self, positions: Indices) -> Active:
        """Return the active lanes at some positions, for an access that not all make."""
        lanes = lane_sets.indices(self.lanes)[positions]
        part = Active(self.batch, self.path, self.frame, lane_sets.of(lanes))
        part.site = self.site
        return part

    def unimplemented(self, what: str, index: int) -> DeviceFault:
        """Return the fault of the ``index``-th active lane by something that is not implemented."""
        return self.fault(801, f"{what} is not implemented by the emulated device", index)

    def fault(
        self, result: int, what: str, index: int, *details: str, **fields: Any
    ) -> DeviceFault:
        """Return the fault of the ``index``-th active lane, with more fields of its place."""
        launch = self.batch.launch
        report = Report(launch, what)
        report.lines += [f"  {detail}" for detail in details]
        report.at(self.site, **fields)
        for function, block in map(launch.locate, reversed(self.path[:-1])):
            if (site := block.terminator.site) is not None:
                source = f" ({site.source})" if site.source else ""
                report.lines.append(f"  called from {function.name}, PTX line {site.line}{source}")
        report.name(self.batch.threads, self.lane(index))
        return report.fault(result)
