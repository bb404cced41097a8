"""``wgmma`` products that are computed when their warpgroup waits for them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import RegisterUse
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.schedules.pending_products import PendingProducts
from cudarun.emulator.machine.threads import WARPGROUP
from cudarun.emulator.machine.warpgroups import MultiplyAsync, NothingPending, WaitGroup

if TYPE_CHECKING:
    from cudarun.emulator.code import Action, ActionFunction, Use
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.schedules.schedule import Schedule
    from cudarun.emulator.numerics.arrays import Array, Arrays


@dataclass(slots=True, eq=False)
class _PendingProduct:
    """A product of a warpgroup.

    Attributes:
        action: Its action.
        uses: The accumulators.
        active: The lanes.
        rest: The other operands.
        group: The number of groups that the warpgroup had committed before.
    """

    action: MultiplyAsync
    uses: tuple[Use, ...]
    active: Active
    rest: Arrays
    group: int


class LateProducts:
    """The products of a batch that have been issued and are not complete.

    A function that copies registers of pending products computes its products at once.
    """

    def __init__(self, batch: Batch, schedule: Schedule) -> None:
        self._schedule = schedule
        self._functions = batch.launch.functions
        self._copies: dict[str, bool] = {}
        self._products: list[_PendingProduct] = []  # in the order of their issue
        self._groups = np.zeros(batch.lanes, dtype=np.int64)  # that each lane has committed

    def clear(self) -> None:
        """Forget the products of lanes that have exited."""
        self._products.clear()

    def instead_of(self, operation: Action) -> ActionFunction | None:
        """Return the action to execute instead of one of products; ``None`` for others."""
        match operation.action:
            case MultiplyAsync() as action:
                name = operation.site.function
                if name not in self._copies:
                    self._copies[name] = PendingProducts.of(self._functions[name]).has_copies
                return None if self._copies[name] else partial(self._issue, action, operation)
            case WaitGroup(words=words):
                return partial(self._wait, next(iter(words.constants.values())))
            case NothingPending(words=words) if "commit_group" in words:
                return self._commit
        return None

    def _issue(
        self,
        action: MultiplyAsync,
        operation: Action,
        active: Active,
        sources: Arrays,
        destinations: Arrays,
    ) -> None:
        if not (self._products or self._schedule.is_late()):
            action(active, sources, destinations)
            return
        for source, destination in zip(sources, destinations, strict=False):
            np.copyto(destination, source)
        for first in range(0, active.count, WARPGROUP):
            part = slice(first, first + WARPGROUP)
            some = active.some(np.arange(active.count)[part])
            rest = tuple(source[part].copy() for source in sources[action.accumulators :])
            group = int(self._groups[active.lane(first)])
            self._products.append(
                _PendingProduct(action, operation.destinations, some, rest, group)
            )

    def _commit(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        self._groups[active.lanes] += 1

    def _wait(self, left: int, active: Active, sources: Arrays, destinations: Arrays) -> None:
        waiting = set(lane_sets.indices(active.lanes).tolist())
        for product in [*self._products]:
            lane = product.active.lane(0)
            if lane in waiting and product.group < self._groups[lane] - left:
                self._products.remove(product)
                _compute(product, active)


def _compute(product: _PendingProduct, active: Active) -> None:
    """Compute a product of some of the active lanes, in their registers."""
    registers = [_register(use, product.active, active) for use in product.uses]
    results = tuple(array[rows].copy() for array, rows in registers)
    product.action(product.active, (*results, *product.rest), results)
    for (array, rows), values in zip(registers, results, strict=True):
        array[rows] = values


def _register(use: Use, some: Active, active: Active) -> tuple[Array, Array]:
    """Return where a register is, and the rows of some of the active lanes in it."""
    assert isinstance(use, RegisterUse)
    frame, lanes = some.frame, lane_sets.indices(some.lanes)
    if active.frame is frame and active.loaded >> use.slot & 1 and not active.in_place:
        active.dirty |= 1 << use.slot
        members = lane_sets.indices(active.members)
        return frame.view(active, use), members.searchsorted(lanes)
    return frame.register_file(use), lanes
