"""Constants and constant expressions: PTX ISA manual, section 4.5.

Integers have 64 bits and are signed or unsigned by C's usual conversions, but ``%`` takes its
operands as unsigned, ``~`` gives an unsigned result, and ``?:`` leaves the chosen operand as it is.
Floats are doubles; they and integers cannot be mixed. The tests compare with values computed by
ptxas.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from typing import Any, TypeVar

from cudarun.ptx.errors import Severity
from cudarun.ptx.lexer import Cursor, TokenKind
from cudarun.ptx.tree import Float, Integer

WARP_SIZE = 32  # the value of the predefined constant ``WARP_SZ``

_N = TypeVar("_N", int, float)
_BITS = 64
_MASK = (1 << _BITS) - 1
_SIGN = 1 << (_BITS - 1)
_MOST_DIGITS = {2: 64, 8: 24, 10: 20}  # ptxas refuses literals with more; it wraps the others

_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip

_OPERATORS: dict[str, Callable[..., Any]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne, "+": operator.add, "-": operator.sub,
    "*": operator.mul, "%": operator.mod,
    "&": operator.and_, "^": operator.xor, "|": operator.or_,
    "&&": lambda a, b: bool(a and b), "||": lambda a, b: bool(a or b),
}  # fmt: skip
NOT_INTEGER = "Integer constant expression expected"
_OF_FLOATS = frozenset({"<", ">", "<=", ">=", "==", "!=", "+", "-", "*"})


class _Unusable(Exception):
    """The expression is well-formed but has no value."""

    def __init__(self, problem: str, severity: Severity = "error") -> None:
        super().__init__(problem)
        self.severity = severity


def constant(cursor: Cursor) -> Integer | Float:
    """Parse and evaluate a constant expression.

    Raises:
        PtxError: There is none, integers and floats are mixed, or a divisor is zero.
    """
    if cursor.token.kind is TokenKind.FLOAT_BITS:  # no operator applies to it
        return float_of_bits(cursor.advance().text)
    start = cursor.token
    try:
        value = _conditional(cursor)
    except _Unusable as error:
        raise cursor.refusal(str(error), start, error.severity) from None
    if isinstance(value, float):
        return Float(int.from_bytes(struct.pack("<d", value), "little"), 64)
    return value


def starts_constant(cursor: Cursor) -> bool:
    """Return whether the next token can begin a constant expression."""
    kind, text, _ = cursor.token
    if kind in (TokenKind.INTEGER, TokenKind.FLOAT, TokenKind.FLOAT_BITS):
        return True
    return text in ("(", "-", "+", "!", "~", "WARP_SZ")


def integer(cursor: Cursor) -> Integer:
    """Parse an integer literal where expressions are not allowed.

    Raises:
        PtxError: There is none, or it has more than 64 bits.
    """
    start = cursor.token
    try:
        return _integer(cursor.take(TokenKind.INTEGER))
    except _Unusable as error:
        raise cursor.refusal(str(error), start, error.severity) from None


def _integer(text: str) -> Integer:
    """Return the value of a literal: decimal, ``0x``, ``0b`` or octal, ``U`` allowed.

    As with ptxas a hexadecimal one loses the bits above the 64th; of others some overflow.
    """
    digits = text.removesuffix("U")
    match digits[:2].lower():
        case "0x":
            base, number = 16, digits[2:]
        case "0b":
            base, number = 2, digits[2:]
        case _:
            base, number = 8 if digits[0] == "0" else 10, digits
    if base != 16 and len(number.lstrip("0")) > _MOST_DIGITS[base]:
        raise _Unusable("Constant overflow")
    value = int(number, base)
    return _wrap(value, unsigned=digits != text or value >= _SIGN)


# An integer is a tree.Integer, a float a Python float, until the whole is evaluated.
_Value = Integer | float


def _conditional(cursor: Cursor) -> _Value:
    condition = _binary(cursor, 1)
    if not cursor.accept("?"):
        return condition
    chosen = _as_integer(_conditional(cursor))
    cursor.expect(":")
    other = _as_integer(_conditional(cursor))
    return chosen if _as_integer(condition).value else other


def _binary(cursor: Cursor, weakest: int) -> _Value:
    left = _unary(cursor)
    while (precedence := _PRECEDENCE.get(cursor.token.text, 0)) >= weakest:
        sign = cursor.advance().text
        right = _binary(cursor, precedence + 1)
        left = _apply(sign, left, right)
    return left


def _unary(cursor: Cursor) -> _Value:
    if cursor.accept("+"):
        return _unary(cursor)
    if cursor.accept("-"):
        value = _unary(cursor)
        return -value if isinstance(value, float) else _wrap(-value.value, value.unsigned)
    if cursor.accept("!"):
        return Integer(int(not _as_integer(_unary(cursor)).value))
    if cursor.accept("~"):
        return _wrap(~_as_integer(_unary(cursor)).value, unsigned=True)
    if cursor.accept("("):
        if cursor.token.kind is not TokenKind.MODIFIER:
            value = _conditional(cursor)
            cursor.expect(")")
            return value
        if not cursor.at(".s64", ".u64"):
            raise _Unusable("Unsupported cast operation")
        unsigned = cursor.advance().text == ".u64"
        cursor.expect(")")
        return _wrap(_as_integer(_unary(cursor)).value, unsigned)
    if cursor.accept("WARP_SZ"):
        return Integer(WARP_SIZE)
    if cursor.token.kind is TokenKind.FLOAT:
        return float(cursor.advance().text)
    return _integer(cursor.take(TokenKind.INTEGER))


def _apply(sign: str, left: _Value, right: _Value) -> _Value:
    if isinstance(left, float) and isinstance(right, float):
        if sign == "/":
            return left / _divisor(right)
        if sign not in _OF_FLOATS:
            raise _Unusable(NOT_INTEGER)
        found: float = _OPERATORS[sign](left, right)
        return Integer(int(found)) if isinstance(found, bool) else found
    if isinstance(left, float) or isinstance(right, float):
        raise _Unusable("Constant expression type mismatch")
    if sign in ("<<", ">>"):
        count = right.value % _BITS
        shifted = left.value << count if sign == "<<" else left.value >> count
        return _wrap(shifted, left.unsigned)
    unsigned = left.unsigned or right.unsigned or sign == "%"
    a, b = _wrap(left.value, unsigned).value, _wrap(right.value, unsigned).value
    if sign == "/":
        quotient = abs(a) // abs(_divisor(b))  # towards zero, as C divides
        return _wrap(quotient if (a < 0) == (b < 0) else -quotient, unsigned)
    value: int = _OPERATORS[sign](a, _divisor(b) if sign == "%" else b)
    return Integer(int(value)) if isinstance(value, bool) else _wrap(value, unsigned)


def _divisor(value: _N) -> _N:
    if value == 0:
        raise _Unusable("Constant expression has division by zero", "fatal")
    return value


def _as_integer(value: _Value) -> Integer:
    if isinstance(value, float):
        raise _Unusable(NOT_INTEGER)
    return value


def _wrap(value: int, unsigned: bool) -> Integer:
    value &= _MASK
    if not unsigned and value & _SIGN:
        value -= 1 << _BITS
    return Integer(value, unsigned)


def float_of_bits(text: str) -> Float:
    """Return the constant ``0f3F800000`` or ``0d…``."""
    return Float(int(text[2:], 16), 32 if text[1] in "fF" else 64)
