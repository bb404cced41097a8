"""``wgmma`` products that are computed after their issue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cudarun.emulator.code import RegisterUse
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.asynchronous import AsynchronousAction
from cudarun.emulator.machine.warpgroups import MultiplyAsync
from cudarun.emulator.numerics.arrays import Array, Arrays

if TYPE_CHECKING:
    from cudarun.emulator.code import Action, Use
    from cudarun.emulator.machine.active import Active


class LateProduct(AsynchronousAction):
    """A product that reads shared memory and writes its accumulators at any time."""

    queue = follows = "wgmma"

    def __init__(self, operation: Action) -> None:
        assert isinstance(operation.action, MultiplyAsync)
        self._product = operation.action
        self._uses = operation.destinations

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Compute the product of lanes, in their registers."""
        registers = [_register(use, active) for use in self._uses]
        results = tuple(array[rows].copy() for array, rows in registers)
        self._product(active, (*results, *sources[self._product.accumulators :]), results)
        for (array, rows), values in zip(registers, results, strict=True):
            array[rows] = values
        yield from ()


def _register(use: Use, some: Active) -> tuple[Array, Array]:
    """Return where a register of lanes is, which may be active, and its rows."""
    assert isinstance(use, RegisterUse)
    frame, lanes, active = some.frame, lane_sets.indices(some.lanes), some.batch.active
    if active is not None and active.frame is frame and not active.in_place:
        members = lane_sets.indices(active.members)
        rows = members.searchsorted(lanes)
        if active.loaded >> use.slot & 1 and members.take(rows[:1], mode="clip") == lanes[0]:
            active.dirty |= 1 << use.slot
            return frame.view(active, use), rows
    return frame.register_file(use), lanes
