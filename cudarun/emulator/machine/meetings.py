"""Warp-synchronous instructions that the lanes of a warp execute at several places, as one.

A lane waits until all live lanes of its member mask have executed the instruction with the same
qualifiers and mask (PTX manual 9.7.9.6 and 9.7.13), wherever it stands: an H100 runs shuffles in
both branches of a divergent warp as one. What instructions with different qualifiers do is not
defined: their lanes wait for each other forever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.code import Action, BlockCode, RegisterUse, SinkUse
from cudarun.emulator.machine import lanes as lane_sets
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.lanes import Indices
from cudarun.emulator.machine.warps import WarpAction
from cudarun.records import dataclass

if TYPE_CHECKING:
    from cudarun.emulator.machine.batch import Batch, Path
    from cudarun.emulator.machine.frame import Frame

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Party:
    """Lanes that wait for others at one place.

    Attributes:
        path: The path of the lanes.
        frame: Their registers, written back.
        block: The block of the instruction.
        lanes: The lanes.
    """

    path: Path
    frame: Frame
    block: BlockCode
    lanes: Indices

    @property
    def operation(self) -> Action:
        """The instruction."""
        (operation,) = self.block.operations
        assert isinstance(operation, Action)
        return operation


def qualified_name(block: BlockCode) -> str:
    """Return the instruction with qualifiers that lanes wait for at a block, wherever it stands.

    It is empty if lanes wait for others at the same place only, or not at all.
    """
    operation = block.operations[0] if block.operations else None
    action = operation.action if isinstance(operation, Action) else None
    if operation is None or not isinstance(action, WarpAction) or action.waits_for != "mask":
        return ""
    return operation.site.name


def meet(batch: Batch, parties: Sequence[Party]) -> list[Indices]:
    """Execute an instruction for the lanes whose whole member mask is in some of the parties.

    Returns:
        These lanes, by party. They continue with the next block.
    """
    every = np.concatenate([each.lanes for each in parties])
    masks = np.concatenate([_mask_of(each) for each in parties])
    ready = np.zeros(len(every), dtype=np.bool_)
    for mask in np.unique(masks):
        same = masks == mask
        ready[same] = batch.threads.complete(every[same], masks[same], batch.alive)
    starts = np.cumsum([len(each.lanes) for each in parties])[:-1]
    released = [
        party.lanes[chosen] for party, chosen in zip(parties, np.split(ready, starts), strict=True)
    ]
    if ready.any():
        _execute(batch, parties, released, masks[ready])
    return released


def _mask_of(party: Party) -> Array:
    assert party.block.sync_mask is not None
    return party.frame.register_values(party.block.sync_mask, party.lanes)


def _execute(
    batch: Batch, parties: Sequence[Party], released: Sequence[Indices], masks: Array
) -> None:
    """Execute the instruction, with the operands of each lane's place."""
    lanes = np.concatenate(released)
    order = np.argsort(lanes)
    first = parties[0]
    active = Active(batch, first.path, first.frame, lane_sets.of(lanes[order]))
    active.site = first.operation.site
    places = [*zip(parties, released, strict=True)]
    sources = [
        np.concatenate(
            [
                each.frame.register_values(each.operation.sources[index], lanes)
                for each, lanes in places
            ]
        )[order]
        for index in range(len(first.operation.sources))
    ]
    most = max((each.operation.destinations for each in parties), key=len)
    results = [
        np.zeros(len(lanes), dtype=use.type.dtype)
        for use in most
        if isinstance(use, RegisterUse | SinkUse)
    ]
    batch.observer.warps_synchronize(batch, active.lanes, masks[order])
    first.operation.action(active, tuple(sources), tuple(results))
    for party, chosen in places:
        at = np.searchsorted(lanes[order], chosen)
        for use, values in zip(party.operation.destinations, results, strict=False):
            if isinstance(use, RegisterUse):
                party.frame.write_registers(use, chosen, values[at])
