"""Elements of matrices in shared and tensor memory (PTX manual 9.7.16.10.4)."""

from __future__ import annotations

import numpy as np

from cudarun.emulator.machine.matrices import numbers
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.bits import bit_fields
from cudarun.emulator.numerics.formats import to_f32
from cudarun.emulator.numerics.types import TYPES

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
