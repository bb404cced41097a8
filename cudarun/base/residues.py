"""Arithmetic modulo a prime over floats, for ``--algebra``.

A finite float is a fraction ``m * 2**e``, which is a number modulo any odd prime. It is represented
by the least integer in magnitude, as a float: with this prime, integers of f16, of tf32 and of all
wider types. Sums and products of representatives are exact in f64; `representative` reduces them.
Infinities and NaN are no numbers modulo the prime, and remain as they are.
"""

from __future__ import annotations

from functools import cache, reduce
from itertools import accumulate
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

PRIME = 4093
"""The largest prime below 2^12. Its residues are the multiples of powers of 2, also of bf16."""
MOST = PRIME // 2  # the largest representative
_ORDER = PRIME - 1  # 2**_ORDER is 1
_DIGITS = 53  # of f64


@cache
def _powers() -> Array:
    """Return the powers of 2."""
    return np.array([*accumulate(range(1, _ORDER + 1), lambda power, _: power * 2 % PRIME)])


@cache
def _inverses() -> Array:
    return np.array([0, *(pow(each, -1, PRIME) for each in range(1, PRIME))])


def representative(values: Array) -> Array:
    """Return the representatives of f64 values."""
    if (np.abs(values) <= MOST).all() and (values == np.rint(values)).all():
        return values + 0.0  # -0 is 0
    is_number = np.isfinite(values)
    fraction, exponent = np.frexp(np.where(is_number, values, 0.0))
    digits = np.ldexp(fraction, _DIGITS).astype(np.int64) % PRIME
    found = _centered(digits * _powers()[(exponent - _DIGITS) % _ORDER])
    return np.where(is_number, found, values)


def of_integers(values: Array) -> Array:
    """Return the representatives of integers."""
    wide = values if values.dtype.itemsize == 8 else values.astype(np.int64)
    return _centered(np.mod(wide, wide.dtype.type(PRIME)).astype(np.int64))


def _centered(integers: Array) -> Array:
    rest = integers % PRIME
    return np.where(rest > MOST, rest - PRIME, rest).astype(np.float64)


def inverse(values: Array) -> Array:
    """Return the numbers whose products with representatives are 1; of 0 it is 0."""
    is_number = np.isfinite(values)
    places = np.where(is_number, values, 0.0).astype(np.int64) % PRIME
    with np.errstate(divide="ignore"):
        return np.where(is_number, _centered(_inverses()[places]), 1.0 / values)


def opaque(name: str, *operands: Array) -> Array:
    """Return representatives that depend on a name and on the representatives of operands only."""

    def mixed(state: Array, operand: Array) -> Array:
        number = np.where(np.isfinite(operand), operand, 0.0).astype(np.int64).astype(np.uint64)
        state = (state ^ number) * np.uint64(0x9E3779B97F4A7C15)
        return state ^ state >> np.uint64(29)

    with np.errstate(over="ignore"):
        start = np.full(operands[0].shape, crc32(name.encode()), np.uint64)
        state = reduce(mixed, (*operands, operands[0]), start)
    return _centered((state >> np.uint64(7)).astype(np.int64))
