"""Copies between tensors and shared memory by tensor memory access (PTX manual 9.7.9.27).

Each lane copies its own box, and the chunks of a box are accessed together. Loads round TF32; no
other values change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from cudarun.emulator.machine.access import Access, AccessKind, AsynchronousAction, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.bulk_copies import (
    BulkTransfer,
    ClusterAccess,
    bulk_combination,
    for_blocks,
    reduce_chunks,
)
from cudarun.emulator.machine.spaces import RANK_SHIFT
from cudarun.emulator.machine.tensor_maps.boxes import (
    CHUNK,
    Chunks,
    chunks,
    four_rows,
    outside,
    swizzled,
    with_halves,
)
from cudarun.emulator.machine.tensor_maps.tensor_map import (
    BYTES,
    PADDED_4,
    TensorMap,
    decode,
    signed,
)
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.numerics.formats import to_tf32
from cudarun.emulator.numerics.rounding import NEAREST
from cudarun.emulator.numerics.types import TYPES
from cudarun.emulator.words import Words

_WORD = np.dtype(np.uint64)
_HALF_MAP = 64  # bytes, to which maps are aligned
SHARED_ALIGNMENT = 128
_ILLEGAL_INSTRUCTION = 715
_MISALIGNED_ADDRESS = 716
_UNITS = (1, 2, 4, 8)
_GROUPS = 8  # the groups of a box of packed elements with gaps
_NAN = np.uint64(0x7FF77FF77FF77FF7)  # the one that fills, in every 16 bits


class _OfTensor(MemoryAction):
    """An instruction on boxes of tensors, each lane with its own; the first access is to a map."""

    writes = False

    def __init__(self, words: Words, *accesses: Access) -> None:
        self.rank = int(words["dim"][0])
        self.rows = words["mode"].endswith("4")  # of gather4 and scatter4
        self.coordinates = 5 if self.rows else self.rank
        self.im2col = words["mode"].startswith("im2col")
        half = Access("", _WORD, _HALF_MAP // _WORD.itemsize, AccessKind.READ, 0)
        self.accesses = (half.by("tensormap"), *accesses)

    def boxes(
        self, active: Active, maps: Array, coordinates: Arrays, offsets: Arrays = ()
    ) -> Iterator[tuple[Active, TensorMap, Chunks]]:
        """Yield each active lane with its map and its chunks."""
        for lane in range(active.count):
            alone = active.some(np.array([lane]))
            tensor = self._tensor(alone, int(maps[lane]))
            at = [signed(int(value[lane]), 32) for value in coordinates]
            at[0] //= tensor.group
            wrong = self._wrong(tensor, at)
            if wrong is not None:
                raise alone.fault(_ILLEGAL_INSTRUCTION, f"coordinates {at}: {wrong}", 0)
            if self.rows:
                box = four_rows(tensor, at)
            else:
                box = chunks(tensor, at, _packed([int(n[lane]) for n in offsets]))
            yield alone, tensor, box

    def _wrong(self, tensor: TensorMap, at: Sequence[int]) -> str | None:
        """Return what is wrong with coordinates."""
        if not tensor.interleave and at[0] * tensor.element_bytes % CHUNK:
            return f"the first is {at[0] * tensor.element_bytes} bytes, not a multiple of {CHUNK}"
        if tensor.is_padded and at[0] % _GROUPS:
            return (
                f"the first is {at[0] * tensor.group}, not a multiple of {_GROUPS * tensor.group}"
            )
        if self.writes and tensor.type == PADDED_4:
            return "a tensor of 16U4_ALIGN16B, which can only be loaded"
        if self.im2col and outside(tensor, at):
            return "not in the bounding box of the pixels"
        if self.writes and (
            (min((*at, *tensor.lower)) < 0 and not self.rows)
            or any(high > 0 for high in tensor.upper)
        ):
            return "outside of a tensor that is written"
        return None

    def _tensor(self, alone: Active, address: int) -> TensorMap:
        both = alone.some(np.zeros(2, np.intp))
        addresses = np.array([address, address + _HALF_MAP], dtype=np.uint64)
        tensor = decode(self.accesses[0].load(both, addresses).tobytes())
        mode = _mode(self.im2col)
        if tensor is None:
            what = "invalid tensor map"
        elif (tensor.rank, tensor.im2col) != (self.rank, self.im2col):
            what = f"tensor map of rank {tensor.rank}, mode {_mode(tensor.im2col)}"
        else:
            return tensor
        what += f" in an instruction of rank {self.rank}, mode {mode}"
        raise alone.fault(_ILLEGAL_INSTRUCTION, what, 0)


def _mode(im2col: bool) -> str:
    return "im2col" if im2col else "tile"


def _packed(offsets: list[int]) -> list[int]:
    """Return the offsets of im2col as hardware gets them, 16 bits together.

    Of two, the low bytes are packed; three are added up, so that one may overflow into the next.
    """
    if len(offsets) == 2:
        return [offset & 0xFF for offset in offsets]
    if len(offsets) == 3:
        total = sum(offset << 5 * place for place, offset in enumerate(offsets))
        return [total >> 5 * place & 0x1F for place in range(3)]
    return offsets


def _packed_bits(chunks: Array) -> Array:
    """Return the 12 bytes of each chunk of 16 bytes, of which each has an element of 6 bits."""
    bits = np.unpackbits(chunks.view(np.uint8), axis=1, bitorder="little")
    return np.packbits(bits.reshape(-1, 16, 8)[:, :, :6].reshape(-1, 96), axis=1, bitorder="little")


def _shared_places(alone: Active, address: int, tensor: TensorMap, box: Chunks) -> Array:
    """Return the shared addresses of the chunks of a box."""
    if address % SHARED_ALIGNMENT:
        what = f"shared address {address:#x} is not a multiple of {SHARED_ALIGNMENT}"
        raise alone.fault(_MISALIGNED_ADDRESS, what, 0)
    return swizzled(np.uint64(address) + box.offsets, tensor)


class TensorLoad(_OfTensor, BulkTransfer):
    """``cp.async.bulk.tensor`` from a tensor to shared memory, also of several blocks."""

    def __init__(self, words: Words) -> None:
        to = words["to"]
        self.multicast = "mask" in words.given
        self.offset = words.offsets[0]
        accesses: list[Access] = [ClusterAccess(to, _WORD, 2, AccessKind.WRITE, 0)]
        for dtype, count in ((_WORD, 2), *((np.dtype(f"u{unit}"), 1) for unit in _UNITS)):
            accesses.append(Access("global", dtype, count, AccessKind.READ, 0))
        super().__init__(words, *(access.by("mbarrier") for access in accesses))
        self.report_to(words, to, 1)

    def objects(self, sources: Arrays) -> Array:
        """Return the addresses of the objects."""
        return sources[2 + self.coordinates]

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Copy the boxes, then complete their bytes."""
        to, maps, *rest = sources
        end = self.coordinates
        coordinates, objects, rest = rest[:end], rest[end], rest[end + 1 :]
        count = self.rank - 2 if self.im2col else 0
        offsets, masks = tuple(rest[:count]), rest[count] if self.multicast else None
        boxes = self.boxes(active, maps, tuple(coordinates), offsets)
        for lane, (alone, tensor, box) in enumerate(boxes):
            data = self._read(alone, tensor, box)
            here = slice(lane, lane + 1)
            to_blocks, their_objects = to[here], objects[here]
            if masks is not None:
                alone, (to_blocks, their_objects) = for_blocks(
                    alone, masks[here], (to_blocks,), (their_objects,)
                )
            for block in range(alone.count):
                some = alone.some(np.full(len(box.counts), block))
                address = int(to_blocks[block]) + self.offset
                places = _shared_places(some, address, tensor, box)
                stored = with_halves(data, places, tensor)
                yield partial(self.accesses[1].store, some, places, stored)
            # CUTLASS expects the bytes without gaps.
            size = tensor.global_bytes if tensor.is_padded else CHUNK
            sizes = np.full(alone.count, len(box.counts) * size)
            yield partial(self.complete, alone, their_objects, to_blocks, sizes)

    def _read(self, alone: Active, tensor: TensorMap, box: Chunks) -> Array:
        """Return the chunks as rows of two words; what is not in the tensor is filled."""
        size, counts = tensor.element_bytes, box.counts
        if tensor.is_padded:  # as words of 4 bytes, of which the last are gaps
            size, counts = 4, counts * (tensor.global_bytes // 4)
        unit = CHUNK // size
        if not tensor.tf32 and (counts == unit).all():
            some = alone.some(np.zeros(len(box.counts), np.intp))
            return self.accesses[2].load(some, box.addresses)
        elements = np.zeros((len(counts), unit), np.dtype(f"u{size}"))
        if not counts.any():  # hardware looks for the tensor even then
            start = np.array([tensor.address], dtype=np.uint64)
            self.accesses[3].find(alone, start)
        whole = np.flatnonzero(counts == unit)
        if len(whole):
            some = alone.some(np.zeros(len(whole), np.intp))
            data = self.accesses[2].load(some, box.addresses[whole])
            elements[whole] = data.view(elements.dtype)
        parts = np.flatnonzero((counts > 0) & (counts < unit))
        if len(parts):  # the memory behind the tensor may be nobody's
            rows = np.repeat(parts, counts[parts])
            columns = np.concatenate([np.arange(count) for count in counts[parts]])
            addresses = box.addresses[rows] + (columns * size).astype(np.uint64)
            some = alone.some(np.zeros(len(rows), np.intp))
            reading = self.accesses[3 + _UNITS.index(size)]
            elements[rows, columns] = reading.load(some, addresses)[:, 0]
        if tensor.tf32:
            elements = to_tf32(elements.view(np.float32), NEAREST)
        if tensor.fill:
            filled = np.full((len(elements), 2), _NAN).view(elements.dtype)
            elements = np.where(np.arange(unit) < counts[:, None], elements, filled)
        return np.ascontiguousarray(elements).view(np.uint64)


class PairedLoad(TensorLoad):
    """``.cta_group::2``: the parity of the object's block chooses a block of each target's pair."""

    def complete(self, active: Active, objects: Array, to: Array, sizes: Array) -> None:
        """Complete bytes in the block with that parity."""
        parity = np.uint64(1 << RANK_SHIFT)
        places = objects.astype(np.uint64) & parity | to.astype(np.uint64) & ~parity
        super().complete(active, objects, places, sizes)


class TensorPrefetch(_OfTensor):
    """``cp.async.bulk.prefetch.tensor``: only the map and the coordinates are checked."""

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Check the operands."""
        maps, *rest = sources
        for _ in self.boxes(active, maps, tuple(rest[: self.coordinates])):
            pass


class TensorStore(_OfTensor, AsynchronousAction):
    """``cp.async.bulk.tensor`` from shared memory to a tensor."""

    queue = "bulk"
    writes = True

    def __init__(self, words: Words) -> None:
        self.offset = words.offsets[0]
        super().__init__(
            words,
            Access(words["source"], _WORD, 2, AccessKind.READ, 0).by("bulk read"),
            *(access.by("bulk write") for access in self._writing()),
        )

    def _writing(self) -> tuple[Access, ...]:
        whole = Access("global", _WORD, 2, AccessKind.WRITE, 0)
        return (whole, Access("global", np.dtype(np.uint8), 1, AccessKind.WRITE, 0))

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Copy the boxes; chunks that are not in the tensor are not written."""
        maps, *rest = sources
        shared, coordinates = rest[self.coordinates], tuple(rest[: self.coordinates])
        for lane, (alone, tensor, box) in enumerate(self.boxes(active, maps, coordinates)):
            places = _shared_places(alone, int(shared[lane]) + self.offset, tensor, box)
            some = alone.some(np.zeros(len(places), np.intp))
            data = with_halves(self.accesses[1].load(some, places), places, tensor)
            if tensor.is_padded:
                packed = _packed_bits(data)
                for chunk in np.flatnonzero(box.counts):
                    address = int(box.addresses[chunk])
                    yield self._part(alone, tensor, address, packed[chunk])
                continue
            # Like on hardware chunks are written as a whole, even where the tensor ends in them.
            cut = self._cut(alone, tensor, box)
            whole = np.flatnonzero((box.counts > 0) & ~cut)
            if len(whole):
                yield partial(self._write, alone, tensor, box.addresses[whole], data[whole], 2)
            for chunk in np.flatnonzero(cut):
                size = int(box.counts[chunk]) * tensor.element_bytes
                elements = data[chunk : chunk + 1].view(np.uint8)[0, :size]
                yield self._part(alone, tensor, int(box.addresses[chunk]), elements)

    def _cut(self, alone: Active, tensor: TensorMap, box: Chunks) -> Array:
        """Return in which chunks not only the tensor ends, but the allocation, too."""
        cut = (box.counts > 0) & (box.counts < CHUNK // tensor.element_bytes)
        for chunk in np.flatnonzero(cut):
            address = int(box.addresses[chunk])
            region = self.accesses[2].region(alone, address)
            cut[chunk] = region is not None and address + CHUNK > region.base + region.size
        return cut

    def _part(
        self, alone: Active, tensor: TensorMap, address: int, data: Array
    ) -> Callable[[], object]:
        """Return what writes the first bytes of a chunk."""
        unit = self._unit(tensor)
        addresses = np.uint64(address) + np.arange(0, len(data), unit, dtype=np.uint64)
        return partial(self._write, alone, tensor, addresses, data.reshape(-1, unit), 3)

    def _unit(self, tensor: TensorMap) -> int:
        """Return how many bytes of a part are written at once."""
        return 1

    def _write(
        self, alone: Active, tensor: TensorMap, addresses: Array, data: Array, access: int
    ) -> None:
        """Write chunks, rows of two words, by access 2; or units of a chunk by access 3."""
        some = alone.some(np.zeros(len(addresses), np.intp))
        self.accesses[access].store(some, addresses, data)


# The types of elements that operations take.
_INTEGERS = ("u32", "s32", "u64", "s64")
_BITS = ("u32", "s32", "u64")
_REDUCED = {
    "add": ("u32", "s32", "u64", "f16", "bf16", "f32", "f64"),
    "min": (*_INTEGERS, "f16", "bf16"),
    "max": (*_INTEGERS, "f16", "bf16"),
    "inc": ("u32",),
    "dec": ("u32",),
    "and": _BITS,
    "or": _BITS,
    "xor": _BITS,
}


class TensorReduction(TensorStore):
    """``cp.reduce.async.bulk.tensor``: combine a box in shared memory with a tensor."""

    def __init__(self, words: Words) -> None:
        self.operation = words["op"]
        super().__init__(words)

    def _writing(self) -> tuple[Access, ...]:
        return tuple(
            Access(
                "global", np.dtype(f"u{unit}"), count, AccessKind.ATOMIC, 0,
                order="relaxed", scope="gpu",
            )
            for unit in _UNITS for count in (CHUNK // unit, 1)
        )  # fmt: skip

    def _unit(self, tensor: TensorMap) -> int:
        return tensor.element_bytes

    def _write(
        self, alone: Active, tensor: TensorMap, addresses: Array, data: Array, access: int
    ) -> None:
        """Combine rows of elements, whole chunks or single ones, with memory."""
        name = tensor.element
        if name not in _REDUCED[self.operation]:
            what = f"cp.reduce.async.bulk.tensor.{self.operation} of a tensor of .{name}"
            raise alone.fault(_ILLEGAL_INSTRUCTION, what, 0)
        ptx_type = TYPES[name]
        combine = bulk_combination(self.operation, ptx_type, flushes=tensor.flushes)
        size = tensor.element_bytes
        stored = ptx_type.dtype if ptx_type.elements == 1 else np.dtype(f"u{size}")
        some = alone.some(np.zeros(len(addresses), np.intp))
        reducing = self.accesses[access + 2 * _UNITS.index(size)]
        reduce_chunks(reducing, some, addresses, data.view(stored), combine)


assert BYTES == 2 * _HALF_MAP
