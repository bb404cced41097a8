"""Pairs of accesses to one byte that are races if nothing orders them."""

from __future__ import annotations

from enum import Enum, auto
from functools import cache
from typing import TYPE_CHECKING

from cudarun.emulator.decode.loops import polling_sites
from cudarun.emulator.machine.access import Access, AccessKind

if TYPE_CHECKING:
    from cudarun.emulator.code import FunctionCode, Site


class Conflict(Enum):
    """The kind of a pair of accesses, at least one of them a write.

    Attributes:
        NONE: No race.
        PROVED: No race; in a launch without a synchronizing instruction it is one, unless the
            unmodified launch has it.
        APART: A race if the threads are not in one thread block, or not in one cluster.
        RACE: A race.
    """

    NONE = auto()
    PROVED = auto()
    APART = auto()
    RACE = auto()


NARROW = ("cta", "cluster")  # the scopes that do not contain all threads of a grid


class Conflicts:
    """The rules for pairs of accesses of a launch."""

    def __init__(self, functions: dict[str, FunctionCode]) -> None:
        self._functions = functions
        self._polling: set[Site] | None = None
        self.of = cache(self._of)

    def is_weak(self, access: Access, site: Site, space: str) -> bool:
        """Return whether a read can get an old value without any harm to the model.

        Volatile reads of shared memory are weak, too, except in loops that wait for the value: the
        lanes of a warp do not run in lockstep.
        """
        if not access.strong:
            return True
        if access.order != "volatile" or space != "shared":
            return False
        if self._polling is None:
            each = map(polling_sites, self._functions.values())
            self._polling = set().union(*each)
        return site not in self._polling

    def _of(self, one: tuple[Site, Access], other: tuple[Site, Access], space: str) -> Conflict:
        """Return what a pair is."""
        accesses = one[1], other[1]
        if not any(access.writes for access in accesses):
            return Conflict.NONE
        if any(access.writes and not access.strong for access in accesses):
            return Conflict.RACE
        if any(access.kind is AccessKind.MBARRIER for access in accesses):
            return Conflict.PROVED
        reads = [(access, site) for site, access in (one, other) if not access.writes]
        weak = any(self.is_weak(access, site, space) for access, site in reads)
        if weak and not any(access.swaps for access in accesses):
            return Conflict.RACE
        if not weak and any(access.scope in NARROW for access in accesses):
            return Conflict.APART
        return Conflict.PROVED if reads else Conflict.NONE
