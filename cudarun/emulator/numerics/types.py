"""The fundamental types of PTX (manual section 5.2) as one table: width, kind, numpy type."""

from __future__ import annotations

from enum import Enum

import numpy as np
import numpy.typing as npt

from cudarun.base.records import dataclass
from cudarun.emulator.numerics.arrays import Array


class TypeKind(Enum):
    """The categories that the type rules of instructions refer to."""

    UNSIGNED = "u"
    SIGNED = "s"
    FLOAT = "f"
    BITS = "b"
    PREDICATE = "pred"


@dataclass(frozen=True, slots=True)
class Type:
    """One PTX type."""

    name: str  # ``"f16x2"``
    kind: TypeKind
    bits: int  # width of the whole value
    # The numpy type of one element. ``bf16`` and the 8-bit floats are their bits; elements of less
    # than 8 bits are unpacked to it (`unpacked`).
    dtype: np.dtype[np.generic]
    elements: int = 1  # number of packed elements; a 128-bit value is two 64-bit words

    @property
    def bytes(self) -> int:
        """Width in bytes, as stored in memory."""
        return self.bits // 8

    @property
    def signed(self) -> bool:
        """True if widening extends the sign."""
        return self.kind is TypeKind.SIGNED


def _types() -> dict[str, Type]:
    rows = [Type("pred", TypeKind.PREDICATE, 8, np.dtype(np.bool_))]
    for bits in (8, 16, 32, 64):
        rows.append(Type(f"u{bits}", TypeKind.UNSIGNED, bits, np.dtype(f"u{bits // 8}")))
        rows.append(Type(f"s{bits}", TypeKind.SIGNED, bits, np.dtype(f"i{bits // 8}")))
        rows.append(Type(f"b{bits}", TypeKind.BITS, bits, np.dtype(f"u{bits // 8}")))
    for name, bits in (("f16", 16), ("f32", 32), ("f64", 64)):
        rows.append(Type(name, TypeKind.FLOAT, bits, np.dtype(f"f{bits // 8}")))
    half, single, word = np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.uint16)
    rows += [
        Type("b128", TypeKind.BITS, 128, np.dtype(np.uint64), 2),
        Type("bf16", TypeKind.FLOAT, 16, word),
        Type("tf32", TypeKind.FLOAT, 32, single),
        Type("f16x2", TypeKind.FLOAT, 32, half, 2),
        Type("bf16x2", TypeKind.FLOAT, 32, word, 2),
        Type("u16x2", TypeKind.UNSIGNED, 32, word, 2),
        Type("s16x2", TypeKind.SIGNED, 32, np.dtype(np.int16), 2),
        Type("f32x2", TypeKind.FLOAT, 64, single, 2),
        Type("u8x4", TypeKind.UNSIGNED, 32, np.dtype(np.uint8), 4),
        Type("s8x4", TypeKind.SIGNED, 32, np.dtype(np.int8), 4),
        Type("e4m3", TypeKind.FLOAT, 8, np.dtype(np.uint8)),
        Type("e5m2", TypeKind.FLOAT, 8, np.dtype(np.uint8)),
        Type("e2m1", TypeKind.FLOAT, 4, np.dtype(np.uint8)),
        Type("e2m3", TypeKind.FLOAT, 8, np.dtype(np.uint8)),  # 6 bits in a byte
        Type("e3m2", TypeKind.FLOAT, 8, np.dtype(np.uint8)),
        Type("s4", TypeKind.SIGNED, 4, np.dtype(np.int8)),
        Type("u4", TypeKind.UNSIGNED, 4, np.dtype(np.uint8)),
        Type("b1", TypeKind.BITS, 1, np.dtype(np.uint8)),
        # Of 4 bits, and four of up to 8: a word of all elements.
        Type("e2m1x2", TypeKind.FLOAT, 8, np.dtype(np.uint8)),
        Type("e2m1x4", TypeKind.FLOAT, 16, word),
    ]
    eight = ("e4m3", "e5m2", "e2m3", "e3m2")
    for name in (*eight, "ue8m0", "s2f6"):
        rows.append(Type(f"{name}x2", TypeKind.FLOAT, 16, np.dtype(np.uint8), 2))
    rows += [Type(f"{name}x4", TypeKind.FLOAT, 32, np.dtype(np.uint32)) for name in eight]
    return {row.name: row for row in rows}


TYPES = _types()


def wider(ptx_type: Type) -> Type:
    """Return the integer type of twice the width, as ``mul.wide`` needs it."""
    return TYPES[f"{ptx_type.kind.value}{2 * ptx_type.bits}"]


def bits_of(width: int) -> Type:
    """Return the untyped type of a width in bits."""
    return TYPES[f"b{width}"]


def unpacked(words: npt.NDArray[np.uint32], ptx_type: Type) -> Array:
    """Return the elements of less than 8 bits in words, the lowest first, along the last axis."""
    shifts = np.arange(0, 32, ptx_type.bits, dtype=np.uint32)
    values = words[..., None] >> shifts & np.uint32((1 << ptx_type.bits) - 1)
    if ptx_type.signed:
        sign = 1 << ptx_type.bits - 1
        values = (values ^ np.uint32(sign)) - np.uint32(sign)
    return values.astype(ptx_type.dtype).reshape(*words.shape[:-1], -1)
