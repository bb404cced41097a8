"""NaN, signed zeros, subnormal values and clamping to [0, 1]."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial, reduce

import numpy as np

from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.native import any_of, is_traced


def canonical(d: Array) -> None:
    """Replace every NaN of an f32 array by the hardware's canonical one."""
    if has_nan(d):
        d.view(np.uint32)[np.isnan(d)] = 0x7FFFFFFF


def has_nan(d: Array) -> bool:
    """Return whether a floating-point array can have a NaN."""
    if is_traced(d):
        return True
    lowest = np.minimum.reduce(d, axis=None, initial=np.inf)  # NaN if there is one
    return bool(lowest != lowest)


def with_hardware_nan(result: Array, *operands: Array) -> Array:
    """Return f64 results: a NaN is that of the first operand that is NaN, or the default NaN.

    GPUs take b before c before a of ``a * b + c``, b before a otherwise; the NaN becomes quiet.
    A processor has its own rules, and a compiler may exchange the operands.
    """
    if not has_nan(result):
        return result
    instead = _DEFAULT_NAN
    for operand in reversed(operands):
        instead = np.where(np.isnan(operand), operand, instead)
    quiet = (instead.view(np.uint64) | _QUIET).view(np.float64)
    return np.where(np.isnan(result), quiet, result)


_QUIET = np.uint64(1 << 51)
_DEFAULT_NAN = np.array(0xFFF8 << 48, np.uint64).view(np.float64)


def flushed(a: Array) -> Array:
    """Return an f32 array with zeros for subnormal values; the array itself if it has none."""
    doubled = np.left_shift(a.view(np.uint32), np.uint32(1))
    doubled -= np.uint32(1)  # a zero becomes the largest number
    if not is_traced(a) and doubled.min() >= 0xFFFFFF:
        return a
    return np.where(doubled < 0xFFFFFF, np.copysign(np.float32(0), a), a)


def flush_tiny(d: Array, twice: Array) -> None:
    """Replace tiny results of f32 by zeros, as the hardware decides it for ``.ftz``.

    A result is tiny if it is below 2^-126 when it is rounded to 24 bits with an unbounded exponent.
    ``d`` has fewer bits there; twice the result, rounded in the same way, has 24 at 2^-125.
    """
    is_tiny = np.left_shift(twice.view(np.uint32), np.uint32(1)) < np.uint32(0x2000000)
    np.copyto(d, np.where(is_tiny, np.copysign(np.float32(0), d), d))


def saturate(d: Array) -> None:
    """Clamp to [0, 1]; NaN becomes +0."""
    np.copyto(d, 0, where=~(d > 0))
    np.copyto(d, 1, where=d > 1)


_EXTREMES: dict[str, tuple[np.ufunc, np.ufunc]] = {  # and the operation on the bits of zeros
    "min": (np.minimum, np.bitwise_or),
    "max": (np.maximum, np.bitwise_and),
}


def extreme(
    operation: str, a: Array, b: Array, *, propagates: bool = False, xorsign: bool = False
) -> Array:
    """Return the ``min`` or ``max`` of numbers: -0 is less than +0.

    ``np.fmin`` returns a signaling NaN in some lanes of an array, and the number in others.

    Args:
        propagates: A NaN wins; otherwise the other operand does.
        xorsign: Compare magnitudes; the result is negative if one of the operands is.
    """
    sign = np.signbit(a) != np.signbit(b)
    if xorsign:
        a, b = np.abs(a), np.abs(b)
    pick, pick_zero = _EXTREMES[operation]
    result: Array = pick(a, b)
    zeros = (a == 0) & (b == 0)
    if any_of(zeros):
        unsigned = f"u{a.dtype.itemsize}"
        zero = pick_zero(a.view(unsigned), b.view(unsigned)).view(a.dtype)
        result = np.where(zeros, zero, result)
    nan = np.isnan(result)
    if any_of(nan):
        instead = np.array(np.nan, a.dtype)
        if not propagates:
            if a.dtype == np.float64:  # of two NaN, that of b; those of f32 have no payload
                b = np.where(np.isnan(b), b + 0.0, b)
            instead = np.where(np.isnan(a), b, a)
        result = np.where(nan, instead, result)
    return np.copysign(result, np.where(sign, -1.0, 1.0).astype(a.dtype)) if xorsign else result


def extreme_of(operation: str, words: Mapping[str, str], *numbers: Array) -> Array:
    """Return the ``min`` or ``max`` of two or three numbers for the words of an instruction."""
    xorsign = bool(words.get("xorsign"))
    pick = partial(extreme, operation, propagates=bool(words.get("NaN")), xorsign=xorsign)
    of_magnitudes = words.get("abs") and not xorsign  # of three operands
    return reduce(pick, map(np.abs, numbers) if of_magnitudes else numbers)
