"""Products of matrices in tensor memory: ``tcgen05.mma`` (PTX manual 9.7.16.10).

One thread starts a product of one block, or of a pair of blocks of a cluster, each of which has
half of A's rows and half of B's columns in its shared memory. D is in the tensor memory of each.
Rounding of sums of products: ``numerics/scaled_products.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from cudarun.emulator.machine.access import Access, AccessKind, AsynchronousAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.spaces import RANK_SHIFT
from cudarun.emulator.machine.sparsity import unit_places
from cudarun.emulator.machine.tensor_memory.copies import pair_ranks
from cudarun.emulator.machine.tensor_memory.descriptors import (
    BITS,
    LONG_PRODUCT,
    NARROW,
    AccumulatorLayout,
    Product,
    SharedDescriptor,
    from_bytes,
    zero_columns,
)
from cudarun.emulator.machine.tensor_memory.memory import (
    ILLEGAL_INSTRUCTION,
    LANES,
    LAUNCH_FAILED,
    TensorAccess,
    cells,
    split_address,
)
from cudarun.emulator.numerics.arrays import Array, Arrays, distinct
from cudarun.emulator.numerics.formats import to_f32
from cudarun.emulator.numerics.scaled_products import Factors, multiplied_in_tensor_memory
from cudarun.emulator.words import Words

_CHUNK = 16  # bytes
_WORD = np.dtype(np.uint32)
_PARTITION = 32  # lanes
_WITH_LONG = 103
_ADDRESS_BITS = (1 << 30) - 1  # of the address of scale factors


class MultiplyTensors(AsynchronousAction):
    """``tcgen05.mma``, ``.sp``, ``.ws`` and ``.ws.sp``."""

    queue = follows = "tcgen05"

    def __init__(self, words: Words) -> None:
        self.kind = words["kind"].removeprefix("kind::")
        self.blocks = 2 if words["group"].endswith("2") else 1
        self.is_sparse, self.is_stationary = "sp" in words, "ws" in words
        self.shifts = bool(words.get("ashift"))
        self.scaling = words.get("vector", "")
        self.names = self._operands(words)
        self.offsets = words.offsets
        self.places = [name for name in self.names if name in ("d", "t", "e", "sa", "sb")]
        self.exponent = 0 if self.kind == "i8" else words.constants.get("scale", 0)
        self.accesses = (
            Access("shared::cluster", _WORD, 1, AccessKind.READ, 0).by("tcgen05"),
            TensorAccess(AccessKind.READ).by("tcgen05"),
            TensorAccess(AccessKind.WRITE).by("tcgen05"),
        )

    def _operands(self, words: Words) -> list[str]:
        """Return the names of the sources in their order."""
        names = ["d", "t" if "t" in words.given else "a", "b"]
        names += ["e"] if self.is_sparse else []
        names += ["i"]
        names += [f"mask{number}" for number in range(words.count)] if words.counts else []
        names += ["sa", "sb"] if "sa" in words.given else []
        return [*names, "enable", "zeros"]

    def transfers(self, active: Active, sources: Arrays) -> Iterator[Callable[[], object]]:
        """Multiply the matrices of each thread."""
        for position in range(active.count):
            values = (int(source[position]) for source in sources)
            given = dict(zip(self.names, values, strict=False))
            for name, offset in zip(self.places, self.offsets, strict=True):
                given[name] += offset
            yield from _Multiplication(self, active, position, given).run()


class _Multiplication:
    """One product."""

    def __init__(
        self, action: MultiplyTensors, active: Active, position: int, given: dict[str, int]
    ) -> None:
        self.action, self.active, self.position, self.given = action, active, position, given
        self.product = product = Product.of(given["i"], action.kind)
        problem = product.problem(action.blocks, stationary=action.is_stationary)
        if product.sparse != action.is_sparse:
            problem = "the bit of sparsity"
        architecture = active.batch.launch.device.architecture
        if product.k == LONG_PRODUCT and (product.sparse or architecture != _WITH_LONG):
            problem = f"K = {product.k}, which only dense products of sm_{_WITH_LONG} have"
        if problem:
            raise self._wrong(f"instruction descriptor {given['i']:#x}: {problem}")
        self.layout = AccumulatorLayout.of(
            product.m, action.blocks, stationary=action.is_stationary, sparse=product.sparse
        )
        self.bits = BITS.get(action.kind, 8)
        self.depth = product.k // 2 if product.sparse else product.k  # of A in memory

    def _wrong(self, what: str) -> BaseException:
        what = f"tcgen05.mma with {what}"
        return self.active.fault(ILLEGAL_INSTRUCTION, what, self.position)

    def run(self) -> Iterator[Callable[[], object]]:
        """Multiply; yield what writes D to each block."""
        ranks = pair_ranks(self.active, self.position, self.action.blocks)
        shift = self.given.get("zeros", 0) >> 56 & 63
        lines = self.product.n // self.action.blocks + shift
        parts = [self._in_memory("b", lines, self.product.k, rank)[shift:] for rank in ranks]
        right = np.concatenate(parts, axis=0)  # B, by column and k
        if "zeros" in self.given:
            mask = zero_columns(self.given["zeros"], self.layout.rows, len(right))
            right = np.where(mask[:, None], 0, right)
        for number, rank in enumerate(ranks):
            for part in range(self.layout.parts):
                yield self._part(number, rank, part, right)

    def _part(self, number: int, rank: int, part: int, right: Array) -> Callable[[], object]:
        """Return what writes a part of D to a block."""
        product, layout = self.product, self.layout
        columns = product.n // layout.parts
        chosen = slice(part * columns, (part + 1) * columns)
        lane, column = split_address(self.given["d"])
        if lane not in ((0, 16) if layout.is_half else (0,)):
            raise self._wrong(f"D in lane {lane}")
        lanes = layout.lanes(part, lane)
        places = cells(
            self.active, lanes[:, None], column + np.arange(columns), self.position, rank
        )
        left, b = self._left(rank, part), right[chosen]
        b = self._selected(b, self._units(rank, part)) if product.sparse else b.T[None]
        factors = self._factors(rank, lanes, columns) if product.scale_type else None
        c = self._accumulator(places)
        result = multiplied_in_tensor_memory(
            left, b, c, product.types, factors, saturates=product.saturates
        )
        words = result.view(f"u{result.dtype.itemsize}").astype(np.uint32)
        kept = self._kept(number, lanes)
        return partial(self._store, places[kept], words[kept])

    def _store(self, places: Array, words: Array) -> None:
        places = places.reshape(-1)
        some = self.active.some(np.full(len(places), self.position))
        self.action.accesses[2].store(some, places, words.reshape(-1, 1))

    def _kept(self, number: int, lanes: Array) -> Array:
        """Return which lanes of a block the product writes."""
        masks = [value for name, value in self.given.items() if name.startswith("mask")]
        if not masks:
            return np.ones(len(lanes), dtype=np.bool_)
        of_block = np.array(masks[4 * number : 4 * number + 4])
        kept: Array = of_block[lanes // _PARTITION] >> lanes % _PARTITION & 1 == 0
        return kept

    def _accumulator(self, places: Array) -> Array:
        """Return D before the product, scaled, as numbers."""
        name = self.product.types["d"]
        if not self.given["enable"]:
            return np.zeros(places.shape, dtype=np.int64 if name == "s32" else np.float64)
        words = self._words(places)
        if name == "s32":
            return words.view(np.int32).astype(np.int64)
        numbers = words.astype(np.uint16).view(np.float16) if name == "f16" else words.view("f4")
        return numbers.astype(np.float64) * 2.0**-self.action.exponent

    def _words(self, places: Array) -> Array:
        """Return cells of tensor memory."""
        some = self.active.some(np.full(places.size, self.position))
        found: Array = self.action.accesses[1].load(some, places.reshape(-1))
        return found.reshape(places.shape)

    # --- A and B ---------------------------------------------------------------------------------

    def _left(self, rank: int, part: int) -> Array:
        """Return the rows of A that a block has: by row and element."""
        if "a" in self.given:
            return self._in_memory("a", self.layout.rows, self.depth, rank)
        if self.product.transposed["a"]:
            raise self._wrong("a transposed A in tensor memory")
        lane, column = split_address(self.given["t"])
        lanes = self.layout.lanes(part, lane)
        if self.action.shifts:  # each row but the last is that below it
            lanes = np.append(lanes[1:], lanes[-1])
        count = self.depth * self.bits // 32
        words = self._words(
            cells(self.active, lanes[:, None], column + np.arange(count), self.position, rank)
        )
        rows = np.ascontiguousarray(words).view(np.uint8)
        matrix = from_bytes(rows, self.product.types["a"], self.bits, packed=False)
        return -matrix if self.product.negated["a"] else matrix

    def _in_memory(self, name: str, lines: int, depth: int, rank: int) -> Array:
        """Return a matrix in shared memory, of A or of B transposed: by line and k."""
        descriptor = SharedDescriptor(self.given[name])
        is_transposed = self.product.transposed[name]
        wide = descriptor.mode == 1
        problem = descriptor.problem
        if (self.bits == 4 and is_transposed) or wide != (is_transposed and self.bits == 32):
            problem = problem or f"swizzling mode {descriptor.mode}, transposed: {is_transposed}"
        if problem:
            raise self._wrong(f"descriptor {self.given[name]:#x} of {name.upper()}: {problem}")
        in_chunk = 8 * _CHUNK // self.bits
        extent = -(-lines // in_chunk), depth
        if not is_transposed:
            extent = lines, depth // in_chunk
        addresses = descriptor.chunks(*extent, transposed=is_transposed)[0]
        chunks = self._chunks(addresses, rank, self.product.types[name])
        values = from_bytes(chunks, self.product.types[name], self.bits, packed=True)
        if is_transposed:  # chunk of lines, k, line of the chunk
            values = values.transpose(0, 2, 1).reshape(-1, depth)[:lines]
        matrix = values.reshape(lines, depth)
        return -matrix if self.product.negated[name] else matrix

    def _chunks(self, addresses: Array, rank: int, name: str) -> Array:
        """Return chunks of shared memory as bytes, without the padding of their elements."""
        words = np.zeros((*addresses.shape, _CHUNK // _WORD.itemsize), dtype=_WORD)
        used = min(NARROW.get(name, self.bits), self.bits) * len(words[0, 0]) // self.bits
        places = addresses[..., None] + np.arange(used) * _WORD.itemsize
        places = places.reshape(-1) + (rank << RANK_SHIFT)
        some = self.active.some(np.full(len(places), self.position))
        data = self.action.accesses[0].load(some, places.astype(np.uint32))
        words[..., :used] = data.reshape(*addresses.shape, used)
        return words.view(np.uint8)

    # --- sparse matrices -------------------------------------------------------------------------

    def _units(self, rank: int, part: int) -> Array:
        """Return the places along k of the units of A: by row, chunk and unit."""
        product, layout = self.product, self.layout
        lane, column = split_address(self.given["e"])
        row = np.arange(layout.rows)[:, None]
        if self.bits >= 16:
            chunk = np.arange(8)
            lanes = layout.metadata(part, lane, row, chunk // 4)
            columns = np.full(lanes.shape, column + product.selector)
            shifts = row // 8 % 2 * 16 + chunk % 4 * 4
        else:
            chunk = np.arange(16)
            lanes = np.broadcast_to(layout.lanes(part, lane)[:, None], (layout.rows, 16))
            columns, shifts = column + chunk // 8 + np.zeros_like(row), chunk % 8 * 4
        used = np.unique(np.stack([lanes, columns], axis=-1).reshape(-1, 2), axis=0)
        table = np.zeros((LANES, int(columns.max()) + 1), dtype=np.uint32)
        places = cells(self.active, used[:, 0], used[:, 1], self.position, rank)
        table[used[:, 0], used[:, 1]] = self._words(places)
        nibbles = table[lanes, columns] >> shifts.astype(np.uint32) & np.uint32(15)
        return unit_places(nibbles)

    def _selected(self, b: Array, units: Array) -> Array:
        """Return the elements of B, by column and k, for those of A: by row, element, column."""
        places = units.reshape(len(units), -1)
        if self.bits == 32:
            places = units[..., 0] // 2
        elif self.bits == 4:
            places = (2 * places[..., None] + np.arange(2)).reshape(len(units), -1)
        return b.T[places]

    # --- scale factors ---------------------------------------------------------------------------

    def _factors(self, rank: int, lanes: Array, columns: int) -> Factors:
        """Return the scale factors of rows of A, and of columns of B, by line and block along k."""
        product, name = self.product, self.action.scaling
        if self.bits == 8:
            count = 1
        elif name.endswith("X") and product.k != LONG_PRODUCT:
            count = int(name.removeprefix("scale_vec::").removesuffix("X"))
        else:
            size = 16 if name in ("block16", "scale_vec::4X") else 32
            count = product.k // size // (2 if product.sparse else 1)
        partitions = distinct(lanes // _PARTITION)
        found = [
            self._scales(which, lines, count, partitions, rank)
            for which, lines in (("a", self.layout.rows), ("b", columns))
        ]
        return Factors(*found)

    def _scales(self, which: str, lines: int, count: int, partitions: Array, rank: int) -> Array:
        """Return scale factors, which all partitions of tensor memory must have."""
        # CUTLASS leaves the number of the first factor in the highest bits.
        lane, column = split_address(self.given[f"s{which}"] & _ADDRESS_BITS)
        if lane:
            raise self._wrong(f"scale factors in lane {lane}")
        line, block = np.ogrid[:lines, :count]
        first = self.product.scale_ids[which] + block
        # Four factors of a line are in one column, the next ones behind the columns of all lines.
        apart = -(-lines // LANES) * (LANES // _PARTITION)
        columns = column + line // _PARTITION + first // 4 * apart
        copies = []
        for partition in partitions.tolist():
            lanes = partition * _PARTITION + line % _PARTITION
            words = self._words(cells(self.active, lanes, columns, self.position, rank))
            copies.append(words >> (first % 4 * 8).astype(np.uint32) & np.uint32(255))
        for partition, copy in zip(partitions.tolist(), copies, strict=True):
            if (copy != copies[0]).any():
                what = f"scale factors of {which.upper()} that differ between lanes"
                detail = f"{partitions[0] * _PARTITION} and {partition * _PARTITION} on"
                raise self.active.fault(
                    LAUNCH_FAILED, f"tcgen05.mma with {what} {detail}", self.position
                )
        codes = copies[0].astype(np.uint8)
        return to_f32(codes, self.product.scale_type).astype(np.float64)
