"""The elements of a matrix that each lane holds in ``wmma`` (PTX manual 9.7.14)."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import numpy.typing as npt

from cudarun.emulator.machine.threads import WARP
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.types import TYPES, Type
from cudarun.emulator.words import Words

_LANE = np.arange(WARP)
GROUP, PLACE = _LANE // 4, _LANE % 4  # the manual's groupID and threadID_in_group


def shape_of(text: str) -> tuple[int, int, int]:
    """Return a shape, ``m16n8k16``, as numbers."""
    match = re.fullmatch(r"m(\d+)n(\d+)k(\d+)", text)
    assert match is not None, text
    return int(match[1]), int(match[2]), int(match[3])


@cache
def _places(lines: int, steps: int, run: int, *, pairs: bool = True) -> tuple[Array, Array]:
    """Return line and step of each element of each lane, as described in `gathered`."""
    block = 16 if pairs and lines > 8 else 8
    pieces = [
        (start + half, first)
        for start in range(0, lines, block)
        for first in range(0, steps, 4 * run)
        for half in range(0, block, 8)
    ]
    line = np.array([start for start, _ in pieces for _ in range(run)])
    step = np.array([first + each for _, first in pieces for each in range(run)])
    return line + GROUP[:, None], step + run * PLACE[:, None]


def gathered(values: Array, lines: int, steps: int, run: int, *, pairs: bool = True) -> Array:
    """Return matrices from their values by warp, lane and index.

    A matrix is divided into **pieces** of 8 lines by 4 runs of steps; lane ``4 * i + j`` holds the
    ``j``-th run of line ``i`` of each piece. Of more than 8 lines, ``pairs`` of pieces, one below
    the other, come before the next steps. If there are more values than elements, there are several
    copies of the matrix, and the first copy is used.
    """
    matrix = np.zeros((len(values), lines, steps), dtype=values.dtype)
    line, step = _places(lines, steps, run, pairs=pairs)
    matrix[:, line, step] = values[..., : line.shape[1]]
    return matrix


def scattered(matrix: Array) -> Array:
    """Return the elements of C or D by warp, lane and index: `gathered` with runs of 2 undone."""
    line, step = _places(*matrix.shape[1:], 2)
    values: Array = matrix[:, line, step]
    return values


class Fragment:
    """The elements of a matrix that each lane holds in ``wmma``, as on hardware.

    It is undocumented. As recorded on an H200, for every layout in memory, a matrix is distributed
    as `gathered` describes, with runs that fill a register; those of C and D have two elements.

    Lines are rows, but columns of ``b``; with ``m8n32k16``, which equals the transposed matrices of
    ``m32n8k16``, columns of all but ``a``.

    Args:
        words: The words of the instruction, of which it takes the shape.
        which: The matrix, ``"a"``, ``"b"``, ``"c"`` or ``"d"``.
        registers: The number of registers of a lane, which are of type ``dtype``.
    """

    def __init__(
        self, words: Words, which: str, ptx_type: Type, registers: int, dtype: npt.DTypeLike
    ) -> None:
        m, n, k = shape_of(words["shape"])
        if ptx_type.bits < 8:  # words of a line, as many as lanes of a group
            k, ptx_type = k * ptx_type.bits // 32, TYPES["b32"]
        lines, steps, turned = {"a": (m, k, False), "b": (n, k, True)}.get(which, (m, n, False))
        if which in "cd" and n > m:
            lines, steps, turned = n, m, True
        self.type = ptx_type
        self.dtype = np.dtype(dtype)
        # Consecutive elements of a line in a lane.
        self.run = 2 if which in "cd" else max(4 // ptx_type.dtype.itemsize, 1)
        self.turned = turned  # whether lines are columns
        self.rows, self.columns = (steps, lines) if turned else (lines, steps)
        self.count = registers * max(self.dtype.itemsize // ptx_type.dtype.itemsize, 1)
        pairs = which != ("a" if n > m else "b")
        line, step = _places(lines, steps, self.run, pairs=pairs)
        again = np.arange(self.count) % line.shape[1]
        places = line[:, again], step[:, again]
        self.row, self.column = reversed(places) if turned else places

    def line_alignment(self, *, by_rows: bool, with_ldmatrix: bool) -> int:
        """Return the alignment in bytes of lines in memory, as ptxas 13.0 accesses them.

        It loads operands of 8 and 16 bits from shared memory with ``ldmatrix`` if they are there in
        the order of the registers, or of 16 bits; elements of 16 bits in pairs, which it transposes
        in registers.
        """
        size, in_order = self.type.dtype.itemsize, by_rows != self.turned
        if with_ldmatrix and (size == 2 or (size == 1 and in_order)):
            return 16
        return self.run * size if in_order or size == 2 else size
