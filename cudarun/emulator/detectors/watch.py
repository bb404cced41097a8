"""Watching kernels: which detectors listen to launches, and what they have found so far."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from cudarun.emulator.detectors.findings import Finding, Findings
from cudarun.emulator.detectors.race import Races
from cudarun.emulator.detectors.statistics import Counting, Statistics
from cudarun.emulator.detectors.uninit import UnwrittenReads
from cudarun.emulator.detectors.watched import Detector, watched
from cudarun.emulator.machine.observer import Observer

if TYPE_CHECKING:
    from cudarun.emulator.code import Action, ActionFunction, BlockCode, Use
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.barriers import Arrival
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.frame import Code
    from cudarun.emulator.machine.lanes import Lanes
    from cudarun.emulator.machine.launch import Launch

Array = npt.NDArray[Any]

DETECTORS: dict[str, Callable[[Launch, Findings], Detector]] = {
    "race": Races,
    "uninit": UnwrittenReads,
}
"""What can be looked for."""


class Watch(Observer):
    """The observer of all launches from its making on.

    Args:
        detect: What is looked for: names of `DETECTORS`.
        count: Whether to count what kernels do.

    Attributes:
        statistics: What was counted; ``None`` where nothing is.
    """

    def __init__(self, detect: Collection[str], *, count: bool = False) -> None:
        self._detect = tuple(detect)
        self.statistics = Statistics() if count else None
        self._findings = Findings()
        self._listening: list[Detector] = []
        self._instead: dict[int, ActionFunction] = {}

    @property
    def findings(self) -> list[Finding]:
        """What was found, the most important first."""
        return self._findings.most_important_first()

    def launched(self, launch: Launch) -> None:
        """Detectors begin anew: what was before the launch comes before all that is in it."""
        self._listening = [DETECTORS[name](launch, self._findings) for name in self._detect]
        if self.statistics is not None:
            self._listening.append(Counting(self.statistics))
        self._instead = {}

    def instead_of(self, operation: Action) -> ActionFunction:
        """A stand-in that tells the detectors."""
        key = id(operation)  # the program keeps it as long as the launch lasts
        if key not in self._instead:
            self._instead[key] = watched(operation, self._listening)
        return self._instead[key]

    # --- what all of them are told ---------------------------------------------------------------

    def begin(self, batch: Batch, first_block: int, blocks: int) -> None:
        """See `Observer`."""
        for detector in self._listening:
            detector.begin(batch, first_block, blocks)

    def bound(self, batch: Batch, block: BlockCode, code: Code) -> Code:
        """See `Observer`."""
        for detector in self._listening:
            code = detector.bound(batch, block, code)
        return code

    def moment(self) -> int:
        """See `Observer`."""
        return max((detector.moment() for detector in self._listening), default=0)

    def blocks_meet(self, batch: Batch, lanes: Lanes) -> None:
        """See `Observer`."""
        for detector in self._listening:
            detector.blocks_meet(batch, lanes)

    def barrier(self, batch: Batch, released: Sequence[Arrival]) -> None:
        """See `Observer`."""
        for detector in self._listening:
            detector.barrier(batch, released)

    def warp_barrier(self, active: Active, masks: Use) -> None:
        """See `Observer`."""
        self.warps_meet(active.batch, active.lanes, active.read(masks))

    def warps_meet(self, batch: Batch, lanes: Lanes, masks: Array | None) -> None:
        """See `Observer`."""
        for detector in self._listening:
            detector.warps_meet(batch, lanes, masks)

    def warpgroups_meet(self, batch: Batch, lanes: Lanes) -> None:
        """See `Observer`."""
        for detector in self._listening:
            detector.warpgroups_meet(batch, lanes)

    def clusters_arrive(self, batch: Batch, lanes: Lanes) -> None:
        """See `Observer`."""
        for detector in self._listening:
            detector.clusters_arrive(batch, lanes)

    def clusters_meet(self, batch: Batch, lanes: Lanes) -> None:
        """See `Observer`."""
        for detector in self._listening:
            detector.clusters_meet(batch, lanes)

    def stack_grows(self, batch: Batch, lanes: Lanes, start: Array, size: Array | int) -> None:
        """See `Observer`."""
        for detector in self._listening:
            detector.stack_grows(batch, lanes, start, size)
