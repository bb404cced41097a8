"""Numbers in text, parsed exactly and rounded once to their type.

No numpy is needed, so that arguments can be checked before anything heavy is imported. Python's
float is not involved, so that ``f32:0.1`` is rounded to ``f32`` directly.
"""

from __future__ import annotations

import math
import re
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from cudarun.arguments.types import SCALARS, Kind, ScalarType

_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_HEX = r"[0-9a-fA-F]+(?:_[0-9a-fA-F]+)*"

UNSIGNED_NUMBER = re.compile(
    rf"""(?= \.? [0-9] ) (?:
      (?P<bits> 0[fFdD][0-9a-fA-F]+ )
    | 0[xX] (?= \.? [0-9a-fA-F] ) (?P<hex_whole> {_HEX} )? (?: \. (?P<hex_part> {_HEX} )? )?
      [pP] (?P<hex_exponent> [+-]?[0-9]+ )
    | (?P<radix> 0[xX]{_HEX} | 0[bB][01]+(?:_[01]+)* | 0[oO][0-7]+(?:_[0-7]+)* )
    | (?P<integer> {_DIGITS} ) (?P<suffix> Ki|Mi|Gi|K|M|G )?
    | (?P<whole> {_DIGITS} )? (?: \. (?P<part> {_DIGITS} )? )?
      (?: [eE] (?P<exponent> [+-]?[0-9]+ ) )?
    ) (?! [\w.] )""",
    re.VERBOSE,
)
"""A number without its sign, as arguments and expressions share it."""

NUMBER = re.compile(r"(?P<sign>[+-]?)\s*(?P<body>[\w.]+(?:(?<=[eEpP])[+-][0-9]+)?)")
"""A text where a number is expected; :func:`read` decides whether it is one."""

SUFFIXES = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "K": 10**3, "M": 10**6, "G": 10**9}

# Beyond these, every type's value is zero or out of range whatever the digits are.
_LONGEST = 1000
_LARGEST_EXPONENT = 20_000


class LiteralError(ValueError):
    """A text that is not a number, or not a number of the type; the message says which."""


class Form(Enum):
    """The notation of a number."""

    INTEGER = "integer"
    FRACTION = "fraction"
    INFINITY = "inf"
    NAN = "nan"
    BITS = "bit pattern"
    TRUTH = "truth value"


class Literal(NamedTuple):
    """A number exactly as written.

    ``numerator / denominator`` is its magnitude; for ``BITS`` they are the pattern and its number
    of hexadecimal digits.
    """

    form: Form
    negative: bool
    numerator: int
    denominator: int = 1

    @property
    def integer(self) -> int:
        """The value of an ``INTEGER`` or ``TRUTH``."""
        return -self.numerator if self.negative else self.numerator


_WORDS = {
    "inf": Literal(Form.INFINITY, False, 0),
    "nan": Literal(Form.NAN, False, 0),
    "true": Literal(Form.TRUTH, False, 1),
    "false": Literal(Form.TRUTH, False, 0),
}


@lru_cache(256)
def read(text: str) -> Literal:
    """Parse a number with its sign.

    >>> read("-4Ki").integer
    -4096

    Raises:
        LiteralError: The text is not a number.
    """
    split = NUMBER.fullmatch(text.strip())
    if split is None:
        raise LiteralError(f"{text!r} is not a number")
    negative, body = split["sign"] == "-", split["body"]
    if len(body) > _LONGEST:
        raise LiteralError(f"a number has {len(body)} characters; the limit is {_LONGEST}")
    word = _WORDS.get(body)
    if word is not None:
        if word.form is Form.TRUTH and split["sign"]:
            raise LiteralError(f"{text!r} is not a number")
        return word._replace(negative=negative)
    found = UNSIGNED_NUMBER.fullmatch(body)
    if found is None:
        raise LiteralError(f"{text!r} is not a number")
    literal = _from_match(found)
    if literal.form is Form.BITS and split["sign"]:
        raise LiteralError(f"{text!r}: a bit pattern already includes its sign")
    return literal._replace(negative=negative)


def _from_match(found: re.Match[str]) -> Literal:
    """Return the magnitude of a match of :data:`UNSIGNED_NUMBER`."""
    if found["bits"]:
        digits = found["bits"][2:]
        return Literal(Form.BITS, False, int(digits, 16), len(digits))
    if found["hex_exponent"]:
        whole, part = found["hex_whole"] or "", (found["hex_part"] or "").replace("_", "")
        exponent = _bounded(found["hex_exponent"]) - 4 * len(part)
        return _scaled(int(whole + part, 16), 2, exponent)
    if found["radix"]:
        return Literal(Form.INTEGER, False, int(found["radix"], 0))
    if found["integer"]:
        digits = found["integer"]
        if digits[0] == "0" and digits.strip("0_"):
            plain = digits.lstrip("0_")
            raise LiteralError(f"{digits!r}: write 0o{plain} for octal, {plain} for decimal")
        return Literal(Form.INTEGER, False, int(digits) * SUFFIXES.get(found["suffix"], 1))
    whole, part = found["whole"] or "", (found["part"] or "").replace("_", "")
    return _scaled(int(whole + part), 10, _bounded(found["exponent"] or "0") - len(part))


def _bounded(exponent: str) -> int:
    value = int(exponent)
    return max(-_LARGEST_EXPONENT, min(_LARGEST_EXPONENT, value))


def _scaled(mantissa: int, base: int, exponent: int) -> Literal:
    if exponent >= 0:
        return Literal(Form.FRACTION, False, mantissa * base**exponent)
    return Literal(Form.FRACTION, False, mantissa, base**-exponent)


def as_number(text: str) -> int | float:
    """Return a number as a Python value for expressions: a float if it is written as one.

    Raises:
        LiteralError: The text is not a number, or a bit pattern of neither 32 nor 64 bits.
    """
    literal = read(text)
    match literal.form:
        case Form.INTEGER:
            return literal.integer
        case Form.BITS:
            scalars = {8: SCALARS["f32"], 16: SCALARS["f64"]}
            if literal.denominator not in scalars:
                raise LiteralError(f"{text!r}: a bit pattern has 8 or 16 hexadecimal digits here")
            return _decode_float(literal.numerator, scalars[literal.denominator])
        case _:
            return _decode_float(_round(literal, SCALARS["f64"]), SCALARS["f64"])


# --- numbers of a type ---------------------------------------------------------------------------


@lru_cache(256)
def encode(text: str, scalar: ScalarType) -> int:
    """Return the bits of the number ``text`` as a ``scalar``, rounded once to nearest even.

    Raises:
        LiteralError: The text is not a number, or the type cannot represent it.
    """
    literal = read(text)
    if scalar.kind is Kind.BOOL:
        if literal.form not in (Form.TRUTH, Form.INTEGER) or literal.integer not in (0, 1):
            raise LiteralError(f"{text!r}: bool must be true or false")
        return literal.integer
    if literal.form is Form.TRUTH:
        raise LiteralError(f"{text!r} is a bool, not {_article(scalar)}")
    if scalar.is_integer:
        if literal.form is not Form.INTEGER:
            raise LiteralError(f"{text!r} is not an integer, but {scalar} requires one")
        value, least, most = literal.integer, scalar.minimum, scalar.maximum
        if not least <= value <= most:
            raise LiteralError(f"{text} is out of range for {scalar}, {least} to {most}")
        return value & ((1 << (8 * scalar.size)) - 1)
    if literal.form is Form.BITS:
        if literal.denominator != 2 * scalar.size:
            raise LiteralError(
                f"{text!r} has {literal.denominator} hexadecimal digits; "
                f"the bits of {_article(scalar)} have {2 * scalar.size}"
            )
        return literal.numerator
    return _round(literal, scalar)


def _article(scalar: ScalarType) -> str:
    return f"an {scalar}" if scalar.name[0] in "if" else f"a {scalar}"


def _round(literal: Literal, scalar: ScalarType) -> int:
    """Return bits of an IEEE-like format: round to nearest, ties to even; refuse overflow."""
    exponent, mantissa = scalar.exponent_bits, scalar.mantissa_bits
    sign = literal.negative << (exponent + mantissa)
    infinity = ((1 << exponent) - 1) << mantissa
    if literal.form is Form.INFINITY:
        if not scalar.has_infinity:
            raise LiteralError(f"{scalar} has no infinity")
        return sign | infinity
    if literal.form is Form.NAN:
        quiet = 1 << (mantissa - 1) if scalar.has_infinity else (1 << mantissa) - 1
        return sign | infinity | quiet
    # Without infinities the last pattern of the last binade is NaN, the rest are numbers.
    largest = infinity - 1 if scalar.has_infinity else infinity + (1 << mantissa) - 2
    magnitude = _round_magnitude(literal.numerator, literal.denominator, exponent, mantissa)
    if magnitude > largest:
        limit = _decode_float(largest, scalar)
        raise LiteralError(f"out of range for {scalar}, whose largest value is {limit:.6g}")
    return sign | magnitude


def _round_magnitude(numerator: int, denominator: int, exponent: int, mantissa: int) -> int:
    if numerator == 0:
        return 0
    smallest = 2 - (1 << (exponent - 1))  # exponent of the smallest normal number
    power = numerator.bit_length() - denominator.bit_length()
    if (numerator << max(-power, 0)) < (denominator << max(power, 0)):
        power -= 1  # now 2**power <= value < 2**(power + 1)
    power = max(power, smallest)
    shift = power - mantissa
    whole, rest = divmod(numerator << max(-shift, 0), denominator << max(shift, 0))
    twice = 2 * rest - (denominator << max(shift, 0))
    whole += twice > 0 or (twice == 0 and whole & 1)
    # The implicit bit carries into the exponent field: subnormals and rounding up a binade
    # need no case of their own.
    return ((power - smallest) << mantissa) + whole


def decode(bits: int, scalar: ScalarType) -> int | float | bool:
    """Return the exact value of ``bits`` in a ``scalar``."""
    match scalar.kind:
        case Kind.BOOL:
            return bool(bits)
        case Kind.FLOAT:
            return _decode_float(bits, scalar)
        case _:
            return bits - (1 << (8 * scalar.size)) if bits > scalar.maximum else bits


def _decode_float(bits: int, scalar: ScalarType) -> float:
    exponent, mantissa = scalar.exponent_bits, scalar.mantissa_bits
    sign = -1.0 if bits >> (exponent + mantissa) else 1.0
    field = (bits >> mantissa) & ((1 << exponent) - 1)
    part = bits & ((1 << mantissa) - 1)
    ones = (1 << exponent) - 1
    if field == ones and scalar.has_infinity:
        return math.nan if part else sign * math.inf
    if field == ones and part == (1 << mantissa) - 1:
        return math.nan
    whole = part | (1 << mantissa) if field else part
    return sign * math.ldexp(whole, max(field, 1) + 1 - (1 << (exponent - 1)) - mantissa)


def show(bits: int, scalar: ScalarType) -> str:
    """Return the shortest text that :func:`encode` turns back into ``bits``."""
    value = decode(bits, scalar)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    pattern = f"0f{bits:0{2 * scalar.size}x}"
    if math.isnan(value):
        return "nan" if bits == encode("nan", scalar) else pattern
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value.is_integer() and abs(value) < 1e16:
        return f"{value:.0f}"
    shortest = (f"{value:.{digits}g}" for digits in range(1, 18))
    return next((text for text in shortest if _is(text, bits, scalar)), pattern)


def _is(text: str, bits: int, scalar: ScalarType) -> bool:
    try:
        return encode(text, scalar) == bits
    except LiteralError:  # rounded up in text, past the largest value
        return False
