"""Fragments of matrices in registers as the manual draws them (9.7.14.5), and metadata."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
LANES = 32
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "s32": 32, "e4m3": 8, "e5m2": 8, "s8": 8,
        "u8": 8, "s4": 4, "u4": 4, "b1": 1}  # fmt: skip
DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f32": np.float32,
    "s32": np.int32, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "s8": np.int8,
    "u8": np.uint8, "s4": np.int8, "u4": np.uint8, "b1": np.uint8,
}  # fmt: skip


def words_of(elements: Array, bits: int) -> Array:
    """Elements, the first one in the lowest bits, as words of 32 bits along the last axis."""
    if bits >= 8:
        return np.ascontiguousarray(elements).view(np.uint32)
    fields = (elements.astype(np.int64) & ((1 << bits) - 1)).reshape(
        *elements.shape[:-1], -1, 32 // bits
    )
    return (fields << np.arange(0, 32, bits)).sum(axis=-1).astype(np.uint32)


def fragments(lines: Array, bits: int) -> Array:
    """Registers by lane of A, or of B transposed (9.7.14.5): lines of elements along k."""
    count, depth = lines.shape
    each = 32 // bits
    registers = []
    for start, line in product(range(0, depth, 4 * each), range(0, count, 8)):
        pieces = [
            lines[line + lane // 4, start + lane % 4 * each :][:each] for lane in range(LANES)
        ]
        registers.append(words_of(np.stack(pieces), bits)[:, 0])
    return np.stack(registers, axis=1)


def sums(m: int) -> tuple[Array, Array]:
    """Row and column of the elements of C and D by lane."""
    lane, number = np.ogrid[:LANES, : m // 4]
    return lane // 4 + 8 * (number // 2), 2 * (lane % 4) + number % 2


def compressed(rows: Array, unit: int) -> tuple[Array, Array]:
    """The two of four units that are not zero, and metadata of 4 bits for each four units."""
    chunks = rows.reshape(len(rows), -1, 4, unit)
    kept = np.zeros((*chunks.shape[:2], 2, unit), rows.dtype)
    nibbles = np.zeros(chunks.shape[:2], np.uint32)
    for row, chunk in np.ndindex(nibbles.shape):
        places = np.flatnonzero(chunks[row, chunk].any(axis=1)).tolist()
        while len(places) < 2:  # any others
            places.append(next(place for place in range(4) if place not in places))
        first, second = sorted(places)
        kept[row, chunk] = chunks[row, chunk][[first, second]]
        nibbles[row, chunk] = first | second << 2
    return kept.reshape(len(rows), -1), nibbles


def metadata_of(nibbles: Array, selector: int, *, halves: bool) -> Array:
    """The word of each lane (9.7.14.6.1); those that are not selected have other bits."""
    words = np.full(LANES, 0xDEADBEEF, np.uint32)
    count = nibbles.shape[1]

    def word(pieces: list[Array]) -> int:
        return sum(int(nibble) << 4 * place for place, nibble in enumerate(np.concatenate(pieces)))

    for group in range(8):
        upper, lower = nibbles[group], nibbles[group + 8]
        if count == 4:
            words[4 * group + selector] = word([upper, lower])
        elif count == 8 and halves:
            for part in range(2):
                some = slice(4 * part, 4 * part + 4)
                words[4 * group + 2 * selector + part] = word([upper[some], lower[some]])
        elif count == 8:
            words[4 * group + 2 * selector] = word([upper])
            words[4 * group + 2 * selector + 1] = word([lower])
        else:
            for part in range(2):
                some = slice(8 * part, 8 * part + 8)
                words[4 * group + 2 * part] = word([upper[some]])
                words[4 * group + 2 * part + 1] = word([lower[some]])
    return words


def numbers(name: str, shape: tuple[int, ...], seed: int) -> Array:
    """Small whole numbers, whose products and sums are exact."""
    low, high = {"u8": (0, 256), "s8": (-128, 128), "u4": (0, 16), "s4": (-8, 8), "b1": (0, 2)}.get(
        name, (-4, 5)
    )
    return np.random.default_rng(seed).integers(low, high, shape).astype(DTYPES[name])


def sparse_numbers(name: str, shape: tuple[int, int], seed: int) -> tuple[Array, Array, Array]:
    """A matrix of which two of four units are zero, its other elements, and metadata."""
    matrix = numbers(name, shape, seed)
    rows = shape[0]
    if name == "tf32":  # one of two; the two halves of the other one are named
        pairs = matrix.reshape(rows, -1, 2)
        second = np.random.default_rng(seed + 1).integers(0, 2, pairs.shape[:2])
        np.put_along_axis(pairs, 1 - second[..., None], 0, axis=2)
        left = np.take_along_axis(pairs, second[..., None], axis=2)[..., 0]
        return matrix, left, np.where(second == 1, 0b1110, 0b0100).astype(np.uint32)
    unit = max(8 // BITS[name], 1)
    chunks = matrix.reshape(rows, -1, 4, unit)
    chance = np.random.default_rng(seed + 1)
    for row, chunk in np.ndindex(chunks.shape[:2]):
        chunks[row, chunk, chance.permutation(4)[:2]] = 0
    return matrix, *compressed(matrix, unit)
