"""Numbers and values of expressions in JSON documents."""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING, overload

if TYPE_CHECKING:
    from cudarun.report.schemas.values import Number, Value


@overload
def number(value: float) -> Number: ...
@overload
def number(value: None) -> None: ...
def number(value: float | None) -> Number | None:
    """Return a number as JSON has it: NaN and the infinities are texts."""
    if value is None or isfinite(value):
        return value
    return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"


def plain(value: object) -> Value:
    """Return the value of an expression: a scalar, or sequences of scalars nested by dimension."""
    match value:
        case list() | tuple():
            return [plain(item) for item in value]
        case float():
            return number(value)
        case None | bool() | int() | str():
            return value
    raise TypeError(f"{type(value).__name__} cannot be converted to JSON")
