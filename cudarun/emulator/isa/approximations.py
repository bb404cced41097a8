"""Approximations of f32 and f64 (``.approx``, ``.full``): ptxas's code around the unit, for sm_90.

``numerics/special_functions.py`` is the special function unit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from cudarun.emulator.isa.form import computed
from cudarun.emulator.numerics import special_functions as unit
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.fused import fused_f64
from cudarun.emulator.numerics.native import any_of, is_traced
from cudarun.emulator.numerics.special_values import canonical, flush_tiny, flushed
from cudarun.emulator.numerics.temporaries import Function, result_of, temporaries_of
from cudarun.emulator.words import Words

Bits = Callable[[Array], Array]

_TINY, _LARGE = np.float32(2.0**-126), np.float32(2.0**126)
_PART = 1 << 13
_UP = np.float32(2.0**24)
_TURN = np.float64(np.uint32(0x3E22F983).view(np.float32))  # 1 / (2 pi)
_INVALID = np.uint64(0xFFF8000000000000).view(np.float64)
_CUT = np.uint64(0xFFFFFFFFE0000000)  # the bits of an f64 that an f32 has


def of_unit(function: Bits, a: Array) -> Array:
    """Return a function of the unit of f32 values; many ones in parts that fit into caches."""
    bits = a.view(np.int32)
    if is_traced(a) or len(a) <= _PART:
        return function(bits).view(np.float32)
    parts = [function(bits[first : first + _PART]) for first in range(0, len(a), _PART)]
    return np.concatenate(parts).view(np.float32)


# --- division ------------------------------------------------------------------------------------


@computed
def division(words: Words, a: Array, b: Array) -> Array:
    """Return the result of ``div.approx`` or ``div.full``."""
    return _quotient(a, b, full=bool(words.get("full")), ftz=bool(words.get("ftz")))


@computed
def reciprocal(words: Words, a: Array) -> Array:
    """Return the result of ``rcp.approx.f32``."""
    if words.get("ftz"):
        return of_unit(unit.reciprocal, a)
    return _quotient(np.ones_like(a), a, full=True, ftz=False)


def factors(a: Array, b: Array, *, full: bool, ftz: bool) -> tuple[Array, Array]:
    """Return the factors of ``a / b``: a and 1 / b, scaled where 1 / b is not a normal number."""
    multiply = _flushing_product if ftz else np.multiply
    scale: Array | None = None
    if full and any_of(large := np.abs(b) > _LARGE):
        scale = np.where(large, np.float32(0.25), np.float32(1))
    if not ftz and any_of(small := np.abs(b) < _TINY):
        scale = np.where(small, _UP, np.float32(1) if scale is None else scale)
    if scale is not None:
        a, b = multiply(a, scale), multiply(b, scale)
    return a, of_unit(unit.reciprocal, b)


def _quotient(a: Array, b: Array, *, full: bool, ftz: bool) -> Array:
    multiply = _flushing_product if ftz else np.multiply
    product: Array = multiply(*factors(a, b, full=full, ftz=ftz))
    canonical(product)
    return product


def _flushing_product(a: Array, b: Array) -> Array:
    """Return the product as ``FMUL.FTZ``."""
    a, b = flushed(a), flushed(b)
    product = a * b
    if any_of(np.abs(product) <= _TINY):
        flush_tiny(product, (a + a) * b)
    return product


# --- functions of one number ---------------------------------------------------------------------


def scaled(operation: Bits, finish: Bits) -> Callable[[Words], Function]:
    """Return a function that, without ``.ftz``, first multiplies subnormal arguments by 2^24.

    Args:
        operation: The function of the unit.
        finish: Returns the results of such arguments.
    """

    def compute(words: Words, a: Array) -> Array:
        if words.get("ftz") or not any_of(small := np.abs(a) < _TINY):
            return of_unit(operation, a)
        result = of_unit(operation, np.where(small, a * _UP, a))
        return np.where(small, finish(result), result)

    return computed(compute)


@computed
def power(words: Words, a: Array) -> Array:
    """Return the result of ``ex2.approx``: without ``.ftz``, a tiny one's root is squared."""
    if words.get("ftz") or not any_of(tiny := a < np.float32(-126)):
        return of_unit(unit.power, a)
    result = of_unit(unit.power, np.where(tiny, a * np.float32(0.5), a))
    return np.where(tiny, result * result, result)


def of_angle(operation: Bits, a: Array) -> Array:
    """Return a function of the unit of an angle: the product that makes it turns is truncated."""
    turns = (a.astype(np.float64) * _TURN).view(np.uint64) & _CUT
    return of_unit(operation, turns.view(np.float64).astype(np.float32))


# --- f64 -----------------------------------------------------------------------------------------


def coarse(operation: Callable[[Array, int], Array]) -> Function:
    """Return a function of the upper halves of f64 values; the lower half of the result is 0."""
    return result_of(partial(_of_upper, operation))


def _of_upper(operation: Callable[[Array, int], Array], a: Array) -> Array:
    upper = operation((a.view(np.int64) >> 32).astype(np.int32), 20)
    return (upper.astype(np.int64) << 32).view(np.float64)


def reciprocal_root_f64(a: Array) -> Array:
    """Return ``rsqrt.approx.f64``: a step of third order from the unit's result."""
    small = np.abs(a) < 2.0**-1022
    x = np.where(small, a * 2.0**54, a)
    y = _of_upper(unit.reciprocal_root, x)
    error = _fused(x, -(y * y), np.ones_like(a))
    half = _fused(error, np.full_like(a, 0.375), np.full_like(a, 0.5))
    result = _fused(half, y * error, y)
    result = np.where(small, result * 2.0**27, result)
    special = np.where(a == 0, np.copysign(np.inf, a), np.where(a < 0, _INVALID, 0.0))
    special = np.where(np.isnan(a), a + a, special)
    return np.where((a > 0) & (a < np.inf), result, special)


def _fused(a: Array, b: Array, c: Array) -> Array:
    """Return ``a * b + c`` of f64."""
    d, scratch = np.empty_like(a), [np.empty_like(a, each) for each in temporaries_of(fused_f64)]
    fused_f64(a, b, c, d, *scratch)
    return d
