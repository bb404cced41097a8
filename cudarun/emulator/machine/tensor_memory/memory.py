"""The tensor memory of thread blocks (PTX manual 9.7.16.1).

A block has 128 lanes of 512 columns, each cell of 32 bits. An address has the lane in its upper
half, the column in the lower one. Here an access has the offset of a cell in bytes, by rows, and
above them, as an address of ``shared::cluster``, the rank of a block.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.machine.access import Access, AccessKind
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.lanes import Indices
from cudarun.emulator.machine.spaces import RANK_SHIFT, Piece
from cudarun.emulator.machine.tensor_memory.allocations import ALLOCATED, STATES, TENSOR_COLUMNS
from cudarun.emulator.numerics.arrays import Array

LANES = 128
LAUNCH_FAILED = 719
ILLEGAL_INSTRUCTION = 715
_CELL = np.dtype(np.uint32)
_ROW = TENSOR_COLUMNS * _CELL.itemsize


class TensorAccess(Access):
    """An access to cells of tensor memory; the columns have to be allocated."""

    def __init__(self, kind: AccessKind) -> None:
        super().__init__("tensor", _CELL, 1, kind, 0)

    def find(self, active: Active, addresses: Array) -> list[Piece]:
        """Locate the accesses after a check that their columns are allocated."""
        states = self._states(active, addresses)
        wrong = states != ALLOCATED
        if wrong.any():
            lane = int(np.argmax(wrong))
            column = int(addresses[lane]) % _ROW // _CELL.itemsize
            state = STATES[int(states[lane])]
            what = f"{self.kind.value} of column {column} of tensor memory, which {state}"
            raise active.fault(LAUNCH_FAILED, what, lane)
        return super().find(active, addresses)

    def valid(self, active: Active, addresses: Array) -> Indices:
        """Return the positions of the lanes whose columns are allocated."""
        return np.flatnonzero(self._states(active, addresses) == ALLOCATED)

    def _states(self, active: Active, addresses: Array) -> Array:
        blocks = active.per_lane(active.batch.threads.block_of)
        ranks = addresses.astype(np.int64) >> RANK_SHIFT
        first = blocks - blocks % active.batch.launch.cluster_blocks
        columns = addresses.astype(np.int64) % _ROW // _CELL.itemsize
        return active.batch.tensor.states(first + ranks, columns)


def cells(active: Active, lanes: Array, columns: Array, position: int, ranks: Array | int) -> Array:
    """Return the addresses of cells of blocks with some ranks; of one thread, or of all lanes."""
    wrong = (lanes < 0) | (lanes >= LANES) | (columns < 0) | (columns >= TENSOR_COLUMNS)
    if wrong.any():
        lanes, columns = np.broadcast_arrays(lanes, columns)
        place = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        what = f"lane {lanes[place]}, column {columns[place]} is outside tensor memory"
        raise active.fault(LAUNCH_FAILED, what, position)
    above = np.asarray(ranks, dtype=np.int64) << RANK_SHIFT
    found: Array = (lanes * _ROW + columns * _CELL.itemsize + above).astype(np.uint32)
    return found


def split_address(address: int) -> tuple[int, int]:
    """Return lane and column of an address."""
    return address >> 16, address & 0xFFFF
