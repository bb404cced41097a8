"""Matrix operations of a warp: ``mma``, ``wmma``, ``ldmatrix``, ``stmatrix`` (PTX manual 9.7.14).

A matrix is distributed over the registers of the lanes of a warp as **fragments**. They are
gathered into arrays of matrices, one per warp, multiplied, and scattered again.

Rounding of sums of products: ``numerics/products.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import ClassVar

import numpy as np

from cudarun.emulator.machine.access import Access, AccessKind, MemoryAction
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.fragments import GROUP, PLACE, Fragment, gathered, scattered, shape_of
from cudarun.emulator.machine.sparsity import Sparsity
from cudarun.emulator.machine.threads import WARP
from cudarun.emulator.machine.warps import WarpAction
from cudarun.emulator.numerics import algebra
from cudarun.emulator.numerics.arrays import Array, Arrays, DType
from cudarun.emulator.numerics.formats import element, to_f32
from cudarun.emulator.numerics.products import multiplied
from cudarun.emulator.numerics.rounding import NEAREST
from cudarun.emulator.numerics.types import TYPES, Type, TypeKind, unpacked
from cudarun.emulator.words import Words


class MatrixAction(WarpAction):
    """Base of the operations. They are ``.aligned``: whole warps execute them."""

    waits_for = "warp"

    def together(self, active: Active, slots: Array, registers: Arrays) -> Array:
        """Return registers by warp, lane and index."""
        tables = [self.spread(active, slots, register) for register in registers]
        return np.stack(tables, axis=-1)

    def apart(self, slots: Array, table: Array, registers: Arrays) -> None:
        """Write registers in the order of ``together`` back."""
        warp, lane = slots // WARP, slots % WARP
        for number, register in enumerate(registers):
            np.copyto(register, table[warp, lane, number])


def numbers(bits: Array, ptx_type: Type) -> Array:
    """Return elements of a type as f64, or as integers."""
    if ptx_type.kind is not TypeKind.FLOAT:
        return bits.astype(np.int64)
    if ptx_type.name == "tf32" and not algebra.enabled:
        kept = bits.view(np.uint32) & np.uint32(0xFFFFE000)  # the other bits are ignored
        return kept.view(np.float32).astype(np.float64)
    if ptx_type.name in ("f32", "f64", "tf32"):
        return bits.astype(np.float64)
    return to_f32(bits, element(ptx_type)).astype(np.float64)


def elements(registers: Array, ptx_type: Type) -> Array:
    """Return the elements in registers, along a new axis."""
    values = np.ascontiguousarray(registers)
    if ptx_type.bits < 8:
        return unpacked(values.view(np.uint32)[..., None], ptx_type)
    return values.view(ptx_type.dtype).reshape(*registers.shape, -1)


# --- products ------------------------------------------------------------------------------------


class WarpProduct(MatrixAction):
    """Base of the products: A, B and C are in registers, by one rule for all shapes.

    The words of A along k are distributed as `gathered` describes, also those of B by its columns,
    and the elements of C and D.
    """

    op = ""
    run: int  # the products that are added at once
    sparsity: Sparsity | None = None

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.m, self.n, self.k = shape_of(words["shape"])
        self.a_elements = self.k  # in a row of A
        self.types = {name: TYPES[words.get(f"{name}type") or "f16"] for name in "dabc"}
        # The types of the elements of A and B with their padding.
        self.containers = {which: self.types[which] for which in "ab"}
        self.counts = words.counts[1:4]  # registers of a, b and c
        self.satfinite = bool(words.get("satfinite"))
        self.mode = words.get("rnd") or NEAREST

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Multiply the matrices of all warps."""
        slots = self.slots(active)
        active.batch.launch.count_products(active.count // WARP * self.m * self.n * self.k)
        ends = list(accumulate(self.counts, initial=0))
        a, b, c = (
            self.matrix(which, self.together(active, slots, sources[start:end]))
            for which, (start, end) in zip("abc", pairwise(ends), strict=True)
        )
        others = [self.spread(active, slots, each) for each in sources[ends[-1] :]]
        a, b = self.prepared(active, a, b, others)
        table = np.ascontiguousarray(self.fragments(self.product(a, b, c)))
        self.apart(slots, table.view(destinations[0].dtype), destinations)

    def matrix(self, which: str, registers: Array) -> Array:
        """Return A, B or C from the registers by warp, lane and index."""
        count = len(registers)
        if which == "c":
            values = elements(registers, self.types["c"]).reshape(count, WARP, -1)
            if self.n > self.m:
                return gathered(values, self.n, self.m, 2).transpose(0, 2, 1)
            return gathered(values, self.m, self.n, 2)
        lines, depth = (self.m, self.a_elements) if which == "a" else (self.n, self.k)
        container = self.containers[which]
        words = depth * container.bits // max(container.bits, 32)
        pairs = which == ("b" if self.n > self.m else "a")
        table = gathered(registers, lines, words, 1, pairs=pairs)
        matrix = elements(table, container).reshape(count, lines, depth)
        return matrix.transpose(0, 2, 1) if which == "b" else matrix

    def prepared(
        self, active: Active, a: Array, b: Array, others: Sequence[Array]
    ) -> tuple[Array, Array]:
        """Return A and B as they are multiplied; ``others`` are the other operands."""
        if self.sparsity:
            self.sparsity.check(active)
            b = self.sparsity.selected(b, self.sparsity.units(others[0]))
        return a, b

    def product(self, a: Array, b: Array, c: Array) -> Array:
        """Return D."""
        a, b, c = (numbers(x, self.types[name]) for name, x in zip("abc", (a, b, c), strict=True))
        return multiplied(a, b, c, self.types, self.run, satfinite=self.satfinite, op=self.op,
                          mode=self.mode)  # fmt: skip

    def fragments(self, matrix: Array) -> Array:
        """Return the elements of D by warp, lane and index."""
        return scattered(matrix.transpose(0, 2, 1) if self.n > self.m else matrix)


class Multiply(WarpProduct):
    """``mma.sync``; a sparse A has half as many elements, see ``sparsity.py``.

    ``wmma.mma`` of elements of less than 8 bits has the same fragments.
    """

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.op = words.get("op", "")
        if words.get("sp"):
            self.sparsity = Sparsity(words, self.types["a"], self.k)
            self.a_elements //= 2
        in_two_runs = self.types["a"].name in ("e4m3", "e5m2")
        self.run = self.a_elements // 2 if in_two_runs else min(self.a_elements, 16)


class WarpMultiply(WarpProduct):
    """``wmma.mma``; some matrices are in more registers than necessary, several times."""

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.run = 4 if self.types["a"].name == "tf32" else 16


# --- ldmatrix, stmatrix --------------------------------------------------------------------------


class MatrixTransfer(MatrixAction, MemoryAction):
    """``ldmatrix``, ``stmatrix``: 8 by 8 matrices of 16 bits, a row at the address of each lane.

    Lanes 0 to 7 have the row addresses of the first matrix, 8 to 15 those of the second, and so on.
    """

    kind: ClassVar[AccessKind]  # the effect on memory
    element: ClassVar[DType] = np.dtype(np.uint16)  # of registers
    columns: ClassVar[int] = 8  # the elements of a row

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.matrices = int(words["num"][1:])
        self.rows = 8
        self.transposed = bool(words.get("trans"))
        self.accesses = (self.access(words, "u2", 8),)

    def access(self, words: Words, unit: str, count: int) -> Access:
        """Return the access to a row."""
        return Access(words["space"], np.dtype(unit), count, self.kind, words.offsets[0])

    def pointing(self, active: Active, addresses: Array) -> tuple[Active, Array, Array]:
        """Return the lanes with row addresses, the addresses and their positions."""
        slots = self.slots(active)
        pointing = np.flatnonzero(slots % WARP < self.rows * self.matrices)
        return active.some(pointing), addresses[pointing], slots[pointing]

    def place(self, register: int, part: int) -> tuple[Array, Array]:
        """Return per lane the row (by the lane with its address) and column of an element."""
        row, column = GROUP, 2 * PLACE + part
        if self.transposed:
            row, column = column, row
        return 8 * register + row, column

    def row_elements(self, rows: Array) -> Array:
        """Return the elements of rows in memory."""
        return rows

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Load rows and distribute neighboring elements to the lanes, or gather and store them."""
        some, addresses, slots = self.pointing(active, sources[0])
        registers, (access,) = destinations or sources[1:], self.accesses
        table = np.zeros((self.warps(active), WARP, self.columns), dtype=self.element)
        rows = table.reshape(-1, self.columns)
        parts = np.zeros((*table.shape[:2], len(registers), 4), dtype=np.uint8).view(self.element)
        if destinations:
            rows[slots] = self.row_elements(access.load(some, addresses))
        else:
            words = np.ascontiguousarray(self.together(active, self.slots(active), registers))
            parts = words.view(self.element).reshape(parts.shape)
        for register, part in np.ndindex(parts.shape[2:]):
            row, column = self.place(register, part)
            if destinations:
                parts[:, :, register, part] = table[:, row, column]
            else:
                table[:, row, column] = parts[:, :, register, part]
        if destinations:
            self.apart(self.slots(active), parts.view(np.uint32)[..., 0], destinations)
        else:
            access.store(some, addresses, rows[slots].view(access.dtype))


class LoadMatrix(MatrixTransfer):
    """``ldmatrix``."""

    kind = AccessKind.READ


class StoreMatrix(MatrixTransfer):
    """``stmatrix``."""

    kind = AccessKind.WRITE


class TransposeMatrix(MatrixAction):
    """``movmatrix``: an 8 by 8 matrix of 16 bits transposed in registers."""

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Transpose the matrix of each warp."""
        slots = self.slots(active)
        registers = self.together(active, slots, sources)
        halves = np.ascontiguousarray(registers).view(np.uint16)  # by warp, lane, half
        matrix = halves.reshape(-1, 8, 8)
        turned = np.ascontiguousarray(matrix.transpose(0, 2, 1)).reshape(-1, WARP, 2)
        self.apart(slots, turned.view(np.uint32), destinations)


# --- wmma ----------------------------------------------------------------------------------------


class WarpMatrixTransfer(MatrixAction, MemoryAction):
    """``wmma.load`` and ``wmma.store``: each lane accesses the elements it holds.

    Elements of less than 8 bits are accessed as the words that they fill; strides count elements.
    """

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.which = words["which"]
        self.loads = self.which != "d"
        self.type = words.type if words.type.bits >= 8 else TYPES["b32"]
        self.by_rows = words["layout"] == "row"
        self.strided = "stride" in words.given
        kind = AccessKind.READ if self.loads else AccessKind.WRITE
        self.accesses = (Access(words["space"], self.type.dtype, 1, kind, words.offsets[0]),)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Load to registers, or store from them."""
        registers = destinations if self.loads else sources[1 : 1 + self.words.count]
        part = Fragment(self.words, self.which, self.words.type, len(registers), registers[0].dtype)
        line = part.columns if self.by_rows else part.rows
        stride = sources[-1].astype(np.int64) if self.strided else line
        if self.strided and self.words.type.bits < 8:
            stride = stride * self.words.type.bits // self.type.bits
        aligned = Access(self.words["space"], np.dtype(np.uint8), self.alignment(part),
                         self.accesses[0].kind, self.accesses[0].offset)  # fmt: skip
        for start in (0, stride * self.type.bytes):  # of the matrix and of its second line
            aligned.check_alignment(active, sources[0] + np.uint64(start))
        lane = self.slots(active) % WARP
        values = np.zeros((active.count, part.count), dtype=self.type.dtype)
        if not self.loads:
            stacked = np.stack(registers, axis=-1)
            values = np.ascontiguousarray(stacked).view(self.type.dtype)
        (access,) = self.accesses
        for number in range(part.count):
            row, column = part.row[lane, number], part.column[lane, number]
            place = row * stride + column if self.by_rows else column * stride + row
            addresses = sources[0] + (place * self.type.bytes).astype(np.uint64)
            if self.loads:
                values[:, number] = access.load(active, addresses)[:, 0]
            else:
                access.store(active, addresses, values[:, number : number + 1])
        if self.loads:
            packed = values.view(registers[0].dtype)
            for number, register in enumerate(registers):
                np.copyto(register, packed[:, number])

    def alignment(self, part: Fragment) -> int:
        """Return the alignment in bytes of the lines of a matrix in memory."""
        with_ldmatrix = self.words["space"] == "shared" and self.which in "ab"
        return part.line_alignment(by_rows=self.by_rows, with_ldmatrix=with_ldmatrix)
