"""Bulk copies and reductions, and asynchronous stores (PTX manual 9.7.9.25, 9.7.9.12, 9.7.13.7).

They complete their bytes on a barrier object; those to global memory belong to bulk groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.machine.access import Access, AccessKind, AsynchronousAction, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.atomics import Combine, combination, combine_at
from cudarun.emulator.machine.clusters import address_in_block, in_block_of, own_ranks, rank_of
from cudarun.emulator.machine.mbarriers import BarrierChange, object_access
from cudarun.emulator.machine.threads import block_coordinates
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.numerics.temporaries import Function, result_of
from cudarun.emulator.numerics.types import Type
from cudarun.emulator.words import Words

CHUNK = 16  # bytes, of which bulk copies transfer multiples
_AT_ONCE = 64 << 10  # bytes: a copy can have 4 GiB, and fault at the first one
_WORD = np.dtype(np.uint64)
_FAILED = 719
_ILLEGAL_INSTRUCTION = 715


class ClusterAccess(Access):
    """An access to shared memory of the cluster; hardware reports invalid ones differently."""

    def _fault(self, active: Active, address: int, lane: int, *, misaligned: bool) -> DeviceFault:
        fault = super()._fault(active, address, lane, misaligned=misaligned)
        if misaligned or rank_of(address) == own_ranks(active)[lane]:
            return fault
        return DeviceFault(_FAILED, fault.report, fault.places)


class BulkTransfer(AsynchronousAction, BarrierChange):
    """An instruction that completes the bytes that it transfers, if it has a barrier object."""

    arrives = False
    reports = False

    def report_to(self, words: Words, space: str, address: int) -> None:
        """Declare the access to the object; threads that see the bytes also see the data."""
        self.reports = True
        self.accesses += (object_access(words, space, address, order="acq_rel"),)

    def complete(self, active: Active, objects: Array, to: Array, sizes: Array) -> None:
        """Complete bytes on an object for each active lane.

        It is in the block that the data goes to, whatever the rank in its own address.
        """
        if active.count:
            self.change(active, in_block_of(objects, to), 0, -sizes.astype(np.int64))


class BulkCopy(BulkTransfer):
    """``cp.async.bulk``: a copy of a contiguous range for each lane, also to several blocks.

    On hardware, copies from shared memory to that of the cluster do not work in a launch without
    clusters. The manual requires a size that is a multiple of 16 bytes; an H200 rounds others down,
    both for the copy and for the bytes that it completes.
    """

    def __init__(self, words: Words) -> None:
        to = words.get("to") or "global"
        origin = words.get("source") or "global"
        agents = ("mbarrier", "mbarrier") if words.get("to") else ("bulk write", "bulk read")
        self.accesses = (
            self._writing(words, to, words.offsets[0]).by(agents[0]),
            Access(origin, _WORD, 2, AccessKind.READ, words.offsets[1]).by(agents[1]),
        )
        if words.get("to"):
            self.report_to(words, to, 2)
        self.multicast = "mask" in words.given
        self.queue = "mbarrier" if self.reports else "bulk"
        self.within_cluster = self.reports and origin.startswith("shared")

    def objects(self, sources: Arrays) -> Array:
        """Return the addresses of the objects."""
        return sources[3]

    def _writing(self, words: Words, to: str, offset: int) -> Access:
        return ClusterAccess(to, _WORD, 2, AccessKind.WRITE, offset)

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Copy, then complete the bytes."""
        to, origin, sizes, *rest = sources
        if self.within_cluster and active.batch.launch.config.cluster is None:
            what = "cp.async.bulk to shared::cluster in a launch without clusters"
            raise active.fault(_ILLEGAL_INSTRUCTION, what, 0)
        sizes = sizes - sizes % CHUNK
        objects = rest[0] if self.reports else to
        if self.multicast:
            values = origin, sizes, objects
            active, (to, origin, sizes, objects) = for_blocks(active, rest[1], (to,), values)
        for lane in range(active.count):
            for first in range(0, int(sizes[lane]), _AT_ONCE):
                end = min(first + _AT_ONCE, int(sizes[lane]))
                steps = np.arange(first, end, CHUNK, dtype=np.uint64)
                some = active.some(np.full(len(steps), lane))
                data = self.accesses[1].load(some, origin[lane].astype(np.uint64) + steps)
                yield partial(self.write, some, to[lane].astype(np.uint64) + steps, data)
        if self.reports:
            yield partial(self.complete, active, objects, to, sizes)

    def write(self, some: Active, addresses: Array, data: Array) -> None:
        """Write a chunk for each lane: a row of two words."""
        self.accesses[0].store(some, addresses, data)


class MaskedCopy(BulkCopy):
    """``cp.async.bulk`` with ``.cp_mask``: some bytes of each chunk."""

    def _writing(self, words: Words, to: str, offset: int) -> Access:
        return Access(to, np.dtype(np.uint8), 1, AccessKind.WRITE, offset)

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Copy for one lane after the other, each with its own mask."""
        *operands, masks = sources
        for lane in range(active.count):
            here, mask = slice(lane, lane + 1), int(masks[lane])
            alone = active.some(np.array([lane]))
            writes: Iterator[Any] = super().transfers(alone, tuple(x[here] for x in operands))
            yield from (partial(write, mask=mask) for write in writes)

    def write(self, some: Active, addresses: Array, data: Array, *, mask: int = 0) -> None:
        """Write the bytes that the mask selects."""
        for place in range(CHUNK):
            if mask >> place & 1:
                chosen = np.ascontiguousarray(data).view(np.uint8)[:, place : place + 1]
                self.accesses[0].store(some, addresses + np.uint64(place), chosen)


class StoreBulk(MemoryAction):
    """``st.bulk``: zeros in shared memory."""

    def __init__(self, words: Words) -> None:
        self.accesses = (Access(words.space, _WORD, 1, AccessKind.WRITE, words.offsets[0]),)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Store for one lane after the other."""
        addresses, sizes = sources
        for lane in range(active.count):
            steps = np.arange(0, int(sizes[lane]), _WORD.itemsize, dtype=np.uint64)
            some = active.some(np.full(len(steps), lane))
            places = addresses[lane].astype(np.uint64) + steps
            self.accesses[0].store(some, places, np.zeros((len(steps), 1), dtype=_WORD))


class BulkReduction(BulkCopy):
    """``cp.reduce.async.bulk``: combine a range of shared memory with another one."""

    def __init__(self, words: Words) -> None:
        ptx_type = words.type
        self.dtype = ptx_type.dtype if ptx_type.elements == 1 else np.dtype(f"u{ptx_type.bytes}")
        self.combine = bulk_combination(words["op"], ptx_type)
        super().__init__(words)

    def _writing(self, words: Words, to: str, offset: int) -> Access:
        count = CHUNK // self.dtype.itemsize
        return ClusterAccess(
            to, self.dtype, count, AccessKind.ATOMIC, offset, order="relaxed", scope="gpu"
        )

    def write(self, some: Active, addresses: Array, data: Array) -> None:
        """Combine a chunk for each lane with what is in memory."""
        reduce_chunks(self.accesses[0], some, addresses, data.view(self.dtype), self.combine)


def bulk_combination(operation: str, ptx_type: Type, *, flushes: bool = False) -> Combine:
    """Return the function from the values in memory and the operands of a bulk reduction.

    Unlike those of ``red``, sums of f32 are subnormal where they are not flushed, and of two NaN of
    f64 the result is the operand.
    """
    if ptx_type.name == "f64":
        add = combination(operation, ptx_type, "f64")
        return lambda old, b: add(b, old)
    return combination(operation, ptx_type, "f32" if flushes else "")


def for_blocks(
    active: Active, masks: Array, addresses: Arrays, others: Arrays
) -> tuple[Active, Arrays]:
    """Return a lane for each block in the masks of lanes, and the values of these lanes.

    Args:
        active: The lanes that execute the instruction.
        masks: The blocks that each lane addresses.
        addresses: In shared memory; each is moved to the block.
        others: Values that are the same for all blocks.

    Returns:
        The lanes, and their ``addresses`` and ``others``.
    """
    bits = masks.astype(np.uint16)[:, None] >> np.arange(16, dtype=np.uint16) & np.uint16(1)
    lanes, ranks = np.nonzero(bits)
    moved = (address_in_block(address[lanes], ranks) for address in addresses)
    return active.some(lanes), (*moved, *(other[lanes] for other in others))


def reduce_chunks(
    reducing: Access, some: Active, addresses: Array, data: Array, combine: Combine
) -> None:
    """Combine the elements in each row with those from an address on.

    The access may have another type of the same size.
    """
    for view, index, positions, _ in reducing.locate(some, addresses):
        rows, elements = data if positions is None else data[positions], view.view(data.dtype)
        for place in range(rows.shape[1]):
            combine_at(elements[place:], index, np.ascontiguousarray(rows[:, place]), combine)


class AsyncStore(BulkTransfer):
    """``st.async``: a store that completes its bytes on a barrier object."""

    def __init__(self, words: Words) -> None:
        self.accesses = (self._writing(words).by("st.async"),)
        self.report_to(words, words.space, 1)

    def _writing(self, words: Words) -> Access:
        dtype, offset = words.type.dtype, words.offsets[0]
        return ClusterAccess(words.space, dtype, words.count, AccessKind.WRITE, offset)

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Store, then complete the bytes."""
        address, *values, objects = sources
        yield partial(self.write, active, address, np.stack(values, axis=1))
        sizes = np.full(active.count, self.accesses[0].bytes)
        yield partial(self.complete, active, objects, address, sizes)

    def write(self, active: Active, addresses: Array, rows: Array) -> None:
        """Write the elements in a row for each lane."""
        self.accesses[0].store(active, addresses, rows)


class AsyncReduction(AsyncStore):
    """``red.async``: a reduction that completes its bytes on a barrier object."""

    def _writing(self, words: Words) -> Access:
        self.combine = combination(words["op"], words.type, "")
        given = words.space, words.type.dtype, 1, AccessKind.ATOMIC, words.offsets[0]
        return ClusterAccess(*given, order=words["sem"], scope=words["scope"])

    def write(self, active: Active, addresses: Array, rows: Array) -> None:
        """Combine the element in each row with that in memory."""
        reduce_chunks(self.accesses[0], active, addresses, rows, self.combine)


_ANSWER = 16  # bytes


class CancelLaunch(BulkTransfer):
    """``clusterlaunchcontrol.try_cancel``: a running block takes the work of another cluster.

    That is the last cluster of the grid that has not begun, which then never begins. The answer has
    16 bytes, in an order of our own: whether there was one, then the first block in it.
    """

    cancels_launches = True

    def __init__(self, words: Words) -> None:
        self.multicast = bool(words.get("multicast::cluster::all"))
        space, offset = words.space and "shared::cluster", words.offsets[0]  # of any block
        answer = ClusterAccess(space, np.dtype(np.uint32), 4, AccessKind.WRITE, offset)
        self.accesses = (answer.by("mbarrier"),)
        self.report_to(words, space, 1)

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Request for each lane, then write the answers and complete their bytes."""
        launch, (to, objects) = active.batch.launch, sources
        answers = np.zeros((active.count, 4), dtype=np.uint32)
        for answer in answers:
            block = launch.cancel()
            if block is not None:
                (place,), _ = block_coordinates(launch, np.array([block]))
                answer[:] = 1, *place
        if self.multicast:
            masks = np.full(active.count, (1 << launch.cluster_blocks) - 1)
            active, (to, answers, objects) = for_blocks(active, masks, (to,), (answers, objects))
        yield partial(self.accesses[0].store, active, to, answers)
        yield partial(self.complete, active, objects, to, np.full(active.count, _ANSWER))


def canceled(words: Words) -> Function:
    """Return ``query_cancel.is_canceled``."""
    return result_of(lambda answer: answer.view(np.uint32)[:, 0] != 0)


def first_block(words: Words) -> Function:
    """Return ``query_cancel.get_first_ctaid``, of one axis or of all of them."""
    axis = words.get("axis")

    def operate(answer: Array, *places: Array) -> None:
        parts = answer.view(np.uint32)
        chosen = ["xyz".index(axis[-1]) + 1] if axis else [1, 2, 3, 0]
        for place, part in zip(places, chosen, strict=False):
            np.copyto(place, parts[:, part])

    return operate
