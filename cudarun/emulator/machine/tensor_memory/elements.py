"""Elements of matrices in shared and tensor memory (PTX manual 9.7.16.10.4)."""

from __future__ import annotations

import numpy as np

from cudarun.emulator.machine.matrices import numbers
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.scaled_products import narrow_float
from cudarun.emulator.numerics.types import TYPES

NARROW = {"e2m1": 4, "e2m3": 6, "e3m2": 6}
"""The bits of the types that have a container of 8 bits in some kinds of products."""
_CONTAINED = {"e2m1": 2}  # zeros below an element in its container of 8 bits in tensor memory


def from_chunks(chunks: Array, name: str, bits: int) -> Array:
    """Return the elements in chunks of 16 bytes, with containers of some bits: along a new axis.

    Sixteen elements of 4 or 6 bits are packed at the start of a chunk, if a container has 8.
    """
    size = NARROW.get(name, bits)
    if size >= 8:
        kind = TYPES[name]
        return numbers(np.ascontiguousarray(chunks).view(kind.dtype), kind)
    unpacked = np.unpackbits(chunks, axis=-1, bitorder="little")
    count = 128 // bits
    fields = unpacked[..., : count * size].reshape(*chunks.shape[:-1], count, size)
    codes = np.packbits(fields, axis=-1, bitorder="little")[..., 0]
    return narrow_float(codes, name)


def from_words(words: Array, name: str, bits: int) -> Array:
    """Return the elements in rows of cells of tensor memory."""
    rows = np.ascontiguousarray(words).view(np.uint8)
    if NARROW.get(name, bits) >= 8:
        kind = TYPES[name]
        return numbers(rows.view(kind.dtype), kind)
    if bits == 4:
        codes = np.stack([rows & np.uint8(15), rows >> np.uint8(4)], axis=-1)
        return narrow_float(codes.reshape(len(rows), -1), name)
    return narrow_float(rows >> np.uint8(_CONTAINED.get(name, 0)) & np.uint8(63), name)


def decompressed(chunks: Array, source: str) -> Array:
    """Return chunks of 16 elements of 4 or 6 bits with a container of 8 bits for each."""
    size = int(source[1])
    unpacked = np.unpackbits(chunks, axis=-1, bitorder="little")[..., : 16 * size]
    codes = np.packbits(unpacked.reshape(*chunks.shape, size), axis=-1, bitorder="little")[..., 0]
    found: Array = codes << np.uint8(_CONTAINED["e2m1"] if size == 4 else 0)
    return found


def scale_factors(codes: Array, name: str) -> Array:
    """Return scale factors as f64: powers of two, or unsigned e4m3."""
    if name == "ue8m0":
        values = np.ldexp(1.0, codes.astype(np.int32) - 127)
        return np.where(codes == 255, np.nan, values)
    return numbers(codes & np.uint8(0x7F), TYPES["e4m3"])
