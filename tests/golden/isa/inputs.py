"""The values that every instruction form is tried on, the same wherever this runs.

Two and three operands meet in three ways: the first lanes have each of eleven core values with each
other one, the following lanes take edges and chance in any mixture. A pool is named by a type,
``f32``, or for operands with a narrower sense by a word: ``amount``, ``small``.
"""

from __future__ import annotations

import random
import re
import struct
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.unsignedinteger]

LANES = 256
"""Threads of each launch, one block."""

_CORE = 11  # values of a pool that are paired with all others: 121 lanes


def _float_edges(fraction: int, exponent: int) -> list[int]:
    """Bits of the remarkable values of a format: the eleven most telling first."""
    bias = (1 << exponent - 1) - 1
    sign = 1 << fraction + exponent
    infinity = ((1 << exponent) - 1) << fraction
    one, half, last = bias << fraction, 1 << fraction - 1, (1 << fraction) - 1
    core = [0, sign, one, sign | one | half, 1, sign | last, 1 << fraction, infinity - 1,
            infinity, sign | infinity, infinity | half | 5]  # fmt: skip
    more = [
        sign | one, sign | 1, last, sign | 1 << fraction, sign | infinity - 1,
        infinity | 1, sign | infinity | half, sign | infinity | 3,  # signalling and quiet NaN
        infinity | half | last, one - (1 << fraction), one | 1, one - 1,
        (bias + 1) << fraction | half,  # 3
        (bias + fraction) << fraction | 1, (bias + fraction - 1) << fraction | 1,  # n + 0.5
        (bias + 31) << fraction, (bias + 32) << fraction, (bias + 63) << fraction,
        sign | (bias + 31) << fraction, (bias + 7) << fraction | last, (bias + 8) << fraction,
        (bias + 15) << fraction | last, (bias + 16) << fraction,
        (bias - 1) << fraction | half,  # 0.75
        (bias + 1) << fraction | half >> 1,  # 2.5
        (bias - fraction) << fraction, (bias - fraction - 1) << fraction, 2 << fraction, 3,
    ]  # fmt: skip
    return core + [bits for bits in more if 0 <= bits < 2 * sign]


def _integer_edges(bits: int) -> list[int]:
    ones, sign = (1 << bits) - 1, 1 << bits - 1
    core = [0, 1, ones, sign, sign - 1, 2, ones - 1, 31, 32, 0x5A, sign + 1]
    more = [3, 7, 8, 15, 16, 17, 33, 63, 64, 65, 127, 128, 129, 255, 256, 0x7FFF, 0x8000, 0x8001,
            0xFFFF, 0x10000, 0x7FFFFF, 0x800000, 0xFFFFFF, 0x1000000, 0x1000001, 0x7FFFFFFF,
            0x80000000, 0xFFFFFFFF, 0x100000000, 0x5555555555555555, 0xAAAAAAAAAAAAAAAA,
            0x0F0F0F0F0F0F0F0F, ones - 127, ones - 0x7FFF, (1 << 53) + 1, ones - 0x3FF]  # fmt: skip
    return core + [value & ones for value in more]


_FORMATS = {
    "f16": (10, 5), "bf16": (7, 8), "f32": (23, 8), "f64": (52, 11), "e4m3": (3, 4), "e5m2": (2, 5),
}  # fmt: skip
_WIDTHS = {"pred": 1, "amount": 32, "tf32": 32}
_AMOUNTS = [0, 1, 31, 32, 33, 16, 63, 64, 65, 0xFFFFFFFF, 8, 2, 5, 7, 15, 17, 24, 30, 34, 48, 62,
            66, 127, 128, 255, 256, 257, 0x80000000, 0x100, 0x1F00, 0x10000]  # fmt: skip


def _chance_float(name: str, chance: random.Random) -> int:
    """Any bits, or numbers of about the same size, whose sums and products round."""
    fraction, exponent = _FORMATS[name]
    if chance.random() < 0.35:
        return chance.getrandbits(1 + fraction + exponent)
    bias = (1 << exponent - 1) - 1
    spread = min(fraction + 2, bias - 1)
    scale = bias + chance.randrange(-spread, spread)
    low = chance.getrandbits(fraction)
    if chance.random() < 0.3:  # few digits: exact results and ties
        low &= -1 << fraction * 3 // 4
    return chance.getrandbits(1) << fraction + exponent | scale << fraction | low


def _chance_integer(bits: int, chance: random.Random) -> int:
    value = chance.getrandbits(bits)
    if chance.random() < 0.4:
        value >>= chance.randrange(bits)
    return -value & (1 << bits) - 1 if chance.random() < 0.25 else value


@cache
def _pool(name: str) -> tuple[list[int], Callable[[random.Random], int]]:
    """The edges of a pool, core first, and what draws a further value."""
    if name in _FORMATS:
        return _float_edges(*_FORMATS[name]), lambda chance: _chance_float(name, chance)
    if name == "tf32":
        return _pool("f32")
    if name == "amount":
        return _AMOUNTS, lambda chance: chance.randrange(70)
    if name == "pred":
        return [0, 1], lambda chance: chance.getrandbits(1)
    bits = int(name[1:])
    return _integer_edges(bits), lambda chance: _chance_integer(bits, chance)


def width(pool: str) -> int:
    """Bits of a register that takes a value of a pool; 1 for a predicate."""
    name, count = _packed(pool.partition(":")[0])
    if name in _WIDTHS:
        return _WIDTHS[name]
    element = sum(_FORMATS[name]) + 1 if name in _FORMATS else int(name[1:])
    return element * count


def _packed(name: str) -> tuple[str, int]:
    """``f16x2`` in its parts: the element and how many of them a value has."""
    match = re.fullmatch(r"(.+)x(\d)", name)
    return (match[1], int(match[2])) if match else (name, 1)


@cache
def values(pool: str, position: int) -> Array:
    """What the lanes have in the operand at a position, as unsigned integers.

    ``pool`` is a type, ``amount``, or ``TYPE:WORD`` with a rule of ``_RULES``.
    """
    packed, _, word = pool.partition(":")
    name, count = _packed(packed)
    bits = width(pool) // count
    whole = [0] * LANES
    for place in range(count):
        chance = random.Random(f"{pool} {position} {place}")
        part = _RULES[word](name, position + place, chance)
        turned = part[37 * place :] + part[: 37 * place]  # no half goes with its like
        whole = [a | b << bits * place for a, b in zip(whole, turned, strict=True)]
    array = np.array(whole, dtype=np.uint64).astype(f"u{max(width(pool), 8) // 8}")
    array.flags.writeable = False
    return array


def _crossed(name: str, position: int, chance: random.Random) -> list[int]:
    edges, draw = _pool(name)
    core = edges[:_CORE]
    count = len(core)
    found = []
    for lane in range(LANES):
        if lane < count * count:
            places = (lane % count, lane // count, (5 * lane + lane // count) % count)
            found.append(core[places[position % 3]])
        elif chance.random() < 0.4:
            found.append(chance.choice(edges))
        else:
            found.append(draw(chance))
    return found


# --- pools with a narrower sense -----------------------------------------------------------------


def _edges_first(name: str, _position: int, chance: random.Random) -> list[int]:
    """For a single operand: every edge once, then chance."""
    edges, draw = _pool(name)
    return [edges[lane] if lane < len(edges) else draw(chance) for lane in range(LANES)]


def _any(name: str, _position: int, chance: random.Random) -> list[int]:
    """Any bits at all."""
    return [chance.getrandbits(width(name)) for _ in range(LANES)]


def _every(name: str, _position: int, chance: random.Random) -> list[int]:
    """All bit patterns of 8 bits, low and high in different order."""
    return [lane | (lane * 7 + 3 & 255) << 8 for lane in range(LANES)]


def _angle(name: str, _position: int, chance: random.Random) -> list[int]:
    """f32 from -2π to 2π, and zeros, infinities, NaN."""
    special = [0, 1 << 31, 0x7F800000, 0xFF800000, 0x7FC00005]
    numbers = [chance.uniform(-6.283, 6.283) for _ in range(LANES - len(special))]
    return special + [_bits(value) for value in numbers]


def _whole(name: str, _position: int, chance: random.Random) -> list[int]:
    """Small whole numbers of a format: every sum of products is exact, in whatever order."""
    return [_number(name, chance.randrange(-4, 5)) for _ in range(LANES)]


def _mild(name: str, _position: int, chance: random.Random) -> list[int]:
    """Numbers about 1: sums of products round, and do not overflow."""
    fraction, exponent = _FORMATS["f32" if name == "tf32" else name]
    bias = (1 << exponent - 1) - 1
    return [
        chance.getrandbits(1) << fraction + exponent
        | (bias + chance.randrange(-3, 2)) << fraction
        | chance.getrandbits(fraction)
        for _ in range(LANES)
    ]


def _special(name: str, _position: int, chance: random.Random) -> list[int]:
    """Small whole numbers, and now and then something stranger."""
    edges, _ = _pool(name)
    return [
        chance.choice(edges) if chance.random() < 0.1 else bits
        for bits in _whole(name, _position, chance)
    ]


# Metadata of sparse matrices: for each four elements of a row, the places of two of them.
_ORDERED = [low | high << 2 for high in range(4) for low in range(high)]
_DISORDERED = [low | high << 2 for high in range(4) for low in range(4) if low > high]


def _nibbles(choices: list[int]) -> Callable[[str, int, random.Random], list[int]]:
    def draw(_name: str, _position: int, chance: random.Random) -> list[int]:
        return [
            sum(chance.choice(choices) << shift for shift in range(0, 32, 4)) for _ in range(LANES)
        ]

    return draw


def _number(name: str, value: float) -> int:
    """The bits of a number that a format has."""
    fraction, exponent = _FORMATS["f32" if name == "tf32" else name]
    if value == 0:
        return 0
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    scale = (bits >> 52 & 0x7FF) - 1023 + (1 << exponent - 1) - 1
    return (
        bits >> 63 << fraction + exponent
        | scale << fraction
        | (bits & (1 << 52) - 1) >> 52 - fraction
    )


def _bits(value: float) -> int:
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


_RULES: dict[str, Callable[[str, int, random.Random], list[int]]] = {
    "": _crossed,
    "one": _edges_first,
    "chance": _any,
    "every": _every,
    "angle": _angle,
    "whole": _whole,
    "mild": _mild,
    "special": _special,
    "ordered": _nibbles(_ORDERED),
    "disordered": _nibbles(_DISORDERED),
    "halves": _nibbles([0b0100, 0b1110]),  # of words of 32 bits, one in each two of a row
}
