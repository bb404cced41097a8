"""Numeric option values: functions that click calls to convert a text to a value.

The syntax is that of arguments: ``4096``, ``0x1000``, ``4Ki``, ``1M``, ``1e-5``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from cudarun.session.load.request import Extent

_SECONDS = {"ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_MOST_DAYS = 365  # of a time; the system's timers have no more than a few centuries
_TIME = re.compile(rf"([0-9]+(?:\.[0-9]+)?)\s*({'|'.join(_SECONDS)})")

# The parser of numbers is imported only for values that are not plain digits, because options are
# read before the workers start.

_BY_X = re.compile(r"[1-9][0-9]*(?:x[0-9]+)+")
UINT_MAX = (1 << 32) - 1  # CUDA driver API: grids, blocks and shared memory are ``unsigned int``


def whole(
    minimum: int | None = 0, maximum: int | None = (1 << 63) - 1
) -> Callable[[str | int], int]:
    """Return the type of a whole number with the given bounds."""

    def convert(text: str | int) -> int:
        number = text if isinstance(text, int) else _integer(text)
        if minimum is not None and number < minimum:
            raise click.BadParameter(f"{text} is less than {minimum}")
        if maximum is not None and number > maximum:
            raise click.BadParameter(f"{text} is more than {maximum}")
        return number

    return convert


def size(minimum: int = 0, maximum: int = (1 << 63) - 1) -> Callable[[str | int], int]:
    """Return the type of a size in bytes; ``48K`` and ``48KiB`` are 48 times 1024."""
    convert = whole(minimum, maximum)

    def convert_size(text: str | int) -> int:
        if isinstance(text, int) or text.isdecimal():
            return convert(text)
        from cudarun.arguments.dimensions import with_binary_units

        return convert(with_binary_units(text))

    return convert_size


def seconds(text: str | float) -> float:
    """Parse a time of at most a year: ``90`` or ``90s``, ``500ms``, ``30m``, ``1h``."""
    found = _TIME.fullmatch(text) if isinstance(text, str) else None
    try:
        number = float(found[1]) * _SECONDS[found[2]] if found else not_negative(text)
    except click.BadParameter:
        raise click.BadParameter(f"'{text}' is not a time such as 90, 90s, 30m or 1h") from None
    if number > _MOST_DAYS * 86400:
        raise click.BadParameter(f"'{text}' is longer than {_MOST_DAYS} days")
    return number


def not_negative(text: str | float) -> float:
    """Parse a nonnegative number."""
    from cudarun.arguments.literals import LiteralError, as_number

    try:
        number = float(as_number(text) if isinstance(text, str) else text)
    except LiteralError:
        raise click.BadParameter(f"'{text}' is not a number") from None
    if not number >= 0:
        raise click.BadParameter(f"'{text}' is not a nonnegative number")
    return number


def extent(text: str) -> Extent:
    """Parse ``X[,Y[,Z]]`` or ``4x2`` as three positive numbers; missing ones are 1."""
    items = text.split("x" if _BY_X.fullmatch(text) else ",")
    numbers = [_integer(item, f" in '{text}'" * (len(items) > 1)) for item in items]
    if len(numbers) > 3:
        raise click.BadParameter(f"'{text}' has {len(numbers)} dimensions; the maximum is 3")
    for number in numbers:
        if not 0 < number <= UINT_MAX:
            raise click.BadParameter(f"'{text}': a dimension must be 1 to {UINT_MAX}")
    x, y, z = (*numbers, 1, 1)[:3]
    return (x, y, z)


def _integer(text: str, where: str = "") -> int:
    if text.isascii() and text.isdecimal() and (text[0] != "0" or text == "0"):
        return int(text)
    from cudarun.arguments.literals import Form, LiteralError, read

    try:
        literal = read(text)
    except LiteralError as error:
        raise click.BadParameter(f"{error}{where}") from None
    if literal.form is not Form.INTEGER:
        raise click.BadParameter(f"'{text}' is not an integer{where}")
    return literal.integer


def negative_argument(option: str, words: Iterable[str]) -> str | None:
    """Return a hint if an unknown option is the beginning of a negative number in the words."""
    from cudarun.arguments.literals import Form, LiteralError, read

    for word in words:
        if word.startswith(option):
            try:
                form = read(word).form
            except LiteralError:
                continue
            typed = f"{'i32' if form is Form.INTEGER else 'f32'}:{word}"
            return (
                f"to pass {word} as an argument, add its type ({typed}), or put -- before the "
                "arguments"
            )
    return None
