"""The tensor memory of thread blocks, and its allocation (PTX manual 9.7.16.1 and 9.7.16.7).

A block has 128 lanes of 512 columns, each cell of 32 bits. An address has the lane in its upper
half, the column in the lower one. Here an access has the offset of a cell in bytes, by rows, and
above them, as an address of ``shared::cluster``, the rank of a block plus one.

Every block of the emulated device has a tensor memory of its own: an allocation waits only for
columns that its own block has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cudarun.emulator.machine.access import Access, AccessKind
from cudarun.emulator.machine.lanes import Indices
from cudarun.emulator.machine.regions import Piece
from cudarun.emulator.machine.report import Report
from cudarun.emulator.machine.spaces import RANK_SHIFT, TENSOR_COLUMNS
from cudarun.emulator.numerics.arrays import Array

if TYPE_CHECKING:
    from cudarun.emulator.code import Site
    from cudarun.emulator.machine.active import Active
    from cudarun.emulator.machine.batch import Batch

LANES = 128
UNIT = 32  # columns that are allocated together
LAUNCH_FAILED = 719
_CELL = np.dtype(np.uint32)
_ROW = TENSOR_COLUMNS * _CELL.itemsize
_NEVER, _ALLOCATED, _FREED = range(3)
_STATES = {_NEVER: "is not allocated", _FREED: "has been deallocated"}


class TensorMemory:
    """The allocations of the blocks of a batch.

    Args:
        blocks: The most blocks of the batch.

    Attributes:
        relinquished: By block, whether it must not allocate any more.
    """

    def __init__(self, blocks: int) -> None:
        self.relinquished = np.zeros(blocks, dtype=np.bool_)
        self._units = np.full((blocks, TENSOR_COLUMNS // UNIT), _NEVER, dtype=np.uint8)
        self._sizes: dict[tuple[int, int], int] = {}  # by block and first column

    @classmethod
    def of(cls, batch: Batch) -> TensorMemory:
        """Return that of a batch, made on first use."""
        if batch.tensor_memory is None:
            batch.tensor_memory = cls(batch.threads.room)
        return batch.tensor_memory

    def allocate(self, block: int, columns: int) -> int | None:
        """Return the first of newly allocated columns of a block; ``None`` if they are not free."""
        count = columns // UNIT
        for first in range(0, len(self._units[block]) - count + 1, count):
            chosen = self._units[block, first : first + count]
            if (chosen != _ALLOCATED).all():
                chosen[:] = _ALLOCATED
                self._sizes[block, first * UNIT] = columns
                return first * UNIT
        return None

    def free(self, block: int, first: int, columns: int) -> str:
        """Deallocate columns; return why they cannot be, or an empty text."""
        size = self._sizes.get((block, first))
        if size != columns:
            state = self.states(np.array([block]), np.array([first % TENSOR_COLUMNS]))[0]
            if size is not None:
                return f"the allocation has {size} columns"
            return _STATES.get(int(state), "no allocation begins there")
        del self._sizes[block, first]
        self._units[block, first // UNIT : (first + columns) // UNIT] = _FREED
        return ""

    def free_columns(self, block: int) -> int:
        """Return the number of columns of a block that are not allocated."""
        return int((self._units[block] != _ALLOCATED).sum()) * UNIT

    def states(self, blocks: Array, columns: Array) -> Array:
        """Return the states of columns of blocks."""
        found: Array = self._units[blocks, columns // UNIT]
        return found

    def check_exited(self, batch: Batch, block: int, site: Site | None = None) -> None:
        """Raise the fault of a block that has exited with columns allocated."""
        for (owner, first), columns in self._sizes.items():
            if owner == block:
                what = f"{columns} columns of tensor memory from column {first} on"
                report = Report(batch.launch, f"exit of a block with {what} still allocated")
                report.at(site)
                report.name(batch.threads, block * batch.threads.threads)
                raise report.fault(LAUNCH_FAILED)

    def begin(self, block: int) -> None:
        """Forget the state of a block, for another one in its place."""
        self.relinquished[block] = False
        self._units[block] = _NEVER


class TensorAccess(Access):
    """An access to cells of tensor memory; the columns have to be allocated."""

    def __init__(self, kind: AccessKind) -> None:
        super().__init__("tensor", _CELL, 1, kind, 0)

    def find(self, active: Active, addresses: Array) -> list[Piece]:
        """Locate the accesses after a check that their columns are allocated."""
        wrong = self._states(active, addresses) != _ALLOCATED
        if wrong.any():
            lane = int(np.argmax(wrong))
            column = int(addresses[lane]) % _ROW // _CELL.itemsize
            state = _STATES[int(self._states(active, addresses[lane : lane + 1])[0])]
            what = f"{self.kind.value} of column {column} of tensor memory, which {state}"
            raise active.fault(LAUNCH_FAILED, what, lane)
        return super().find(active, addresses)

    def valid(self, active: Active, addresses: Array) -> Indices:
        """Return the positions of the lanes whose columns are allocated."""
        return np.flatnonzero(self._states(active, addresses) == _ALLOCATED)

    def _states(self, active: Active, addresses: Array) -> Array:
        blocks = active.per_lane(active.batch.threads.block_of)[: len(addresses)]
        ranks = addresses.astype(np.int64) >> RANK_SHIFT
        first = blocks - blocks % active.batch.launch.cluster_blocks
        owners = np.where(ranks == 0, blocks, first + ranks - 1)
        columns = addresses.astype(np.int64) % _ROW // _CELL.itemsize
        return TensorMemory.of(active.batch).states(owners, columns)


def cells(active: Active, lanes: Array, columns: Array, position: int, rank: int = -1) -> Array:
    """Return the addresses of cells, of one thread; of the block with a rank in its cluster.

    Raises:
        DeviceFault: A cell does not exist.
    """
    wrong = (lanes < 0) | (lanes >= LANES) | (columns < 0) | (columns >= TENSOR_COLUMNS)
    if wrong.any():
        lanes, columns = np.broadcast_arrays(lanes, columns)
        place = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        what = f"lane {lanes[place]}, column {columns[place]} is outside tensor memory"
        raise active.fault(LAUNCH_FAILED, what, position)
    offsets = lanes * _ROW + columns * _CELL.itemsize + (rank + 1 << RANK_SHIFT)
    found: Array = offsets.astype(np.uint32)
    return found


def split_address(address: int) -> tuple[int, int]:
    """Return lane and column of an address."""
    return address >> 16, address & 0xFFFF
