"""Allocation of tensor memory: ``tcgen05.alloc`` and so on (PTX manual 9.7.16.7)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cudarun.emulator.machine.access import Access, AccessKind, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.clusters import own_ranks
from cudarun.emulator.machine.observer import NO_OBSERVER
from cudarun.emulator.machine.tensor_memory.allocations import TENSOR_COLUMNS, UNIT
from cudarun.emulator.machine.tensor_memory.memory import (
    LANES,
    LAUNCH_FAILED,
    TensorAccess,
    cells,
    split_address,
)
from cudarun.emulator.machine.threads import WARP
from cudarun.emulator.machine.warps import WarpAction
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.words import Words

_SIZES = frozenset(UNIT << power for power in range(5))


class AllocationAction(WarpAction):
    """Base of the operations, which whole warps execute, each once."""

    name: ClassVar[str]  # the name of the operation
    waits_for = "warp"

    def leaders(self, active: Active) -> Array:
        """Return the position of the first active lane of each warp."""
        warps = self.slots(active) // WARP
        return np.flatnonzero(np.diff(warps, prepend=-1))

    def block(self, active: Active, position: int) -> int:
        """Return the block of an active lane in the batch."""
        return int(active.batch.threads.block_of[active.lane(position)])

    def columns(self, active: Active, counts: Array, position: int) -> int:
        """Return the number of columns, after a check."""
        count = int(counts[position])
        if count not in _SIZES:
            what = f"tcgen05.{self.name} with {count} columns"
            detail = f"it takes a power of two from {UNIT} to {TENSOR_COLUMNS}"
            raise active.fault(LAUNCH_FAILED, what, position, detail)
        return count


class Allocate(AllocationAction, MemoryAction):
    """``tcgen05.alloc``: the address is written to shared memory."""

    name = "alloc"

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        offset = words.offsets[0]
        self.accesses = (Access(words.space, np.dtype(np.uint32), 1, AccessKind.WRITE, offset),)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Allocate columns for each warp."""
        memory, leaders, found = active.batch.tensor, self.leaders(active), []
        for position in leaders.tolist():
            columns = self.columns(active, sources[1], position)
            block = self.block(active, position)
            if memory.relinquished[block]:
                what = "tcgen05.alloc after tcgen05.relinquish_alloc_permit"
                raise active.fault(LAUNCH_FAILED, what, position)
            first = memory.allocate(block, columns)
            if first is None:
                taken = sum(size for (owner, _), size in memory.sizes.items() if owner == block)
                free = TENSOR_COLUMNS - taken
                what = f"tcgen05.alloc waits for {columns} columns of tensor memory"
                detail = (
                    f"{free} of {TENSOR_COLUMNS} columns are free, and its block has the others"
                )
                raise active.fault(LAUNCH_FAILED, what, position, detail)
            found.append(first)
        (access,) = self.accesses
        rows = np.array(found, dtype=np.uint32)[:, None]
        access.store(active.some(leaders), sources[0][leaders], rows)


class Deallocate(AllocationAction, MemoryAction):
    """``tcgen05.dealloc``: for detectors it writes all cells, which nothing may access later."""

    name = "dealloc"

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        access = TensorAccess(AccessKind.WRITE)
        access.discards = True
        self.accesses = (access,)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Deallocate the columns of each warp."""
        memory = active.batch.tensor
        for position in self.leaders(active).tolist():
            columns = self.columns(active, sources[1], position)
            block = self.block(active, position)
            lane, first = split_address(int(sources[0][position]))
            problem = memory.problem(block, first, columns)
            if lane:
                problem = f"its address has lane {lane}"
            if problem:
                what = f"tcgen05.dealloc of {columns} columns from column {first} on: {problem}"
                raise active.fault(LAUNCH_FAILED, what, position)
            if active.batch.observer is not NO_OBSERVER:
                lanes = np.arange(LANES)[:, None]
                rank = own_ranks(active)[position]
                places = cells(active, lanes, first + np.arange(columns), position, rank)
                places = places.reshape(-1)
                self.accesses[0].locate(active.some(np.full(len(places), position)), places)
            memory.free(block, first)


class Relinquish(AllocationAction):
    """``tcgen05.relinquish_alloc_permit``."""

    name = "relinquish_alloc_permit"

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Note that the blocks do not allocate any more."""
        memory = active.batch.tensor
        for position in self.leaders(active).tolist():
            memory.relinquished[self.block(active, position)] = True
