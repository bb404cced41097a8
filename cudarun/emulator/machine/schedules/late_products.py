"""``wgmma`` products and loads of tensor memory that write registers after their issue."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.code import RegisterUse
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.asynchronous import AsynchronousAction
from cudarun.emulator.machine.tensor_memory.transfers import LoadTensorMemory
from cudarun.emulator.machine.warpgroups import MultiplyAsync
from cudarun.emulator.memory import UNDEFINED_BYTE
from cudarun.emulator.numerics.arrays import Array, Arrays

if TYPE_CHECKING:
    from cudarun.emulator.code import Action, Use
    from cudarun.emulator.machine.active import Active


class LateResult(AsynchronousAction):
    """An operation that reads memory and writes its registers at any time."""

    def __init__(self, operation: Action) -> None:
        action = operation.action
        assert isinstance(action, MultiplyAsync | LoadTensorMemory)
        self.queue = self.follows = action.accesses[0].agent
        self._action = action
        self._updated = action.accumulators if isinstance(action, MultiplyAsync) else 0
        self._uses = operation.destinations

    def prepare(self, sources: Arrays, destinations: Arrays) -> None:
        """Write the registers that nothing may use before the results, at the issue."""
        for place, destination in enumerate(destinations):
            undefined = np.full(destination.dtype.itemsize, UNDEFINED_BYTE, dtype=np.uint8)
            is_updated = place < self._updated
            np.copyto(
                destination, sources[place] if is_updated else undefined.view(destination.dtype)
            )

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Compute the registers of lanes."""
        registers = [_register(use, active) for use in self._uses]
        results = tuple(array[rows].copy() for array, rows in registers)
        updated = results[: self._updated]
        self._action(active, (*updated, *sources[self._updated :]), results)
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
