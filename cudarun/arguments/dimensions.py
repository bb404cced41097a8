"""Exact integers of any size, and the dimensions that are computed with them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from cudarun.arguments.expressions import syntax as tree
from cudarun.arguments.expressions.parser import read_expression
from cudarun.arguments.expressions.syntax import Expression
from cudarun.arguments.scanner import Scanner, cached, did_you_mean
from cudarun.base.errors import RequestError, errors_of

_LOWEST, _HIGHEST = -(1 << 63), (1 << 64) - 1
UINT_MAX = (1 << 32) - 1  # CUDA driver API: grids, blocks and shared memory are ``unsigned int``

_UNIT = re.compile(r"(?<![\w.])([0-9][0-9_]*)\s*(?:([KkMG])i?B?|B)\b")
_BY_X = re.compile(r"\s*[1-9][0-9]*(?:\s*[x×]\s*[0-9]+)+\s*")


def _power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise RequestError(f"{base} ** {exponent}: the exponent of an integer is negative")
    if abs(base) > 1 and exponent > 64:
        return _HIGHEST + 1  # too large for any base: not worth computing
    return int(base**exponent)


def _count(count: int) -> int:
    if count < 0:
        raise RequestError(f"shift by {count}: the shift count is negative")
    return min(count, 65)


_INTEGER_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv,
    "%": operator.mod, "**": _power, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<<": lambda a, b: a << _count(b), ">>": lambda a, b: a >> _count(b),
}  # fmt: skip


def integer_operation(operator: str, left: int, right: int) -> int:
    """Return ``left operator right`` for two integers, exactly.

    Raises:
        RequestError: The result does not fit 64 bits, or is undefined.
    """
    if operator in ("//", "%") and right == 0:
        raise RequestError(f"{left} {operator} 0: division by zero")
    result = _INTEGER_OPERATORS[operator](left, right)
    if not _LOWEST <= result <= _HIGHEST:
        raise RequestError(f"{left} {operator} {right} exceeds 64 bits")
    return result


def read_dimension(scanner: Scanner, what: str = "the dimension") -> Expression:
    """Read the dimension of a buffer or a grid: integers, names, operators, such as ``2*n+1``."""
    start = scanner.skip_space()
    expression = read_expression(scanner)
    for node in tree.walk(expression.node):
        problem = _not_of_a_dimension(node)
        if problem:
            raise scanner.error(f"{problem} in {what} {expression.text!r}", start)
    return expression


def _not_of_a_dimension(node: tree.IndexItem) -> str | None:
    match node:
        case tree.Number(float()):
            return f"{node.value} is not an integer"
        case tree.Binary("/"):
            return "'/' does not produce an integer (use '//')"
        case tree.Binary(operator) | tree.Unary(operator) if operator in (*_INTEGER_OPERATORS, "~"):
            return None
        case tree.Number() | tree.Name():
            return None
        case _:
            return "only numbers, names and integer operators are allowed"


def is_of_integers(expression: Expression) -> bool:
    """Return whether an expression consists of integers, names and operators of integers."""
    return not any(map(_not_of_a_dimension, tree.walk(expression.node)))


@cached
def parse_count(text: str) -> Expression:
    """Parse an option whose value is an integer expression over the arguments, such as ``12*n``."""
    scanner = Scanner(text)
    expression = read_dimension(scanner, "the expression")
    scanner.expect_end()
    return expression


def parse_extent(text: str, least: int = 1) -> tuple[Expression, ...]:
    """Parse one to three dimensions, ``X[,Y[,Z]]`` or ``4x2``; each is an integer expression.

    >>> [str(each) for each in parse_extent("(n+15)//16,m")]
    ['(n+15)//16', 'm']

    Raises:
        RequestError: The text does not parse, or a constant is no dimension.
    """
    extent = _extent(text)
    evaluate_extent([each for each in extent if not each.names], {}, least)
    return extent


@cached
def _extent(text: str) -> tuple[Expression, ...]:
    if _BY_X.fullmatch(text):  # only of plain numbers: nx2 is a name
        text = re.sub("[x×]", ",", text)
    scanner = Scanner(text)
    extent = scanner.several(partial(read_dimension, scanner))
    scanner.expect_end()
    if len(extent) > 3:
        raise RequestError(f"'{text}' has {len(extent)} dimensions; the maximum is 3")
    return tuple(extent)


def evaluate_extent(
    extent: Iterable[Expression], integers: Mapping[str, int], least: int = 1
) -> tuple[int, ...]:
    """Evaluate the dimensions of a grid or a block.

    Raises:
        RequestError: A name is not among ``integers``, or a dimension is out of range.
    """
    return tuple(_bounded(each, integers, least, "a dimension") for each in extent)


def with_binary_units(text: str) -> str:
    """Return a size in bytes with ``Ki``, ``Mi`` or ``Gi`` for ``K``, ``KB`` and ``KiB``, ….

    Sizes of memory have powers of 1024, as in CUDA's manuals; a count has ``K`` for 1000.
    """
    return _UNIT.sub(lambda each: each[1] + (f"{each[2].upper()}i" if each[2] else ""), text)


def parse_size(text: str) -> Expression:
    """Parse a size in bytes, such as ``48K`` or ``4*n``."""
    size = parse_count(with_binary_units(text))
    if not size.names:
        evaluate_size(size, {})
    return size


def evaluate_size(size: Expression, integers: Mapping[str, int]) -> int:
    """Evaluate a size in bytes.

    Raises:
        RequestError: A name is not among ``integers``, or the size is out of range.
    """
    return _bounded(size, integers, 0, "a size")


def _bounded(expression: Expression, integers: Mapping[str, int], least: int, what: str) -> int:
    value = _evaluate(expression, integers, repr(expression.text))
    if not least <= value <= UINT_MAX:
        shown = "" if expression.text == str(value) else f"{expression.text!r} is "
        raise RequestError(f"{shown}{value}: {what} must be {least} to {UINT_MAX}")
    return value


def evaluate_dimension(
    expression: Expression, integers: Mapping[str, int], option: str | None = None
) -> int:
    """Evaluate a dimension, or an option in the same syntax.

    Raises:
        RequestError: A name is not among ``integers``, or the value is negative or over 64 bits.
    """
    shown = f"{option or 'the dimension'} {expression.text!r}"
    value = _evaluate(expression, integers, shown)
    if value < 0:
        raise RequestError(f"{shown} is {value}, which is negative")
    return value


def evaluate_index(expression: Expression, integers: Mapping[str, int]) -> int:
    """Evaluate the index of an element; it may be negative."""
    return _evaluate(expression, integers, f"the index {expression.text!r}")


def _evaluate(expression: Expression, integers: Mapping[str, int], shown: str) -> int:
    with errors_of(argument=expression.text, shown=shown):
        return _integer(expression.node, integers)


def _integer(node: tree.Node, integers: Mapping[str, int]) -> int:
    match node:
        case tree.Number(int(value)):
            return value
        case tree.Name(name) if name in integers:
            return integers[name]
        case tree.Name(name):
            known = ", ".join(integers) or "none"
            raise RequestError(
                f"unknown integer argument {name!r}; the integer arguments are: {known}",
                hint=did_you_mean(name, integers) or f"replace {name} by a number",
            )
        case tree.Unary(operator, operand):
            value = _integer(operand, integers)
            return {"-": -value, "+": value, "~": ~value}[operator]
        case tree.Binary(operator, left, right):
            sides = (_integer(left, integers), _integer(right, integers))
            return integer_operation(operator, *sides)
        case _:
            raise AssertionError(f"read_dimension let {node} pass")
