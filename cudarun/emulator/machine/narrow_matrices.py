"""Matrices of elements of 4 to 8 bits of sm_120: ``mma`` with kinds and scale factors, and copies.

Layouts: the PTX manual (9.7.14) and CUTLASS's traits of these instructions. The sum of all products
of an instruction is one run (``numerics/products.py``), which no hardware has confirmed.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.machine.access import AccessKind
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.fragments import GROUP, PLACE
from cudarun.emulator.machine.matrices import (
    MatrixTransfer,
    Multiply,
    elements,
    left_matrix,
    numbers,
    operand_groups,
    sum_matrix,
)
from cudarun.emulator.machine.threads import WARP
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.numerics.bits import bit_fields
from cudarun.emulator.numerics.formats import to_f32
from cudarun.emulator.numerics.products import multiplied_at_once
from cudarun.emulator.numerics.types import TYPES
from cudarun.emulator.words import Words

_MIDDLE = np.uint8(2)  # the lowest of the bits of e2m1 in a byte
_BYTE = TYPES["e4m3"]
_VECTORS = {"kind::mxf8f6f4": 1, "kind::mxf4": 2}


class MultiplyNarrow(Multiply):
    """``mma`` with ``.kind``: elements in bytes, or packed ones of 4 bits; and scale factors.

    A row of A and a column of B have as many scale factors as ``scale_vec`` says, in bytes of the
    register of one lane of the group: the selectors name the byte, and the lane.
    """

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.counts = self.counts[:3]
        in_bytes = words["kind"] in ("kind::f8f6f4", "kind::mxf8f6f4")
        self.containers = [_BYTE if in_bytes else self.types[which] for which in "ab"]
        self.scale = words.get("stype", "")
        self.vector = scale_vector(words)

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Multiply the matrices of all warps."""
        slots = self.slots(active)
        active.batch.launch.count_products(active.count // WARP * self.m * self.n * self.k)
        groups, others = operand_groups(sources, self.counts)
        left, right, sums = (self.together(active, slots, registers) for registers in groups)
        a = left_matrix(elements(left, self.containers[0]), self.m, self.a_elements)
        right = left_matrix(elements(right, self.containers[1]), self.n, self.k)
        b = right.transpose(0, 2, 1)
        a, b = self._values(a, 0), self._values(b, 1)
        if self.scale:
            a = a * self._scales(active, slots, others[-6:-3], self.a_elements)
            b = b * self._scales(active, slots, others[-3:], self.k, of_b=True)
        if self.sparsity:
            self.sparsity.check(active)
            b = self.sparsity.selected(
                b, self.sparsity.units(self.spread(active, slots, others[0]))
            )
        values = elements(sums, self.types["c"]).reshape(len(sums), WARP, -1)
        c = numbers(sum_matrix(values, self.m, self.n), self.types["c"])
        result = multiplied_at_once(a, b, c, self.types)
        self.apart(slots, self._fragments(result, destinations[0].dtype), destinations)

    def _values(self, matrix: Array, which: int) -> Array:
        """Return the elements of A or B as f64; e2m1 is in the middle of a byte."""
        ptx_type = self.types["ab"[which]]
        if ptx_type.name == "e2m1" and self.containers[which] is _BYTE:
            matrix = matrix >> _MIDDLE
        return to_f32(matrix, ptx_type.name).astype(np.float64)

    def _scales(
        self, active: Active, slots: Array, operands: Arrays, k: int, *, of_b: bool = False
    ) -> Array:
        """Return the scale factor of each element: by warp, m and k, or by warp, k and n."""
        register, byte, thread = (self.spread(active, slots, each) for each in operands)
        line, selected = np.arange(self.n if of_b else self.m), thread[:, :1].astype(np.intp)
        lane = 4 * (line % 8) + (selected % 4 if of_b else 2 * (selected % 2) + line // 8)
        words = np.take_along_axis(register, lane, axis=1)
        bits = words.view(np.uint8).reshape(len(words), -1, 4)
        places = (byte[:, :1].astype(np.intp) + np.arange(self.vector)) % 4
        chosen = np.take_along_axis(bits, places[:, None], axis=2)
        factors = to_f32(chosen, self.scale).astype(np.float64).repeat(k // self.vector, axis=2)
        return factors.transpose(0, 2, 1) if of_b else factors


def scale_vector(words: Words) -> int:
    """Return the number of scale factors of each row of A, and of each column of B."""
    vector = words.get("vector")
    return int(vector[-2]) if vector else _VECTORS.get(words["kind"], 0)


class LoadNarrowMatrix(MatrixTransfer):
    """``ldmatrix`` of rows of 16 bytes, or of 16 elements of 4 or 6 bits, which become bytes."""

    kind = AccessKind.READ
    element = np.dtype(np.uint8)
    columns = 16

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.turned = words["shape"] == "m16n16"
        self.rows = 16 if self.turned else 8
        source = words.get("source") or "b8x16"
        self.width = int(source[1])
        unit, count = {4: ("u8", 1), 6: ("u4", 3), 8: ("u2", 8)}[self.width]
        self.accesses = (self.access(words, unit, count),)

    def place(self, register: int, part: int) -> tuple[Array, Array]:
        """Return per lane the row (by the lane with its address) and column of an element."""
        if self.turned:
            return 16 * (register // 2) + 4 * PLACE + part, GROUP + 8 * (register % 2)
        return 8 * register + GROUP, 4 * PLACE + part

    def row_elements(self, rows: Array) -> Array:
        """Return the elements of rows in memory."""
        return bit_fields(np.ascontiguousarray(rows).view(np.uint8), self.width, self.columns)


class StoreNarrowMatrix(MatrixTransfer):
    """``stmatrix`` of 16 by 8 bytes, transposed: each column is a row in memory."""

    kind = AccessKind.WRITE
    element = np.dtype(np.uint8)
    columns = 16

    def place(self, register: int, part: int) -> tuple[Array, Array]:
        """Return per lane the row (by the lane with its address) and column of an element."""
        return 8 * register + 2 * PLACE + part % 2, GROUP + 8 * (part // 2)
