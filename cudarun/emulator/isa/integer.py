"""Integer arithmetic (PTX manual 9.7.1) and extended-precision arithmetic (9.7.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from cudarun.emulator.isa.form import InstructionForm, Keywords, computed, form
from cudarun.emulator.numerics import bits
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.native import contiguous
from cudarun.emulator.numerics.temporaries import Function, result_of, temporaries
from cudarun.emulator.numerics.types import wider
from cudarun.emulator.words import Words

INTEGERS = "u16 u32 u64 s16 s32 s64"
PACKED = "u16x2 s16x2"


# --- multiplication ------------------------------------------------------------------------------


def high_product(a: Array, b: Array) -> Array:
    """Compute the upper half of the product."""
    width = a.dtype.itemsize * 8
    if width < 64:
        wide = np.dtype(f"{a.dtype.kind}{width // 4}")
        product: Array = a.astype(wide) * b.astype(wide)
        return (product >> width).astype(a.dtype)
    high = _high_unsigned(a.view(np.uint64), b.view(np.uint64))
    if a.dtype.kind == "i":
        high = high - np.where(a < 0, b, 0).view(np.uint64) - np.where(b < 0, a, 0).view(np.uint64)
    return high.view(a.dtype)


def _high_unsigned(a: Array, b: Array) -> Array:
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    a_low, a_high, b_low, b_high = a & mask, a >> half, b & mask, b >> half
    low, middle, other = a_low * b_low, a_high * b_low, a_low * b_high
    carry = (low >> half) + (middle & mask) + (other & mask)
    high: Array = a_high * b_high + (middle >> half) + (other >> half) + (carry >> half)
    return high


def _wide(words: Words) -> Function:
    @temporaries(wider(words.type).name)
    def multiply(a: Array, b: Array, d: Array, wide: Array) -> None:
        np.copyto(wide, a)
        np.copyto(d, b)
        np.multiply(wide, d, out=d)

    return multiply


def _mad_low(words: Words) -> Function:
    @temporaries(words.type.name)
    def mad(a: Array, b: Array, c: Array, d: Array, product: Array) -> None:
        np.multiply(a, b, out=product)
        np.add(product, c, out=d)

    return mad


def _mad_wide(words: Words) -> Function:
    wide = wider(words.type).name

    @temporaries(wide, wide)
    def mad(a: Array, b: Array, c: Array, d: Array, left: Array, right: Array) -> None:
        np.copyto(left, a)
        np.copyto(right, b)
        np.multiply(left, right, out=left)
        np.add(left, c, out=d)

    return mad


def _product_24(a: Array, b: Array) -> Array:
    shift = 8
    wide = np.int64 if a.dtype.kind == "i" else np.uint64
    return ((a << shift) >> shift).astype(wide) * ((b << shift) >> shift).astype(wide)


@computed
def _mul24(words: Words, a: Array, b: Array) -> Array:
    return _product_24(a, b) >> (16 if words["half"] == "hi" else 0)


@computed
def _mad24(words: Words, a: Array, b: Array, c: Array) -> Array:
    product = (_product_24(a, b) >> (16 if words["half"] == "hi" else 0)).astype(c.dtype)
    return _saturated_sum(product, c) if words.get("sat") else product + c


def _saturated_sum(a: Array, b: Array) -> Array:
    """Return the sum of ``s32``, clamped to its range."""
    return np.clip(a.astype(np.int64) + b, -(1 << 31), (1 << 31) - 1)


# --- division ------------------------------------------------------------------------------------


def _divided(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the quotient rounded towards zero, and the remainder with the sign of ``a``.

    By zero all bits are set, as on hardware.
    """
    zero = b == 0
    divisor = np.where(zero, np.ones_like(b), b)
    if a.dtype.kind == "u":
        quotient = a // divisor
    else:
        unsigned = np.dtype(f"u{a.dtype.itemsize}")
        magnitude = np.abs(a).view(unsigned) // np.abs(divisor).view(unsigned)
        quotient = magnitude.view(a.dtype)
        quotient = np.where((a < 0) != (divisor < 0), -quotient, quotient)
    rest = a - quotient * divisor
    ones = ~np.zeros(1, dtype=a.dtype)
    return np.where(zero, ones, quotient), np.where(zero, ones, rest)


# --- other arithmetic ----------------------------------------------------------------------------


def _extreme(ufunc: np.ufunc, words: Words) -> Function:
    is_positive = words.get("relu")

    def pick(a: Array, b: Array, d: Array) -> None:
        ufunc(a, b, out=d)
        if is_positive:
            np.maximum(d, 0, out=d)

    return pick


MIN, MAX = partial(_extreme, np.minimum), partial(_extreme, np.maximum)


# --- bits ----------------------------------------------------------------------------------------


@computed
def _bfind(words: Words, a: Array) -> Array:
    unsigned = a.view(f"u{a.dtype.itemsize}")
    if a.dtype.kind == "i":
        unsigned = np.where(a < 0, ~unsigned, unsigned)
    leading = bits.leading_zeros(unsigned)
    found = leading if words["shiftamt"] else np.uint32(words.type.bits - 1) - leading
    return np.where(unsigned == 0, np.uint32(0xFFFFFFFF), found)


def _place_of_field(amount: Array, width: int) -> Array:
    """Return a position or length as the instruction reads it.

    Only the low 8 bits count for 32-bit fields, as documented. 64-bit fields are made of shifts,
    for which all 32 bits count on hardware, contrary to the manual.
    """
    return amount & 0xFF if width == 32 else np.minimum(amount, np.uint32(0xFF))


@computed
def _bfe(words: Words, a: Array, b: Array, c: Array) -> Array:
    width = words.type.bits
    position, length = _place_of_field(b, width), _place_of_field(c, width)
    field = bits.field_mask(np.zeros_like(length), length, width)
    value = bits.shift_right(a, position).view(f"u{a.dtype.itemsize}") & field
    if words.type.signed:
        last = np.minimum(position + length - np.uint32(1), np.uint32(width - 1))
        negative = (bits.shift_right(a, last) & 1 != 0) & (length != 0)
        value = np.where(negative, value | ~field, value)
    return value


@computed
def _bfi(words: Words, a: Array, b: Array, c: Array, e: Array) -> Array:
    width = words.type.bits
    position, length = _place_of_field(c, width), _place_of_field(e, width)
    mask = bits.field_mask(position, length, width)
    return (b & ~mask) | (bits.shift_left(a, position) & mask)


def _fns(mask: Array, base: Array, offset: Array) -> Array:
    """Find the n-th set bit, from ``base`` up or, for a negative ``offset``, down."""
    result = np.full_like(mask, 0xFFFFFFFF)
    wanted = np.abs(offset.astype(np.int64))
    count = np.zeros_like(mask, dtype=np.int64)
    for step in range(32):
        position = base.astype(np.int64) + np.where(offset < 0, -step, step)
        inside = (position >= 0) & (position < 32)
        set_here = ((mask >> np.clip(position, 0, 31).astype(np.uint32)) & 1 != 0) & inside
        if step == 0:
            exact = (offset == 0) & set_here
            result[exact] = base[exact]
        count += set_here
        found = set_here & (count == wanted) & (offset != 0)
        result[found] = position[found]
    return result


@computed
def _szext(words: Words, a: Array, b: Array) -> Array:
    width = _wrapped_or_clamped(words, b)
    mask = bits.field_mask(np.zeros_like(width), width, 32)
    raw = a.view(np.uint32)
    value = raw & mask
    if words.type.signed:
        top = np.where(width == 0, np.uint32(0), width - np.uint32(1))
        negative = (bits.shift_right(raw, top) & 1 != 0) & (width != 0)
        value = np.where(negative, value | ~mask, value)
    return value


@computed
def _bmsk(words: Words, a: Array, b: Array) -> Array:
    return bits.field_mask(_wrapped_or_clamped(words, a), _wrapped_or_clamped(words, b), 32)


def _wrapped_or_clamped(words: Words, amount: Array) -> Array:
    return amount & 31 if words["mode"] == "wrap" else np.minimum(amount, 32)


# --- dot products --------------------------------------------------------------------------------


def _dot(a: Array, b: Array, c: Array) -> Array:
    """Return the sum of ``c`` and the products of elements along the second axis."""
    total: Array = (a.astype(np.int64) * b.astype(np.int64)).sum(axis=1) + c
    return total


def _parts(words: Words, name: str, word: Array, count: int) -> Array:
    """Return the parts of words, of the kind of a type among the words of the instruction."""
    kind = "i" if words[name] == "s32" else "u"
    return contiguous(word).view(f"{kind}{4 // count}").reshape(-1, count)


@computed
def _dp4a(words: Words, a: Array, b: Array, c: Array) -> Array:
    return _dot(_parts(words, "atype", a, 4), _parts(words, "btype", b, 4), c)


@computed
def _dp2a(words: Words, a: Array, b: Array, c: Array) -> Array:
    half = slice(2, 4) if words["half"] == "hi" else slice(0, 2)
    return _dot(_parts(words, "atype", a, 2), _parts(words, "btype", b, 4)[:, half], c)


# --- extended precision --------------------------------------------------------------------------

_Sum = tuple[Array, Array]  # the low bits of a sum, and the carry


def _sum(a: Array, b: Array, carry: Array | None) -> _Sum:
    a, b = (x.view(f"u{x.dtype.itemsize}") for x in (a, b))
    total = a + b
    over = total < a
    if carry is not None:
        total = total + carry
        over = over | ((total == 0) & carry)
    return total, over


def _difference(a: Array, b: Array, carry: Array | None) -> _Sum:
    """Return ``a - b`` as ``a + ~b + carry``, without one ``a + ~b + 1``.

    The manual describes a borrow, but the flag is the carry of that addition: ``addc`` after
    ``subc.cc`` sees it inverted, on which nvcc's 128-bit division relies.
    """
    a, b = (x.view(f"u{x.dtype.itemsize}") for x in (a, b))
    total, over = a - b, a >= b
    if carry is not None:
        total = total - ~carry
        over = np.where(carry, over, a > b)
    return total, over


def _extended(compute: Callable[..., _Sum], carry: str) -> Function:
    """Return a sum with a carry ``"in"``, the last source, and ``"out"``, the last destination."""
    reads, writes = "in" in carry, "out" in carry

    def operate(*arguments: Array) -> None:
        *sources, d = arguments[:-1] if writes else arguments
        total, over = compute(*sources) if reads else compute(*sources, None)
        d[...] = total.view(d.dtype)
        if writes:
            arguments[-1][...] = over

    return operate


def _extended_product(carry: str, words: Words) -> Function:
    multiply = high_product if words["half"] == "hi" else np.multiply
    return _extended(lambda a, b, c, flag: _sum(multiply(a, b), c, flag), carry)


def _extended_rows() -> Iterator[InstructionForm]:
    for reads, writes, carry in (("", ".cc", "out"), ("c", "", "in"), ("c", ".cc", "in out")):
        how: Keywords = {"carry": carry, "type": "u32 s32 u64 s64"}
        for opcode, compute in (("add", _sum), ("sub", _difference)):
            syntax = f"{opcode}{reads}{writes}.type  d, a, b"
            yield form(syntax, _extended(compute, carry), **how)
        yield form(
            f"mad{reads}.half{writes}.type  d, a, b, c",
            make=partial(_extended_product, carry),
            half="lo hi",
            **how,
        )


FORMS: tuple[InstructionForm, ...] = (
    form("add.type  d, a, b", np.add, type=f"{INTEGERS} {PACKED}"),
    form("add.sat.s32  d, a, b", result_of(_saturated_sum)),
    form("sub.type  d, a, b", np.subtract, type=INTEGERS),
    form("sub.sat.s32  d, a, b", result_of(lambda a, b: _saturated_sum(a, -b.astype(np.int64)))),
    form("mul.lo.type  d, a, b", np.multiply, type=INTEGERS),
    form("mul.hi.type  d, a, b", result_of(high_product), type=INTEGERS),
    form("mul.wide.type  d:wide, a, b", make=_wide, type="u16 u32 s16 s32"),
    form("mad.lo.type  d, a, b, c", make=_mad_low, type=INTEGERS),
    form("mad.hi.type  d, a, b, c", result_of(lambda a, b, c: high_product(a, b) + c),
         type=INTEGERS),
    form("mad.hi.sat.s32  d, a, b, c",
         result_of(lambda a, b, c: _saturated_sum(high_product(a, b), c))),
    form("mad.wide.type  d:wide, a, b, c:wide", make=_mad_wide, type="u16 u32 s16 s32"),
    form("mul24.half.type  d, a, b", make=_mul24, half="hi lo", type="u32 s32"),
    form("mad24.half.type  d, a, b, c", make=_mad24, half="hi lo", type="u32 s32"),
    form("mad24.half.sat.s32  d, a, b, c", make=_mad24, half="hi"),
    form("sad.type  d, a, b, c", result_of(lambda a, b, c: c + np.where(a > b, a - b, b - a)),
         type=INTEGERS),
    form("div.type  d, a, b", result_of(lambda a, b: _divided(a, b)[0]), type=INTEGERS),
    form("rem.type  d, a, b", result_of(lambda a, b: _divided(a, b)[1]), type=INTEGERS),
    form("abs.type  d, a", np.absolute, type="s16 s32 s64"),
    form("neg.type  d, a", np.negative, type="s16 s32 s64"),
    form("min.type  d, a, b", make=MIN, type=f"{INTEGERS} u16x2"),
    form("max.type  d, a, b", make=MAX, type=f"{INTEGERS} u16x2"),
    form("min{.relu}.type  d, a, b", make=MIN, type="s32 s16x2"),
    form("max{.relu}.type  d, a, b", make=MAX, type="s32 s16x2"),
    form("popc.type  d:u32, a", result_of(bits.population), type="b32 b64"),
    form("clz.type  d:u32, a", result_of(bits.leading_zeros), type="b32 b64"),
    form("bfind{.shiftamt}.type  d:u32, a", make=_bfind, type="u32 u64 s32 s64"),
    form("fns.b32  d, a, b, c:s32", result_of(_fns)),
    form("brev.type  d, a", result_of(bits.reversed_bits), type="b32 b64"),
    form("bfe.type  d, a, b:u32, c:u32", make=_bfe, type="u32 u64 s32 s64"),
    form("bfi.type  d, a, b, c:u32, e:u32", make=_bfi, type="b32 b64"),
    form("szext.mode.type  d, a, b:u32", make=_szext, mode="clamp wrap", type="u32 s32"),
    form("bmsk.mode.b32  d, a, b", make=_bmsk, mode="clamp wrap"),
    form("dp4a.atype.btype  d:b32, a:atype, b:btype, c:b32", make=_dp4a,
         atype="u32 s32", btype="u32 s32"),
    form("dp2a.half.atype.btype  d:b32, a:atype, b:btype, c:b32", make=_dp2a, half="lo hi",
         atype="u32 s32", btype="u32 s32"),
    *_extended_rows(),
)  # fmt: skip
