"""Exact integers of any size, and the dimensions of buffers that are computed with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cudarun.arguments.expressions import read_expression
from cudarun.arguments.scanner import Scanner, did_you_mean
from cudarun.arguments.syntax import (
    Binary,
    Expression,
    Name,
    Node,
    Number,
    Rest,
    Slice,
    Unary,
    walk,
)
from cudarun.errors import RequestError

_LOWEST, _HIGHEST = -(1 << 63), (1 << 64) - 1


def _power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise RequestError(f"{base} ** {exponent}: an integer to a negative power")
    if abs(base) > 1 and exponent > 64:
        return _HIGHEST + 1  # too large for any base: not worth computing
    return int(base**exponent)


def _shift(value: int, count: int) -> int:
    if count < 0:
        raise RequestError(f"shift by {count}: a shift counts from 0")
    return value << min(count, 65)


def _shift_right(value: int, count: int) -> int:
    if count < 0:
        raise RequestError(f"shift by {count}: a shift counts from 0")
    return value >> min(count, 65)


_INTEGER_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": _power,
    "<<": _shift,
    ">>": _shift_right,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


def integer_operation(operator: str, left: int, right: int) -> int:
    """Return ``left operator right`` for two integers, exactly.

    Raises:
        RequestError: The result does not fit 64 bits, or is undefined.
    """
    if operator in ("//", "%") and right == 0:
        raise RequestError(f"{left} {operator} 0: division by zero")
    result = _INTEGER_OPERATORS[operator](left, right)
    if not _LOWEST <= result <= _HIGHEST:
        raise RequestError(f"{left} {operator} {right} does not fit 64 bits")
    return result


def read_dimension(scanner: Scanner) -> Expression:
    """Read the dimension of a buffer: an expression of integers and names, such as ``2*n+1``.

    Raises:
        ArgumentSyntaxError: The expression contains anything else.
    """
    start = scanner.skip_space()
    expression = read_expression(scanner)
    for node in walk(expression.node):
        problem = _not_of_a_dimension(node)
        if problem:
            raise scanner.error(f"{problem} in the dimension {expression.text!r}", start)
    return expression


def _not_of_a_dimension(node: Node | Slice | Rest) -> str | None:
    match node:
        case Number(float()):
            return f"{node.value} is not an integer"
        case Binary("/"):
            return "'/' does not give an integer (write '//')"
        case Binary(operator) | Unary(operator) if operator in (*_INTEGER_OPERATORS, "~"):
            return None
        case Number() | Name():
            return None
        case _:
            return "only numbers, names and integer operators can stand"


def evaluate_dimension(
    expression: Expression, integers: Mapping[str, int], option: str | None = None
) -> int:
    """Evaluate a dimension, or an option in the same syntax.

    Raises:
        RequestError: A name is not among ``integers``, or the value is negative or over 64 bits.
    """
    shown = f"{option or 'the dimension'} {expression.text!r}"
    try:
        value = _integer(expression.node, integers)
    except RequestError as error:
        raise error.of(argument=expression.text, shown=shown) from None
    if value < 0:
        raise RequestError(f"{shown} is {value}, and none is below 0")
    return value


def _integer(node: Node, integers: Mapping[str, int]) -> int:
    match node:
        case Number(int(value)):
            return value
        case Name(name) if name in integers:
            return integers[name]
        case Name(name):
            known = ", ".join(integers) or "none"
            raise RequestError(
                f"there is no integer argument {name!r}; the integer arguments are: {known}",
                hint=did_you_mean(name, integers),
            )
        case Unary(operator, operand):
            value = _integer(operand, integers)
            return {"-": -value, "+": value, "~": ~value}[operator]
        case Binary(operator, left, right):
            return integer_operation(
                operator,
                _integer(left, integers),
                _integer(right, integers),
            )
        case _:
            raise AssertionError(f"read_dimension let {node} pass")
