"""Construction of a function's basic blocks."""

from __future__ import annotations

from collections.abc import Callable

from cudarun.emulator.code import BlockCode, Operation, Terminator, Use
from cudarun.emulator.machine.control import Jump

# Called when all labels are bound: maps label numbers to block numbers.
Ending = Callable[[Callable[[int], int]], Terminator]

_Waits = tuple[Use | None, int, str]  # the fields of a block for what lanes wait for at its start


class BlockBuilder:
    """Basic blocks in the order of the text. One is open at any time; it may be empty."""

    def __init__(self) -> None:
        self._blocks: list[tuple[list[Operation], Ending, _Waits, list[str]]] = []
        self._labels: dict[int, int] = {}
        self._continued: set[int] = set()  # blocks that others follow only to synchronize
        self._operations: list[Operation] = []
        self._sync_mask: Use | None = None
        self._sync_warps = 1
        self._meets = ""
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
        self._fall_through()
        self._continued.discard(len(self._blocks) - 1)
        self._labels[number] = len(self._blocks)

    def synchronize(self, mask: Use, warps: int = 1, name: str = "") -> None:
        """Start a block here at which lanes wait for others.

        Args:
            mask: The member mask of each lane.
            warps: The number of warps that synchronize.
            name: The instruction with its qualifiers, unless all lanes of a warp execute the same
                one. The open block goes on then if it has begun with another such instruction:
                nothing in a block lets lanes diverge or exit.
        """
        is_aligned = self._sync_mask is not None and not (name or self._meets)
        if is_aligned and warps == self._sync_warps == 1:
            return
        self.continue_in_next()
        self._sync_mask, self._sync_warps, self._meets = mask, warps, name

    def continue_in_next(self) -> None:
        """Start a block here, which whole warps run together with the open one."""
        if self._fall_through():
            self._continued.add(len(self._blocks) - 1)

    def _fall_through(self) -> bool:
        """Let the open block fall through to the next one; return whether it has begun."""
        if not (self._operations or self._names or self._sync_mask is not None):
            return False
        after = self.next
        self.end(lambda _: Jump(after))
        return True

    def end(self, ending: Ending) -> None:
        """Close the open block with its terminator."""
        waits = self._sync_mask, self._sync_warps, self._meets
        self._blocks.append((self._operations, ending, waits, self._names))
        self._operations, self._names = [], []
        self._sync_mask, self._sync_warps, self._meets = None, 1, ""

    def finish(self, last: Callable[[], Terminator]) -> list[BlockCode]:
        """Return all blocks; ``last`` ends them where the text does."""
        self.end(lambda _: last())
        ended, self._blocks = self._blocks, []  # they refer to the function's decoder
        found = [
            BlockCode(
                index,
                operations,
                ending(self._labels.__getitem__),
                *waits,
                instructions=tuple(names),
            )
            for index, (operations, ending, waits, names) in enumerate(ended)
        ]
        for index in sorted(self._continued, reverse=True):
            after = found[index + 1]
            if found[index].sync_warps == after.sync_warps == 1:
                found[index].through = max(after.index, after.through)
        return found
