"""Descriptors and layouts of matrices in shared and tensor memory, and of products.

PTX manual 9.7.16.4 and 9.7.16.10.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.machine.matrices import numbers
from cudarun.emulator.machine.tensor_memory.memory import LANES
from cudarun.emulator.machine.warpgroups import Descriptors
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.bits import bit_fields
from cudarun.emulator.numerics.formats import to_f32
from cudarun.emulator.numerics.types import TYPES

_MODES = {0: (0, 0, 4), 1: (3, 2, 5), 2: (3, 3, 4), 4: (2, 2, 4), 6: (1, 1, 4)}
"""By mode: the pattern's width, as a power of two of chunks; the swizzled bits, and the lowest."""
_WIDE_ATOMS = 1
_CONSTANTS = 1, 0  # which mark a descriptor of `tcgen05`; that of `wgmma` has zeros
_SUMS = {0: "f16", 1: "f32", 2: "s32"}
_FLOATS = {0: "e4m3", 1: "e5m2", 3: "e2m3", 4: "e3m2", 5: "e2m1"}
_TYPES: dict[str, dict[int, str]] = {
    "f16": {0: "f16", 1: "bf16"},
    "tf32": {2: "tf32"},
    "f8f6f4": _FLOATS,
    "mxf8f6f4": _FLOATS,
    "i8": {0: "u8", 1: "s8"},
    "mxf4": {1: "e2m1"},
    "mxf4nvf4": {1: "e2m1"},
}
_CHUNK = 16  # bytes
LONG_PRODUCT = 96  # elements along k, of sm_103
BITS = {"f16": 16, "tf32": 32, "mxf4": 4, "mxf4nvf4": 4}
"""By kind, the bits of an element's container; 8 of the others."""


class SharedDescriptor(Descriptors):
    """A descriptor of one matrix in shared memory."""

    def __init__(self, word: int) -> None:
        super().__init__(np.array([word & ~(3 << 62)], dtype=np.uint64))
        self.mode = word >> 61  # the swizzling mode
        self.constants = word >> 46 & 7, word >> 53 & 255
        self.is_absolute = bool(word >> 52 & 1)
        width, swizzled, self.lowest = _MODES.get(self.mode, _MODES[0])
        self.width, self.swizzled = np.array([width]), np.array([swizzled])
        self.period = 4 if self.mode == _WIDE_ATOMS else 8

    @property
    def problem(self) -> str:
        """The reason if it is invalid; empty otherwise."""
        if self.constants != _CONSTANTS:
            return "bits 46 to 48 are not 0b001, or bits 53 to 60 are not 0"
        return "" if self.mode in _MODES else f"swizzling mode {self.mode}"

    def chunks(self, lines: int, parts: int, *, transposed: bool) -> Array:
        """Return the address of each chunk of a matrix.

        If the leading dimension is absolute, it is the address of another buffer, where lines
        continue at the end of the swizzling pattern.
        """
        width = 1 << int(self.width[0])
        left = width - (int(self.start[0]) // _CHUNK) % width
        if not self.is_absolute or parts <= left:
            return super().chunks(lines, parts, transposed=transposed)
        first = super().chunks(lines, left, transposed=transposed)
        self.start = self.leading
        rest = super().chunks(lines, parts - left, transposed=transposed)
        return np.concatenate([first, rest], axis=2)


@dataclass(frozen=True, slots=True)
class Product:
    """A product as an instruction descriptor describes it.

    Attributes:
        kind: ``"f16"``.
        m, n, k: The shape; k counts the zeros of a sparse A, too.
        types: The names of the types of ``"d"``, ``"a"`` and ``"b"``.
        negated, transposed: By matrix.
        sparse: Whether A is sparse.
        selector: The selector of the metadata.
        saturates: Whether integers are clamped.
        scale_type: The type of the scale factors, or an empty text.
        scale_ids: Where the scale factors of A and B are in a word of tensor memory.
    """

    kind: str
    m: int
    n: int
    k: int
    types: dict[str, str]
    negated: dict[str, bool]
    transposed: dict[str, bool]
    sparse: bool
    selector: int
    saturates: bool
    scale_type: str
    scale_ids: dict[str, int]

    @classmethod
    def of(cls, word: int, kind: str) -> Product:
        """Return the product of a descriptor."""
        scaled = kind.startswith("mx")
        types, sparse, bits = _TYPES[kind], bool(word >> 2 & 1), BITS.get(kind, 8)
        mask = 3 if kind.startswith("mxf4") else 7
        m = (word >> 27 & 3) << 7 if scaled else (word >> 24 & 31) << 4
        k = 256 // bits * (2 if sparse else 1)
        if word >> 31 and kind.startswith("mxf4"):
            k = LONG_PRODUCT
        return cls(
            kind,
            m,
            (word >> 17 & 63) << 3,
            k,
            {
                "d": "f32" if scaled else _SUMS.get(word >> 4 & 3, ""),
                "a": types.get(word >> 7 & 7, ""),
                "b": types.get(word >> 10 & mask, ""),
            },
            {"a": bool(word >> 13 & 1), "b": bool(word >> 14 & 1)},
            {"a": bool(word >> 15 & 1), "b": bool(word >> 16 & 1)},
            sparse,
            0 if scaled else word & 3,
            kind == "i8" and bool(word >> 3 & 1),
            ("ue8m0" if word >> 23 & 1 else "ue4m3") if scaled else "",
            {"a": word >> 29 & 3, "b": word >> 4 & 3} if scaled else {},
        )

    def problem(self, blocks: int, *, stationary: bool) -> str:
        """Return why the shape or a type is invalid; an empty text if they are valid.

        Args:
            blocks: The number of blocks, 1 or 2.
            stationary: Whether it is weight-stationary.
        """
        if "" in self.types.values() or (self.types["d"] == "s32") != (self.kind == "i8"):
            return f"types of kind::{self.kind}"
        rows: Collection[int] = (64 * blocks, 128 * blocks)
        step = 16 if blocks == 2 or (self.m == 128 and not self.scale_type) else 8
        sizes: Collection[int] = range(step, 257, step)
        if self.kind == "i8":
            sizes = [n for n in sizes if n % (16 * blocks) == 0 or n in (8, 24)]
        if self.scale_type and blocks == 1:
            rows = (128,)
        if stationary:
            rows, sizes = (32, 64, 128), (64, 128) if self.sparse else (64, 128, 256)
        if self.m not in rows or self.n not in sizes:
            return f"shape m{self.m}n{self.n}k{self.k} of kind::{self.kind}"
        return ""


def zero_columns(word: int, m: int, n: int) -> Array:
    """Return which columns of B a mask descriptor replaces by zeros."""
    parts = {128: 1, 64: 2, 32: 4}[m]
    mask = np.zeros((parts, n // parts), dtype=np.bool_)
    if not word >> 39 & 1:
        return mask.reshape(-1)
    # In the manual's examples the runs of zeros have the length of "skip span", others "use span".
    zeros, used = (word >> 40 & 255) + 1, (word >> 48 & 255) + 1
    for part in range(parts):
        start, first = word >> 8 * part & 255, bool(word >> 32 + part & 1)
        place = np.arange(n // parts) + start
        period = place % (zeros + used)
        mask[part] = period < zeros if first else period >= used
    return mask.reshape(-1)


_PARTITION = 32  # lanes that a warp accesses
_HALF = 16  # lanes of them that layouts C and F use


@dataclass(frozen=True, slots=True)
class AccumulatorLayout:
    """A layout of D in one block (PTX manual 9.7.16.10.5, .7 and .8).

    A product of some rows in each block is made in **parts** of its columns: with few rows, the
    upper lanes have other columns of D (the layouts B and E, of two halves, and G, of four
    quarters). Each part has its own copy of A, of the metadata, and of the scale factors.
    """

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
