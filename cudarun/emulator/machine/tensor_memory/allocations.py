"""The columns of tensor memory that are allocated (PTX manual 9.7.16.1.2).

Every block of the emulated device has a tensor memory of its own: an allocation waits only for
columns that its own block has.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.numerics.arrays import Array

TENSOR_COLUMNS = 512
TENSOR_BYTES = 128 * TENSOR_COLUMNS * 4
"""The bytes of the tensor memory of a block: 128 lanes of cells of 32 bits."""
UNIT = 32  # columns that are allocated together
_NEVER, ALLOCATED, _FREED = range(3)
STATES = {_NEVER: "is not allocated", _FREED: "has been deallocated"}
"""Descriptions of the states of columns that must not be accessed."""


class TensorAllocations:
    """The allocations of the blocks of a batch.

    Args:
        blocks: The most blocks of the batch.
    """

    def __init__(self, blocks: int) -> None:
        # By block, whether it must not allocate any more.
        self.relinquished = np.zeros(blocks, dtype=np.bool_)
        # The columns of each allocation, by block and first column.
        self.sizes: dict[tuple[int, int], int] = {}
        self._units = np.full((blocks, TENSOR_COLUMNS // UNIT), _NEVER, dtype=np.uint8)

    def begin(self, blocks: slice) -> None:
        """Forget the states of blocks, for others in their places."""
        self.relinquished[blocks] = False
        self._units[blocks] = _NEVER

    def allocate(self, block: int, columns: int) -> int | None:
        """Return the first of newly allocated columns of a block; ``None`` if they are not free."""
        count = columns // UNIT
        for first in range(0, TENSOR_COLUMNS // UNIT, count):
            chosen = self._units[block, first : first + count]
            if (chosen != ALLOCATED).all():
                chosen[:] = ALLOCATED
                self.sizes[block, first * UNIT] = columns
                return first * UNIT
        return None

    def problem(self, block: int, first: int, columns: int) -> str:
        """Return why columns cannot be deallocated; an empty text if they can."""
        size = self.sizes.get((block, first))
        if size is None:
            state = int(self._units[block, first % TENSOR_COLUMNS // UNIT])
            return f"column {first} {STATES.get(state, 'is inside an allocation')}"
        if size != columns:
            return f"{size} columns are allocated there"
        return ""

    def free(self, block: int, first: int) -> None:
        """Deallocate the columns of an allocation."""
        columns = self.sizes.pop((block, first))
        self._units[block, first // UNIT : (first + columns) // UNIT] = _FREED

    def states(self, blocks: Array, columns: Array) -> Array:
        """Return the states of columns of blocks."""
        found: Array = self._units[blocks, columns // UNIT]
        return found

    def left(self, block: int) -> str:
        """Describe an allocation of a block; an empty text without one."""
        for (owner, first), columns in self.sizes.items():
            if owner == block:
                return f"{columns} columns of tensor memory from column {first} on"
        return ""
