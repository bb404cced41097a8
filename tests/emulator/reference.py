"""PTX arithmetic in Python's integers and fractions: slow, obvious, and independent of numpy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def signed(value: int, width: int) -> int:
    """The two's complement value of some bits."""
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def unsigned(value: int, width: int) -> int:
    """The bits of a value."""
    return value & ((1 << width) - 1)


@dataclass(frozen=True)
class Format:
    """A binary floating-point format: bits of the fraction and of the exponent."""

    fraction: int
    exponent: int
    nan: int

    @property
    def width(self) -> int:
        return 1 + self.exponent + self.fraction

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self.fraction

    @property
    def smallest(self) -> Fraction:
        """The smallest subnormal value."""
        return Fraction(2) ** (1 - self.bias - self.fraction)

    def is_nan(self, bits: int) -> bool:
        return bits & ~self.sign > self.infinity

    def is_infinite(self, bits: int) -> bool:
        return bits & ~self.sign == self.infinity

    @property
    def sign(self) -> int:
        return 1 << (self.width - 1)

    def value(self, bits: int) -> Fraction:
        """The value of finite bits."""
        fraction = bits & ((1 << self.fraction) - 1)
        exponent = bits >> self.fraction & ((1 << self.exponent) - 1)
        if exponent:
            fraction += 1 << self.fraction
        magnitude = fraction * Fraction(2) ** (max(exponent, 1) - self.bias - self.fraction)
        return -magnitude if bits & self.sign else magnitude

    def rounded(self, exact: Fraction, mode: str = "rn", *, negative_zero: bool = False) -> int:
        """The bits of a value rounded once."""
        if exact == 0:
            return self.sign if negative_zero else 0
        sign = self.sign if exact < 0 else 0
        size = abs(exact)
        exponent = max(math.floor(_log2(size)), 1 - self.bias)
        unit = Fraction(2) ** (exponent - self.fraction)
        whole, rest = divmod(size, unit)
        up = {
            "rn": rest * 2 > unit or (rest * 2 == unit and whole % 2 == 1),
            "rz": False,
            "rm": bool(sign) and rest > 0,
            "rp": not sign and rest > 0,
        }[mode]
        whole += up
        if whole >= 1 << (self.fraction + 1):
            exponent, whole = exponent + 1, whole // 2
        if exponent > self.bias:
            away = mode == "rn" or (mode == "rm" and sign) or (mode == "rp" and not sign)
            return sign | (self.infinity if away else self.infinity - 1)
        if whole < 1 << self.fraction:
            return sign | int(whole)
        return sign | (exponent + self.bias) << self.fraction | int(whole) - (1 << self.fraction)


def _log2(size: Fraction) -> int:
    """The exponent of the leading bit."""
    guess = size.numerator.bit_length() - size.denominator.bit_length()
    return guess if size >= Fraction(2) ** guess else guess - 1


FORMATS = {
    "f16": Format(10, 5, 0x7FFF),
    "bf16": Format(7, 8, 0x7FFF),
    "f32": Format(23, 8, 0x7FFFFFFF),
    "f64": Format(52, 11, 0x7FF8000000000000),
}


def fused(fmt: Format, a: int, b: int, c: int, mode: str = "rn") -> int:
    """``a * b + c``."""
    if any(map(fmt.is_nan, (a, b, c))):
        return fmt.nan
    product_sign = (a ^ b) & fmt.sign
    if fmt.is_infinite(a) or fmt.is_infinite(b):
        zero = fmt.value(a) == 0 if fmt.is_infinite(b) else fmt.value(b) == 0
        if zero or (fmt.is_infinite(c) and c & fmt.sign != product_sign):
            return fmt.nan
        return product_sign | fmt.infinity
    if fmt.is_infinite(c):
        return c
    product = fmt.value(a) * fmt.value(b)
    exact = product + fmt.value(c)
    if exact == 0 and product == 0 and product_sign == c & fmt.sign:
        return product_sign
    return fmt.rounded(exact, mode, negative_zero=mode == "rm")


def added(fmt: Format, a: int, b: int, mode: str = "rn") -> int:
    """``a + b``."""
    return fused(fmt, a, fmt.rounded(Fraction(1)), b, mode)


def multiplied(fmt: Format, a: int, b: int, mode: str = "rn") -> int:
    """``a * b``."""
    return fused(fmt, a, b, (a ^ b) & fmt.sign, mode)


def divided(fmt: Format, a: int, b: int, mode: str = "rn") -> int:
    """``a / b``."""
    sign = (a ^ b) & fmt.sign
    if fmt.is_nan(a) or fmt.is_nan(b):
        return fmt.nan
    if fmt.is_infinite(a):
        return fmt.nan if fmt.is_infinite(b) else sign | fmt.infinity
    if fmt.is_infinite(b):
        return sign
    if fmt.value(b) == 0:
        return fmt.nan if fmt.value(a) == 0 else sign | fmt.infinity
    return fmt.rounded(fmt.value(a) / fmt.value(b), mode, negative_zero=bool(sign))


def bits_of_all(fmt: Format, count: int, seed: int) -> Array:
    """Random bits of a format: special ones, ones close together, ones over the whole range."""
    generator = np.random.default_rng(seed)
    special = [0, 1, 2, fmt.infinity, fmt.infinity - 1, fmt.infinity + 1, fmt.nan]
    special += [1 << fmt.fraction, (1 << fmt.fraction) - 1, fmt.rounded(Fraction(1))]
    exponents = generator.integers(0, 1 << fmt.exponent, count)
    near = generator.integers(max(fmt.bias - 20, 1), min(fmt.bias + 20, 2 * fmt.bias), count)
    fractions = generator.integers(0, 1 << fmt.fraction, count)
    sparse = fractions & generator.integers(0, 1 << fmt.fraction, count) & -(1 << fmt.fraction // 2)
    kinds = [
        np.array(special, dtype=np.int64)[generator.integers(0, len(special), count)],
        exponents << fmt.fraction | fractions,
        near << fmt.fraction | fractions,
        near << fmt.fraction | sparse,
        generator.integers(0, 4 << fmt.fraction, count),
    ]
    bits = np.choose(generator.integers(0, len(kinds), count), kinds).astype(np.uint64)
    signs = generator.integers(0, 2, count).astype(np.uint64) << np.uint64(fmt.width - 1)
    return (bits | signs).astype(f"u{fmt.width // 8}")


def integers(width: int, count: int, seed: int) -> Array:
    """Random integers of all magnitudes, the extreme ones first."""
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 1 << 64, count, dtype=np.uint64)
    values >>= generator.integers(64 - width, 64, count).astype(np.uint64)
    values = np.where(generator.integers(0, 2, count), ~values + np.uint64(1), values)
    extreme = [0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1, (1 << width) - 2]
    values[: len(extreme)] = generator.permutation(np.array(extreme, dtype=np.uint64))[:count]
    return (values & np.uint64((1 << width) - 1)).astype(f"u{width // 8}")


def root(fmt: Format, a: int, mode: str = "rn") -> int:
    """The square root."""
    if fmt.is_nan(a) or (a & fmt.sign and a != fmt.sign):
        return fmt.nan
    if fmt.is_infinite(a) or fmt.value(a) == 0:
        return a
    value = fmt.value(a)
    scale = 4 ** (fmt.width * 12)
    floor = Fraction(math.isqrt(value.numerator * scale // value.denominator), math.isqrt(scale))
    # A hair above a root that is not exact rounds as the root does: no root is halfway.
    exact = floor if floor * floor == value else floor + Fraction(1, math.isqrt(scale) * 4)
    return fmt.rounded(exact, mode)


def flush(fmt: Format, bits: int) -> int:
    """Subnormal values as zeros of their sign."""
    return bits & fmt.sign if bits & ~fmt.sign < 1 << fmt.fraction else bits


def clamp(fmt: Format, bits: int) -> int:
    """``.sat``: to [0, 1], NaN to +0."""
    if fmt.is_nan(bits) or bits & fmt.sign:
        return 0
    return min(bits, fmt.rounded(Fraction(1)))


def one_nan(fmt: Format, bits: int) -> int:
    """Any NaN as the canonical one of the format; f64 operations keep payloads."""
    return fmt.nan if fmt.is_nan(bits) else bits
