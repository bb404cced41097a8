"""Conversions between integers and floating-point formats, each rounded once."""

from __future__ import annotations

import numpy as np

from cudarun.emulator.numerics import rounding
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.formats import to_f32
from cudarun.emulator.numerics.special_values import flushed
from cudarun.emulator.numerics.types import Type, TypeKind


def integer_range(ptx_type: Type) -> tuple[int, int]:
    """Return the smallest and the largest value of an integer type."""
    if ptx_type.kind is TypeKind.SIGNED:
        return -(1 << (ptx_type.bits - 1)), (1 << (ptx_type.bits - 1)) - 1
    return 0, (1 << ptx_type.bits) - 1


def integer_pair(a: Array) -> tuple[Array, Array]:
    """Convert an integer array to an exact pair of f64."""
    if a.dtype.itemsize < 8:
        s = a.astype(np.float64)
        return s, np.zeros_like(s)
    high = a >> 32 if a.dtype.kind == "i" else a >> np.uint64(32)
    low = (a.view(np.uint64) & np.uint64(0xFFFFFFFF)).astype(np.float64)
    return rounding.two_sum(high.astype(np.float64) * 4294967296.0, low)


def to_f64(a: Array, ptx_type: Type, *, ftz: bool) -> Array:
    """Convert a floating-point value to f64."""
    if ptx_type.name in ("f16", "bf16"):
        return to_f32(a, ptx_type.name).astype(np.float64)
    if ptx_type.name == "f32":
        return (flushed(a) if ftz else a).astype(np.float64)
    return a


def half_nan(nan: Array, number_format: str) -> Array:
    """Convert f64 NaN to 16 bits, keeping the sign and the upper bits of the payload."""
    fraction = {"f16": 10, "bf16": 7}[number_format]
    quiet = 0xFFFF << fraction - 1 & 0x7FFF
    bits = nan.view(np.uint64)
    payload = bits >> np.uint64(52 - fraction) & np.uint64((1 << fraction) - 1)
    return (bits >> np.uint64(48) & np.uint64(0x8000) | payload | np.uint64(quiet)).astype("u2")
