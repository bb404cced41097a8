"""Matrices of elements of 4 to 8 bits of sm_120: ``mma`` with kinds and scale factors, and copies.

Layouts: the PTX manual (9.7.14) and CUTLASS's traits of these instructions. The sum of all products
of an instruction is one run (``numerics/products.py``), which no hardware has confirmed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cudarun.emulator.machine.access import AccessKind
from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.fragments import GROUP, PLACE
from cudarun.emulator.machine.matrices import MatrixTransfer, Multiply, numbers
from cudarun.emulator.numerics.arrays import Array
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
        if words["kind"] in ("kind::f8f6f4", "kind::mxf8f6f4"):
            self.containers = dict.fromkeys("ab", _BYTE)
        self.scale = words.get("stype", "")
        self.vector = scale_vector(words)

    def matrix(self, which: str, registers: Array) -> Array:
        """Return A and B as f64, and C; e2m1 is in the middle of a byte."""
        matrix, ptx_type = super().matrix(which, registers), self.types[which]
        if which == "c":
            return matrix
        if ptx_type.name == "e2m1" and self.containers[which] is _BYTE:
            matrix = matrix >> _MIDDLE
        return to_f32(matrix, ptx_type.name).astype(np.float64)

    def prepared(
        self, active: Active, a: Array, b: Array, others: Sequence[Array]
    ) -> tuple[Array, Array]:
        """Return A and B as they are multiplied."""
        if self.scale:
            a = a * self._scales(others[-6:-3], self.a_elements)
            b = b * self._scales(others[-3:], self.k, of_b=True)
        return super().prepared(active, a, b, others)

    def product(self, a: Array, b: Array, c: Array) -> Array:
        """Return D."""
        return multiplied_at_once(a, b, numbers(c, self.types["c"]), self.types)

    def _scales(self, operands: Sequence[Array], k: int, *, of_b: bool = False) -> Array:
        """Return the scale factor of each element: by warp, m and k, or by warp, k and n."""
        register, byte, thread = operands
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
