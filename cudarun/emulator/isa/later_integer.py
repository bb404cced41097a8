"""Integer arithmetic of PTX 9.2 and 9.3: four bytes at once, saturation, products without carry."""

from __future__ import annotations

from functools import partial

import numpy as np

from cudarun.emulator.isa.form import InstructionForm, computed, form
from cudarun.emulator.isa.integer import MAX, MIN
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.temporaries import Function, result_of
from cudarun.emulator.words import Words


def _modular_or_saturated(operation: np.ufunc, words: Words) -> Function:
    if not words["sat"]:
        return operation
    kind = words.type.dtype.str[1:]
    least, most = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
    return result_of(lambda a, b: np.clip(operation(a.astype(np.int64), b), least, most))


_sum, _difference = (partial(_modular_or_saturated, each) for each in (np.add, np.subtract))


@computed
def _carryless(words: Words, a: Array, b: Array, c: Array) -> Array:
    """Return ``clmad``: half of the product of polynomials over GF(2), and a sum without carry."""
    high = words["half"] == "hi"
    a, b, total = (each.view(np.uint64) for each in (a, b, c))
    for place in range(1 if high else 0, 64):
        shifted = a >> np.uint64(64 - place) if high else a << np.uint64(place)
        bit = b >> np.uint64(place) & np.uint64(1)
        total = total ^ np.where(bit != 0, shifted, np.uint64(0))
    return total


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
