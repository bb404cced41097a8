"""Exact floating-point arithmetic: results rounded once, in every rounding mode.

Works with pairs: ``s``, a sum rounded to f64, and ``e``, its exact rounding error (Knuth's TwoSum).
Rounding such a pair to a narrower format through ``s`` alone could round twice. Rounding **to odd**
first (Boldo and Melquiond, 2008) avoids that: the last bit records that the value is inexact. Where
f64 itself is too narrow, single lanes are computed with Python's integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.numerics.native import any_of, directed, is_traced
from cudarun.emulator.numerics.special_values import with_hardware_nan

NEAREST, ZERO, DOWN, UP = "rn", "rz", "rm", "rp"
MODES = "rn rz rm rp"

_SPLITTER = 134217729.0  # 2**27 + 1
_SAFE_HIGH = 2.0**960
_SAFE_LOW = 2.0**-900


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return ``a + b`` rounded, and the rounding error (0 for sums that are not finite)."""
    s = a + b
    part = s - a
    e = (a - (s - part)) + (b - part)
    return s, np.where(np.isfinite(s), e, 0.0)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return ``a * b`` rounded, and the error; exact if no part overflows or underflows."""
    p = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    e = ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
    return p, e


def _split(a: Array) -> tuple[Array, Array]:
    scaled = _SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


def to_odd(s: Array, e: Array) -> Array:
    """Return the pair as one f64: if inexact, the last bit is 1."""
    bits = s.copy().view(np.int64)
    inexact = (e != 0) & (bits & 1 == 0)
    away = np.signbit(e) == np.signbit(s)
    bits += np.where(inexact, np.where(away, 1, -1), 0)
    return bits.view(np.float64)


def step(value: Array, error_sign: Array, mode: str) -> Array:
    """Move a value rounded to nearest to the result of another rounding mode.

    Args:
        value: The exact result, rounded to nearest in its format.
        error_sign: Exact result minus ``value``; only its sign counts.
        mode: ``"rz"``, ``"rm"`` or ``"rp"``.
    """
    if mode == NEAREST:
        return value
    if mode == ZERO:
        negative, target = np.signbit(value), 0.0
        moved = ((error_sign < 0) & ~negative) | ((error_sign > 0) & negative)
    elif mode == DOWN:
        moved, target = error_sign < 0, -np.inf
    else:
        moved, target = error_sign > 0, np.inf
    return np.where(moved, np.nextafter(value, np.array(target, value.dtype)), value)


def zero_sum(result: Array, s: Array, a: Array, b: Array, mode: str) -> Array:
    """Return the sum ``s`` of ``a`` and ``b``; if rounded down, opposites add up to -0."""
    if mode != DOWN:
        return result
    opposite = (s == 0) & (np.signbit(a) != np.signbit(b))
    if not any_of(opposite):
        return result
    return np.where(opposite, np.array(-0.0, dtype=result.dtype), result)


def narrow(s: Array, e: Array, mode: str) -> Array:
    """Return the exact value ``s + e`` as f32, rounded once."""
    if mode == NEAREST:
        return to_odd(s, e).astype(np.float32)
    nearest = s.astype(np.float32)  # or next to it, but then ``step`` goes the other way
    difference = s - nearest.astype(np.float64)
    error = np.where(difference != 0, difference, e)
    return step(nearest, np.where(np.isfinite(s), error, 0.0), mode)


# --- f32 -----------------------------------------------------------------------------------------


def sum_f32(a: Array, b: Array, mode: str) -> Array:
    """Return ``a + b`` of f32."""
    s, e = two_sum(a.astype(np.float64), b.astype(np.float64))
    return zero_sum(narrow(s, e, mode), s, a, b, mode)


def product_f32(a: Array, b: Array, mode: str) -> Array:
    """Return ``a * b`` of f32: exact in f64."""
    s = a.astype(np.float64) * b.astype(np.float64)
    return narrow(s, np.zeros_like(s), mode)


def fused_f32(a: Array, b: Array, c: Array, mode: str) -> Array:
    """Return ``a * b + c`` of f32."""
    product, addend = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    s, e = two_sum(product, addend)
    return zero_sum(narrow(s, e, mode), s, product, addend, mode)


def quotient_f32(a: Array, b: Array, mode: str) -> Array:
    """Return ``a / b`` of f32."""
    quotient = a / b
    # a - quotient * b is exact in f64; its sign and that of b give the sign of the error.
    rest = a.astype(np.float64) - quotient.astype(np.float64) * b.astype(np.float64)
    sign = np.sign(rest) * np.where(np.signbit(b), -1.0, 1.0)
    sign = np.where(np.isinf(quotient), -np.sign(quotient), sign)
    proper = np.isfinite(a) & np.isfinite(b) & (b != 0)
    return step(quotient, np.where(proper, sign, 0.0), mode)


def root_f32(a: Array, mode: str) -> Array:
    """Return the square root of f32."""
    root = np.sqrt(a)
    wide = root.astype(np.float64)
    sign = np.sign(a.astype(np.float64) - wide * wide)
    return step(root, np.where(np.isfinite(a) & (a > 0), sign, 0.0), mode)


# --- f64 -----------------------------------------------------------------------------------------


def sum_f64(a: Array, b: Array, mode: str) -> Array:
    """Return ``a + b`` of f64."""
    s, e = two_sum(a, b)
    overflow = np.isinf(s) & np.isfinite(a) & np.isfinite(b)
    sign = np.where(overflow, -np.sign(s), np.sign(e))
    return zero_sum(step(s, sign, mode), s, a, b, mode)


def product_f64(a: Array, b: Array, mode: str) -> Array:
    """Return ``a * b`` of f64."""
    if is_traced(a):
        return directed("multiply", mode, a, b)
    p, e = two_product(a, b)
    sign = _fix_sign(np.sign(e), p, (a, b), lambda x, y: x * y)
    return step(p, sign, mode)


def quotient_f64(a: Array, b: Array, mode: str) -> Array:
    """Return ``a / b`` of f64."""
    if is_traced(a):
        return directed("divide", mode, a, b)
    q = a / b
    p, e = two_product(q, b)
    sign = np.sign((a - p) - e) * np.where(np.signbit(b), -1.0, 1.0)
    sign = _fix_sign(sign, q, (a, b), lambda x, y: x / y)
    return step(q, sign, mode)


def root_f64(a: Array, mode: str) -> Array:
    """Return the square root of f64."""
    if is_traced(a):
        return directed("sqrt", mode, a)
    root = np.sqrt(a)
    proper = np.isfinite(a) & (a > 0)
    signs = np.zeros(a.shape)
    for index in np.flatnonzero(proper):
        exact, found = Fraction(float(a.flat[index])), Fraction(float(root.flat[index]))
        signs.flat[index] = (exact > found * found) - (exact < found * found)
    return step(root, signs, mode)


def _fix_sign(
    sign: Array, result: Array, operands: Arrays, exactly: Callable[..., Fraction]
) -> Array:
    """Return error signs where the parts of the product may have overflowed or underflowed."""
    proper = np.logical_and.reduce([np.isfinite(x) & (x != 0) for x in operands])
    sizes = np.abs(np.stack([*operands, result]))
    risky = proper & ((sizes > _SAFE_HIGH).any(axis=0) | (sizes < _SAFE_LOW).any(axis=0))
    sign = np.where(proper, sign, 0.0)
    for index in np.flatnonzero(risky):
        exact = exactly(*(Fraction(float(x.flat[index])) for x in operands))
        value = float(result.flat[index])
        if np.isinf(value):
            sign.flat[index] = -np.sign(value)
        else:
            sign.flat[index] = (exact > Fraction(value)) - (exact < Fraction(value))
    return sign


def fused_f64(a: Array, b: Array, c: Array, mode: str) -> Array:
    """Return ``a * b + c`` of f64."""
    if is_traced(a):
        return with_hardware_nan(directed("multiply_add", mode, a, b, c), b, c, a)
    a, b, c = np.broadcast_arrays(a, b, c)
    product, product_error = two_product(a, b)
    tail, tail_error = two_sum(c, product_error)
    head, head_error = two_sum(product, tail)
    result = head + to_odd(*two_sum(tail_error, head_error))
    sizes = np.abs(np.stack([a, b, product, c, result]))
    small = (sizes < _SAFE_LOW) & (sizes != 0)
    underflow = (product == 0) & (a != 0) & (b != 0)
    risky = (sizes > _SAFE_HIGH).any(axis=0) | small.any(axis=0) | underflow | (head == 0)
    proper = np.isfinite(a) & np.isfinite(b)
    simple = ~(proper & np.isfinite(c))
    # Infinities and NaN come from ordinary operations; a finite product must not cause any.
    result = np.where(simple, np.where(proper, c + 0.0, a * b + c), result)
    exactly = ~simple if mode != NEAREST else risky & ~simple
    errors = np.zeros(result.shape)
    for index in np.flatnonzero(exactly):
        x, y, z = (float(value.flat[index]) for value in (a, b, c))
        result.flat[index], errors.flat[index] = _fused_exactly(x, y, z, mode)
    return with_hardware_nan(step(result, errors, mode), b, c, a)


def _fused_exactly(a: float, b: float, c: float, mode: str) -> tuple[float, int]:
    """Return ``a * b + c``, rounded to nearest, and the sign of the error."""
    parts = (each.as_integer_ratio() for each in (a, b, c))
    (a_over, a_under), (b_over, b_under), (c_over, c_under) = parts
    under = a_under * b_under * c_under
    over = a_over * b_over * c_under + c_over * a_under * b_under
    if over == 0:
        product_negative = (np.signbit(a) != np.signbit(b)).item()
        if product_negative == bool(np.signbit(c)) and c == 0:
            return -0.0 if product_negative else 0.0, 0
        return -0.0 if mode == DOWN else 0.0, 0
    try:
        nearest = over / under
    except OverflowError:
        return (math.inf, -1) if over > 0 else (-math.inf, 1)
    nearest_over, nearest_under = nearest.as_integer_ratio()
    exact, found = over * nearest_under, nearest_over * under
    return nearest, (exact > found) - (exact < found)
