"""``mma.m8n8k4`` of f16: four products, each of eight lanes (PTX manual 9.7.14.5.1).

The lanes of product ``i`` are ``4 i`` to ``4 i + 3``, which have the upper four rows (or columns of
B), and ``16 + 4 i`` to ``16 + 4 i + 3``, which have the lower ones.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.machine.active import Active
from cudarun.emulator.machine.matrices import MatrixAction, numbers, operand_groups
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.numerics.products import multiplied_by_lanes
from cudarun.emulator.numerics.types import TYPES
from cudarun.emulator.words import Words

_QUARTERS, _SIZE, _DEPTH = 4, 8, 4
# By product and lane of it: the lanes of the warp.
_LANES = 4 * np.arange(_QUARTERS)[:, None] + np.array([0, 1, 2, 3, 16, 17, 18, 19])
_LANE = np.arange(8)[:, None]  # the upper four first


class MultiplyQuarters(MatrixAction):
    """The instruction. A lane has four elements of A and of B, and eight of C and D."""

    def __init__(self, words: Words) -> None:
        super().__init__(words)
        self.types = {"d": TYPES[words["dtype"]], "c": TYPES[words["ctype"]]}
        self.a_by_rows = words["alayout"] == "row"
        self.b_by_rows = words["blayout"] == "row"
        self.counts = words.counts[1:]

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Multiply the matrices of all warps."""
        slots = self.slots(active)
        halves = np.dtype(np.float16)
        groups, _ = operand_groups(sources, self.counts)
        left, right, sums = (self.together(active, slots, registers) for registers in groups)
        a = _matrix(left.view(halves), along=self.a_by_rows)
        b = _matrix(right.view(halves), along=not self.b_by_rows).transpose(0, 2, 1)
        values = sums.view(self.types["c"].dtype)
        c = np.zeros((len(a), _SIZE, _SIZE), dtype=values.dtype)
        row, column = _places(self.types["c"].name)
        c[:, row, column] = values[:, _LANES].reshape(-1, 8, 8)
        result = multiplied_by_lanes(
            numbers(a, TYPES["f16"]), numbers(b, TYPES["f16"]), numbers(c, self.types["c"]),
            self.types["d"].name,
        )  # fmt: skip
        row, column = _places(self.types["d"].name)
        elements = np.zeros((len(sums), 32, 8), dtype=result.dtype)
        elements[:, _LANES] = result[:, row, column].reshape(-1, _QUARTERS, 8, 8)
        self.apart(slots, elements.view(destinations[0].dtype), destinations)


def _matrix(values: Array, *, along: bool) -> Array:
    """Return matrices of 8 lines by 4 along k, by product, from elements by warp and lane.

    Args:
        values: Four elements of each lane.
        along: A lane has a line; if not, it has four lines at one place along k.
    """
    pieces = values[:, _LANES].reshape(-1, 8, 4)
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
