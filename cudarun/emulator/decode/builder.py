"""Construction of a function's basic blocks."""

from __future__ import annotations

from collections.abc import Callable

from cudarun.emulator.code import BlockCode, ConstantUse, Operation, Terminator, Use
from cudarun.emulator.machine.control import Jump

# Called when all labels are bound: maps label numbers to block numbers.
Ending = Callable[[Callable[[int], int]], Terminator]

_EVERY_LANE = 0xFFFFFFFF


class BlockBuilder:
    """Basic blocks in the order of the text. One is open at any time; it may be empty."""

    def __init__(self) -> None:
        self._blocks: list[tuple[list[Operation], Ending, Use | None, int, list[str]]] = []
        self._labels: dict[int, int] = {}
        self._operations: list[Operation] = []
        self._sync_mask: Use | None = None
        self._sync_warps = 1
        self._names: list[str] = []

    @property
    def next(self) -> int:
        """The index of the block after the open one."""
        return len(self._blocks) + 1

    def add(self, operation: Operation) -> None:
        """Append an operation to the open block."""
        self._operations.append(operation)

    def note(self, name: str) -> None:
        """Record that the open block has an instruction, whatever operations it is decoded to."""
        self._names.append(name)

    def label(self, number: int) -> None:
        """Bind the label to the next operation."""
        self.split()
        self._labels[number] = len(self._blocks)

    def split(self, sync_mask: Use | None = None, sync_warps: int = 1) -> None:
        """Start a block here, with a synchronization mask if given; the open one falls through.

        The open block goes on if it has begun with whole warps, and only whole warps are needed:
        nothing in a block lets lanes diverge or exit.
        """
        if (
            sync_warps == self._sync_warps == 1
            and _is_whole(sync_mask)
            and _is_whole(self._sync_mask)
        ):
            return
        if self._operations or self._names or self._sync_mask is not None:
            after = self.next
            self.end(lambda _: Jump(after))
        self._sync_mask, self._sync_warps = sync_mask, sync_warps

    def end(self, ending: Ending) -> None:
        """Close the open block with its terminator."""
        block = self._operations, ending, self._sync_mask, self._sync_warps, self._names
        self._blocks.append(block)
        self._operations, self._names = [], []
        self._sync_mask, self._sync_warps = None, 1

    def finish(self, last: Callable[[], Terminator]) -> list[BlockCode]:
        """Return all blocks; ``last`` ends them where the text does."""
        self.end(lambda _: last())
        ended, self._blocks = self._blocks, []  # they refer to the function's decoder
        return [
            BlockCode(
                index,
                operations,
                ending(self._labels.__getitem__),
                sync_mask,
                sync_warps,
                instructions=tuple(names),
            )
            for index, (operations, ending, sync_mask, sync_warps, names) in enumerate(ended)
        ]


def _is_whole(sync_mask: Use | None) -> bool:
    """Return whether a member mask has all lanes of a warp."""
    return (
        isinstance(sync_mask, ConstantUse) and int(sync_mask.value[0]) & _EVERY_LANE == _EVERY_LANE
    )
