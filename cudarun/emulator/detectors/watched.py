"""Stand-ins for actions and their accesses, which tell detectors what happens.

A launch that is watched binds these instead of the actions of the program, which are as they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from cudarun.emulator.machine.access import Access, MemoryAction, Piece
from cudarun.emulator.machine.observer import Observer
from cudarun.emulator.machine.transfers import Fence
from cudarun.emulator.machine.warpgroups import WaitGroup
from cudarun.emulator.machine.warps import WarpAction

if TYPE_CHECKING:
    from cudarun.emulator.code import Action, ActionFunction, Site
    from cudarun.emulator.machine.active import Active

Array = npt.NDArray[Any]
Arrays = tuple[Array, ...]


class Detector(Observer):
    """An observer that is told of every access to memory."""

    def accessed(self, access: Access, site: Site, active: Active, addresses: Array) -> None:
        """Active lanes access memory, and may; it has not been read or written yet."""

    def executed(self, action: MemoryAction, sources: Arrays) -> None:
        """The action that accessed memory has done so."""

    def fence(self, active: Active, scope: str) -> None:
        """Active lanes execute a fence."""


class WatchedAccess(Access):
    """An access that tells detectors of itself."""

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
        """Locate what the access itself does, and tell of it."""
        pieces = self._access.locate(active, addresses)
        for detector in self._to:
            detector.accessed(self._access, self._site, active, addresses)
        return pieces


def watched(operation: Action, to: Sequence[Detector]) -> ActionFunction:
    """Return what runs in the place of an action so that detectors are told of it."""
    action = operation.action
    if isinstance(action, Fence):
        return _fence(action, to)
    if isinstance(action, WaitGroup):
        return _wait_group(to)
    run = action
    if isinstance(action, MemoryAction):
        run = _accessing(action, operation.site, to)
    if isinstance(action, WarpAction) and action.waits_for:
        run = _meeting(run, to, masked=action.waits_for == "mask")
    return run


def _accessing(action: MemoryAction, site: Site, to: Sequence[Detector]) -> ActionFunction:
    telling = action.with_accesses(lambda access: WatchedAccess(access, site, to))

    def run(active: Active, sources: Arrays, destinations: Arrays) -> None:
        telling(active, sources, destinations)
        for detector in to:
            detector.executed(action, sources)

    return run


def _meeting(run: ActionFunction, to: Sequence[Detector], *, masked: bool) -> ActionFunction:
    def meet(active: Active, sources: Arrays, destinations: Arrays) -> None:
        masks = sources[-1] if masked else None
        for detector in to:
            detector.warps_meet(active.batch, active.lanes, masks)
        run(active, sources, destinations)

    return meet


def _wait_group(to: Sequence[Detector]) -> ActionFunction:
    def run(active: Active, sources: Arrays, destinations: Arrays) -> None:
        for detector in to:
            detector.warpgroups_meet(active.batch, active.lanes)

    return run


def _fence(action: Fence, to: Sequence[Detector]) -> ActionFunction:
    def run(active: Active, sources: Arrays, destinations: Arrays) -> None:
        for detector in to:
            detector.fence(active, action.scope)

    return run
