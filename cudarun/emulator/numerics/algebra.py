"""Floats as numbers modulo a prime (``base/residues.py``) in registers and memory.

While `enabled`, modules are decoded to operations on them; the interpreter executes these.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from cudarun.base.residues import MOST, PRIME, representative
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.formats import to_f32
from cudarun.emulator.numerics.special_values import extreme
from cudarun.emulator.numerics.types import Type

enabled = False
"""Whether modules that are loaded from now on are decoded to these operations."""

_LARGE = {"f32": PRIME * 4095.0, "f64": PRIME * (2.0**40 - 1)}
"""Multiples of the prime: sums with representatives are integers of 24 and of 52 digits."""
_NAN_OF_BF16 = np.uint16(0x7FFF)


def load(values: Array, number_format: str) -> Array:
    """Return the representatives of numbers in a format, as f64."""
    wide = values if values.dtype.kind == "f" else to_f32(values, number_format)
    return representative(wide.astype(np.float64))


def store(numbers: Array, number_format: str) -> Array:
    """Return values in a format, f16, bf16, f32 or f64, whose numbers have these representatives.

    Those of f32 and f64 use all digits: code that drops some of their bits changes the number.
    """
    if number_format in _LARGE:
        sign = np.where(np.isfinite(numbers), np.sign(numbers), 0.0)
        numbers = numbers + sign * _LARGE[number_format]
    return as_format(numbers, number_format)


def as_format(numbers: Array, number_format: str) -> Array:
    """Return representatives in a format, of bf16 other values of their numbers if necessary."""
    if number_format != "bf16":
        return numbers.astype({"f16": "f2", "f64": "f8"}.get(number_format, "f4"))
    places = np.where(np.isfinite(numbers), numbers, 0.0).astype(np.int64) % PRIME
    infinite = np.where(numbers < 0, np.uint16(0xFF80), np.uint16(0x7F80))
    found: Array = np.where(np.isinf(numbers), infinite, _bf16_table()[places])
    return np.where(np.isnan(numbers), _NAN_OF_BF16, found)


@cache
def _bf16_table() -> Array:
    """Return the bits of bf16 of each number: of integers, else of the value closest to 1."""
    positive = np.arange(1, 0x7F80, dtype=np.uint16)
    bits = np.concatenate([positive, positive | np.uint16(0x8000)])
    values = to_f32(bits, "bf16").astype(np.float64)
    is_whole = (np.abs(values) <= MOST) & (values == np.rint(values))
    best_last = np.argsort(np.where(is_whole, -1.0, np.abs(np.log2(np.abs(values)))))[::-1]
    table = np.zeros(PRIME, np.uint16)
    table[representative(values[best_last]).astype(np.int64) % PRIME] = bits[best_last]
    table[0] = 0
    return table


def product(a: Array, b: Array, c: Array, number_format: str) -> Array:
    """Return ``a @ b + c`` in a format; a sparse ``a`` has rows of its own in ``b``."""
    a, b, c = map(representative, (a, b, c))
    total = a @ b if b.ndim == a.ndim else (a[..., None, :] @ b)[..., 0, :]
    return store(representative(total + c), number_format)


def combined(operation: str, ptx_type: Type, stored: Array, given: Array) -> Array:
    """Return the result of ``add``, ``min`` or ``max`` of values in memory with operands."""
    name = ptx_type.name.removesuffix("x2")
    left, right = (
        load(np.ascontiguousarray(x).view(ptx_type.dtype), name) for x in (stored, given)
    )
    if operation == "add":
        return store(representative(left + right), name).view(given.dtype)
    return store(extreme(operation, left, right), name).view(given.dtype)
