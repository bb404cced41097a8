"""Fused multiply-add of f32 and f64, rounded once: fast paths for ordinary values.

These are the hot spots of most kernels, so they compute in scratch arrays and use reductions to
find the lanes that need the general case, which is in ``rounding``.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.numerics import rounding
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.native import is_traced, multiply_add
from cudarun.emulator.numerics.special_values import with_hardware_nan
from cudarun.emulator.numerics.temporaries import temporaries

_SMALLEST_NORMAL = 2.0**-126
_TAIL = np.uint64(0x1FFFFFFF)  # the bits of an f64 that an f32 lacks
_HALFWAY = np.uint64(0x10000000)

_SPLITTER = 134217729.0  # 2**27 + 1
_LARGE, _SMALL = 2.0**960, 2.0**-900  # no part of a product over- or underflows in between


@temporaries("f64", "f64", "u64", "pred")
def fused_f32(
    a: Array, b: Array, c: Array, d: Array, p: Array, s: Array, t: Array, m: Array
) -> None:
    """Compute ``a * b + c`` of f32, to nearest; NaN are left to the caller.

    The product is exact in f64. The sum is not, but rounding it on to f32 is right unless it is
    just halfway between two f32 values, or so small that the halfway points lie elsewhere.
    """
    if is_traced(a):
        np.copyto(d, multiply_add(a, b, c))
        return
    np.copyto(p, a)
    np.copyto(s, b)
    np.multiply(p, s, out=p)
    np.copyto(s, c)
    np.add(p, s, out=s)
    np.bitwise_and(s.view(np.uint64), _TAIL, out=t)
    np.equal(t, _HALFWAY, out=m)
    size = np.abs(s, out=t.view(np.float64))
    if not np.minimum.reduce(size) >= _SMALLEST_NORMAL:  # there are zeros, subnormals or NaN
        m |= (size < _SMALLEST_NORMAL) & (size != 0)
    lanes = np.flatnonzero(m) if m.any() else None
    if lanes is not None:
        exact = rounding.fused_f32(a[lanes], b[lanes], c[lanes], rounding.NEAREST)
    np.copyto(d, s, casting="same_kind")
    if lanes is not None:
        d[lanes] = exact


@temporaries(*["f64"] * 8, "pred")
def fused_f64(
    a: Array, b: Array, c: Array, d: Array,
    p: Array, e: Array, h: Array, k: Array, s: Array, t: Array, u: Array, v: Array, m: Array,
) -> None:  # fmt: skip
    """Compute ``a * b + c`` of f64, to nearest, by the algorithm of Boldo and Melquiond."""
    if is_traced(a):
        np.copyto(d, with_hardware_nan(multiply_add(a, b, c), b, c, a))
        return
    np.multiply(a, b, out=p)
    lanes = exact = None
    if not all(_is_ordinary(value, t) for value in (a, b, c, p)):
        lanes, exact = _out_of_the_ordinary(a, b, c, p)
    # e: the rounding error of the product
    _split(a, h, k, t)
    _split(b, s, u, t)
    np.multiply(h, s, out=e)
    np.subtract(e, p, out=e)
    np.multiply(h, u, out=t)
    np.add(e, t, out=e)
    np.multiply(k, s, out=t)
    np.add(e, t, out=e)
    np.multiply(k, u, out=t)
    np.add(e, t, out=e)
    # h + k = c + e, then s + u = p + h: the result is s and a little of u + k
    _two_sum(c, e, h, k, t, v)
    _two_sum(p, h, s, u, t, v)
    _two_sum(u, k, h, e, t, v)
    _to_odd(h, e, t, m)
    np.add(s, h, out=d)
    if lanes is not None:
        d[lanes] = exact


def _is_ordinary(value: Array, t: Array) -> bool:
    """Return whether all values are finite, nonzero, and far from the limits of the range."""
    np.abs(value, out=t)
    return bool(np.maximum.reduce(t) <= _LARGE and np.minimum.reduce(t) >= _SMALL)


def _out_of_the_ordinary(a: Array, b: Array, c: Array, p: Array) -> tuple[Array, Array]:
    """Return the lanes for which the parts would not be exact, and their results."""
    sizes = np.abs(np.stack(np.broadcast_arrays(a, b, c, p)))
    strange = ~((sizes <= _LARGE) & ((sizes >= _SMALL) | (sizes == 0))).all(axis=0)
    strange |= (p == 0) & (a != 0) & (b != 0)
    nothing = (p == 0) & (c == 0) & ~strange  # only the sign of the zero is undetermined
    result = p + c
    lanes = np.flatnonzero(strange)
    result[lanes] = rounding.fused_f64(a[lanes], b[lanes], c[lanes], rounding.NEAREST)
    chosen = np.flatnonzero(strange | nothing)
    return chosen, result[chosen]


def _split(a: Array, high: Array, low: Array, t: Array) -> None:
    """Split ``a = high + low``, with half of the digits each (Veltkamp)."""
    np.multiply(a, _SPLITTER, out=t)
    np.subtract(t, a, out=high)
    np.subtract(t, high, out=high)
    np.subtract(a, high, out=low)


def _two_sum(a: Array, b: Array, s: Array, e: Array, t: Array, v: Array) -> None:
    """Compute ``s + e = a + b``, ``s`` the rounded sum; ``s`` and ``e`` may be ``b``, not ``a``."""
    np.add(a, b, out=t)
    np.subtract(t, a, out=v)
    np.subtract(b, v, out=e)
    np.subtract(t, v, out=v)
    np.subtract(a, v, out=v)
    np.add(e, v, out=e)
    np.copyto(s, t)


def _to_odd(s: Array, e: Array, t: Array, m: Array) -> None:
    """Round ``s + e`` to odd instead of to nearest, in place."""
    np.not_equal(e, 0.0, out=m)
    bits, change = s.view(np.int64), t.view(np.int64)
    np.bitwise_and(bits, 1, out=change)
    m &= change == 0
    if m.any():
        np.bitwise_xor(bits, e.view(np.int64), out=change)
        np.right_shift(change, 63, out=change)  # -1 where the signs differ
        np.bitwise_or(change, 1, out=change)
        np.multiply(change, m, out=change)
        np.add(bits, change, out=bits)
