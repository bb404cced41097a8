"""Narrow floating-point formats (f16, bf16, tf32, those of 4 to 8 bits), converted from and to f32.

f16 values are numpy's ``float16``; arrays of the other ones hold the bits.
"""

from __future__ import annotations

import numpy as np

from cudarun.emulator.numerics import rounding
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.native import any_of
from cudarun.emulator.numerics.special_values import saturate
from cudarun.emulator.numerics.types import Type

_SMALLEST = {"f16": np.float32(2.0**-14), "bf16": np.float32(2.0**-126)}  # that is normal
_NAN = {"f16": 0x7FFF, "bf16": 0x7FFF}
_LARGEST = {"e4m3": 448.0, "e5m2": 57344.0, "e2m3": 7.5, "e3m2": 28.0, "e2m1": 6.0}
# The bits of the fraction, the exponent's bias, and all bits but the sign.
_LAYOUT = {"e4m3": (3, 7, 7), "e5m2": (2, 15, 7), "e2m3": (3, 1, 5), "e3m2": (2, 3, 5),
           "e2m1": (1, 1, 3), "f16": (10, 15, 15), "bf16": (7, 127, 15)}  # fmt: skip
_RANDOM_BITS = {"f16": 13, "bf16": 16}  # of ``cvt.rs``; 8 of narrower formats


def element(ptx_type: Type) -> str:
    """Return the name of one element's format: ``f16`` for ``f16x2``."""
    return ptx_type.name.removesuffix("x2")


def to_f32(a: Array, number_format: str) -> Array:
    """Convert to f32, exactly."""
    if number_format == "bf16":
        return np.left_shift(a.astype(np.uint32), np.uint32(16)).view(np.float32)
    if number_format == "ue8m0":
        value = np.where(a == 0, np.uint32(1 << 22), a.astype(np.uint32) << np.uint32(23))
        return np.where(a == 255, np.float32(np.nan), value.view(np.float32))
    if number_format == "ue4m3":
        return _widened(a & np.uint8(0x7F), "e4m3")
    if number_format in _LARGEST:
        return _widened(a, number_format)
    return a.astype(np.float32)


def odd_f32(s: Array, e: Array) -> Array:
    """Round the exact value ``s + e`` to f32, to odd, so that it can be rounded once more."""
    nearest = s.astype(np.float32)
    back = nearest.astype(np.float64)
    bits = nearest.view(np.int32).copy()
    difference = np.where(s != back, s - back, e)
    inexact = (difference != 0) & np.isfinite(s)
    outward = np.signbit(difference) != np.signbit(s)  # rounded away from zero
    bits -= (inexact & outward).astype(np.int32)
    bits |= inexact.astype(np.int32)
    return bits.view(np.float32)


def from_pair(s: Array, e: Array, number_format: str, mode: str) -> Array:
    """Round the exact value ``s + e`` (f64 and rounding error) once, to a format."""
    if number_format == "f64":
        sign = np.where(np.isinf(s), 0.0, np.sign(e))
        return rounding.step(s, sign, mode)
    if number_format == "f32":
        return rounding.narrow(s, e, mode)
    odd = odd_f32(s, e)
    return from_f32(odd, number_format, mode)


def from_f32(a: Array, number_format: str, mode: str = rounding.NEAREST) -> Array:
    """Round an f32 value to f16 or bf16, with the canonical NaN."""
    if number_format == "bf16":
        result = _to_bf16(a, mode)
    else:
        result = a.astype(np.float16)
        if mode != rounding.NEAREST:
            error = a - result.astype(np.float32)
            error = np.where(np.isinf(result), -np.sign(a), np.sign(error))
            result = rounding.step(result, np.where(np.isfinite(a), error, 0), mode)
    nan = np.isnan(a)
    if any_of(nan):
        result.view(np.uint16)[nan] = _NAN[number_format]
    return result


def _to_bf16(a: Array, mode: str) -> Array:
    bits = a.view(np.uint32)
    lost = bits & np.uint32(0xFFFF)
    kept = (bits >> np.uint32(16)).astype(np.uint16)
    negative = kept >> np.uint16(15) != 0
    if mode == rounding.NEAREST:
        up = (lost > 0x8000) | ((lost == 0x8000) & (kept & 1 != 0))
    elif mode == rounding.ZERO:
        up = np.zeros_like(a, dtype=np.bool_)
    else:
        up = (lost != 0) & (negative if mode == rounding.DOWN else ~negative)
    result: Array = kept + (up & np.isfinite(a)).astype(np.uint16)
    return result


def rectified(a: Array) -> Array:
    """Apply ``.relu``: values below +0, and -0, become +0; NaN stay."""
    return np.where(a <= 0, np.float32(0), a)


def to_tf32(a: Array, mode: str) -> Array:
    """Round f32 to the 10 fraction bits of tf32; return the bits.

    NaN become 0x7fffe000, but with ``rna`` are only truncated, as on hardware.
    """
    bits = a.view(np.uint32)
    if mode == "rna":
        rounded = bits + np.uint32(0x1000)
    elif mode == rounding.NEAREST:
        rounded = bits + np.uint32(0xFFF) + ((bits >> np.uint32(13)) & np.uint32(1))
    else:
        rounded = bits
    result = np.where(np.isfinite(a), rounded, bits) & np.uint32(0xFFFFE000)
    return result if mode == "rna" else np.where(np.isnan(a), np.uint32(0x7FFFE000), result)


def to_narrow(a: Array, number_format: str, mode: str = rounding.NEAREST) -> Array:
    """Round f32 or f64 to nearest or toward zero in a format of 4 to 8 bits.

    Values beyond the range become the largest finite value; NaN the bits below the sign.
    """
    largest = _LARGEST[number_format]
    bits = _narrowed(np.clip(a, -largest, largest), number_format, mode)
    return np.where(np.isnan(a), np.uint8((1 << _LAYOUT[number_format][2]) - 1), bits)


def to_e8m0(a: Array, *, up: bool, finite: bool) -> Array:
    """Return the exponents of f32 magnitudes, rounded down or up to powers of two.

    Args:
        up: Round up, except below the least power, 2^-127.
        finite: Infinity becomes the largest power, not a NaN.
    """
    bits = a.view(np.uint32) & np.uint32(0x7FFFFFFF)
    exponent = bits >> np.uint32(23)
    if up:
        is_between = (bits & np.uint32(0x7FFFFF) != 0) & (bits > np.uint32(1 << 22))
        exponent = exponent + (is_between & (exponent < 255)).astype(np.uint32)
    if finite:
        exponent = np.where(np.isnan(a), exponent, np.minimum(exponent, np.uint32(254)))
    return exponent.astype(np.uint8)


def randomly_increased(a: Array, number_format: str, random: Array) -> Array:
    """Return f64 which, rounded toward zero, are f32 values rounded stochastically to a format.

    The random bits are added to the highest of the bits that the format lacks; of subnormal
    results these are those below the least subnormal value.
    """
    fraction, bias, _ = _LAYOUT[number_format]
    count = _RANDOM_BITS.get(number_format, 8)
    wide = a.astype(np.float64)
    exponent = wide.view(np.uint64) >> np.uint64(52) & np.uint64(0x7FF)
    exponent = np.maximum(exponent, np.uint64(1023 + 1 - bias))
    unit = (exponent - np.uint64(fraction + count)) << np.uint64(52)
    added = (random & np.uint32((1 << count) - 1)).astype(np.float64) * unit.view(np.float64)
    return np.where(np.isfinite(wide), wide + np.copysign(added, wide), wide)


def _widened(a: Array, number_format: str) -> Array:
    """Convert formats of 4 to 8 bits by their bits."""
    fraction, bias, sign = _LAYOUT[number_format]
    size = a & np.uint8((1 << sign) - 1)
    scaled = np.left_shift(size.astype(np.uint32), np.uint32(23 - fraction)).view(np.float32)
    special = scaled * np.float32(2.0 ** (127 - bias))
    if number_format == "e4m3":
        special = np.where(size == 0x7F, np.float32(np.nan), special)
    elif number_format == "e5m2":
        infinite = np.where(size == 0x7C, np.float32(np.inf), special)
        special = np.where(size > 0x7C, np.float32(np.nan), infinite)
    return np.where(a & np.uint8(1 << sign) != 0, -special, special)


def _narrowed(a: Array, number_format: str, mode: str) -> Array:
    """Round numbers in the range of a format of 4 to 8 bits by their bits."""
    fraction, bias, sign = _LAYOUT[number_format]
    scaled = np.abs(a.astype(np.float64)) * 2.0 ** (bias - 1023)  # with the exponent of the format
    bits = scaled.view(np.uint64)
    drop = 52 - fraction
    if mode == rounding.NEAREST:
        odd = bits >> np.uint64(drop) & np.uint64(1)
        bits = bits + odd + np.uint64((1 << drop - 1) - 1)
    rounded = bits >> np.uint64(drop)
    return np.where(np.signbit(a), rounded | np.uint64(1 << sign), rounded).astype(np.uint8)


def modified(
    result: Array,
    number_format: str,
    *,
    sat: bool = False,
    relu: bool = False,
    twice: Array | None = None,
) -> Array:
    """Return results with ``.sat`` or ``.relu``; those in f16 and bf16 also with ``.ftz``.

    Args:
        sat: Whether ``.sat`` is given: they are clamped to [0, 1], and NaN become +0.
        relu: Whether ``.relu`` is given: negative ones become +0, NaN stay.
        twice: With ``.ftz``, the doubled results, rounded in the same way, which decide what is
            tiny as in `special_values.flush_tiny`.
    """
    is_half = number_format in _SMALLEST
    value = to_f32(result, number_format) if is_half else result.copy()
    if twice is not None:
        is_tiny = np.abs(to_f32(twice, number_format)) < 2 * _SMALLEST[number_format]
        value = np.where(is_tiny, np.copysign(np.float32(0), value), value)
    if sat:
        saturate(value)
    if relu:
        value = rectified(value)
    return from_f32(value, number_format) if is_half else value


def flushed_half(value: Array, number_format: str) -> Array:
    """Replace values that are subnormal in a format by zeros."""
    is_tiny = np.abs(value) < _SMALLEST[number_format]
    return np.where(is_tiny, np.copysign(0, value), value).astype(value.dtype)
