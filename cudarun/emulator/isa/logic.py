"""Logic and shifts (PTX manual 9.7.8), and ``prmt``."""

from __future__ import annotations

from functools import partial, reduce

import numpy as np

from cudarun.emulator.isa.form import InstructionForm, computed, form
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.temporaries import Function, result_of, temporaries
from cudarun.emulator.words import Words

_BITS = "b16 b32 b64"
_TYPES = f"pred {_BITS}"


# --- lop3 ----------------------------------------------------------------------------------------


def lookup(table: int) -> Function:
    """Return the function of three operands for an immediate of ``lop3``: bit ``abc`` of it.

    Returns:
        A function ``(a, b, c)`` that may return one of its arguments.
    """
    simple: dict[int, Function] = {
        0x00: lambda a, b, c: np.zeros_like(a),
        0xFF: lambda a, b, c: ~np.zeros_like(a),
        0xF0: lambda a, b, c: a,
        0xCC: lambda a, b, c: b,
        0xAA: lambda a, b, c: c,
        0xC0: lambda a, b, c: a & b,
        0xFC: lambda a, b, c: a | b,
        0x3C: lambda a, b, c: a ^ b,
        0x80: lambda a, b, c: a & b & c,
        0xFE: lambda a, b, c: a | b | c,
        0x96: lambda a, b, c: a ^ b ^ c,
        0xF8: lambda a, b, c: a | (b & c),
        0xEA: lambda a, b, c: (a & b) | c,
        0x6A: lambda a, b, c: (a & b) ^ c,
        0x78: lambda a, b, c: a ^ (b & c),
        0xCA: lambda a, b, c: (a & b) | (~a & c),
        0xE8: lambda a, b, c: (a & b) | (c & (a | b)),
    }
    return simple.get(table) or partial(_minterms, table)


def _minterms(table: int, a: Array, b: Array, c: Array) -> Array:
    result = np.zeros_like(a)
    for term in range(8):
        if table >> term & 1:
            parts = (x if term >> place & 1 else ~x for x, place in ((a, 2), (b, 1), (c, 0)))
            result |= reduce(np.bitwise_and, parts)
    return result


def _lop3_with(words: Words) -> Function:
    compute = lookup(words.constants["lut"] & 0xFF)
    combine = np.logical_or if words["bool"] == "or" else np.logical_and

    def lop3(a: Array, b: Array, c: Array, q: Array, d: Array, p: Array) -> None:
        result = compute(a, b, c)
        combine(result != 0, q, p)
        np.copyto(d, result)

    return lop3


# --- shifts --------------------------------------------------------------------------------------


def _shift(ufunc: Function, words: Words) -> Function:
    """Return a shift with a clamped amount: numpy's, once the amount has the same type."""
    ptx_type = words.type
    if ptx_type.bits == 32:
        return lambda a, b, d: ufunc(a, b.view(a.dtype), d)

    @temporaries(ptx_type.name)
    def shift(a: Array, b: Array, d: Array, amount: Array) -> None:
        if ptx_type.bits == 16:
            b = np.minimum(b, np.uint32(16))
        np.copyto(amount, b, casting="unsafe")
        ufunc(a, amount, d)

    return shift


@computed
def _shf(words: Words, a: Array, b: Array, c: Array) -> Array:
    amount = (c & 31 if words["mode"] == "wrap" else np.minimum(c, 32)).astype(np.uint64)
    both = (b.astype(np.uint64) << np.uint64(32)) | a
    return (both << amount) >> np.uint64(32) if words["dir"] == "l" else both >> amount


# --- prmt ----------------------------------------------------------------------------------------

# The byte that position ``i`` takes, by the lowest two bits ``n`` of the selector.
_MODES = {
    "f4e": lambda i, n: n + i,
    "b4e": lambda i, n: (n - i) & 7,
    "rc8": lambda i, n: n,
    "ecl": lambda i, n: np.maximum(i, n),
    "ecr": lambda i, n: np.minimum(i, n),
    "rc16": lambda i, n: (n & 1) * 2 + (i & 1),
}


@computed
def _prmt(words: Words, a: Array, b: Array, c: Array) -> Array:
    both = (b.astype(np.uint64) << np.uint64(32)) | a
    result, move = np.zeros_like(c, dtype=np.uint64), _MODES.get(words["mode"])
    for place in range(4):
        if move is not None:
            chosen = move(place, (c & 3).astype(np.int64)).astype(np.uint64)
        else:
            nibble = c >> np.uint32(4 * place)
            chosen, sign = (nibble & 7).astype(np.uint64), nibble & 8 != 0
        byte = (both >> (chosen * np.uint64(8))) & np.uint64(0xFF)
        if move is None:
            spread = np.where(byte & np.uint64(0x80), np.uint64(0xFF), np.uint64(0))
            byte = np.where(sign, spread, byte)
        result |= byte << np.uint64(8 * place)
    return result


FORMS: tuple[InstructionForm, ...] = (
    form("and.type  d, a, b", np.bitwise_and, type=_TYPES),
    form("or.type  d, a, b", np.bitwise_or, type=_TYPES),
    form("xor.type  d, a, b", np.bitwise_xor, type=_TYPES),
    form("not.type  d, a", np.bitwise_not, type=_TYPES),
    form("cnot.type  d, a", result_of(lambda a: a == 0), type=_BITS),
    form("lop3.b32  d, a, b, c, lut:int",
         make=lambda words: result_of(lookup(words.constants["lut"] & 0xFF))),
    form("lop3.bool.b32  d|p, a, b, c, lut:int, q:pred", make=_lop3_with, bool="or and"),
    form("shl.type  d, a, b:u32", make=partial(_shift, np.left_shift), type=_BITS),
    form("shr.type  d, a, b:u32", make=partial(_shift, np.right_shift),
         type=f"{_BITS} u16 u32 u64 s16 s32 s64"),
    form("shf.dir.mode.b32  d, a, b, c:u32", make=_shf, dir="l r", mode="clamp wrap"),
    form("prmt.b32{.mode}  d, a, b, c", make=_prmt, mode="f4e b4e rc8 ecl ecr rc16"),
)  # fmt: skip
