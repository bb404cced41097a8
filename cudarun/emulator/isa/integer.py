"""Integer arithmetic (PTX manual 9.7.1) and extended-precision arithmetic (9.7.2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.numerics import bits
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.native import contiguous
from cudarun.emulator.numerics.temporaries import Function, temporaries
from cudarun.emulator.numerics.types import TypeKind, wider
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


def _high(a: Array, b: Array, d: Array) -> None:
    d[...] = high_product(a, b)


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


def _mad_high(a: Array, b: Array, c: Array, d: Array) -> None:
    np.add(high_product(a, b), c, out=d)


def _mad_high_saturating(a: Array, b: Array, c: Array, d: Array) -> None:
    add_saturating(high_product(a, b), c, d)


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
    product: Array = ((a << shift) >> shift).astype(wide) * ((b << shift) >> shift).astype(wide)
    return product


def _mul24(words: Words) -> Function:
    shift = 16 if words["half"] == "hi" else 0

    def multiply(a: Array, b: Array, d: Array) -> None:
        d[...] = (_product_24(a, b) >> shift).astype(d.dtype)

    return multiply


def _mad24(words: Words) -> Function:
    shift = 16 if words["half"] == "hi" else 0

    def mad(a: Array, b: Array, c: Array, d: Array) -> None:
        product = (_product_24(a, b) >> shift).astype(d.dtype)
        if words.get("sat"):
            add_saturating(product, c, d)
        else:
            np.add(product, c, out=d)

    return mad


# --- saturation ----------------------------------------------------------------------------------


def add_saturating(a: Array, b: Array, d: Array) -> None:
    """Compute the sum of ``s32``, clamped to its range."""
    d[...] = np.clip(a.astype(np.int64) + b, -(1 << 31), (1 << 31) - 1)


def _subtract_saturating(a: Array, b: Array, d: Array) -> None:
    d[...] = np.clip(a.astype(np.int64) - b, -(1 << 31), (1 << 31) - 1)


# --- division ------------------------------------------------------------------------------------


def divide(a: Array, b: Array, d: Array) -> None:
    """Compute the quotient rounded towards zero; by zero all bits are set, as on hardware."""
    quotient, _ = _divided(a, b)
    np.copyto(d, quotient)


def remainder(a: Array, b: Array, d: Array) -> None:
    """Compute the remainder with the sign of ``a``; by zero all bits are set."""
    _, rest = _divided(a, b)
    np.copyto(d, rest)


def _divided(a: Array, b: Array) -> tuple[Array, Array]:
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


def _negate(a: Array, d: Array) -> None:
    np.negative(a, out=d)


def _sad(a: Array, b: Array, c: Array, d: Array) -> None:
    difference = np.where(a > b, a - b, b - a)
    np.add(c, difference, out=d)


def _extreme(ufunc: np.ufunc) -> Callable[[Words], Function]:
    def make(words: Words) -> Function:
        def pick(a: Array, b: Array, d: Array) -> None:
            ufunc(a, b, out=d)

        def pick_positive(a: Array, b: Array, d: Array) -> None:
            ufunc(a, b, out=d)
            np.maximum(d, 0, out=d)

        return pick_positive if words.get("relu") else pick

    return make


_min, _max = _extreme(np.minimum), _extreme(np.maximum)


# --- bits ----------------------------------------------------------------------------------------


def _popc(a: Array, d: Array) -> None:
    d[...] = bits.population(a)


def _clz(a: Array, d: Array) -> None:
    d[...] = bits.leading_zeros(a)


def _brev(a: Array, d: Array) -> None:
    d[...] = bits.reversed_bits(a)


def _bfind(words: Words) -> Function:
    width = words.type.bits

    def find(a: Array, d: Array) -> None:
        unsigned = a.view(f"u{a.dtype.itemsize}")
        if a.dtype.kind == "i":
            unsigned = np.where(a < 0, ~unsigned, unsigned)
        leading = bits.leading_zeros(unsigned)
        found = leading if words["shiftamt"] else np.uint32(width - 1) - leading
        d[...] = np.where(unsigned == 0, np.uint32(0xFFFFFFFF), found)

    return find


def _place_of_field(width: int) -> Function:
    """Return a position or length as the instruction reads it.

    Only the low 8 bits count for 32-bit fields, as documented. 64-bit fields are made of shifts,
    for which all 32 bits count on hardware, contrary to the manual.
    """
    if width == 32:
        return lambda amount: amount & 0xFF
    return lambda amount: np.minimum(amount, np.uint32(0xFF))


def _bfe(words: Words) -> Function:
    ptx_type = words.type

    unsigned = np.dtype(f"u{ptx_type.bytes}")
    most = np.uint32(ptx_type.bits - 1)
    place = _place_of_field(ptx_type.bits)

    def extract(a: Array, b: Array, c: Array, d: Array) -> None:
        position, length = place(b), place(c)
        field = bits.field_mask(np.zeros_like(length), length, ptx_type.bits)
        value = bits.shift_right(a, position).view(unsigned) & field
        if ptx_type.kind is TypeKind.SIGNED:
            last = np.minimum(position + length - np.uint32(1), most)
            negative = (bits.shift_right(a, last) & 1 != 0) & (length != 0)
            value = np.where(negative, value | ~field, value)
        d[...] = value.view(d.dtype)

    return extract


def _bfi(words: Words) -> Function:
    width = words.type.bits
    place = _place_of_field(width)

    def insert(a: Array, b: Array, c: Array, e: Array, d: Array) -> None:
        position, length = place(c), place(e)
        mask = bits.field_mask(position, length, width)
        d[...] = (b & ~mask) | (bits.shift_left(a, position) & mask)

    return insert


def _fns(mask: Array, base: Array, offset: Array, d: Array) -> None:
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
    d[...] = result


def _szext(words: Words) -> Function:
    wrap = words["mode"] == "wrap"
    signed = words.type.kind is TypeKind.SIGNED

    def extend(a: Array, b: Array, d: Array) -> None:
        width = b & 31 if wrap else np.minimum(b, 32)
        mask = bits.field_mask(np.zeros_like(width), width, 32)
        raw = a.view(np.uint32)
        value = raw & mask
        if signed:
            top = np.where(width == 0, np.uint32(0), width - np.uint32(1))
            negative = (bits.shift_right(raw, top) & 1 != 0) & (width != 0)
            value = np.where(negative, value | ~mask, value)
        d[...] = value.view(d.dtype)

    return extend


def _bmsk(words: Words) -> Function:
    wrap = words["mode"] == "wrap"

    def mask(a: Array, b: Array, d: Array) -> None:
        position, length = (a & 31, b & 31) if wrap else (np.minimum(a, 32), np.minimum(b, 32))
        d[...] = bits.field_mask(position, length, 32)

    return mask


# --- dot products --------------------------------------------------------------------------------


def _dp4a(words: Words) -> Function:
    a_type, b_type = ("i1" if words[name] == "s32" else "u1" for name in ("atype", "btype"))

    def dot(a: Array, b: Array, c: Array, d: Array) -> None:
        left = contiguous(a).view(a_type).reshape(-1, 4).astype(np.int64)
        right = contiguous(b).view(b_type).reshape(-1, 4).astype(np.int64)
        d[...] = ((left * right).sum(axis=1) + c).astype(np.uint32).view(d.dtype)

    return dot


def _dp2a(words: Words) -> Function:
    a_type = "i2" if words["atype"] == "s32" else "u2"
    b_type = "i1" if words["btype"] == "s32" else "u1"
    half = slice(2, 4) if words["half"] == "hi" else slice(0, 2)

    def dot(a: Array, b: Array, c: Array, d: Array) -> None:
        left = contiguous(a).view(a_type).reshape(-1, 2).astype(np.int64)
        right = contiguous(b).view(b_type).reshape(-1, 4)[:, half].astype(np.int64)
        d[...] = ((left * right).sum(axis=1) + c).astype(np.uint32).view(d.dtype)

    return dot


# --- extended precision --------------------------------------------------------------------------


def add_with_carry(a: Array, b: Array, carry: Array | None, d: Array, out: Array | None) -> None:
    """Compute ``d, out = a + b + carry``."""
    a, b = (x.view(f"u{x.dtype.itemsize}") for x in (a, b))
    total = a + b
    over = total < a
    if carry is not None:
        total = total + carry
        over = over | ((total == 0) & carry)
    d[...] = total.view(d.dtype)
    if out is not None:
        out[...] = over


def subtract_with_carry(
    a: Array, b: Array, carry: Array | None, d: Array, out: Array | None
) -> None:
    """Compute ``d, out = a - b`` as ``a + ~b + carry``, without one ``a + ~b + 1``.

    The manual describes a borrow, but the flag is the carry of that addition: ``addc`` after
    ``subc.cc`` sees it inverted, on which nvcc's 128-bit division relies.
    """
    a, b = (x.view(f"u{x.dtype.itemsize}") for x in (a, b))
    total = a - b
    over = a >= b
    if carry is not None:
        total = total - ~carry
        over = np.where(carry, over, a > b)
    d[...] = total.view(d.dtype)
    if out is not None:
        out[...] = over


def _add_cc(a: Array, b: Array, d: Array, out: Array) -> None:
    add_with_carry(a, b, None, d, out)


def _addc(a: Array, b: Array, carry: Array, d: Array) -> None:
    add_with_carry(a, b, carry, d, None)


def _sub_cc(a: Array, b: Array, d: Array, out: Array) -> None:
    subtract_with_carry(a, b, None, d, out)


def _subc(a: Array, b: Array, carry: Array, d: Array) -> None:
    subtract_with_carry(a, b, carry, d, None)


def _half_product(half: str, a: Array, b: Array) -> Array:
    return high_product(a, b) if half == "hi" else a * b


def _mad_cc(words: Words) -> Function:
    half = words["half"]

    def mad(a: Array, b: Array, c: Array, d: Array, out: Array) -> None:
        add_with_carry(_half_product(half, a, b), c, None, d, out)

    return mad


def _madc(words: Words) -> Function:
    half = words["half"]

    def mad(a: Array, b: Array, c: Array, carry: Array, d: Array) -> None:
        add_with_carry(_half_product(half, a, b), c, carry, d, None)

    return mad


def _madc_cc(words: Words) -> Function:
    half = words["half"]

    def mad(a: Array, b: Array, c: Array, carry: Array, d: Array, out: Array) -> None:
        add_with_carry(_half_product(half, a, b), c, carry, d, out)

    return mad


_EXTENDED = "u32 s32 u64 s64"

FORMS: tuple[InstructionForm, ...] = (
    form("add.type  d, a, b", np.add, type=f"{INTEGERS} {PACKED}"),
    form("add.sat.s32  d, a, b", add_saturating),
    form("sub.type  d, a, b", np.subtract, type=INTEGERS),
    form("sub.sat.s32  d, a, b", _subtract_saturating),
    form("mul.lo.type  d, a, b", np.multiply, type=INTEGERS),
    form("mul.hi.type  d, a, b", _high, type=INTEGERS),
    form("mul.wide.type  d:wide, a, b", make=_wide, type="u16 u32 s16 s32"),
    form("mad.lo.type  d, a, b, c", make=_mad_low, type=INTEGERS),
    form("mad.hi.type  d, a, b, c", _mad_high, type=INTEGERS),
    form("mad.hi.sat.s32  d, a, b, c", _mad_high_saturating),
    form("mad.wide.type  d:wide, a, b, c:wide", make=_mad_wide, type="u16 u32 s16 s32"),
    form("mul24.half.type  d, a, b", make=_mul24, half="hi lo", type="u32 s32"),
    form("mad24.half.type  d, a, b, c", make=_mad24, half="hi lo", type="u32 s32"),
    form("mad24.half.sat.s32  d, a, b, c", make=_mad24, half="hi"),
    form("sad.type  d, a, b, c", _sad, type=INTEGERS),
    form("div.type  d, a, b", divide, type=INTEGERS),
    form("rem.type  d, a, b", remainder, type=INTEGERS),
    form("abs.type  d, a", np.absolute, type="s16 s32 s64"),
    form("neg.type  d, a", _negate, type="s16 s32 s64"),
    form("min.type  d, a, b", make=_min, type=f"{INTEGERS} u16x2"),
    form("max.type  d, a, b", make=_max, type=f"{INTEGERS} u16x2"),
    form("min{.relu}.type  d, a, b", make=_min, type="s32 s16x2"),
    form("max{.relu}.type  d, a, b", make=_max, type="s32 s16x2"),
    form("popc.type  d:u32, a", _popc, type="b32 b64"),
    form("clz.type  d:u32, a", _clz, type="b32 b64"),
    form("bfind{.shiftamt}.type  d:u32, a", make=_bfind, type="u32 u64 s32 s64"),
    form("fns.b32  d, a, b, c:s32", _fns),
    form("brev.type  d, a", _brev, type="b32 b64"),
    form("bfe.type  d, a, b:u32, c:u32", make=_bfe, type="u32 u64 s32 s64"),
    form("bfi.type  d, a, b, c:u32, e:u32", make=_bfi, type="b32 b64"),
    form("szext.mode.type  d, a, b:u32", make=_szext, mode="clamp wrap", type="u32 s32"),
    form("bmsk.mode.b32  d, a, b", make=_bmsk, mode="clamp wrap"),
    form("dp4a.atype.btype  d:b32, a:atype, b:btype, c:b32", make=_dp4a,
         atype="u32 s32", btype="u32 s32"),
    form("dp2a.half.atype.btype  d:b32, a:atype, b:btype, c:b32", make=_dp2a, half="lo hi",
         atype="u32 s32", btype="u32 s32"),
    form("add.cc.type  d, a, b", _add_cc, carry="out", type=_EXTENDED),
    form("addc.type  d, a, b", _addc, carry="in", type=_EXTENDED),
    form("addc.cc.type  d, a, b", add_with_carry, carry="in out", type=_EXTENDED),
    form("sub.cc.type  d, a, b", _sub_cc, carry="out", type=_EXTENDED),
    form("subc.type  d, a, b", _subc, carry="in", type=_EXTENDED),
    form("subc.cc.type  d, a, b", subtract_with_carry, carry="in out", type=_EXTENDED),
    form("mad.half.cc.type  d, a, b, c", make=_mad_cc, carry="out", half="lo hi", type=_EXTENDED),
    form("madc.half.type  d, a, b, c", make=_madc, carry="in", half="lo hi", type=_EXTENDED),
    form("madc.half.cc.type  d, a, b, c", make=_madc_cc, carry="in out", half="lo hi",
         type=_EXTENDED),
)  # fmt: skip
