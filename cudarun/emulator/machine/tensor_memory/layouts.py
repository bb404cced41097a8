"""Layouts of matrices in tensor memory (PTX manual 9.7.16.10.5, .7 and .8).

A product of some rows in each block is made in **parts** of its columns: with few rows, the upper
lanes have other columns of D (the layouts B and E, of two halves, and G, of four quarters). Each
part has its own copy of A, of the metadata, and of the scale factors.
"""

from __future__ import annotations

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.machine.matrices import numbers
from cudarun.emulator.machine.tensor_memory.memory import LANES
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.bits import bit_fields
from cudarun.emulator.numerics.formats import to_f32
from cudarun.emulator.numerics.types import TYPES

_PARTITION = 32  # lanes that a warp accesses
_HALF = 16  # lanes of them that layouts C and F use


@dataclass(frozen=True, slots=True)
class AccumulatorLayout:
    """A layout of D in one block."""

    rows: int  # the rows of D that the block has
    parts: int  # the number of parts
    is_half: bool  # whether it has 16 lanes of each 32

    @classmethod
    def of(cls, m: int, blocks: int, *, stationary: bool, sparse: bool) -> AccumulatorLayout:
        """Return the layout of a product."""
        rows = m // blocks
        is_half = rows == 64 and not stationary and (blocks == 1 or sparse)
        return cls(rows, 1 if is_half else LANES // rows, is_half)

    def lanes(self, part: int, base: int) -> Array:
        """Return the lane of each row in a part; ``base`` is the lane of the address."""
        row = np.arange(self.rows)
        if self.is_half:
            return base + row % _HALF + row // _HALF * _PARTITION
        return base + row + part * self.rows

    def metadata(self, part: int, base: int, row: Array, half: Array) -> Array:
        """Return the lane with the metadata of rows of elements of 16 or 32 bits.

        Eight rows of sixteen have the lower half of their chunks in the first eight lanes.

        Args:
            base: The lane of the address.
            half: By row, the half of the chunks along k.
        """
        found: Array = self.lanes(part, base)[row - row % _HALF + row % 8 + 8 * half]
        return found


NARROW = {"e2m1": 4, "e2m3": 6, "e3m2": 6}
"""The bits of the types that have a container of 8 bits in some kinds of products."""
_CONTAINED = {"e2m1": 2}  # zeros below an element in its container of 8 bits in tensor memory


def from_bytes(data: Array, name: str, bits: int, *, packed: bool) -> Array:
    """Return the elements in rows of bytes, with containers of some bits, along the last axis.

    Elements of 4 or 6 bits in containers of 8 bits are ``packed`` at the start of a chunk of shared
    memory; in tensor memory each is in its container.
    """
    size = NARROW.get(name, bits)
    if size >= 8:
        return numbers(np.ascontiguousarray(data).view(TYPES[name].dtype), TYPES[name])
    if packed or size == bits:
        codes = bit_fields(data, size, data.shape[-1] * 8 // bits)
    else:
        codes = data >> np.uint8(_CONTAINED.get(name, 0))
    return to_f32(codes, name).astype(np.float64)


def decompressed(chunks: Array, source: str) -> Array:
    """Return chunks of 16 elements of 4 or 6 bits with a container of 8 bits for each."""
    size = int(source[1])
    codes = bit_fields(chunks, size, 16)
    return codes << np.uint8(_CONTAINED["e2m1"]) if size == 4 else codes
