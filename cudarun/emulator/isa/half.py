"""Half-precision arithmetic of f16, bf16 and pairs of them (PTX manual 9.7.4), rounded once.

A sum or product of two f16 values that is rounded to f32 and then to f16 equals the one rounded
once, because f32 has more than twice as many digits; fused operations and bf16, with its wide
range, are computed in f64.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from cudarun.emulator.isa.approximations import Bits, of_unit
from cudarun.emulator.isa.form import InstructionForm, computed, form
from cudarun.emulator.numerics import rounding
from cudarun.emulator.numerics import special_functions as unit
from cudarun.emulator.numerics.arrays import Array
from cudarun.emulator.numerics.formats import (
    element,
    flushed_half,
    from_f32,
    from_pair,
    modified,
    to_f32,
)
from cudarun.emulator.numerics.special_values import extreme_of
from cudarun.emulator.numerics.temporaries import Function
from cudarun.emulator.words import Words

_HALVES = "f16 f16x2 bf16 bf16x2"
_F16 = "f16 f16x2"
_BF16 = "bf16 bf16x2"


def _rounded(compute: Callable[..., tuple[Array, Array]], words: Words, *sources: Array) -> Array:
    """Return the result of a function of f64 arguments to ``(s, e)`` pairs."""
    number_format = element(words.type)
    ftz, sat, relu = (bool(words.get(word)) for word in ("ftz", "sat", "relu"))
    wide = [to_f32(source, number_format).astype(np.float64) for source in sources]
    if ftz:
        wide = [flushed_half(value, number_format) for value in wide]
    s, e = compute(*wide)
    result = from_pair(s, e, number_format, rounding.NEAREST)
    if not (ftz or sat or relu):
        return result
    twice = from_pair(2 * s, 2 * e, number_format, rounding.NEAREST) if ftz else None
    return modified(result, number_format, twice=twice, sat=sat, relu=relu)


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    product = a * b
    return product, np.zeros_like(product)


def _in_f32(
    compute: Callable[..., Array], words: Words, *sources: Array, mode: str = rounding.NEAREST
) -> Array:
    """Return the result of a function in f32, rounded."""
    number_format = element(words.type)
    values = [to_f32(source, number_format) for source in sources]
    if words.get("ftz"):
        values = [flushed_half(value, number_format) for value in values]
    return from_f32(compute(*values), number_format, mode)


def _extreme(operation: str, words: Words, *sources: Array) -> Array:
    return _in_f32(partial(extreme_of, operation, words), words, *sources)


def _approximate(operation: Bits, words: Words, a: Array) -> Array:
    """Return the result of the special function unit, truncated to 16 bits."""

    def compute(a: Array) -> Array:
        value = of_unit(operation, a)
        if element(words.type) == "f16":
            value = np.where(value >= np.float32(2.0**16), np.float32(np.inf), value)
        return value

    return _in_f32(compute, words, a, mode=rounding.ZERO)


_min, _max = (computed(partial(_extreme, name)) for name in ("min", "max"))
_add = computed(partial(_rounded, rounding.two_sum))
_sub = computed(partial(_rounded, lambda a, b: rounding.two_sum(a, -b)))
_mul = computed(partial(_rounded, _product))
_fma = computed(partial(_rounded, lambda a, b, c: rounding.two_sum(a * b, c)))
_neg, _abs = (computed(partial(_in_f32, change)) for change in (np.negative, np.abs))
_tanh = computed(partial(_approximate, unit.hyperbolic_tangent))
_ex2 = computed(partial(_approximate, unit.power))

_BEYOND = np.uint16(0x7FF7)  # the NaN, with either sign, of elements beyond the bounds of a tensor


def _fma_within(words: Words) -> Function:
    """Return ``fma.oob``: +0 if a factor is the NaN of elements out of bounds."""
    fused = _fma(words)

    def operate(a: Array, b: Array, c: Array, d: Array) -> None:
        beyond = [(factor.view(np.uint16) & np.uint16(0x7FFF)) == _BEYOND for factor in (a, b)]
        fused(a, b, c, d)
        d[beyond[0] | beyond[1]] = 0

    return operate


FORMS: tuple[InstructionForm, ...] = (
    form("add{.rn}{.ftz}{.sat}.type  d, a, b", make=_add, type=_F16),
    form("add{.rn}.type  d, a, b", make=_add, type=_BF16),
    form("sub{.rn}{.ftz}{.sat}.type  d, a, b", make=_sub, type=_F16),
    form("sub{.rn}.type  d, a, b", make=_sub, type=_BF16),
    form("mul{.rn}{.ftz}{.sat}.type  d, a, b", make=_mul, type=_F16),
    form("mul{.rn}.type  d, a, b", make=_mul, type=_BF16),
    form("fma.rn{.ftz}{.sat}.type  d, a, b, c", make=_fma, type=_F16),
    form("fma.rn{.ftz}.relu.type  d, a, b, c", make=_fma, type=_F16),
    form("fma.rn{.relu}.type  d, a, b, c", make=_fma, type=_BF16),
    form("fma.rn.oob{.sat}.type  d, a, b, c", make=_fma_within, type=_F16),
    form("fma.rn.oob.relu.type  d, a, b, c", make=_fma_within, type=_F16),
    form("fma.rn.oob{.relu}.type  d, a, b, c", make=_fma_within, type=_BF16),
    form("neg{.ftz}.type  d, a", make=_neg, type=_F16),
    form("neg.type  d, a", make=_neg, type=_BF16),
    form("abs{.ftz}.type  d, a", make=_abs, type=_F16),
    form("abs.type  d, a", make=_abs, type=_BF16),
    form("min{.ftz}{.NaN}{.xorsign.abs}.type  d, a, b", make=_min, type=_F16),
    form("min{.NaN}{.xorsign.abs}.type  d, a, b", make=_min, type=_BF16),
    form("max{.ftz}{.NaN}{.xorsign.abs}.type  d, a, b", make=_max, type=_F16),
    form("max{.NaN}{.xorsign.abs}.type  d, a, b", make=_max, type=_BF16),
    form("tanh.approx.type  d, a", make=_tanh, type=_HALVES),
    form("ex2.approx.type  d, a", make=_ex2, type=_F16),
    form("ex2.approx.ftz.type  d, a", make=_ex2, type=_BF16),
)  # fmt: skip
