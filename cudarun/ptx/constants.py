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

from cudarun.ptx.errors import Severity
from cudarun.ptx.lexer import Cursor, TokenKind
from cudarun.ptx.tree import Float, Integer

WARP_SIZE = 32
"""The value of the predefined constant ``WARP_SZ``."""

_BITS = 64
_MASK = (1 << _BITS) - 1
_SIGN = 1 << (_BITS - 1)
_MOST_DIGITS = {2: 64, 8: 24, 10: 20}  # ptxas refuses literals with more; it wraps the others

_PRECEDENCE = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    **dict.fromkeys(("==", "!="), 6),
    **dict.fromkeys(("<", ">", "<=", ">="), 7),
    **dict.fromkeys(("<<", ">>"), 8),
    **dict.fromkeys(("+", "-"), 9),
    **dict.fromkeys(("*", "/", "%"), 10),
}

_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_INTEGER_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "^": operator.xor,
    "|": operator.or_,
}
_FLOAT_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}


class _Unusable(Exception):
    """The expression is well-formed but has no value."""

    severity: Severity = "error"


class _DivisionByZero(_Unusable):
    severity: Severity = "fatal"

    def __init__(self) -> None:
        super().__init__("Constant expression has division by zero")


class _Overflow(_Unusable):
    def __init__(self) -> None:
        super().__init__("Constant overflow")


def _not_integer() -> _Unusable:
    return _Unusable("Integer constant expression expected")


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
    return _double(value) if isinstance(value, float) else value


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
    except _Overflow as error:
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
        raise _Overflow
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
        return _parenthesized(cursor)
    if cursor.accept("WARP_SZ"):
        return Integer(WARP_SIZE)
    if cursor.token.kind is TokenKind.FLOAT:
        return float(cursor.advance().text)
    return _integer(cursor.take(TokenKind.INTEGER))


def _parenthesized(cursor: Cursor) -> _Value:
    if cursor.token.kind is TokenKind.MODIFIER:
        if not cursor.at(".s64", ".u64"):
            raise _Unusable("Unsupported cast operation")
        unsigned = cursor.advance().text == ".u64"
        cursor.expect(")")
        return _wrap(_as_integer(_unary(cursor)).value, unsigned)
    value = _conditional(cursor)
    cursor.expect(")")
    return value


def _apply(sign: str, left: _Value, right: _Value) -> _Value:
    if isinstance(left, float) and isinstance(right, float):
        return _apply_to_floats(sign, left, right)
    if isinstance(left, float) or isinstance(right, float):
        raise _Unusable("Constant expression type mismatch")
    return _apply_to_integers(sign, left, right)


def _apply_to_floats(sign: str, left: float, right: float) -> _Value:
    if sign in _COMPARISONS:
        return Integer(int(_COMPARISONS[sign](left, right)))
    if sign in _FLOAT_ARITHMETIC:
        return _FLOAT_ARITHMETIC[sign](left, right)
    if sign != "/":
        raise _not_integer()
    if right == 0:
        raise _DivisionByZero
    return left / right


def _apply_to_integers(sign: str, left: Integer, right: Integer) -> Integer:
    if sign in ("<<", ">>"):
        count = right.value % _BITS
        shifted = left.value << count if sign == "<<" else left.value >> count
        return _wrap(shifted, left.unsigned)
    if sign == "&&":
        return Integer(int(bool(left.value and right.value)))
    if sign == "||":
        return Integer(int(bool(left.value or right.value)))
    unsigned = left.unsigned or right.unsigned or sign == "%"
    a, b = _wrap(left.value, unsigned).value, _wrap(right.value, unsigned).value
    if sign in _COMPARISONS:
        return Integer(int(_COMPARISONS[sign](a, b)))
    if sign in _INTEGER_ARITHMETIC:
        return _wrap(_INTEGER_ARITHMETIC[sign](a, b), unsigned)
    if b == 0:
        raise _DivisionByZero
    if sign == "%":
        return _wrap(a % b, unsigned)
    quotient = abs(a) // abs(b)  # towards zero, as C divides
    return _wrap(quotient if (a < 0) == (b < 0) else -quotient, unsigned)


def _as_integer(value: _Value) -> Integer:
    if isinstance(value, float):
        raise _not_integer()
    return value


def _wrap(value: int, unsigned: bool) -> Integer:
    value &= _MASK
    if not unsigned and value & _SIGN:
        value -= 1 << _BITS
    return Integer(value, unsigned)


def _double(value: float) -> Float:
    return Float(int.from_bytes(struct.pack("<d", value), "little"), 64)


def float_of_bits(text: str) -> Float:
    """Return the constant ``0f3F800000`` or ``0d…``."""
    return Float(int(text[2:], 16), 32 if text[1] in "fF" else 64)
