"""The observer that passes the events of launches to detectors and collects their findings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from cudarun.emulator.code import Action, ActionFunction, BlockCode, Use
from cudarun.emulator.detectors.findings import Baseline, DetectorFinding, FindingTable
from cudarun.emulator.detectors.grid_history import GridHistory
from cudarun.emulator.detectors.instrumentation import Detector, InvalidAccesses, instrumented
from cudarun.emulator.detectors.product_registers import ProductRegisterDetector
from cudarun.emulator.detectors.races import RaceDetector
from cudarun.emulator.detectors.statistics import Statistics, StatisticsCounter
from cudarun.emulator.detectors.sync_errors import SyncDetector
from cudarun.emulator.detectors.synchronization import Removal, joint_sites
from cudarun.emulator.detectors.touched_memory import TouchedMemory
from cudarun.emulator.detectors.undefined_values import UndefinedValueDetector
from cudarun.emulator.detectors.uninitialized_reads import UninitializedReadDetector
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.barriers import Arrival
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.frame import Code, Frame
from cudarun.emulator.machine.lanes import Lanes
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.observer import Observer
from cudarun.emulator.machine.schedules.pending_products import has_pending_registers

DETECTORS: dict[str, Callable[[Launch, FindingTable], Detector]] = {
    "uninit": UninitializedReadDetector,
    "sync": SyncDetector,
}
"""The detectors by name, besides those of races."""

STRICT_RACES = "race=strict"
"""The race detector that also reports writes of equal values."""


def _passed_on(event: str) -> Callable[..., None]:
    """Return the method that passes an event of `Observer` on to the detectors."""

    def notify(observer: DetectorObserver, *arguments: object) -> None:
        for detector in observer._detectors:
            getattr(detector, event)(*arguments)

    return notify


class DetectorObserver(Observer):
    """The observer of all launches from its creation on.

    Args:
        detect: Names of `DETECTORS`, or `STRICT_RACES`.
        count: Collect statistics.
        removal: A synchronizing instruction to remove; launches end at the first race then.
        baseline: Facts of the launches without a removal, which add to it.
        touched: The accessed memory, to which launches add.
        history: The accesses of the launches before, to which launches add.
    """

    def __init__(
        self,
        detect: Collection[str],
        *,
        count: bool = False,
        removal: Removal | None = None,
        baseline: Baseline | None = None,
        touched: TouchedMemory | None = None,
        history: GridHistory | None = None,
    ) -> None:
        self._detect = tuple("race" if name == STRICT_RACES else name for name in detect)
        self._touched = touched
        # The statistics; ``None`` if they are not collected.
        self.statistics = Statistics() if count else None
        self._removal = removal
        self.table = FindingTable(removal is not None, baseline, STRICT_RACES in detect)
        self._baseline = baseline if removal is None else None
        self._detectors: list[Detector] = []
        self._replacements: dict[int, ActionFunction] = {}
        # The accesses of these launches, with which a programmatic one may overlap.
        self.history = history or GridHistory()
        self._invalid = InvalidAccesses(goes_on=False)
        self._suspended: list[
            tuple[list[Detector], dict[int, ActionFunction], InvalidAccesses]
        ] = []
        if detect and not count and all(each is None for each in (removal, baseline, touched)):
            self.detectors = frozenset(detect)

    @property
    def findings(self) -> list[DetectorFinding]:
        """The findings, the most important first."""
        return self.table.most_important_first()

    @property
    def has_findings(self) -> bool:
        """See `Observer`."""
        return bool(self.table)

    def launched(self, launch: Launch) -> None:
        """Create new detectors: everything before the launch happens before everything in it."""
        self._suspended.append((self._detectors, self._replacements, self._invalid))
        self._detectors = [*self._race_detectors(launch)] if "race" in self._detect else []
        others = (name for name in DETECTORS if name in self._detect)
        self._detectors += [DETECTORS[name](launch, self.table) for name in others]
        if not {"uninit", "sync"}.isdisjoint(self._detect):
            self._detectors.append(UndefinedValueDetector(launch, self.table, self._detect))
        if self.statistics is not None:
            self._detectors.append(StatisticsCounter(self.statistics))
        if self._touched is not None:
            self._detectors.append(self._touched)
        self._replacements = {}
        self._invalid = InvalidAccesses(goes_on=bool(self._detect))

    def _race_detectors(self, launch: Launch) -> Iterator[Detector]:
        """Return the detectors of races in memory and in registers."""
        overlap = launch.config.overlap
        if launch.origin is not None:
            self.history.order.begin(launch.origin)
        elif overlap and overlap.before and self.history.order.host.incomplete():
            self.history.order.follow()
        else:
            self.history = GridHistory()
        races = RaceDetector(launch, self.table, self.history)
        yield races
        if any(map(has_pending_registers, launch.functions.values())):
            yield ProductRegisterDetector(launch, self.table, races, self._removal)

    def ran(self, launch: Launch) -> None:
        """Raise the fault of an invalid access after which the launch has gone on."""
        if self._invalid.fault is not None:
            raise self._invalid.fault

    def ended(self, launch: Launch) -> None:
        """Continue with the detectors of the launch that this one interrupted, if any."""
        if "race" in self._detect and launch.origin is not None:
            self.history.order.end()
        self._detectors, self._replacements, self._invalid = self._suspended.pop()

    def instead_of(self, operation: Action) -> ActionFunction:
        """Return an action that notifies the detectors."""
        key = id(operation)  # the program keeps it alive during the launch
        if key not in self._replacements:
            left = operation if self._removal is None else self._removal.left_of(operation)
            assert isinstance(left, Action)
            run = self.also_observed(left, ())
            if self._removal is not None and left is not operation:
                run = self._removal.noticed(run)
            self._replacements[key] = run
        return self._replacements[key]

    def also_observed(self, operation: Action, others: Sequence[Detector]) -> ActionFunction:
        """Return an action that notifies the detectors and others."""
        return instrumented(operation, [*self._detectors, *others], self._invalid)

    # --- events ----------------------------------------------------------------------------------

    begin = _passed_on("begin")
    child_launched = _passed_on("child_launched")
    blocks_synchronize = _passed_on("blocks_synchronize")
    warps_synchronize = _passed_on("warps_synchronize")
    clusters_arrive = _passed_on("clusters_arrive")
    clusters_synchronize = _passed_on("clusters_synchronize")
    phase_completed = _passed_on("phase_completed")
    lanes_exited = _passed_on("lanes_exited")
    stack_grows = _passed_on("stack_grows")

    def bound(self, frame: Frame, block: BlockCode, code: Code) -> Code:
        """See `Observer`."""
        if self._removal is not None:
            code = replace(code, terminator=self._removal.terminator(code.terminator))
        for detector in self._detectors:
            code = detector.bound(frame, block, code)
        return code

    def arrived(self, batch: Batch, lanes: Lanes) -> object:
        """See `Observer`."""
        each = (detector.arrived(batch, lanes) for detector in self._detectors)
        return next((known for known in each if known is not None), None)

    def barrier(self, batch: Batch, released: Sequence[Arrival]) -> None:
        """See `Observer`."""
        if self._removal is not None:
            released = [
                replace(each, path=None) if self._removal.only_arrives(each.site) else each
                for each in released
            ]
        if self._baseline is not None:
            self._baseline.joint |= joint_sites(released, batch.threads.block_of)
        for detector in self._detectors:
            detector.barrier(batch, released)

    def warp_barrier(self, active: Active, masks: Use) -> None:
        """See `Observer`."""
        for detector in self._detectors:
            detector.warp_barrier(active, masks)
        self.warps_synchronize(active.batch, active.lanes, active.read(masks))

    def warp_barriers(self, batch: Batch, released: Sequence[Arrival]) -> None:
        """See `Observer`."""
        for detector in self._detectors:
            detector.warp_barriers(batch, released)
        lanes = np.concatenate([lane_sets.indices(arrival.lanes) for arrival in released])
        masks = np.concatenate([arrival.expected for arrival in released])
        order = np.argsort(lanes)
        self.warps_synchronize(batch, lanes[order], masks[order])
