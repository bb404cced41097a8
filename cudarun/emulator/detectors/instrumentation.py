"""Instrumented actions and accesses, which notify detectors.

An observed launch binds these instead of the actions of the program, which stay unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine.access import Access, MemoryAction, Piece
from cudarun.emulator.machine.observer import Observer
from cudarun.emulator.machine.transfers import Fence
from cudarun.emulator.machine.warpgroups import WaitGroup
from cudarun.emulator.machine.warps import WarpAction
from cudarun.emulator.numerics.arrays import Array, Arrays

if TYPE_CHECKING:
    from cudarun.emulator.code import Action, ActionFunction, Site
    from cudarun.emulator.machine.active import Active


class Detector(Observer):
    """An observer that is notified of every memory access."""

    def accessed(self, access: Access, site: Site, active: Active, addresses: Array) -> None:
        """Handle a valid access of active lanes, before memory is read or written."""

    def refused(self, access: Access, active: Active, addresses: Array) -> None:
        """Handle an access of active lanes of which at least one is invalid."""

    def executed(self, action: MemoryAction, sources: Arrays) -> None:
        """Handle the end of an action that accessed memory."""

    def fence(self, active: Active, scope: str) -> None:
        """Handle a fence of active lanes."""

    def collective(self, action: WarpAction, site: Site, active: Active, sources: Arrays) -> None:
        """Handle a warp-synchronous operation, before active lanes execute it."""


class InstrumentedAccess(Access):
    """An access that notifies detectors."""

    def __init__(self, access: Access, site: Site, to: Sequence[Detector]) -> None:
        super().__init__(
            access.space,
            access.dtype,
            access.count,
            access.kind,
            access.offset,
            order=access.order,
            scope=access.scope,
        )
        self._access = access
        self._site = site
        self._to = to

    def locate(self, active: Active, addresses: Array) -> list[Piece]:
        """Locate the original access, and notify the detectors before it counts as a write."""
        try:
            pieces = self._access.find(active, addresses)
        except DeviceFault:
            for detector in self._to:
                detector.refused(self._access, active, addresses)
            raise
        for detector in self._to:
            detector.accessed(self._access, self._site, active, addresses)
        if self.writes:
            self._access.record_write(active, addresses, pieces)
        return pieces


def instrumented(operation: Action, to: Sequence[Detector]) -> ActionFunction:
    """Return the action to execute instead, which notifies detectors."""
    action = operation.action
    if isinstance(action, Fence):
        return _fence(action, to)
    if isinstance(action, WaitGroup):
        return _wait_group(to)
    run = action
    if isinstance(action, MemoryAction):
        run = _instrumented_accesses(action, operation.site, to)
    if isinstance(action, WarpAction) and action.waits_for:
        run = _synchronizing(run, to, action, operation.site)
    return run


def _instrumented_accesses(
    action: MemoryAction, site: Site, to: Sequence[Detector]
) -> ActionFunction:
    instrumented_action = action.with_accesses(lambda access: InstrumentedAccess(access, site, to))

    def run(active: Active, sources: Arrays, destinations: Arrays) -> None:
        instrumented_action(active, sources, destinations)
        for detector in to:
            detector.executed(action, sources)

    return run


def _synchronizing(
    run: ActionFunction, to: Sequence[Detector], action: WarpAction, site: Site
) -> ActionFunction:
    def run_synchronized(active: Active, sources: Arrays, destinations: Arrays) -> None:
        masks = sources[-1] if action.waits_for == "mask" else None
        for detector in to:
            detector.collective(action, site, active, sources)
            detector.warps_synchronize(active.batch, active.lanes, masks)
        run(active, sources, destinations)
        for detector in to if action.is_joint else ():
            detector.warps_synchronize(active.batch, active.lanes, None)

    return run_synchronized


def _wait_group(to: Sequence[Detector]) -> ActionFunction:
    def run(active: Active, sources: Arrays, destinations: Arrays) -> None:
        for detector in to:
            detector.warpgroups_synchronize(active.batch, active.lanes)

    return run


def _fence(action: Fence, to: Sequence[Detector]) -> ActionFunction:
    def run(active: Active, sources: Arrays, destinations: Arrays) -> None:
        action(active, sources, destinations)
        for detector in to:
            detector.fence(active, action.scope)

    return run
