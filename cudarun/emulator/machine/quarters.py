"""``mma.m8n8k4`` of f16: four products, each of eight lanes (PTX manual 9.7.14.5.1).

The lanes of product ``i`` are ``4 i`` to ``4 i + 3``, which have the upper four rows (or columns of
B), and ``16 + 4 i`` to ``16 + 4 i + 3``, which have the lower ones.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.machine.matrices import WarpProduct, numbers
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.products import multiplied_by_lanes
from cudarun.emulator.numerics.types import TYPES
from cudarun.emulator.words import Words

_QUARTERS, _SIZE = 4, 8
# By product and lane of it: the lanes of the warp.
_LANES = 4 * np.arange(_QUARTERS)[:, None] + np.array([0, 1, 2, 3, 16, 17, 18, 19])
_LANE = np.arange(8)[:, None]  # the upper four first


class MultiplyQuarters(WarpProduct):
    """The instruction. A lane has four elements of A and of B, and eight of C and D."""

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        # Whether a lane has elements along k.
        self.along = {"a": words["alayout"] == "row", "b": words["blayout"] == "col"}

    def matrix(self, which: str, registers: Array) -> Array:
        """Return the matrices of all products from the registers by warp, lane and index."""
        values = registers.view(self.types[which].dtype)[:, _LANES]
        if which != "c":
            matrix = _matrix(values.reshape(-1, _SIZE, 4), along=self.along[which])
            return matrix.transpose(0, 2, 1) if which == "b" else matrix
        matrix = np.zeros((len(registers) * _QUARTERS, _SIZE, _SIZE), dtype=values.dtype)
        row, column = _places(self.types["c"].name)
        matrix[:, row, column] = values.reshape(-1, _SIZE, _SIZE)
        return matrix

    def product(self, a: Array, b: Array, c: Array) -> Array:
        """Return D."""
        half = TYPES["f16"]
        given = numbers(a, half), numbers(b, half), numbers(c, self.types["c"])
        return multiplied_by_lanes(*given, self.types["d"].name)

    def fragments(self, matrix: Array) -> Array:
        """Return the elements of D by warp, lane and index."""
        row, column = _places(self.types["d"].name)
        elements = np.zeros((len(matrix) // _QUARTERS, 32, _SIZE), dtype=matrix.dtype)
        elements[:, _LANES] = matrix[:, row, column].reshape(-1, _QUARTERS, _SIZE, _SIZE)
        return elements


def _matrix(pieces: Array, *, along: bool) -> Array:
    """Return matrices of 8 lines by 4 along k, by product, from elements by product and lane.

    Args:
        pieces: Four elements of each lane.
        along: A lane has a line; if not, it has four lines at one place along k.
    """
    if along:
        return pieces
    return np.concatenate([half.transpose(0, 2, 1) for half in (pieces[:, :4], pieces[:, 4:])], 1)


def _places(number_format: str) -> tuple[Array, Array]:
    """Return row and column of the eight elements of C or D that each lane has."""
    number = np.arange(8)
    if number_format == "f16":
        return np.broadcast_to(_LANE, (8, 8)), np.broadcast_to(number, (8, 8))
    lane = _LANE % 4
    row = lane % 2 + (number & 2) + _LANE // 4 * 4
    return row, (number & 4) + (lane & 2) + number % 2
