"""The synchronization of a kernel, and its code without one of its operations.

Decoded code is replaced when it is bound to lanes; the program stays unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import Action, BlockCode, FunctionCode, Operation, Terminator
from cudarun.emulator.machine.atomics import Atomic, PlainReadModifyWrite
from cudarun.emulator.machine.barriers import Arrival, BarrierWait, WarpBarrier
from cudarun.emulator.machine.clusters import ClusterWait
from cudarun.emulator.machine.mbarriers import PhaseTest
from cudarun.emulator.machine.tensor_maps.actions import AcquireMap
from cudarun.emulator.machine.transfers import Fence, GridDependency, GroupControl, ProxyFence
from cudarun.emulator.numerics.arrays import Array, Arrays

if TYPE_CHECKING:
    from cudarun.emulator.code import ActionFunction, Site
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.batch import Batch

SynchronizationKind = Literal[
    "barrier",
    "warp barrier",
    "cluster barrier",
    "mbarrier wait",
    "wgmma wait",
    "tcgen05 wait",
    "copy wait",
    "commit",
    "grid wait",
    "fence",
    "atomic",
]

_ACTIONS: dict[type, SynchronizationKind] = {
    PhaseTest: "mbarrier wait",
    Fence: "fence",
    AcquireMap: "fence",
    ProxyFence: "fence",
    Atomic: "atomic",
}
_WAITS: dict[str, SynchronizationKind] = {
    "cp.async": "copy wait",
    "bulk": "copy wait",
    "wgmma": "wgmma wait",
    "tcgen05.ld": "tcgen05 wait",
    "tcgen05.st": "tcgen05 wait",
}


@dataclass(frozen=True, slots=True)
class Synchronization:
    """One synchronizing instruction."""

    kind: SynchronizationKind
    site: Site


def _kind(action: ActionFunction) -> SynchronizationKind | None:
    """Return the kind of an action that orders accesses."""
    if isinstance(action, GridDependency):
        return "grid wait" if action.waits else None
    if isinstance(action, GroupControl):
        return "commit" if action.commits else _WAITS[action.queue]
    return _ACTIONS.get(type(action))


def synchronization_of(functions: Iterable[FunctionCode]) -> list[Synchronization]:
    """Return the synchronizing instructions of functions in the order of the text."""
    found: dict[Synchronization, None] = {}
    for function in functions:
        for block in function.blocks:
            found |= dict.fromkeys(_of_block(block))
    return sorted(found, key=lambda each: each.site.line)


def _of_block(block: BlockCode) -> Iterator[Synchronization]:
    for operation in block.operations:
        kind = operation.action and _kind(operation.action)
        if kind is not None:
            yield Synchronization(kind, operation.site)
    terminator = block.terminator
    match terminator:
        case BarrierWait(arrive=False, site=site):
            yield Synchronization("barrier", site)
        case WarpBarrier(site=site):
            yield Synchronization("warp barrier", site)
        case ClusterWait(site=site):
            yield Synchronization("cluster barrier", site)


def joint_sites(released: Sequence[Arrival], block_of: Array) -> set[Site]:
    """Return the instructions of arrivals whose blocks have also arrived at another one.

    Args:
        released: The arrivals at a barrier that is complete in some blocks.
        block_of: The block of each lane.
    """
    if len({arrival.site for arrival in released}) == 1:
        return set()
    blocks: dict[Site, set[int]] = {}
    for arrival in released:
        here = np.unique(block_of[arrival.lanes]).tolist()
        blocks.setdefault(arrival.site, set()).update(here)
    return {
        site
        for site, here in blocks.items()
        if any(here & there for other, there in blocks.items() if other != site)
    }


class Removal:
    """The removal of one synchronizing instruction.

    Args:
        is_joint: Without it, threads that wait at another instruction would wait forever.
    """

    def __init__(self, removed: Synchronization, *, is_joint: bool = False) -> None:
        self.removed = removed
        self.reached = False  # whether threads have reached it
        self._is_joint = is_joint

    # --- actions ---------------------------------------------------------------------------------

    def function(self, function: FunctionCode) -> FunctionCode:
        """Return a function whose operations are those that are executed."""
        blocks = function.blocks
        left = [replace(each, operations=[*map(self.left_of, each.operations)]) for each in blocks]
        return replace(function, blocks=left)

    def left_of(self, operation: Operation) -> Operation:
        """Return an operation, replaced if it is the removed one."""
        if not isinstance(operation, Action):
            return operation
        kind = _kind(operation.action)
        if kind is None or self.removed != Synchronization(kind, operation.site):
            return operation
        removed = operation.action
        if isinstance(removed, Atomic):
            return replace(operation, action=PlainReadModifyWrite(removed))

        def without(active: Active, sources: Arrays, destinations: Arrays) -> None:
            if isinstance(removed, PhaseTest):  # each phase is complete
                destinations[0][...] = True

        return replace(operation, action=without)

    def noticed(self, run: ActionFunction) -> ActionFunction:
        """Return an action that also notes that threads have reached it."""

        def noted(active: Active, sources: Arrays, destinations: Arrays) -> None:
            self.reached = True
            run(active, sources, destinations)

        return noted

    # --- barriers --------------------------------------------------------------------------------

    def terminator(self, terminator: Terminator) -> Terminator:
        """Return a terminator, replaced if it is the removed barrier.

        One with a result is executed as before, and so is one for a number of threads if others of
        them are at another instruction: they would wait forever. See `only_arrives`.
        """
        if self.removed not in _of_block(BlockCode(0, [], terminator)):
            return terminator
        match terminator:
            case BarrierWait(reduction=None, expected=expected, after=after) if (
                expected is None or not self._is_joint
            ):
                return _Skipped(self, after, terminator)
            case WarpBarrier(after=after):
                return _Skipped(self, after, terminator)
            case ClusterWait(after=after):
                return _Skipped(self, after, terminator, in_cluster=True)
        return terminator

    def only_arrives(self, site: Site) -> bool:
        """Return whether threads at a barrier are to be treated as arriving without waiting."""
        removed = self.removed.kind == "barrier" and self.removed.site == site
        self.reached |= removed
        return removed


class _Skipped(Terminator):
    """A barrier at which lanes do not wait."""

    def __init__(
        self, removal: Removal, after: int, barrier: Terminator, *, in_cluster: bool = False
    ) -> None:
        super().__init__((after,), barrier.reads, site=barrier.site)
        self._removal = removal
        self._after = after
        self._in_cluster = in_cluster

    def finish(self, batch: Batch, active: Active) -> None:
        """Continue at once."""
        self._removal.reached = True
        if self._in_cluster:
            batch.clusters.skip(active.lanes)
        batch.proceed(active, self._after)
