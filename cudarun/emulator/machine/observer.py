"""Who is told what a launch does: nobody, or a detector.

A launch has one observer from its beginning to its end. This one takes no notice, and where lanes
access memory it is not asked at all: an observer that wants to see accesses gives the launch
actions of its own when code is bound, so that running without one costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from cudarun.emulator.machine.lanes import Lanes

if TYPE_CHECKING:
    from cudarun.emulator.code import Action, ActionFunction, BlockCode, Use
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.barriers import Arrival
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.frame import Code
    from cudarun.emulator.machine.launch import Launch

Array = npt.NDArray[Any]


class Observer:
    """What can be told of a launch. Lanes are those of a batch, in rising order."""

    def launched(self, launch: Launch) -> None:
        """A launch begins."""

    def begin(self, batch: Batch, first_block: int, blocks: int) -> None:
        """Blocks of the grid are placed in the lanes of a batch; nothing has run yet."""

    # --- code, when it is bound to lanes ---------------------------------------------------------

    def instead_of(self, operation: Action) -> ActionFunction:
        """What is to run where the operation's action would."""
        return operation.action

    def bound(self, batch: Batch, block: BlockCode, code: Code) -> Code:
        """What is to run where the code of a basic block would."""
        return code

    # --- lanes that wait for each other ----------------------------------------------------------

    def moment(self) -> int:
        """A time to remember lanes by that arrive at a barrier now."""
        return 0

    def blocks_meet(self, batch: Batch, lanes: Lanes) -> None:
        """All lanes of whole blocks are past a barrier."""

    def barrier(self, batch: Batch, released: Sequence[Arrival]) -> None:
        """Barriers of one number are complete, in one block or several, by these arrivals."""

    def warp_barrier(self, active: Active, masks: Use) -> None:
        """Whole warps go through a warp barrier with these member masks."""

    def warps_meet(self, batch: Batch, lanes: Lanes, masks: Array | None) -> None:
        """Lanes have met the others of their member masks; whole warps without."""

    def warpgroups_meet(self, batch: Batch, lanes: Lanes) -> None:
        """Whole warpgroups know that what they did together is done."""

    def clusters_arrive(self, batch: Batch, lanes: Lanes) -> None:
        """Lanes arrive at the barrier of their cluster, and go on."""

    def clusters_meet(self, batch: Batch, lanes: Lanes) -> None:
        """Lanes go on that have waited for the barrier of their cluster."""

    # --- local memory ----------------------------------------------------------------------------

    def stack_grows(self, batch: Batch, lanes: Lanes, start: Array, size: Array | int) -> None:
        """Lanes take ``size`` bytes of local memory into use, each from its ``start`` on."""


NOBODY = Observer()
"""The observer of a launch that nobody watches."""
