"""The choices of a schedule for the blocks that compiled code runs."""

from __future__ import annotations

from cudarun.emulator.code import Action, ActionFunction
from cudarun.emulator.compiled.state import layout
from cudarun.emulator.machine.batch import Batch
from cudarun.emulator.machine.schedules.pending import SCHEDULED, PendingOperations
from cudarun.emulator.machine.schedules.schedule import Schedule
from cudarun.emulator.numerics.arrays import Array

_LONGEST_TURN = 8  # as a power of two, of jumps
_FIRST_TURNS = 1 << 16  # the numbers that are drawn for the first warp, and the first cluster


class ScheduledBlocks:
    """Draws the turns of warps, and lets asynchronous operations go on.

    Args:
        batch: The batch, with a block per slot.
        contexts: The context of each slot.
    """

    def __init__(self, schedule: Schedule, batch: Batch, contexts: Array) -> None:
        self._schedule = schedule
        self._batch = batch
        self._contexts = contexts
        self._operations = PendingOperations(batch, schedule)
        self._turns = [0] * len(contexts)  # the last one that was drawn, by slot
        self.interleaves = schedule.interleaves
        # Whether blocks have been in loops for long: they go on in an order that is not drawn.
        self._has_stalled = False
        if self.interleaves:
            self._longest = 1 << schedule.draw(_LONGEST_TURN)  # turn, in jumps
            size = batch.launch.cluster_blocks
            if not batch.launch.config.cooperative:
                contexts[:, layout.AT_ONCE // 8] = size * schedule.clusters(len(contexts) // size)
            for slot in range(len(contexts)):
                self._draw(slot)

    def _draw(self, slot: int) -> None:
        """Draw after how many jumps a warp yields, and who is the first in a round then."""
        turn = self._turns[slot] = 1 + self._schedule.draw(self._longest)
        self._contexts[slot, layout.TICKS // 8] = turn
        self._contexts[slot, layout.FIRST_TURN // 8] = self._schedule.draw(_FIRST_TURNS)

    def end_turn(self, slot: int) -> None:
        """End the turn of a warp."""
        self._operations.elapse(self._turns[slot])
        self._contexts[slot, layout.TICKS // 8] = self._turns[slot]
        if not self._has_stalled:
            self._draw(slot)

    def ended(self, slot: int) -> None:
        """Complete the asynchronous operations of a cluster whose lanes have exited."""
        launch = self._batch.launch
        first, size = slot * launch.block_threads, launch.cluster_blocks * launch.block_threads
        self._operations.complete_of(range(first, first + size))

    def stalls(self) -> bool:
        """Complete all operations, as threads seem to wait; return whether they did so before."""
        self._operations.complete_all()
        before, self._has_stalled = self._has_stalled, True
        return before or not self.interleaves

    def instead_of(self, operation: Action) -> ActionFunction:
        """Return the action to execute for an operation."""
        is_scheduled = isinstance(operation.action, SCHEDULED)
        return self._operations.instead_of(operation) if is_scheduled else operation.action
