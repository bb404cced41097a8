"""Copies from shared to tensor memory, and shifts of rows (PTX manual 9.7.16.9).

The manual's figures of the shapes are those of CUTLASS's layouts. A copy has chunks of 16 bytes, in
the layout of a matrix along k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from cudarun.emulator.machine.access import Access, AccessKind, AsynchronousAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.bulk_copies import for_blocks
from cudarun.emulator.machine.clusters import own_ranks
from cudarun.emulator.machine.mbarriers import BarrierChange, object_access
from cudarun.emulator.machine.spaces import RANK_SHIFT
from cudarun.emulator.machine.tensor_memory.descriptors import SharedDescriptor, decompressed
from cudarun.emulator.machine.tensor_memory.memory import (
    ILLEGAL_INSTRUCTION,
    LAUNCH_FAILED,
    TensorAccess,
    cells,
    split_address,
)
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.words import Words

_CHUNK = 16  # bytes
_PARTITION = 32  # lanes of a warp
_PARTITIONS = 4
_SHIFTED = 8  # columns, 32 bytes
_WIDTHS = {"256b": 2, "128b": 1}  # chunks


def pair_ranks(active: Active, position: int, blocks: int) -> list[int]:
    """Return the ranks of the blocks of an operation of a thread.

    Raises:
        DeviceFault: The cluster has no pairs of blocks.
    """
    rank = int(own_ranks(active)[position])
    if blocks == 1:
        return [rank]
    if active.batch.launch.cluster_blocks % 2:
        what = "tcgen05 with .cta_group::2 in a cluster without pairs of blocks"
        raise active.fault(LAUNCH_FAILED, what, position)
    return [rank & ~1, rank | 1]


class TensorMemoryCopy(AsynchronousAction):
    """``tcgen05.cp``."""

    queue = follows = "tcgen05"

    def __init__(self, words: Words) -> None:
        lanes, _, width = words["shape"].partition("x")
        self.lanes, self.width = int(lanes), _WIDTHS[width]
        self.multicast = words.get("multicast", "")
        self.source = words.get("source", "")
        self.blocks = int(words["group"][-1])
        self.offset = words.offsets[0]
        self.accesses = (
            Access("shared::cluster", np.dtype(np.uint64), 2, AccessKind.READ, 0).by("tcgen05"),
            TensorAccess(AccessKind.WRITE).by("tcgen05"),
        )

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Copy the matrix of each thread."""
        for position in range(active.count):
            lane, column = split_address(int(sources[0][position]) + self.offset)
            descriptor = SharedDescriptor(int(sources[1][position]))
            if descriptor.problem or descriptor.mode == 1:
                what = f"tcgen05.cp with {descriptor.problem or 'swizzling mode 1'}"
                raise active.fault(ILLEGAL_INSTRUCTION, what, position)
            chunks = descriptor.chunks(self.lanes, self.width, transposed=False)[0]
            for rank in pair_ranks(active, position, self.blocks):
                words = self._load(active, position, chunks, rank)
                for lanes in self._targets(lane):
                    rows = lanes[:, None]
                    columns = column + np.arange(words.shape[1])
                    places = cells(active, rows, columns, position, rank)
                    yield partial(self._store, active, position, places, words)

    def _load(self, active: Active, position: int, chunks: Array, rank: int) -> Array:
        """Return the rows of the matrix, as words."""
        places = (chunks.reshape(-1) + (rank << RANK_SHIFT)).astype(np.uint32)
        some = active.some(np.full(len(places), position))
        data = self.accesses[0].load(some, places).view(np.uint8).reshape(*chunks.shape, _CHUNK)
        if self.source:
            data = decompressed(data, self.source)
        return np.ascontiguousarray(data).view(np.uint32).reshape(len(chunks), -1)

    def _targets(self, lane: int) -> Iterator[Array]:
        """Return the lanes of the rows, for each copy of the matrix."""
        row = np.arange(self.lanes)
        if self.lanes == _PARTITIONS:  # a lane of each partition
            yield lane + row * _PARTITION
        elif self.multicast == "warpx4":
            for partition in range(_PARTITIONS):
                yield lane + row + partition * _PARTITION
        elif self.multicast.endswith("02_13"):
            for half in range(2):
                yield lane + row + half * 2 * _PARTITION
        elif self.multicast:  # 01_23
            for half in range(2):
                yield lane + row + row // _PARTITION * _PARTITION + half * _PARTITION
        else:
            yield lane + row

    def _store(self, active: Active, position: int, places: Array, words: Array) -> None:
        some = active.some(np.full(places.size, position))
        self.accesses[1].store(some, places.reshape(-1), words.reshape(-1, 1))


class ShiftRows(AsynchronousAction):
    """``tcgen05.shift.down``: each lane but the last of 32 gets the 32 bytes of the next one."""

    queue = follows = "tcgen05"

    def __init__(self, words: Words) -> None:
        self.blocks = int(words["group"][-1])
        self.offset = words.offsets[0]
        self.accesses = (
            TensorAccess(AccessKind.READ).by("tcgen05"),
            TensorAccess(AccessKind.WRITE).by("tcgen05"),
        )

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Shift the lanes that each thread names."""
        for position in range(active.count):
            lane, column = split_address(int(sources[0][position]) + self.offset)
            if lane % _PARTITION:
                what = f"tcgen05.shift from lane {lane} on, which is not aligned to {_PARTITION}"
                raise active.fault(LAUNCH_FAILED, what, position)
            row, cell = np.ogrid[: _PARTITION - 1, :_SHIFTED]
            for rank in pair_ranks(active, position, self.blocks):
                places = [
                    cells(active, lane + row + down, column + cell, position, rank).reshape(-1)
                    for down in (1, 0)
                ]
                some = active.some(np.full(len(places[0]), position))
                rows = self.accesses[0].load(some, places[0])
                yield partial(self.accesses[1].store, some, places[1], rows)


class CommitTensors(AsynchronousAction, BarrierChange):
    """An arrival when the operations that the thread has issued so far are complete."""

    follows = "tcgen05"

    def __init__(self, words: Words) -> None:
        self.multicast = "mask" in words.given
        access = object_access(words, words.space, 0, order="acq_rel")
        access.scope = "cluster"
        self.accesses = (access,)

    def objects(self, sources: Arrays) -> Array:
        """Return the addresses of the objects."""
        return sources[0]

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Arrive at the object of each thread, or at those of several blocks."""
        objects = sources[0]
        if self.multicast:
            active, (objects,) = for_blocks(active, sources[1], (objects,), ())
        yield partial(self.change, active, objects, 1)
