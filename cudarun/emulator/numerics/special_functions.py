"""The special function unit of Hopper (MUFU), bit for bit: quadratic interpolation in fixed point.

The unit is that of Oberman and Siu ("A High-Performance Area-Efficient Multifunction Interpolator",
ARITH 2005): the leading bits of an argument select a row of coefficients, and the rest x gives

    v = (C0 << shift) + C1 * x + (C2 * S(x) << square shift) + bias

with S(x), a truncated square. Results are truncated. ``tools/derive_approximations.py`` derived the
coefficients in ``special_functions.txt`` from recordings. NaN become 0x7fffffff. Except for
`hyperbolic_tangent`, subnormal arguments and results are zeros.

Arguments and results are the bits of numbers, int32.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.native import any_of, gathered, is_traced

_NAN, _INFINITY, _ONE, _SIGN = 0x7FFFFFFF, 0x7F800000, 0x3F800000, -0x80000000
_NORMAL, _LARGE = 0x42FC0000, 0x43000000  # 126 and 128, where normal 2^a, and all 2^a, end
_WHOLE = 0x4B800000  # 2^24, where fractions end

# How many bits x has, the shifts of C0 and of C2, the bias, and the shift of x before S.
FORMATS = {
    "rcp": (16, 13, 0, 0x47E7, 1),
    "rsqrt": (17, 14, 2, 0x7FFF, 0),
    "sqrt": (17, 15, 1, 0x7FFF, 0),
    "ex2": (17, 13, 0, 0x77E2, 0),
    "lg2": (17, 12, 1, 0x3345, 0),
    "sin": (17, 11, 0, 0, 0),
    "tanh": (17, 15, 1, 0, 0),
}

# For exponent fields 119 to 129 of the argument of tanh: how many bits of the fraction select a
# row, and how many bits after the binary point v has.
TANH_BITS = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3], np.int32)
TANH_POINT = np.array([39, 38, 37, 38, 37, 38, 37, 36, 37, 39, 37], np.int64)


def coefficients() -> dict[str, npt.NDArray[np.int64]]:
    """Return the rows (C0, C1, C2) of each function."""
    rows: dict[str, list[list[int]]] = {}
    for line in Path(__file__).with_suffix(".txt").read_text().splitlines():
        if line.startswith("["):
            current = rows[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            current.append([int(word) for word in line.split()])
    return {name: np.array(found) for name, found in rows.items()}


@cache
def _tables() -> dict[str, tuple[Array, Array, Array, Array]]:
    """Return the rows of each function: a word each, and the terms of v with the bias.

    Compiled code takes words: gathers take most of its time.
    """
    found = {}
    for name, rows in coefficients().items():
        if name == "tanh":  # 16 rows for each exponent, by the leading 4 bits of the fraction
            rows = rows.repeat((16 >> TANH_BITS).repeat(1 << TANH_BITS), axis=0)
        _, shift, square_shift, bias, _ = FORMATS[name]
        start, slope, curvature = np.ascontiguousarray(rows.T)
        word = start << 36 | (slope & 0xFFFFF) << 16 | curvature & 0xFFFF
        found[name] = word, (start << shift) + bias, slope, curvature << square_shift
    return found


def _square(x: Array) -> Array:
    """Return S(x) of 17 bits, about ``x * x >> 19``: the unit leaves out low partial products.

    It is half of the sum of ``x >> 18 - i`` over the bits i of x, from 2 on, in which the products
    of the upper 8 bits are complete.
    """
    upper, lower = x >> 9, x & 0x1FF
    total = upper * upper >> 1
    for place in range(1, 8):
        total = total + (lower >> 9 - place & -(upper >> place & 1))
    return total


@cache
def squares() -> npt.NDArray[np.int64]:
    """Return S(x) of all x: numpy looks it up faster than it computes it."""
    return _square(np.arange(1 << 17))


def _interpolated(name: str, argument: Array) -> Array:
    """Return v for an argument in fixed point: the number of a row, and the bits of x."""
    bits = FORMATS[name][0]
    argument = argument.astype(np.int64)
    return _of_row(name, argument >> bits, argument & (1 << bits) - 1)


def _of_row(name: str, row: Array, x: Array) -> Array:
    """Return v for the number of a row, and x as int64."""
    _, shift, square_shift, bias, doubled = FORMATS[name]
    argument = x << doubled if doubled else x
    if is_traced(x):
        word = gathered(_tables()[name][0], row)
        start, slope = (word >> 36 << shift) + bias, word << 28 >> 44
        curvature, square = word << 48 >> 48 - square_shift, _square(argument)
    else:
        start, slope, curvature = (gathered(term, row) for term in _tables()[name][1:])
        square = gathered(squares(), argument)
    v: Array = start + slope * x + curvature * square
    return v


def _replaced(result: Array, condition: Array, value: int) -> Array:
    return np.where(condition, value, result) if any_of(condition) else result


def _normalized(v: Array, point: Array | int) -> Array:
    """Return v >= 0, with this many bits after the binary point, as an f32, truncated."""
    wide = v.astype(np.float64).view(np.int64) >> 29  # with the exponent of an f64
    return _replaced((wide - (point + (1023 - 127) << 23)).astype(np.int32), v == 0, 0)


def _of_positive(
    a: Array, result: Array, zero: Array | int, infinite: int, digits: int = 23
) -> Array:
    """Return results that hold for positive normal numbers with those of all others.

    Args:
        zero: The results of zeros.
        infinite: The result of infinity.
        digits: The bits of the fraction.
    """
    top = 0x7FFFFFFF >> digits << digits  # infinity
    strange = (a < 1 << digits) | (a >= top)
    if not any_of(strange):
        return result
    special = np.where(a & top == 0, zero, np.where(a == top, infinite, _NAN))
    return np.where(strange, special, result).astype(np.int32)


def reciprocal(a: Array, digits: int = 23) -> Array:
    """Return 1/a; ``digits`` are the bits of the fraction, 20 for the upper half of an f64."""
    top = 0x7FFFFFFF >> digits
    exponent, fraction = a >> digits & top, a & (1 << digits) - 1
    v = _interpolated("rcp", fraction << 23 - digits if digits < 23 else fraction)
    result = (top - 3 - exponent << digits) + (v >> 38 - digits).astype(np.int32)
    if not any_of((exponent - 1).view(np.uint32) >= np.uint32(top - 3)):
        return result | a & _SIGN
    result = _replaced(_replaced(result, exponent == 0, top << digits), result < 1 << digits, 0)
    return _replaced(result | a & _SIGN, a & 0x7FFFFFFF > top << digits, _NAN)


def reciprocal_root(a: Array, digits: int = 23) -> Array:
    """Return 1/sqrt(a); ``digits`` as for `reciprocal`."""
    top = 0x7FFFFFFF >> digits
    power = (a >> digits) - (top >> 1)
    fraction = (a & (1 << digits) - 1) << 23 - digits | (power & 1) << 23
    v = _interpolated("rsqrt", fraction) >> 39 - digits
    v = _replaced(v.astype(np.int32), fraction == 0, 2 << digits)  # a power of 4 is exact
    result = ((top >> 1) - 2 - (power >> 1) << digits) + v
    return _of_positive(a, result, top << digits | a & _SIGN, 0, digits)


def root(a: Array) -> Array:
    """Return sqrt(a)."""
    power = (a >> 23) - 127
    v = _interpolated("sqrt", a & 0x7FFFFF | (power & 1) << 23)
    result = (126 + (power >> 1) << 23) + (v >> 17).astype(np.int32)
    return _of_positive(a, result, a & _SIGN, _INFINITY)


def logarithm(a: Array) -> Array:
    """Return log2(a)."""
    v = _replaced(_interpolated("lg2", a & 0x7FFFFF) >> 2, a == _ONE, 0)
    v = v + (((a >> 23) - 127).astype(np.int64) << 36)
    sign = v >> 63
    result = _normalized(v ^ sign, 36) | (sign << 31).astype(np.int32)
    return _of_positive(a, result, -0x800000, _INFINITY)


def power(a: Array) -> Array:
    """Return 2 to the a."""
    size, sign = a & 0x7FFFFFFF, a >> 31
    has_others = any_of(size >= _NORMAL)
    if has_others:
        size = np.minimum(size, _LARGE)  # of a NaN, too
    fixed = (size.view(np.float32) * np.float32(1 << 23)).astype(np.int32)
    fixed = (fixed ^ sign) + (sign & (fixed & 0x7FFFFF == 0))
    result: Array = (_interpolated("ex2", fixed & 0x7FFFFF) >> 15).astype(np.int32)
    result = result + (fixed & -0x800000) + (126 << 23)
    if not has_others:
        return result
    return _replaced(_replaced(result, result < 1 << 23, 0), np.isnan(a.view(np.float32)), _NAN)


def sine(a: Array, quadrants: int = 0) -> Array:
    """Return the sine of turns and so many quadrants."""
    size = np.minimum(a & 0x7FFFFFFF, _WHOLE).view(np.float32)
    fixed = ((size - np.floor(size)) * np.float32(1 << 25)).astype(np.int32)
    quadrant = (fixed >> 23) + quadrants
    fixed = fixed ^ -(quadrant & 1)
    result = _normalized(_interpolated("sin", fixed & 0x7FFFFF), 37)
    result = result | (quadrant << 30 ^ (0 if quadrants else a)) & _SIGN
    return _replaced(result, a & _INFINITY == _INFINITY, _NAN)


cosine = partial(sine, quadrants=1)  # of turns


def hyperbolic_tangent(a: Array) -> Array:
    """Return the hyperbolic tangent."""
    size, fraction = a & 0x7FFFFFFF, a & 0x7FFFFF
    place = np.clip((size >> 23) - 119, 0, 10)
    x = fraction >> 6 - gathered(TANH_BITS, place) & 0x1FFFF
    v = _of_row("tanh", place << 4 | fraction >> 19, x.astype(np.int64))
    result = _normalized(v, gathered(TANH_POINT, place))
    result = _replaced(result, size >= 130 << 23, _ONE)
    result = np.where(size < 119 << 23, size, result) | a & _SIGN
    return _replaced(result, size > _INFINITY, _NAN)
