"""Stand-ins for actions and their accesses, which tell detectors what happens.

A launch that is watched binds these instead of the actions of the program, which are as they were.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from cudarun.emulator.machine.access import Access, Piece
from cudarun.emulator.machine.atomics import Atomic
from cudarun.emulator.machine.observer import Observer
from cudarun.emulator.machine.transfers import Fence
from cudarun.emulator.machine.warpgroups import WaitGroup
from cudarun.emulator.machine.warps import WarpAction

if TYPE_CHECKING:
    from cudarun.emulator.code import Action, Site
    from cudarun.emulator.machine.active import Active

Array = npt.NDArray[Any]
Arrays = tuple[Array, ...]


class Detector(Observer):
    """An observer that is told of every access to memory."""

    def accessed(self, access: WatchedAccess, active: Active, addresses: Array) -> None:
        """Active lanes access memory, and may; it has not been read or written yet."""

    def executed(self, action: object, sources: Arrays) -> None:
        """The action that accessed memory has done so."""

    def fence(self, active: Active, scope: str) -> None:
        """Active lanes execute a fence."""


class WatchedAccess(Access):
    """An access that tells of itself.

    Attributes:
        site: The instruction.
        reads: Whether what is read is used.
        strong: Whether it is atomic or volatile; others are called plain.
    """

    def __init__(self, access: Access, site: Site, to: Sequence[Detector], *, reads: bool) -> None:
        self.__dict__.update(access.__dict__)
        self._access = access
        self._to = to
        self.site = site
        self.reads = reads
        self.strong = bool(access.order)

    def locate(self, active: Active, addresses: Array) -> list[Piece]:
        """What the access does, and tell of it."""
        pieces = self._access.locate(active, addresses)
        for detector in self._to:
            detector.accessed(self, active, addresses)
        return pieces


def watched(operation: Action, to: Sequence[Detector]) -> Callable[..., object]:
    """What runs in the place of an action so that detectors are told of it."""
    action = operation.action
    if isinstance(action, Fence):
        return _fence(action, to)
    if isinstance(action, WaitGroup):
        return _wait_group(to)
    attributes = getattr(action, "__dict__", {})
    accesses = {name: value for name, value in attributes.items() if isinstance(value, Access)}
    meets = action.waits_for if isinstance(action, WarpAction) else ""
    if not accesses and not meets:
        return action
    telling: Any = copy.copy(action)
    for name, access in accesses.items():
        reads = access.verb != "store" and not (
            isinstance(action, Atomic) and action.operation == "exch" and not action.wanted
        )
        setattr(telling, name, WatchedAccess(access, operation.site, to, reads=reads))

    def run(active: Active, sources: Arrays, destinations: Arrays) -> None:
        if meets:
            masks = sources[-1] if meets == "mask" else None
            for detector in to:
                detector.warps_meet(active.batch, active.lanes, masks)
        telling(active, sources, destinations)
        for detector in to:
            detector.executed(action, sources)

    return run


def _wait_group(to: Sequence[Detector]) -> Callable[..., object]:
    def run(active: Active, sources: Arrays, destinations: Arrays) -> None:
        for detector in to:
            detector.warpgroups_meet(active.batch, active.lanes)

    return run


def _fence(action: Fence, to: Sequence[Detector]) -> Callable[..., object]:
    def run(active: Active, sources: Arrays, destinations: Arrays) -> None:
        for detector in to:
            detector.fence(active, action.scope)

    return run
