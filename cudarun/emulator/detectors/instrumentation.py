"""Instrumented actions and accesses, which notify detectors.

An observed launch binds these instead of the actions of the program, which stay unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from cudarun.emulator.code import Action, ActionFunction, Operation, RegisterUse, Site
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.access import Access, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.lanes import Lanes
from cudarun.emulator.machine.observer import Observer
from cudarun.emulator.machine.spaces import Footprint, Piece
from cudarun.emulator.machine.transfers import Fence, GridDependency, GroupControl, ProxyFence
from cudarun.emulator.machine.warps import Shuffle, WarpAction
from cudarun.emulator.numerics.arrays import Array, Arrays

_MORE_WORK = 1 << 26  # after an invalid access, of short launches: about a second


OrderingAction = Fence | ProxyFence | GridDependency | GroupControl


class Detector(Observer):
    """An observer that is notified of every memory access."""

    checks_marks: ClassVar[bool] = (
        False  # whether a mark of a read would be an unwritten byte to it
    )

    def accessed(
        self, access: Access, site: Site, active: Active, parts: Sequence[Footprint]
    ) -> None:
        """Handle a valid access of active lanes, before memory is read or written."""

    def refused(self, access: Access, active: Active, addresses: Array) -> None:
        """Handle an access of active lanes of which at least one is invalid."""

    def issued(self, action: MemoryAction, active: Active, sources: Arrays) -> None:
        """Handle the start of an action that accesses memory, at once or by an agent."""

    def executed(self, action: MemoryAction, sources: Arrays) -> None:
        """Handle the end of an action that accessed memory."""

    def ordered(self, action: OrderingAction, active: Active) -> None:
        """Handle an action that orders accesses, operations or grids."""

    def collective(self, action: WarpAction, site: Site, active: Active, sources: Arrays) -> None:
        """Handle a warp-synchronous operation, before active lanes execute it."""

    def shuffled(self, batch: Batch, lanes: Lanes, masks: Array) -> None:
        """Handle a shuffle of lanes with their member masks."""


class InvalidAccesses:
    """The invalid accesses of a launch, which goes on with the other lanes."""

    def __init__(self, *, goes_on: bool) -> None:
        self.fault: DeviceFault | None = None  # the first fault
        # The lanes that the current action has not served, among the active ones.
        self.positions: list[Array] = []
        self._goes_on = goes_on  # whether it does; otherwise it ends with the first fault
        self.most_work = 0  # until when a launch goes on after its first fault

    def refuse(self, fault: DeviceFault, active: Active, access: Access, addresses: Array) -> Array:
        """Return the positions of lanes whose access is valid.

        Raises:
            DeviceFault: The launch ends.
        """
        if not self._goes_on:
            raise fault
        if self.fault is None:
            work = active.batch.launch.work
            self.fault, self.most_work = fault, work + max(work, _MORE_WORK)
        served = access.valid(active, addresses)
        left = np.delete(np.arange(len(addresses)), served)
        self.positions.append(lane_sets.pick(active.lanes, left))
        return served


class InstrumentedAccess(Access):
    """An access that notifies detectors."""

    def __init__(
        self, access: Access, site: Site, to: Sequence[Detector], invalid: InvalidAccesses
    ) -> None:
        vars(self).update(vars(access))
        self._access = access
        self._site = site
        self._to = to
        self._invalid = invalid
        self._notes_reads = self.reads and not any(each.checks_marks for each in to)

    def locate(self, active: Active, addresses: Array) -> list[Piece]:
        """Locate the original access, and notify the detectors before it counts as a write."""
        try:
            pieces = self._access.find(active, addresses)
        except DeviceFault as fault:
            for detector in self._to:
                detector.refused(self._access, active, addresses)
            served = self._invalid.refuse(fault, active, self._access, addresses)
            if not len(served):
                return []
            found = self.locate(active.some(served), addresses[served])
            return [
                piece._replace(
                    positions=served if piece.positions is None else served[piece.positions]
                )
                for piece in found
            ]
        parts = self._access.footprints(pieces)
        for detector in self._to:
            detector.accessed(self._access, self._site, active, parts)
        self._access.record(pieces, reads=self._notes_reads)
        return pieces


def instrumented(
    operation: Action, to: Sequence[Detector], invalid: InvalidAccesses
) -> ActionFunction:
    """Return the action to execute instead, which notifies detectors."""
    action = operation.action
    run: ActionFunction = action
    if isinstance(action, OrderingAction):
        run = _ordering(action, to)
    elif isinstance(action, MemoryAction):
        run = _instrumented_accesses(action, operation.site, to, invalid)
    if isinstance(action, WarpAction) and action.waits_for:
        run = _synchronizing(run, to, action, operation.site)
    return run


def entries_of(operation: Operation) -> int:
    """Return the number of entries of an operation in bound code."""
    negated = (isinstance(use, RegisterUse) and use.negated for use in operation.sources)
    return 1 + sum(negated)


def _instrumented_accesses(
    action: MemoryAction, site: Site, to: Sequence[Detector], invalid: InvalidAccesses
) -> ActionFunction:
    instrumented_action = action.with_accesses(
        lambda access: InstrumentedAccess(access, site, to, invalid)
    )

    def run(active: Active, sources: Arrays, destinations: Arrays) -> None:
        for detector in to:
            detector.issued(action, active, sources)
        instrumented_action(active, sources, destinations)
        if invalid.fault is not None:
            if active.batch.launch.work > invalid.most_work:
                raise invalid.fault  # the launch may never end
            for lanes in invalid.positions:
                not_served = np.isin(lane_sets.indices(active.lanes), lanes)
                for destination in destinations:
                    destination[not_served] = 0
            invalid.positions.clear()
        for detector in to:
            detector.executed(action, sources)

    return run


def _synchronizing(
    run: ActionFunction, to: Sequence[Detector], action: WarpAction, site: Site
) -> ActionFunction:
    def run_synchronized(active: Active, sources: Arrays, destinations: Arrays) -> None:
        for detector in to:
            detector.collective(action, site, active, sources)
            if isinstance(action, Shuffle):
                detector.shuffled(active.batch, active.lanes, sources[-1])
            if action.waits_for == "warp":  # shuffles and votes are no memory barriers
                detector.warps_synchronize(active.batch, active.lanes, None)
        run(active, sources, destinations)
        for detector in to if action.is_joint else ():
            detector.warps_synchronize(active.batch, active.lanes, None)

    return run_synchronized


def _ordering(action: OrderingAction, to: Sequence[Detector]) -> ActionFunction:
    def run(active: Active, sources: Arrays, destinations: Arrays) -> None:
        action(active, sources, destinations)
        for detector in to:
            detector.ordered(action, active)

    return run
