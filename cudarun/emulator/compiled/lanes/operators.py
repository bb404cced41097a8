"""numpy's ufuncs as operations on vectors, with the results that numpy has on x86, bit for bit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.emulator.compiled.lanes.vectors import (
    CodeBuilder,
    LaneVector,
    ModuleText,
    constant,
    element_of,
    splat,
)
from cudarun.emulator.numerics import rounding
from cudarun.emulator.numerics.arrays import DType

Operator = Callable[[CodeBuilder, DType, list[LaneVector]], LaneVector]
"""``operator(code, dtype, operands)``: ``dtype`` is the type of the operands."""


class Untraceable(Exception):
    """An operation that has no rule; the message names it."""


def cast(code: CodeBuilder, a: LaneVector, source: DType, target: DType) -> LaneVector:
    """Return a vector converted as ``astype`` does."""
    if source == target:
        return a
    element = element_of(target)
    if target.kind == "b":
        zero = constant(np.zeros(a.count, source))
        return code.compare("une" if source.kind == "f" else "ne", a, zero)
    if source.kind == "b":
        if target.kind == "f":
            return code.cast("uitofp", a, element)
        return code.cast("zext", a, element)
    if source.kind == "f" and target.kind == "f":
        return _between_floats(code, a, source, target)
    if source.kind == "f":
        return _to_integer(code, a, target)
    if target.kind == "f":
        if target.itemsize == 2:
            raise Untraceable("integer to float16")
        return code.cast("sitofp" if source.kind == "i" else "uitofp", a, element)
    if target.itemsize == source.itemsize:
        return a
    if target.itemsize < source.itemsize:
        return code.cast("trunc", a, element)
    return code.cast("sext" if source.kind == "i" else "zext", a, element)


def _between_floats(code: CodeBuilder, a: LaneVector, source: DType, target: DType) -> LaneVector:
    element = element_of(target)
    if {source.itemsize, target.itemsize} == {2, 8}:
        if target.itemsize == 2:
            raise Untraceable("float64 to float16")
        return code.cast("fpext", code.cast("fpext", a, "float"), element)
    return code.cast("fpext" if target.itemsize > source.itemsize else "fptrunc", a, element)


def _to_integer(code: CodeBuilder, a: LaneVector, target: DType) -> LaneVector:
    if a.element == "half":
        a = code.cast("fpext", a, "float")
    operation = "fptosi" if target.kind == "i" or target.itemsize < 8 else "fptoui"
    if target.itemsize >= 8:
        return code.cast(operation, a, element_of(target))
    wide = code.cast("fptosi", a, "i64" if target.itemsize == 4 and target.kind == "u" else "i32")
    if wide.bits == 8 * target.itemsize:
        return wide
    return code.cast("trunc", wide, element_of(target))


# --- arithmetic ----------------------------------------------------------------------------------


def _arithmetic(
    integer: str, floating: str, code: CodeBuilder, dtype: DType, operands: list[LaneVector]
) -> LaneVector:
    if dtype.kind == "f" and dtype.itemsize == 2:
        raise Untraceable(f"{floating} of float16")
    return code.binary(floating if dtype.kind == "f" else integer, *operands)


def _floor_divide(code: CodeBuilder, dtype: DType, operands: list[LaneVector]) -> LaneVector:
    if dtype.kind != "u":
        raise Untraceable("floor_divide of signed values")
    return code.binary("udiv", *operands)


def _negative(code: CodeBuilder, dtype: DType, operands: list[LaneVector]) -> LaneVector:
    (a,) = operands
    if dtype.kind == "f":
        return code.vector(f"fneg {a.typed}", a.element, a.count)
    return code.binary("sub", splat(a.element, 0, a.count), a)


def _absolute(code: CodeBuilder, dtype: DType, operands: list[LaneVector]) -> LaneVector:
    (a,) = operands
    if dtype.kind == "f":
        bits = code.bitcast(a, f"i{a.bits}")
        size = splat(bits.element, (1 << a.bits - 1) - 1, a.count)
        return code.bitcast(code.binary("and", bits, size), a.element)
    if dtype.kind == "u":
        return a
    negative = code.compare("slt", a, splat(a.element, 0, a.count))
    return code.select(negative, _negative(code, dtype, [a]), a)


def _copysign(code: CodeBuilder, dtype: DType, operands: list[LaneVector]) -> LaneVector:
    a, b = (code.bitcast(each, f"i{each.bits}") for each in operands)
    sign = 1 << a.bits - 1
    size = code.binary("and", a, splat(a.element, sign - 1, a.count))
    with_sign = code.binary("and", b, splat(b.element, sign, b.count))
    return code.bitcast(code.binary("or", size, with_sign), operands[0].element)


def _signbit(code: CodeBuilder, dtype: DType, operands: list[LaneVector]) -> LaneVector:
    bits = code.bitcast(operands[0], f"i{operands[0].bits}")
    return code.compare("slt", bits, splat(bits.element, 0, bits.count))


def _sign(code: CodeBuilder, dtype: DType, operands: list[LaneVector]) -> LaneVector:
    (a,) = operands
    zero, one, minus = (constant(np.full(a.count, value, dtype)) for value in (0, 1, -1))
    if dtype.kind != "f":
        raise Untraceable("sign of integers")
    result = code.select(code.compare("olt", a, zero), minus, zero)
    result = code.select(code.compare("ogt", a, zero), one, result)
    return code.select(code.compare("uno", a, a), a, result)


def _nextafter(code: CodeBuilder, dtype: DType, operands: list[LaneVector]) -> LaneVector:
    a, b = operands
    integer = f"i{a.bits}"
    bits, target = code.bitcast(a, integer), code.bitcast(b, integer)
    zero = constant(np.zeros(a.count, dtype))
    up = code.compare("olt", a, b)
    positive = code.compare("sge", bits, splat(integer, 0, a.count))
    away = code.compare("eq", up, positive)
    ones, less = splat(integer, 1, a.count), splat(integer, -1, a.count)
    moved = code.binary("add", bits, code.select(away, ones, less))
    sign = code.binary("and", target, splat(integer, 1 << a.bits - 1, a.count))
    smallest = code.binary("or", sign, ones)
    result = code.select(code.compare("oeq", a, zero), smallest, moved)
    result = code.select(code.compare("oeq", a, b), target, result)
    result = code.select(code.compare("uno", b, b), target, result)
    result = code.select(code.compare("uno", a, a), bits, result)
    return code.bitcast(result, a.element)


def _intrinsic(
    name: str, code: CodeBuilder, dtype: DType, operands: list[LaneVector]
) -> LaneVector:
    if dtype.kind != "f" or dtype.itemsize == 2:
        raise Untraceable(f"{name} of {dtype}")
    return code.intrinsic(name, *operands)


def _square_root(code: CodeBuilder, dtype: DType, operands: list[LaneVector]) -> LaneVector:
    # The fence keeps LLVM from taking the NaN that replaces a negative number's for the same one.
    root = _intrinsic("sqrt", code, dtype, operands)
    return code.intrinsic("arithmetic.fence", root)


def _extreme(
    integer: str, floating: str, code: CodeBuilder, dtype: DType, operands: list[LaneVector]
) -> LaneVector:
    """Return the minimum or the maximum; a NaN if one operand is NaN."""
    a, b = operands
    if dtype.kind == "b":
        return code.binary("and" if floating == "olt" else "or", a, b)
    if dtype.kind != "f":
        sign = "s" if dtype.kind == "i" else "u"
        return code.select(code.compare(sign + integer, a, b), a, b)
    chosen = code.select(code.compare(floating, a, b), a, b)
    return code.select(code.compare("uno", a, a), a, chosen)


# --- bits ----------------------------------------------------------------------------------------


def _bitwise(
    operation: str, code: CodeBuilder, dtype: DType, operands: list[LaneVector]
) -> LaneVector:
    return code.binary(operation, *operands)


def _invert(code: CodeBuilder, dtype: DType, operands: list[LaneVector]) -> LaneVector:
    (a,) = operands
    return code.binary("xor", a, splat(a.element, True if a.element == "i1" else -1, a.count))


def _shift(
    operation: str, code: CodeBuilder, dtype: DType, operands: list[LaneVector]
) -> LaneVector:
    a, amount = operands
    width = a.bits
    inside = code.compare("ult", amount, splat(a.element, width, a.count))
    if operation == "right" and dtype.kind == "i":
        most = splat(a.element, width - 1, a.count)
        return code.binary("ashr", a, code.select(inside, amount, most))
    safe = code.binary("and", amount, splat(a.element, width - 1, a.count))
    shifted = code.binary("shl" if operation == "left" else "lshr", a, safe)
    return code.select(inside, shifted, splat(a.element, 0, a.count))


# --- truth values --------------------------------------------------------------------------------


def _comparison(
    signed: str, floating: str, code: CodeBuilder, dtype: DType, operands: list[LaneVector]
) -> LaneVector:
    if dtype.kind == "f":
        return code.compare(floating, *operands)
    if signed in ("eq", "ne"):
        return code.compare(signed, *operands)
    return code.compare(("s" if dtype.kind == "i" else "u") + signed, *operands)


def _is_nan(code: CodeBuilder, dtype: DType, operands: list[LaneVector]) -> LaneVector:
    (a,) = operands
    if dtype.kind != "f":
        return splat("i1", False, a.count)
    return code.compare("uno", a, a)


def _against_infinity(
    predicate: str, code: CodeBuilder, dtype: DType, operands: list[LaneVector]
) -> LaneVector:
    (a,) = operands
    if dtype.kind != "f":
        return splat("i1", predicate == "ult", a.count)
    size = code.bitcast(_absolute(code, dtype, [a]), f"i{a.bits}")
    infinity = int(np.array(np.inf, dtype).view(f"u{dtype.itemsize}"))
    return code.compare(predicate, size, splat(size.element, infinity, a.count))


OPERATORS: dict[str, Operator] = {
    "add": partial(_arithmetic, "add", "fadd"),
    "subtract": partial(_arithmetic, "sub", "fsub"),
    "multiply": partial(_arithmetic, "mul", "fmul"),
    "divide": partial(_arithmetic, "", "fdiv"),
    "floor_divide": _floor_divide,
    "negative": _negative,
    "absolute": _absolute,
    "copysign": _copysign,
    "signbit": _signbit,
    "sign": _sign,
    "nextafter": _nextafter,
    "sqrt": _square_root,
    "rint": partial(_intrinsic, "rint"),
    "trunc": partial(_intrinsic, "trunc"),
    "floor": partial(_intrinsic, "floor"),
    "ceil": partial(_intrinsic, "ceil"),
    "minimum": partial(_extreme, "lt", "olt"),
    "maximum": partial(_extreme, "gt", "ogt"),
    "bitwise_and": partial(_bitwise, "and"),
    "bitwise_or": partial(_bitwise, "or"),
    "bitwise_xor": partial(_bitwise, "xor"),
    "invert": _invert,
    "left_shift": partial(_shift, "left"),
    "right_shift": partial(_shift, "right"),
    "equal": partial(_comparison, "eq", "oeq"),
    "not_equal": partial(_comparison, "ne", "une"),
    "less": partial(_comparison, "lt", "olt"),
    "less_equal": partial(_comparison, "le", "ole"),
    "greater": partial(_comparison, "gt", "ogt"),
    "greater_equal": partial(_comparison, "ge", "oge"),
    "logical_and": partial(_bitwise, "and"),
    "logical_or": partial(_bitwise, "or"),
    "logical_xor": partial(_bitwise, "xor"),
    "logical_not": _invert,
    "isnan": _is_nan,
    "isinf": partial(_against_infinity, "eq"),
    "isfinite": partial(_against_infinity, "ult"),
}
"""The operation of each ufunc, by its name."""

TRUTH = frozenset({"logical_and", "logical_or", "logical_xor", "logical_not"})
"""The ufuncs whose operands are truth values, whatever their types."""


# --- tables, rounding modes ----------------------------------------------------------------------


def gathered(code: CodeBuilder, table: npt.NDArray[Any], index: LaneVector) -> LaneVector:
    """Return items of a table, which outlives the code, by their indices of type ``i64``."""
    element, module, count = element_of(table.dtype), code.module, index.count
    # By the contents, so that cached machine code never finds another table under its name.
    symbol = f"table_{hashlib.sha256(table.tobytes()).hexdigest()[:16]}"
    module.symbols[symbol] = table.ctypes.data
    module.declare(f"@{symbol} = external global {element}")
    letter = {"float": "f32", "double": "f64"}.get(element, element)
    gather = f"@llvm.masked.gather.v{count}{letter}.v{count}p0"
    kind, places = f"<{count} x {element}>", f"<{count} x ptr>"
    module.declare(f"declare {kind} {gather}({places}, i32, <{count} x i1>, {kind})")
    items = code.scalar(f"getelementptr {element}, ptr @{symbol}, {index.typed}")
    return code.vector(
        f"call {kind} {gather}({places} {items}, i32 {table.itemsize}, "
        f"<{count} x i1> splat (i1 true), {kind} poison)",
        element,
        count,
    )


_ROUNDINGS = {rounding.ZERO: 0, rounding.NEAREST: 1, rounding.UP: 2, rounding.DOWN: 3}
_CONSTRAINED = {"multiply": "fmul", "divide": "fdiv", "sqrt": "sqrt", "multiply_add": "fma"}
# LLVM's optimizations assume the default mode everywhere else, so nothing may move in or out.
_STRICT = 'metadata !"round.dynamic", metadata !"fpexcept.strict"'


def directed(
    code: CodeBuilder, operation: str, mode: str, operands: list[LaneVector]
) -> LaneVector:
    """Return the result of an operation, rounded in a mode.

    Args:
        operation: ``"multiply"``, ``"divide"``, ``"sqrt"`` or ``"multiply_add"``.
        mode: ``"rz"``, ``"rm"`` or ``"rp"``.
        operands: Vectors of f64.
    """
    kind, count = operands[0].type, operands[0].count
    name = f"directed.{operation}.{mode}.v{count}"
    if not code.module.defines(name):
        _define_directed(code.module, name, operation, mode, operands)
    given = ", ".join(operand.typed for operand in operands)
    return code.vector(f"call {kind} @{name}({given})", "double", count)


def _define_directed(
    module: ModuleText, name: str, operation: str, mode: str, operands: list[LaneVector]
) -> None:
    kind, count = operands[0].type, operands[0].count
    intrinsic = f"@llvm.experimental.constrained.{_CONSTRAINED[operation]}.v{count}f64"
    types = ", ".join([kind] * len(operands))
    module.declare(f"declare {kind} {intrinsic}({types}, metadata, metadata)")
    module.declare("declare void @llvm.set.rounding(i32)")
    parameters = ", ".join(f"{kind} %a{place}" for place in range(len(operands)))
    module.define(
        name,
        f"define internal {kind} @{name}({parameters}) noinline strictfp #0 {{\n"
        f"  call void @llvm.set.rounding(i32 {_ROUNDINGS[mode]}) strictfp\n"
        f"  %r = call {kind} {intrinsic}({parameters}, {_STRICT}) strictfp\n"
        f"  call void @llvm.set.rounding(i32 {_ROUNDINGS[rounding.NEAREST]}) strictfp\n"
        f"  ret {kind} %r\n}}",
    )
