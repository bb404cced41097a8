"""Floating-point arithmetic of f32 and f64 (PTX manual 9.7.3).

f32 operations return the canonical NaN 0x7fffffff, as the hardware does; f64 ones keep a NaN's
sign and payload, and make it quiet.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from cudarun.base.process import IS_X86
from cudarun.emulator.isa import approximations
from cudarun.emulator.isa.form import InstructionForm, Keywords, form
from cudarun.emulator.numerics import rounding
from cudarun.emulator.numerics import special_functions as unit
from cudarun.emulator.numerics.arrays import Array, Arrays
from cudarun.emulator.numerics.fused import fused_f32, fused_f64
from cudarun.emulator.numerics.native import any_of, is_traced
from cudarun.emulator.numerics.special_values import (
    canonical,
    extreme_of,
    flush_tiny,
    flushed,
    has_nan,
    saturate,
    with_hardware_nan,
)
from cudarun.emulator.numerics.temporaries import (
    Function,
    result_of,
    temporaries_of,
    with_temporaries,
)
from cudarun.emulator.words import Words

Operands = Callable[..., Arrays]


def finish(
    words: Words, function: Function, sources: int, doubling: Operands | None = None
) -> Function:
    """Apply ``.ftz``, ``.sat`` and the canonical NaN to a function of f32; not to one of f64.

    Args:
        words: The instruction.
        function: A lanewise function of a table.
        sources: How many sources it has.
        doubling: Changes sources to those of the doubled result; required if results below 2^-126
            can be inexact.
    """
    ftz, sat = words.get("ftz"), words.get("sat")
    if words.type.bits == 64:
        return function

    def plain(*arguments: Array) -> None:
        function(*arguments)
        canonical(arguments[sources])

    def modified(*arguments: Array) -> None:
        given, d, scratch = arguments[:sources], arguments[sources], arguments[sources + 1 :]
        if ftz:
            given = tuple(map(flushed, given))
        function(*given, d, *scratch)
        if ftz:
            result = flushed(d)
            if result is not d:
                np.copyto(d, result)
        if sat:
            saturate(d)
        canonical(d)

    if ftz and doubling:
        return _flushing(function, doubling, sources, bool(sat))
    return with_temporaries(modified if ftz or sat else plain, temporaries_of(function))


def _flushing(function: Function, doubling: Operands, sources: int, sat: bool) -> Function:
    """Return a function with ``.ftz`` whose results below 2^-126 can be inexact."""

    def operate(*arguments: Array) -> None:
        *given, d = arguments[: sources + 1]
        *scratch, result = arguments[sources + 1 :]  # d can be a source
        given = list(map(flushed, given))
        function(*given, result, *scratch)
        if any_of(np.abs(result) <= np.float32(2.0**-126)):
            twice = np.empty_like(result)
            function(*doubling(*given), twice, *scratch)
            flush_tiny(result, twice)
        if sat:
            saturate(result)
        canonical(result)
        np.copyto(d, result)

    return with_temporaries(operate, (*temporaries_of(function), np.dtype("f4")))


# --- arithmetic ----------------------------------------------------------------------------------


def _rounded(
    nearest: Function,
    of_f32: Function,
    of_f64: Function,
    sources: int = 2,
    doubling: Operands | None = None,
    *,
    nan_of: str = "ba",
) -> Callable[[Words], Function]:
    """Return an operation: to nearest by a function of numpy, else exact and rounded.

    Of f64 operands ``nan_of`` that are NaN, the first is the result; with none, the function has
    the hardware's NaN already.
    """

    def make(words: Words) -> Function:
        mode, exactly = words.get("rnd"), of_f32 if words.type.bits == 32 else of_f64
        operate = nearest
        if (mode or rounding.NEAREST) != rounding.NEAREST:
            operate = result_of(lambda *operands: exactly(*operands, mode))
        if words.type.bits == 64:
            return _with_nan(operate, sources, nan_of) if nan_of else operate
        return finish(words, operate, sources, doubling)

    return make


def _with_nan(function: Function, sources: int, order: str) -> Function:
    """Return a function of f64 whose NaN are the hardware's.

    Compiled code of x86 leaves the choice between two NaN to LLVM: to choose would make a sum two
    to four times slower.
    """
    if IS_X86 and order[0] == "a":  # an x86 processor takes the first operand's
        return function
    if IS_X86 and function in (np.add, np.multiply):
        return lambda a, b, d: function(b, a, d)

    def operate(*arguments: Array) -> None:
        *given, d = arguments[: sources + 1]
        *scratch, result = arguments[sources + 1 :]  # d can be a source
        function(*given, result, *scratch)
        if not (IS_X86 and is_traced(result)):
            result = with_hardware_nan(result, *(given["ab".index(name)] for name in order))
        np.copyto(d, result)

    return with_temporaries(operate, (*temporaries_of(function), np.dtype("f8")))


def _difference(exactly: Function) -> Function:
    def subtract(a: Array, b: Array, mode: str) -> object:
        return exactly(a, np.where(np.isnan(b), b, np.negative(b)), mode)

    return subtract


def _inverse(exactly: Function) -> Function:
    return lambda a, mode: exactly(np.ones_like(a), a, mode)


ADD = _rounded(np.add, rounding.sum_f32, rounding.sum_f64)
SUB = _rounded(np.subtract, _difference(rounding.sum_f32), _difference(rounding.sum_f64))
# The second factor is doubled: the first is more often the result before.
MUL = _rounded(
    np.multiply, rounding.product_f32, rounding.product_f64, doubling=lambda a, b: (a, b + b)
)
_div = _rounded(
    np.divide,
    rounding.quotient_f32,
    rounding.quotient_f64,
    doubling=lambda a, b: (a + a, b),
    nan_of="ab",
)
_rcp = _rounded(
    result_of(lambda a: np.ones_like(a) / a),
    _inverse(rounding.quotient_f32),
    _inverse(rounding.quotient_f64),
    1,
    lambda a: (a * np.float32(0.5),),
    nan_of="a",
)
_sqrt = _rounded(np.sqrt, rounding.root_f32, rounding.root_f64, 1, nan_of="a")
FMA = _rounded(
    fused_f32, rounding.fused_f32, rounding.fused_f64, 3, lambda a, b, c: (a + a, b, c + c)
)
_fma_f64 = _rounded(fused_f64, rounding.fused_f32, rounding.fused_f64, 3, nan_of="")


def _numbers_only(ufunc: Function) -> Function:
    """Return ``abs.f64`` or ``neg.f64``: additions of 0, so that NaN keep their sign."""

    def operate(a: Array, d: Array) -> None:
        ufunc(a, d)
        if has_nan(d):
            np.copyto(d, a + 0.0, where=np.isnan(a))

    return operate


_TESTS: dict[str, Function] = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "number": lambda a: ~np.isnan(a),
    "notanumber": np.isnan,
    # By the manual, zeros are normal.
    "normal": lambda a: np.isfinite(a) & ((np.abs(a) >= np.finfo(a.dtype).tiny) | (a == 0)),
    "subnormal": lambda a: (np.abs(a) < np.finfo(a.dtype).tiny) & (a != 0),
}


def extreme(operation: str, words: Words, sources: int = 2) -> Function:
    """Return ``min`` or ``max`` of some operands."""
    return finish(words, result_of(partial(extreme_of, operation, words)), sources)


_min, _max = partial(extreme, "min"), partial(extreme, "max")

RND: Keywords = {"rnd": rounding.MODES}


FORMS: tuple[InstructionForm, ...] = (
    form("add{.rnd}{.ftz}{.sat}.f32  d, a, b", make=ADD, **RND),
    form("add{.rnd}.f64  d, a, b", make=ADD, **RND),
    form("sub{.rnd}{.ftz}{.sat}.f32  d, a, b", make=SUB, **RND),
    form("sub{.rnd}.f64  d, a, b", make=SUB, **RND),
    form("mul{.rnd}{.ftz}{.sat}.f32  d, a, b", make=MUL, **RND),
    form("mul{.rnd}.f64  d, a, b", make=MUL, **RND),
    form("fma.rnd{.ftz}{.sat}.f32  d, a, b, c", make=FMA, **RND),
    form("fma.rnd.f64  d, a, b, c", make=_fma_f64, **RND),
    form("mad.rnd{.ftz}{.sat}.f32  d, a, b, c", make=FMA, **RND),
    form("mad.rnd.f64  d, a, b, c", make=_fma_f64, **RND),
    form("div.approx{.ftz}.f32  d, a, b", make=approximations.division),
    form("div.full{.ftz}.f32  d, a, b", make=approximations.division),
    form("div.rnd{.ftz}.f32  d, a, b", make=_div, **RND),
    form("div.rnd.f64  d, a, b", make=_div, **RND),
    form("rcp.approx{.ftz}.f32  d, a", make=approximations.reciprocal),
    form("rcp.rnd{.ftz}.f32  d, a", make=_rcp, **RND),
    form("rcp.rnd.f64  d, a", make=_rcp, **RND),
    form("rcp.rnd.ftz.f64  d, a", make=_rcp, **RND),  # subnormal values remain
    form("rcp.approx.ftz.f64  d, a", approximations.coarse(unit.reciprocal)),
    form("sqrt.approx{.ftz}.f32  d, a",
         make=approximations.scaled(unit.root, lambda root: root * np.float32(2.0**-12))),
    form("sqrt.rnd{.ftz}.f32  d, a", make=_sqrt, **RND),
    form("sqrt.rnd.f64  d, a", make=_sqrt, **RND),
    form("rsqrt.approx{.ftz}.f32  d, a",
         make=approximations.scaled(unit.reciprocal_root, lambda root: root * np.float32(2.0**12))),
    form("rsqrt.approx.f64  d, a", result_of(approximations.reciprocal_root_f64)),
    form("rsqrt.approx.ftz.f64  d, a", approximations.coarse(unit.reciprocal_root)),
    form("sin.approx{.ftz}.f32  d, a", result_of(partial(approximations.of_angle, unit.sine))),
    form("cos.approx{.ftz}.f32  d, a", result_of(partial(approximations.of_angle, unit.cosine))),
    form("lg2.approx{.ftz}.f32  d, a",
         make=approximations.scaled(unit.logarithm, lambda logarithm: logarithm - np.float32(24))),
    form("ex2.approx{.ftz}.f32  d, a", make=approximations.power),
    form("tanh.approx.f32  d, a",
         result_of(partial(approximations.of_unit, unit.hyperbolic_tangent))),
    form("abs{.ftz}.f32  d, a", make=lambda words: finish(words, np.absolute, 1)),
    form("abs.f64  d, a", _numbers_only(np.absolute)),
    form("neg{.ftz}.f32  d, a", make=lambda words: finish(words, np.negative, 1)),
    form("neg.f64  d, a", _numbers_only(np.negative)),
    form("copysign.type  d, a, b", result_of(lambda a, b: np.copysign(b, a)), type="f32 f64"),
    form("testp.op.type  p:pred, a", make=lambda words: result_of(_TESTS[words["op"]]),
         type="f32 f64", op=" ".join(_TESTS)),
    form("min{.ftz}{.NaN}{.xorsign.abs}.f32  d, a, b", make=_min),
    form("max{.ftz}{.NaN}{.xorsign.abs}.f32  d, a, b", make=_max),
    form("min.f64  d, a, b", make=_min),
    form("max.f64  d, a, b", make=_max),
)  # fmt: skip
