"""The interface for observers of a launch, such as detectors.

A launch has one observer. This base class ignores everything. Memory accesses are not reported at
all: an observer of accesses replaces actions when code is bound, so that a launch without observers
has no overhead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cudarun.emulator.machine.lanes import Lanes
from cudarun.emulator.numerics.arrays import Array

if TYPE_CHECKING:
    from cudarun.emulator.code import Action, ActionFunction, BlockCode, Use
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.barriers import Arrival
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.child_grids import ChildGrid
    from cudarun.emulator.machine.frame import Code, Frame
    from cudarun.emulator.machine.launch import Launch


class Observer:
    """An observer of a launch. Lanes are those of a batch, in ascending order."""

    # The names of the detectors, if it only collects their findings; ``None`` if it needs other
    # events of launches.
    detectors: frozenset[str] | None = None

    @property
    def has_findings(self) -> bool:
        """True if detectors have reported something."""
        return False

    def launched(self, launch: Launch) -> None:
        """Handle the start of a launch."""

    def ran(self, launch: Launch) -> None:
        """Handle the exit of all threads, or a fault.

        Raises:
            DeviceFault: An earlier fault, after which the launch has gone on.
        """

    def ended(self, launch: Launch) -> None:
        """Handle the end of a launch; launches can be nested."""

    def child_launched(self, launch: Launch, child: ChildGrid, stream: int, block: int) -> None:
        """Handle the launch of a child grid by a thread of a block, before it begins."""

    def begin(self, batch: Batch, first_block: int, blocks: int) -> None:
        """Handle the assignment of blocks to the lanes of a batch, before they run."""

    # --- code, when it is bound to lanes ---------------------------------------------------------

    def instead_of(self, operation: Action) -> ActionFunction:
        """Return the action to execute instead of the operation's."""
        return operation.action

    def bound(self, frame: Frame, block: BlockCode, code: Code) -> Code:
        """Return the code to execute instead of that of a basic block of a frame's function."""
        return code

    # --- synchronization -------------------------------------------------------------------------

    def arrived(self, batch: Batch, lanes: Lanes) -> object:
        """Return what there is to know of lanes that arrive at a barrier without waiting."""
        return None

    def blocks_synchronize(self, batch: Batch, lanes: Lanes) -> None:
        """Handle a barrier of all lanes of whole blocks."""

    def barrier(self, batch: Batch, released: Sequence[Arrival]) -> None:
        """Handle the completion of barriers of one number, in one or more blocks."""

    def warp_barrier(self, active: Active, masks: Use) -> None:
        """Handle a warp barrier of whole warps with these member masks."""

    def warp_barriers(self, batch: Batch, released: Sequence[Arrival]) -> None:
        """Handle the completion of warp barriers, in one or more warps."""

    def warps_synchronize(self, batch: Batch, lanes: Lanes, masks: Array | None) -> None:
        """Handle the synchronization of lanes by member masks, or of whole warps."""

    def clusters_arrive(self, batch: Batch, lanes: Lanes, relaxed: bool) -> None:
        """Handle the arrival of lanes at the barrier of their cluster, ``.relaxed`` or not."""

    def clusters_synchronize(self, batch: Batch, lanes: Lanes) -> None:
        """Handle the end of a wait of lanes for the barrier of their cluster."""

    def lanes_exited(self, batch: Batch, lanes: Lanes) -> None:
        """Handle the exit of lanes."""

    def phase_completed(self, batch: Batch, place: int, parity: int) -> None:
        """Handle the end of a phase of the ``mbarrier`` object at a place in shared memory."""

    # --- local memory ----------------------------------------------------------------------------

    def stack_grows(self, batch: Batch, lanes: Lanes, start: Array, size: Array | int) -> None:
        """Handle the allocation of ``size`` bytes of local memory per lane, from ``start`` on."""


NO_OBSERVER = Observer()  # the observer of a launch that is not observed
