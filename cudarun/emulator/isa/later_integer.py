"""Integer arithmetic of PTX 9.2 and 9.3: four bytes at once, saturation, products without carry."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import numpy as np

from cudarun.emulator.isa.form import InstructionForm, form
from cudarun.emulator.isa.integer import MAX, MIN
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.temporaries import Function, result_of
from cudarun.emulator.words import Words


def _modular_or_saturated(operation: np.ufunc) -> Callable[[Words], Function]:
    def make(words: Words) -> Function:
        if not words["sat"]:
            return operation
        kind = words.type.dtype.str[1:]
        least, most = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
        return result_of(lambda a, b: np.clip(operation(a.astype(np.int64), b), least, most))

    return make


_sum, _difference = _modular_or_saturated(np.add), _modular_or_saturated(np.subtract)


def _carryless(words: Words) -> Function:
    """Return ``clmad``: half of the product of polynomials over GF(2), and a sum without carry."""
    high, one = words["half"] == "hi", np.uint64(1)

    def partial_product(a: Array, b: Array, place: int) -> Array:
        shifted = a >> np.uint64(64 - place) if high else a << np.uint64(place)
        bit = b >> np.uint64(place) & one
        return np.where(bit != 0, shifted, np.uint64(0))

    def operate(a: Array, b: Array, c: Array) -> Array:
        places = range(1 if high else 0, 64)
        a, b, c = (each.view(np.uint64) for each in (a, b, c))
        return reduce(np.bitwise_xor, (partial_product(a, b, place) for place in places), c)

    return result_of(operate)


FORMS: tuple[InstructionForm, ...] = (
    form("add{.sat}.u8x4  d, a, b", make=_sum),
    form("add{.sat}.s8x4  d, a, b", make=_sum),
    form("add.sat.type  d, a, b", make=_sum, type="u16x2 s16x2 u32"),
    form("sub{.sat}.u8x4  d, a, b", make=_difference),
    form("sub{.sat}.s8x4  d, a, b", make=_difference),
    form("min.u8x4  d, a, b", make=MIN),
    form("max.u8x4  d, a, b", make=MAX),
    form("min{.relu}.s8x4  d, a, b", make=MIN),
    form("max{.relu}.s8x4  d, a, b", make=MAX),
    form("neg.s8x4  d, a", np.negative),
    form("clmad.half.type  d, a, b, c", make=_carryless, half="lo hi", type="u64 s64"),
)
