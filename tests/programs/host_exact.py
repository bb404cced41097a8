"""What programs made of arithmetic, rounding and bits should compute, on the host.

As ``host_arrays``; here exact results are rounded once, by fractions, and bits are moved by the
book.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]
M16, M32, M64, M128 = ((1 << width) - 1 for width in (16, 32, 64, 128))

# --- rounding ------------------------------------------------------------------------------------

_FORMATS = {"f64": (53, -1022), "f32": (24, -126), "f16": (11, -14)}


def rounded(value: Fraction, kind: str, mode: str = "rn") -> float:
    """A number of a format, by ``rn``, ``rz``, ``rm`` (down) or ``rp`` (up); no overflow."""
    digits, lowest = _FORMATS[kind]
    if value == 0:
        return 0.0
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, lowest) - digits + 1)
    whole: dict[str, Callable[[Fraction], int]] = {
        "rn": round,
        "rz": math.trunc,
        "rm": math.floor,
        "rp": math.ceil,
    }
    return float(whole[mode](value / unit) * unit)


def root(value: Fraction) -> Fraction:
    """The square root, or something between it and the next number that is wrong by 2^-200."""
    scaled = value.numerator * value.denominator << 400
    whole = math.isqrt(scaled)
    sticky = Fraction(0) if whole * whole == scaled else Fraction(1, 2)
    return (whole + sticky) / (value.denominator << 200)


# --- functions -----------------------------------------------------------------------------------


def special() -> Arrays:
    """Elementary and higher functions, what takes numbers apart, and directed roundings."""
    rng = np.random.default_rng(21)
    x = np.concatenate([rng.uniform(-20, 20, 200), rng.uniform(-1, 1, 30), rng.standard_normal(18)])
    x = np.concatenate([x, [1e5, -1e10, 1e22, 1e-9, -3e-300, 700.5, 0.5, -1.0]])
    y = np.concatenate([rng.uniform(-8, 8, 230), rng.integers(1, 9, 26) * 0.5])
    single_x, single_y = x.astype(np.float32), y.astype(np.float32)
    single_x[252] = -3e-39
    small = np.concatenate([rng.uniform(-2.9, 2.9, 62), [0.5, 2.0]])
    directed, directed_single = _directed(x, y)
    exact, integers = _exact(x, y, "f64")
    exact_single, integers_single = _exact(single_x, single_y, "f32")
    return {
        "special-x": x,
        "special-y": y,
        "special-small": small,
        "special-x-single": single_x,
        "special-y-single": single_y,
        "special-elementary": _elementary(x, y),
        "special-elementary-single": _elementary(single_x, single_y),
        "special-higher": np.array([_higher(value) for value in small.tolist()]),
        "special-exact": exact,
        "special-exact-single": exact_single,
        "special-integers": integers,
        "special-integers-single": integers_single,
        "special-directed": directed,
        "special-directed-single": directed_single,
    }


def _elementary(x: npt.NDArray[Any], y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    quotient = (x / (abs(x) + 1)).astype(np.float64)
    dtype = x.dtype
    x, y = x.astype(np.float64), y.astype(np.float64)
    size = abs(x)
    with np.errstate(over="ignore"):
        columns = [np.exp(x), np.expm1(x), np.log(size), np.log1p(size), np.sin(x), np.cos(x)]
        columns += [np.tan(x), np.arctan2(x, y), np.arcsin(quotient), np.sinh(x), np.tanh(x)]
        columns += [np.arcsinh(x), size**y, np.cbrt(x), np.hypot(x, y), np.sqrt(size) / (y * y + 1)]
        return np.stack(columns, axis=1).astype(dtype)


def _higher(x: float) -> list[float]:
    node, weight = np.polynomial.legendre.leggauss(400)
    angle, weight_of_angle = (node + 1) * np.pi / 2, weight * np.pi / 2
    j0 = np.sum(weight_of_angle * np.cos(x * np.sin(angle))) / np.pi
    z = abs(x) + 0.5
    far = np.arcsinh(60 / z)
    t, weight_of_t = (node + 1) * far / 2, weight * far / 2
    y1 = np.sum(weight_of_angle * np.sin(z * np.sin(angle) - angle)) / np.pi
    y1 -= np.sum(weight_of_t * 2 * np.sinh(t) * np.exp(-z * np.sinh(t))) / np.pi
    target, inverse = math.tanh(x), 0.0
    for _ in range(60):
        inverse -= (math.erf(inverse) - target) * math.sqrt(math.pi) / 2 * math.exp(inverse**2)
    return [
        math.erf(x),
        math.erfc(x),
        math.lgamma(x),
        math.gamma(x),
        float(j0),
        float(y1),
        inverse,
        math.erfc(-x / math.sqrt(2)) / 2,
    ]


def _exact(
    xs: npt.NDArray[Any], ys: npt.NDArray[Any], kind: str
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    numbers, integers = [], []
    for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
        part, exponent = math.frexp(x)
        fraction, whole = math.modf(x)
        quotient = round(Fraction(x) / Fraction(y))
        scaled = math.copysign(abs(exponent) % 30, exponent)
        beside = np.nextafter(xs.dtype.type(x), ys.dtype.type(y))
        numbers.append(
            [
                math.fmod(x, y),
                math.remainder(x, y),
                fraction,
                whole,
                part,
                math.ldexp(y, int(scaled)),
                float(round(x)),
                float(math.trunc(x + math.copysign(0.5, x))) if abs(x) < 1e15 else x,
                float(math.trunc(x)),
                rounded(Fraction(x) * Fraction(y) + Fraction(x), kind),
                float(beside),
                math.copysign(x, y),
                rounded(max(Fraction(x) - Fraction(y), Fraction(0)), kind),
                min(x, y),
                float(exponent - 1),
                rounded(Fraction(x) / Fraction(y), kind),
            ]
        )
        sign = int(x < 0)
        integers.append([exponent, quotient & 7, sign | 2 | (exponent - 1) << 2, round(y)])
    return np.array(numbers).astype(xs.dtype), np.array(integers, dtype=np.int32)


def _directed(
    xs: npt.NDArray[Any], ys: npt.NDArray[Any]
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    wide, single = [], []
    for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
        a, b = Fraction(x), Fraction(y)
        c, d = Fraction(float(np.float32(x))), Fraction(float(np.float32(y)))
        bits = int(np.float64(x).view(np.int64))
        clamped = min(max(math.ceil(a), -(1 << 63)), (1 << 63) - 1)
        wide.append(
            [
                rounded(a + b, "f64", "rp"),
                rounded(a * b, "f64", "rm"),
                rounded(a * b + a, "f64", "rz"),
                rounded(a / b, "f64", "rp"),
                rounded(root(abs(a)), "f64", "rm"),
                rounded(1 / b, "f64", "rz"),
                rounded(a - b, "f64"),
                float(clamped),
            ]
        )
        single.append(
            [
                rounded(c + d, "f32", "rm"),
                rounded(c * d, "f32", "rp"),
                rounded(c * d + c, "f32", "rz"),
                rounded(c / d, "f32", "rm"),
                rounded(root(abs(c)), "f32", "rp"),
                rounded(1 / d, "f32", "rz"),
                rounded(a, "f32", "rm"),
                rounded(Fraction(bits), "f32", "rp"),
            ]
        )
    return np.array(wide), np.array(single).astype(np.float32)


# --- half precision ------------------------------------------------------------------------------


def half() -> Arrays:
    """Every operation of half precision on edge values and others."""
    edges = [0.0, -0.0, 1.0, -1.5, 6e-8, -6.1e-5, 65504, -65504, math.inf, -math.inf, math.nan]
    pairs = list(itertools.product(edges, edges))[:-1]
    pairs += [(2.5, -2.5), (3.5, 0.5), (-0.3, 100), (1000, 0.001), (7, 3), (-7, 3), (300, 0.1)]
    pairs.append((0.1, 0.2))
    x, y = (np.array(side, dtype=np.float16) for side in zip(*pairs, strict=True))
    with np.errstate(all="ignore"):
        a, b = x.astype(np.float64), y.astype(np.float64)
        ordered = ~(np.isnan(a) | np.isnan(b))
        product = a * b
        columns = [a + b, a - b, product, a / b, np.fmin(a, b), np.maximum(a, b), abs(a)]
        columns.append(np.clip(np.where(np.isnan(product), 0, product), 0, 1))
        out = np.stack(columns, axis=1).astype(np.float16)
    flags = (a < b) | (a <= b).astype(int) << 1 | (a == b).astype(int) << 2
    flags |= (a != b).astype(int) << 3 | (~ordered | (a < b)).astype(int) << 4
    flags |= np.isnan(a).astype(int) << 5 | np.isinf(b).astype(int) << 6
    whole = [_integer(value, 31, math.trunc) & 255 for value in a.tolist()]
    short = [_integer(value, 15, round) & M16 for value in b.tolist()]
    flags |= np.array(whole) << 8 | np.array(short) << 16
    return {
        "half-x": x,
        "half-y": y,
        "half-out": out,
        "half-flags": flags.astype(np.uint32).view(np.int32),
    }


def _integer(value: float, width: int, whole: Callable[[float], int]) -> int:
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return (1 << width) - 1 if value > 0 else -(1 << width)
    return min(max(whole(value), -(1 << width)), (1 << width) - 1)


# --- bits ----------------------------------------------------------------------------------------


def signed(value: int, width: int = 32) -> int:
    """The lowest bits as a number with a sign."""
    value &= (1 << width) - 1
    return value - (value >> (width - 1) << width)


def _reversed(value: int, width: int) -> int:
    return int(f"{value:0{width}b}"[::-1], 2)


def bits() -> Arrays:
    """Counted, reversed and shifted bits; what inline PTX does with them; video intrinsics."""
    rng = np.random.default_rng(22)
    wide = [0, 1, M64, 1 << 63, M32, M32 << 32, 0x0123456789ABCDEF]
    wide += [int.from_bytes(rng.bytes(8), "little") for _ in range(128 - len(wide))]
    edges = [0, 1, M32, 0x80000000, 0x7FFFFFFF, 33, 0xFF00FF]
    triples = [(a, b, c) for a, b in itertools.product(edges, edges) for c in (0, 5)]
    triples += [
        (int(a), int(b), int(c))
        for a, b, c in rng.integers(0, 1 << 32, (128 - len(triples), 3)).tolist()
    ]
    triples = [(a, b % 64 if k % 3 == 0 else b, c % 40) for k, (a, b, c) in enumerate(triples)]
    counts, moved = zip(*map(_counted, wide), strict=True)
    a, b, c = (
        np.array(side, dtype=np.uint32).view(np.int32) for side in zip(*triples, strict=True)
    )
    inline = np.array([_inline(*triple) for triple in triples], dtype=np.int64)
    video = [_video(x, y) for x, y, _ in triples]
    return {
        "bits-in": np.array(wide, dtype=np.uint64),
        "bits-counts": np.array(counts, dtype=np.int64).astype(np.int32),
        "bits-moved": np.array(moved, dtype=np.uint64),
        "bits-a": a,
        "bits-b": b,
        "bits-c": c,
        "bits-inline": inline.astype(np.int32),
        "quantised-video": np.array(video, dtype=np.uint32),
    }


def _counted(x: int) -> tuple[list[int], list[int]]:
    low, high = x & M32, x >> 32
    ones = [k for k in range(32) if low >> k & 1]

    def first(value: int) -> int:
        return (value & -value).bit_length()

    average = signed(low) + signed(high) >> 1
    average ^= signed(low + high >> 1) ^ (signed(low) + signed(high) + 1 >> 1)
    counts = [
        x.bit_count(),
        64 - x.bit_length(),
        first(x),
        low.bit_count(),
        32 - high.bit_length(),
        first(high),
        ones[2] if len(ones) > 2 else -1,
        average,
    ]
    permuted = sum(
        (x >> 8 * (low >> 4 * k & 7) & 255) << 8 * k for k in range(4)
    )  # prmt's selectors without signs
    factor = signed(x, 64) * 12345678912345 >> 64
    moved = [
        _reversed(x, 64),
        (x << (low & 31) >> 32 & M32) << 32 | x >> min(high, 32) & M32,
        permuted << 32 | _reversed(low ^ high, 32),
        x * (~x & M64) >> 64 ^ factor & M64,
    ]
    return counts, moved


def _extracted(a: int, position: int, length: int, *, sign: bool) -> int:
    """``bfe`` as the manual tells it, bit by bit."""
    position, length = position & 255, length & 255
    fill = a >> min(position + length - 1, 31) & 1 if sign and length else 0
    result = 0
    for k in range(32):
        inside = k < length and position + k <= 31
        result |= (a >> position + k & 1 if inside else fill) << k
    return signed(result)


def _inline(a: int, b: int, c: int) -> list[int]:
    x, y = signed(a), signed(b)
    mask = sum(1 << k for k in range(32) if c & 31 <= k < (c & 31) + 9)
    inserted = b & ~mask | a << (c & 31) & mask
    found = (a ^ (M32 if x < 0 else 0)).bit_length() - 1
    shift = 32 - b.bit_length() if b else -1
    begin, width = b & 31, c & 15
    ones = sum(1 << k for k in range(32) if begin <= k < begin + width)
    length = c & 31
    extended = signed(a, length) if length else 0
    product = signed(a, 24) * signed(b, 24) >> 16
    low, high = -(1 << 31), (1 << 31) - 1
    p, q = x < y and c != 0, x >= y and c != 0
    result = min(max(x + y if p else x - y, low), high)
    chosen = result if q else x
    return [
        signed(a ^ b ^ c),
        signed(a & b | a & c | b & c),
        _extracted(a, b, c, sign=True),
        _extracted(a, b & 63, c & 63, sign=False),
        signed(inserted),
        found,
        shift,
        signed(ones),
        extended,
        signed(c + abs(x - y)),
        signed(product),
        chosen if x >= 0 else result,
    ]


def _video(a: int, b: int) -> list[int]:
    def lanes(width: int, what: Callable[[int, int], int], x: int = a, y: int = b) -> int:
        mask = (1 << width) - 1
        return sum(
            (what(x >> at & mask, y >> at & mask) & mask) << at for at in range(0, 32, width)
        )

    def clamped(value: int, low: int, high: int) -> int:
        return min(max(value, low), high)

    x, y = signed(a), signed(b)
    apart = [abs(signed(a >> k, 8) - signed(b >> k, 8)) for k in range(0, 32, 8)]
    third = 0x12345678
    least = sum(min(v >> at & M16 for v in (a, b, third)) << at for at in (0, 16))
    return [
        lanes(8, lambda p, q: p + q),
        lanes(8, lambda p, q: clamped(signed(p, 8) - signed(q, 8), -128, 127)),
        lanes(8, lambda p, q: abs(p - q)),
        lanes(16, lambda p, q: max(signed(p, 16), signed(q, 16))),
        sum(apart),
        lanes(8, lambda p, q: 255 if p > q else 0),
        lanes(8, lambda p, q: p + q + 1 >> 1),
        lanes(16, lambda p, q: min(p + q, M16)),
        max(signed(x + y), 7) & M32,
        least,
        abs(x - y) + 3 & M32,
        lanes(8, lambda p, q: int(p == q), a, b ^ a & 255),
    ]


# --- division ------------------------------------------------------------------------------------


def _truncated(a: int, b: int) -> tuple[int, int]:
    """Quotient towards zero, and remainder."""
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - quotient * b


def division() -> Arrays:
    """Quotients and remainders of 64 and 128 bits, divisors, inverses and primes."""
    rng = np.random.default_rng(23)
    edges = [1, M64, 2, 1 << 63, (1 << 63) - 1, 10, M32, 1 << 32, M64 - 9]
    pairs = [(a, b) for a, b in itertools.product([0, *edges], edges) if (a, b) != (1 << 63, M64)]
    while len(pairs) < 128:
        a, b = (int.from_bytes(rng.bytes(8), "little") for _ in range(2))
        pairs.append((a, b >> int(rng.integers(0, 60)) | 1))
    wide = [M128, 1, 1 << 127, M64, 1 << 64, 10**30]
    doubles = [(a, b) for a, b in itertools.product(wide, wide) if (a, b) != (1 << 127, M128)]
    while len(doubles) < 64:
        a, b = (int.from_bytes(rng.bytes(16), "little") for _ in range(2))
        doubles.append((a, b >> int(rng.integers(0, 120)) | 1))
    factors = rng.integers(1, 1 << 30, (3, 64)).tolist()
    p = [a * c for a, _, c in zip(*factors, strict=True)]
    q = [b * c for _, b, c in zip(*factors, strict=True)]
    p[5] = 1000000007 * 3
    modulus = 1000000007
    starts = [2, 3, 4, 90, 4294967280, 3215031751, *rng.integers(0, 1 << 32, 42).tolist()]
    return {
        "division-a": np.array([a for a, _ in pairs], dtype=np.uint64).view(np.int64),
        "division-b": np.array([b for _, b in pairs], dtype=np.uint64).view(np.int64),
        "division-out": np.array([_truncated(signed(a, 64), signed(b, 64)) for a, b in pairs]),
        "division-unsigned": np.array([divmod(a, b) for a, b in pairs], dtype=np.uint64),
        "division-narrow": np.array([_narrow(a, b) for a, b in pairs], np.int64).astype(np.int32),
        "division-wide-a": np.array([(a & M64, a >> 64) for a, _ in doubles], dtype=np.uint64),
        "division-wide-b": np.array([(b & M64, b >> 64) for _, b in doubles], dtype=np.uint64),
        "division-wide": np.array([_wide(a, b) for a, b in doubles], dtype=np.uint64),
        "division-p": np.array(p, dtype=np.uint64),
        "division-q": np.array(q, dtype=np.uint64),
        "division-divisors": np.array(
            [[math.gcd(a, b)] * 2 for a, b in zip(p, q, strict=True)], dtype=np.uint64
        ),
        "division-inverses": np.array(
            [pow(a, -1, modulus) if a % modulus else 0 for a in p], dtype=np.uint32
        ),
        "division-start": np.array(starts, dtype=np.uint32),
        "division-primes": np.array([_next_prime(n) for n in starts], dtype=np.uint32),
    }


def _narrow(a: int, b: int) -> list[int]:
    x, y = a & M32, b & M32 | 1
    p, q = signed(x), signed(y)
    if (p, q) == (-(1 << 31), -1):
        quotient, rest = p, 0  # what the device gives where C++ leaves it open
    else:
        quotient, rest = _truncated(p, q)
    short = _truncated(signed(x, 16), signed(y, 16))[0]
    thousand, seventh = _truncated(p, 1000)[0], _truncated(p, 7)[1]
    values = [quotient, rest, *divmod(x, y), short, (x & M16) % (y & M16), thousand + seventh]
    return [*values, a // 1000000007 & M32]


def _wide(a: int, b: int) -> list[tuple[int, int]]:
    x, y = signed(a, 128), signed(b, 128)
    shift = b & 127
    compared = (int(a < b) | int(x < y) << 64) | ((a - b) << 1 & M128)
    values = [*divmod(a, b), *_truncated(x, y), a * b, a << shift, x >> shift, compared]
    return [(value & M64, value >> 64 & M64) for value in values]


_PRIMES = [p for p in range(2, 65536) if all(p % q for q in range(2, math.isqrt(p) + 1))]


def _next_prime(number: int) -> int:
    number = max(number, 2)
    while not _is_prime(number):
        number += 1
    return number


def _is_prime(number: int) -> bool:
    return all(number % p for p in itertools.takewhile(lambda p: p * p <= number, _PRIMES))
