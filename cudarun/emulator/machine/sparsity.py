"""Sparse matrices of ``mma.sp`` and ``wgmma.mma_async.sp`` (PTX manual 9.7.14.6 and 9.7.15.6).

Of each **chunk** of 4 units along k, matrix A has two, in order. A unit is an element of 8 or 16
bits, a pair of elements of 4 bits, or half an element of 32 bits. Four bits of **metadata** tell
which two: the lower two bits have the place of the first one.

The metadata of 16 rows is distributed over the lanes of a warp; a group of four lanes has that of
two rows, ``r`` and ``r + 8``. The selector chooses which lanes of the group provide it:

* 4 chunks in a row: one lane, the lower half of whose word belongs to row ``r``.
* 8 chunks: two lanes. With units of 16 bits the second one continues the rows of the first; with
  smaller ones the second lane has row ``r + 8``.
* 16 chunks: all four lanes; the first two have 8 chunks of each row, the others continue them.

An H200 computes the same for metadata that the manual does not define (the places of one chunk
equal, or in descending order, or halves of two words).
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.machine.active import Active
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.types import Type
from cudarun.emulator.words import Words

_ROWS = 16  # of a warp
UNITS = 4  # of a chunk
_SELECTORS = {4: 4, 8: 2, 16: 1}  # by the number of chunks in a row
_ILLEGAL_INSTRUCTION = 715


class Sparsity:
    """The places of the elements of a sparse matrix.

    Args:
        words: The instruction's words; constant ``selector`` chooses lanes.
        k: The number of elements along k, zeros included.
    """

    def __init__(self, words: Words, ptx_type: Type, k: int) -> None:
        self.bits = ptx_type.bits
        unit = 16 if self.bits >= 16 else 8
        self.chunks = k * self.bits // unit // UNITS
        self.selector = words.constants["selector"]
        self.valid = self.selector < _SELECTORS[self.chunks]
        selector = self.selector if self.valid else 0
        self.lane, self.shift = _metadata_places(self.chunks, selector, unit)

    def check(self, active: Active) -> None:
        """Raise the fault of a selector that ptxas accepts, and an H200 refuses to execute."""
        if not self.valid:
            what = f"sparsity selector {self.selector} of a matrix with two selectors"
            raise active.fault(_ILLEGAL_INSTRUCTION, what, 0)

    def units(self, metadata: Array) -> Array:
        """Return where along k the two units of each chunk are: by warp, row, chunk and unit.

        Args:
            metadata: The metadata registers, by warp and lane.
        """
        nibbles = metadata[:, self.lane] >> self.shift & np.uint32(15)
        return unit_places(nibbles)

    def selected(self, b: Array, units: Array) -> Array:
        """Return the elements of B for those of A: by matrix, row and element of A, and n.

        Halves of 32 bits are selected on their own, if metadata does not name the two of a word.

        Args:
            b: The elements of B, by matrix, k and n.
            units: The units of A, by matrix, row, chunk and unit.
        """
        matrix = np.arange(len(b))[:, None, None]
        if self.bits == 32:
            halves = np.ascontiguousarray(b.transpose(0, 2, 1)).view(np.uint16).transpose(0, 2, 1)
            low, high = (halves[matrix, units[..., half]].astype(np.uint32) for half in range(2))
            return (low | high << np.uint32(16)).view(b.dtype)
        places = units.reshape(*units.shape[:2], -1)
        if self.bits == 4:
            places = (2 * places[..., None] + np.arange(2)).reshape(*places.shape[:2], -1)
        return b[matrix, places]


def unit_places(nibbles: Array) -> Array:
    """Return where along k the two units of each chunk are, by metadata of chunks in a row."""
    two = np.stack([nibbles & np.uint32(3), nibbles >> np.uint32(2)], axis=-1)
    return two.astype(np.int64) + np.arange(nibbles.shape[-1])[:, None] * UNITS


def _metadata_places(chunks: int, selector: int, unit: int) -> tuple[Array, Array]:
    """Return the lane and the lowest bit of the metadata of each chunk, by row and chunk."""
    row, chunk = np.ogrid[:_ROWS, :chunks]
    lower = row // 8  # the second row of the group
    if chunks == UNITS:
        lane, shift = selector + 0 * chunk, 16 * lower + 4 * chunk
    elif chunks == 2 * UNITS and unit == 16:
        lane, shift = 2 * selector + chunk // 4, 16 * lower + 4 * (chunk % 4)
    elif chunks == 2 * UNITS:
        lane, shift = 2 * selector + lower, 4 * chunk
    else:
        lane, shift = 2 * (chunk // 8) + lower, 4 * (chunk % 8)
    shape = _ROWS, chunks
    lanes = np.broadcast_to(4 * (row % 8) + lane, shape)
    return lanes, np.broadcast_to(shift, shape).astype(np.uint32)
