"""Operators and elementwise functions, on scalars and on chunks of arrays.

:mod:`cudarun.arguments.expressions.evaluation` describes their semantics. A plain ``int`` is a
number written in the expression, which adapts to the other operand; everything else has a numpy
type.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import numpy as np

from cudarun.arguments.dimensions import integer_operation
from cudarun.arguments.dtypes import Array, DType, is_float
from cudarun.arguments.expressions import syntax as tree
from cudarun.base.errors import RequestError

Operand: TypeAlias = "int | np.generic | Array"  # an operand; arrays are chunks

_Function: TypeAlias = Callable[[Any, Any], Operand]

_FLOAT_OPERATORS: dict[str, _Function] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide,
    "//": np.floor_divide, "%": np.remainder, "**": np.power,
}  # fmt: skip
_INTEGER_OPERATORS: dict[str, _Function] = {
    **{symbol: _FLOAT_OPERATORS[symbol] for symbol in ("+", "-", "*", "//", "%", "**")},
    "<<": np.left_shift, ">>": np.right_shift,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
}  # fmt: skip
_COMPARISONS: dict[str, _Function] = {
    "==": np.equal, "!=": np.not_equal,
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip
_BITWISE = frozenset("&|^")


def is_floating(value: Operand) -> bool:
    """Return whether a value has a floating type."""
    return not isinstance(value, int) and is_float(value.dtype)


def _scalar(value: Operand) -> bool:
    return isinstance(value, int | np.generic)


def wide(value: Operand) -> Any:
    """Return a value as float64: exact for every type except 64-bit integers beyond 2^53."""
    return np.float64(value) if isinstance(value, int) else value.astype(np.float64, copy=False)


def binary(operator: str, left: Operand, right: Operand) -> Operand:
    """Return ``left operator right`` for all operators except ``@`` and comparisons."""
    if operator in ("and", "or"):
        combine = np.logical_and if operator == "and" else np.logical_or
        return cast(Operand, combine(truth(left), truth(right)))
    if operator == "/" or is_floating(left) or is_floating(right):
        if operator not in _FLOAT_OPERATORS:
            raise RequestError(f"{operator!r} requires integers, not floats")
        return _FLOAT_OPERATORS[operator](wide(left), wide(right))
    if isinstance(left, int) and isinstance(right, int):
        return integer_operation(operator, left, right)
    shift = operator in ("<<", ">>")
    dtype = integer_dtype(left) if shift else integer_dtype(left, right)
    if operator in _BITWISE and is_bool(left) and is_bool(right):
        dtype = np.dtype(np.bool_)
    if _scalar(left) and _scalar(right):
        exact = integer_operation(operator, int(cast(Any, left)), int(cast(Any, right)))
        return sized(exact, dtype)
    if shift:
        right = np.minimum(right, np.asarray(64).astype(np.asarray(right).dtype))
    # For these operands, numpy would give a warning and an invented number.
    if operator in ("//", "%") and not np.all(right):
        raise RequestError(f"'{operator}': integer division by zero")
    if operator in ("**", "<<", ">>") and np.any(np.less(right, 0)):
        raise RequestError(f"'{operator}': the right side has negative integers")
    return _INTEGER_OPERATORS[operator](_as_integers(left, dtype), _as_integers(right, dtype))


def is_bool(value: Operand) -> bool:
    """Return whether a value has the type bool."""
    return not isinstance(value, int) and value.dtype.kind == "b"


def integer_dtype(*values: Operand) -> DType:
    """Return the type of integer arithmetic on the values."""
    dtypes = [
        np.dtype(np.int32) if v.dtype.kind == "b" else v.dtype
        for v in values
        if not isinstance(v, int)
    ] or [np.dtype(np.int64)]
    for value in values:
        if isinstance(value, int) and not _holds(dtypes[0], value):
            dtypes.append(np.dtype(np.int64 if value < 1 << 63 else np.uint64))
    result = dtypes[0]
    for dtype in dtypes[1:]:
        joint = np.promote_types(result, dtype)
        result = joint if joint.kind in "iu" else np.dtype(np.uint64)
    return result


def _holds(dtype: DType, value: int) -> bool:
    limits = np.iinfo(dtype)
    return int(limits.min) <= value <= int(limits.max)


def sized(value: int, dtype: DType) -> np.generic:
    """Return an exact integer as ``dtype``, or as 64 bits where it does not fit."""
    if dtype.kind == "b":
        return np.bool_(value)
    wider = (np.dtype(np.int64), np.dtype(np.uint64))
    fitting = next(each for each in (dtype, *wider) if _holds(each, value))
    return cast(np.generic, fitting.type(value))


def _as_integers(value: Operand, dtype: DType) -> Any:
    if isinstance(value, int):
        return sized(value, dtype).astype(dtype)
    return value.astype(dtype, copy=False)


def compare(operator: str, left: Operand, right: Operand) -> Operand:
    """Compare: floats as float64, integers exactly whatever their types."""
    if is_floating(left) or is_floating(right):
        return _COMPARISONS[operator](wide(left), wide(right))
    sides = (sized(v, np.dtype(np.int64)) if isinstance(v, int) else v for v in (left, right))
    return _COMPARISONS[operator](*sides)


def truth(value: Operand) -> Any:
    """Return whether values are nonzero; a NaN is true, as in C."""
    return np.not_equal(wide(value) if is_floating(value) else value, 0)


def unary(operator: str, value: Operand) -> Operand:
    """Return ``-value``, ``+value``, ``~value`` or ``not value``."""
    match operator:
        case "not":
            return cast(Operand, np.logical_not(truth(value)))
        case "~":
            if is_floating(value):
                raise RequestError("'~' requires integers, not floats")
            return ~value if isinstance(value, int) else cast(Operand, np.invert(value))
        case "-" if is_floating(value):
            return cast(Operand, np.negative(wide(value)))
        case _:
            return value if is_floating(value) else binary(operator, 0, value)


# --- functions ------------------------------------------------------------------------------------


def _absolute(value: Operand) -> Operand:
    if is_floating(value):
        return cast(Operand, np.abs(wide(value)))
    if isinstance(value, int):
        return abs(value)
    if isinstance(value, np.generic):
        return sized(abs(int(value)), integer_dtype(value))
    return cast(Operand, np.abs(value.astype(integer_dtype(value), copy=False)))


def _where(condition: Operand, yes: Operand, no: Operand) -> Operand:
    if is_floating(yes) or is_floating(no):
        return cast(Operand, np.where(truth(condition), wide(yes), wide(no)))
    both_bool = is_bool(yes) and is_bool(no)
    dtype = np.dtype(np.bool_) if both_bool else integer_dtype(yes, no)
    chosen = np.where(truth(condition), _as_integers(yes, dtype), _as_integers(no, dtype))
    return cast(Operand, chosen)


def compare_chain(operators: tuple[str, ...], *operands: Operand) -> Operand:
    """Evaluate ``a < b <= c``, with one operator fewer than operands."""
    links = zip(operands, operators, operands[1:], strict=False)
    passed = [compare(operator, left, right) for left, operator, right in links]
    return functools.reduce(lambda one, other: cast(Operand, np.logical_and(one, other)), passed)


def _of_wide(function: Callable[..., Operand]) -> Callable[..., Operand]:
    return lambda *values: function(*map(wide, values))


def _jointly(function: Callable[..., Operand]) -> Callable[..., Operand]:
    """Return a function of floats as float64, and of integers in their joint type."""

    def call(*values: Operand) -> Operand:
        if any(map(is_floating, values)):
            return function(*map(wide, values))
        dtype = integer_dtype(*values)
        return function(*(_as_integers(each, dtype) for each in values))

    return call


def _clip(value: Operand, least: Operand, most: Operand) -> Operand:
    return _jointly(np.minimum)(_jointly(np.maximum)(value, least), most)


def _whole(function: Callable[[Any], Operand]) -> Callable[[Operand], Operand]:
    """Return a function that rounds floats and leaves integers as they are."""
    return lambda value: function(wide(value)) if is_floating(value) else unary("+", value)


def _round(value: Operand, decimals: Operand = 0) -> Operand:
    if not _scalar(decimals) or is_floating(decimals):
        raise RequestError("round: the number of decimals is one integer")
    return _whole(lambda floats: np.round(floats, int(cast(Any, decimals))))(value)


def _by_element(function: Callable[[float], float]) -> Callable[[Any], Any]:
    """Return a function of the standard library on arrays of float64."""
    on_objects = np.frompyfunc(function, 1, 1)
    return lambda value: np.asarray(on_objects(value)).astype(np.float64)[()]


ELEMENTWISE: dict[str, Callable[..., Operand]] = {
    "abs": _absolute,
    "where": _where,
    "sign": _jointly(np.sign),
    "square": lambda value: binary("*", value, value),
    "rsqrt": _of_wide(lambda value: 1.0 / np.sqrt(value)),
    "pow": lambda base, exponent: binary("**", base, exponent),
    "clip": _clip,
    "round": _round,
    "erf": _of_wide(_by_element(math.erf)),
    "erfc": _of_wide(_by_element(math.erfc)),
    **{name: _of_wide(getattr(np, name)) for name in (*tree.OF_FLOAT, *tree.OF_TWO_FLOATS)},
    **{name: _jointly(getattr(np, name)) for name in tree.EXTREMES},
    **{name: _whole(getattr(np, name)) for name in tree.ROUNDING},
}
