"""Matrix products of warpgroups: ``wgmma`` (PTX manual 9.7.15).

A warpgroup is four consecutive warps, the first one's rank a multiple of four. Warp ``w`` of it has
rows ``16 w`` to ``16 w + 15`` of A and D in its registers, with the layout of ``mma``. B, and A if
given by a descriptor, are in shared memory.

Matrices in shared memory consist of rows of 16 bytes, here **chunks**, for all element types:

* K-major: a row of A, or a column of B, has 32 bytes, two chunks along k.
* MN-major, of elements of 16 bits only: a chunk has eight rows of A, or columns of B, at one k.

With a sparse A, whose metadata is in registers (``sparsity.py``), B has twice as many along k.

Rounding of sums of products: ``numerics/products.py``.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.machine.access import Access, AccessKind, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.fragments import gathered, scattered, shape_of
from cudarun.emulator.machine.matrices import elements, numbers
from cudarun.emulator.machine.sparsity import Sparsity
from cudarun.emulator.machine.threads import WARP, WARPGROUP
from cudarun.emulator.machine.transfers import GroupControl, NoEffect
from cudarun.emulator.machine.warps import WarpAction
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.numerics.products import multiplied_by_warpgroup
from cudarun.emulator.numerics.types import TYPES
from cudarun.emulator.words import Words

_LAUNCH_FAILED = 719
_WARPS = WARPGROUP // WARP
_CHUNK = 16  # bytes
_PARTS = 2  # chunks of a line along k, or eight elements each
_PRODUCTS_AT_ONCE = 1 << 18


class WarpgroupAction(WarpAction):
    """Base of the operations. They are ``.aligned``: whole warpgroups execute them."""

    waits_for = "warpgroup"


class ProductFence(WarpgroupAction, NoEffect):
    """``wgmma.fence``."""


class ProductGroups(GroupControl, WarpgroupAction):
    """``wgmma.commit_group``, ``wgmma.wait_group``, without effect if products are never late."""

    queue = "wgmma"


class Descriptors:
    """Matrix descriptors, one for each warpgroup (PTX manual 9.7.15.5.1.2.2).

    Attributes:
        start: The address of the matrix in shared memory. Addresses and offsets are in bytes.
        leading: The leading dimension byte offset.
        stride: The stride dimension byte offset.
        base: The base offset: the start of the swizzling pattern, in units of 128 bytes modulo 8.
        width: The chunks of a line of the swizzling pattern, as a power of two: 3 with 128 bytes.
        swizzled: The number of bits that are swizzled, from ``lowest`` on.
        period: The positions along k of the pattern of a transposed matrix.
    """

    lowest = 4
    period = 8

    def __init__(self, words: Array) -> None:
        self.start, self.leading, self.stride = (
            (words >> np.uint64(bit) & np.uint64(0x3FFF)).astype(np.int64) * _CHUNK
            for bit in (0, 16, 32)
        )
        self.base = (words >> np.uint64(49) & np.uint64(7)).astype(np.int64)
        mode = (words >> np.uint64(62)).astype(np.int64)
        self.width = self.swizzled = np.array([0, 3, 2, 1])[mode]

    def chunks(self, lines: int, parts: int, *, transposed: bool) -> Array:
        """Return the address of each chunk of a matrix.

        The axes are descriptor, line (row of A, or column of B) and chunk along k; if
        ``transposed`` (MN-major), chunk of lines and k. These are the manual's canonical layouts
        (9.7.15.5.1.2.1.3).
        """
        start, leading, stride, power = (
            array[:, None, None] for array in (self.start, self.leading, self.stride, self.width)
        )
        width = 1 << power
        plain = power == 0
        line, part = np.ogrid[:lines, :parts]
        if transposed:
            inner = line % width * _CHUNK + part % self.period * width * _CHUNK
            outer = np.where(
                plain,
                line * stride + part // self.period * leading,
                line // width * leading + part // self.period * stride,
            )
        else:
            inner = line % 8 * width * _CHUNK
            # A line continues in the next pattern if it is longer than one.
            outer = line // 8 * stride + part // width * leading + part % width * _CHUNK
        addresses = start + inner + outer
        # Bits 4 to 6 are combined with bits 7 to 9, relative to the pattern.
        base, count = self.base[:, None, None], self.swizzled[:, None, None]
        line = (addresses >> 7) - base & (1 << count) - 1
        swizzled: Array = addresses ^ line << self.lowest
        return swizzled


class MultiplyAsync(WarpgroupAction, MemoryAction):
    """``wgmma.mma_async``.

    On hardware it reads shared memory through the async proxy, at some time before
    ``wgmma.wait_group`` returns. Here it does so when it is executed.
    """

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.m, self.n, self.k = shape_of(words["shape"])
        self.types = {name: TYPES[words[f"{name}type"]] for name in "dab"}
        self.types["c"] = self.types["d"]
        self.satfinite = bool(words.get("satfinite"))
        self.accumulators = words.counts[0]
        self.left_registers = words.counts[1] if "a" in words.given else 0
        self.sparsity = Sparsity(words, self.types["a"], self.k) if "sp" in words else None
        constants = words.constants
        self.negated = [constants.get(f"imm-scale-{name}") == -1 for name in "ab"]
        self.transposed = [constants.get(f"imm-trans-{name}") == 1 for name in "ab"]
        self.accesses = (Access("shared", np.dtype(np.uint64), 2, AccessKind.READ, 0).by("wgmma"),)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Multiply the matrices of all warpgroups."""
        self._check_whole(active)
        products = active.count // WARPGROUP * self.m * self.n * self.k
        active.batch.launch.count_products(products)
        rest = sources[self.accumulators :]
        c = self._accumulator(sources[: self.accumulators])
        if self.left_registers:
            a = self._left(rest[: self.left_registers])
            rest = rest[self.left_registers :]
        else:
            a = numbers(self._in_memory(active, rest[0], "a"), self.types["a"])
            rest = rest[1:]
        b = self._in_memory(active, rest[0], "b").transpose(0, 2, 1)
        c[~self._uniform(active, rest[-1], "scale-d values")] = 0
        if self.negated[0] != self.negated[1]:
            a = -a
        units = self._units(rest[1]) if self.sparsity else None
        self._put(self._products(a, b, c, units), destinations)

    def _check_whole(self, active: Active) -> None:
        """Raise the fault of a warpgroup with missing or exited threads."""
        threads = active.batch.threads
        rank = self.slots(active) % (threads.warps * WARP) % WARPGROUP
        wrong = rank != np.arange(active.count) % WARPGROUP
        if wrong.any() or active.count % WARPGROUP:
            what = "wgmma.mma_async in a warpgroup of fewer than 128 threads"
            lane = int(np.argmax(wrong)) if wrong.any() else active.count - 1
            raise active.fault(_LAUNCH_FAILED, what, lane)

    def _uniform(self, active: Active, values: Array, what: str) -> Array:
        """Return the value that all threads of a warpgroup have, by warpgroup."""
        table = values.reshape(-1, WARPGROUP)
        differ = table != table[:, :1]
        if differ.any():
            lane = int(np.argmax(differ))
            raise active.fault(
                _LAUNCH_FAILED,
                f"wgmma.mma_async: the threads of a warpgroup have different {what}",
                lane,
            )
        return table[:, 0]

    # --- matrices, by warpgroup ------------------------------------------------------------------

    def _in_memory(self, active: Active, words: Array, name: str) -> Array:
        """Return the elements of A, or of B transposed: by warpgroup, line and k."""
        index = "ab".index(name)
        lines, ptx_type = (self.m, self.n)[index], self.types[name]
        parts = 2 * _PARTS if self.sparsity and name == "b" else _PARTS
        descriptors = Descriptors(self._uniform(active, words, f"descriptors for {name.upper()}"))
        is_transposed = self.transposed[index]
        extent = (lines // 8, 8 * parts) if is_transposed else (lines, parts)
        addresses = descriptors.chunks(*extent, transposed=is_transposed)
        data = self._loaded(active, addresses)
        values = elements(data, ptx_type).reshape(*addresses.shape, -1)
        if is_transposed:  # eight lines, k, line of the eight
            values = values.transpose(0, 1, 3, 2)
        return values.reshape(len(addresses), lines, -1)

    def _loaded(self, active: Active, addresses: Array) -> Array:
        """Return chunks, as pairs of words. Each warp's first thread reads a quarter of them."""
        groups, count = len(addresses), addresses[0].size
        first = np.arange(groups)[:, None] * WARPGROUP + np.arange(count) * _WARPS // count * WARP
        some = active.some(first.reshape(-1))
        return self.accesses[0].load(some, addresses.reshape(-1).astype(np.uint32))

    def _left(self, registers: Arrays) -> Array:
        """Return A from registers."""
        words = [np.ascontiguousarray(each).view(np.uint32).reshape(-1, WARP) for each in registers]
        table = gathered(np.stack(words, axis=-1), self.m // _WARPS, 2 * len(words), 1)
        matrix = elements(table, self.types["a"])
        return numbers(matrix.reshape(len(table) // _WARPS, self.m, -1), self.types["a"])

    def _units(self, metadata: Array) -> Array:
        """Return the places of the units of A, by warpgroup, row, chunk and unit."""
        assert self.sparsity is not None
        words = np.ascontiguousarray(metadata).view(np.uint32).reshape(-1, WARP)
        return self.sparsity.units(words).reshape(-1, self.m, self.sparsity.chunks, 2)

    def _accumulator(self, registers: Arrays) -> Array:
        """Return D before the operation."""
        values = np.stack([each.reshape(len(each), -1) for each in registers], axis=1)
        values = values.reshape(-1, WARP, values.shape[1] * values.shape[2])
        matrix = gathered(values, self.m // _WARPS, self.n, 2)
        return numbers(matrix.reshape(-1, self.m, self.n), self.types["d"])

    def _put(self, matrix: Array, registers: Arrays) -> None:
        """Write D to its registers."""
        matrix = matrix.reshape(-1, self.m // _WARPS, self.n)
        values = scattered(matrix).reshape(len(matrix) * WARP, len(registers), -1)
        for number, register in enumerate(registers):
            np.copyto(register.reshape(len(register), -1), values[:, number])

    def _products(self, a: Array, b: Array, c: Array, units: Array | None) -> Array:
        """Return D, computed for some warpgroups at a time to limit the number of products."""
        step = max(_PRODUCTS_AT_ONCE // (self.m * self.n * self.k), 1)
        found = []
        for first in range(0, len(a), step):
            part = slice(first, first + step)
            right = b[part]
            if self.sparsity and units is not None:
                right = self.sparsity.selected(right, units[part])
            right = numbers(right, self.types["b"])
            found.append(
                multiplied_by_warpgroup(
                    a[part], right, c[part], self.types, satfinite=self.satfinite
                )
            )
        return np.concatenate(found)
