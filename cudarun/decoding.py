"""Documents of others: JSON of a limited size, decoded to dataclasses by their types.

What a remote machine or another user wrote can be anything. Every field is checked before it is
used, and has a limit: Python prints no integer of 5,000 digits and no `float` holds it.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from enum import EnumType
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

MAX_VALUES = 5_000_000
"""The most values of a document: a node has thousands of cases on a few GPUs."""
MAX_TEXT = 4000
"""The characters of a text that are kept."""
MAX_MAGNITUDE = 1 << 63
"""The bound of numbers."""


class InvalidDocument(ValueError):
    """A document is not of the type that it is read as; the text names the place."""


def parse(data: str | bytes) -> Any:
    """Parse JSON.

    Raises:
        InvalidDocument: It is not JSON, or has too many values.
    """
    text = data if isinstance(data, bytes) else data.encode(errors="replace")
    counts = (text.count(each) for each in (b",", b"[", b"{"))
    if sum(counts) > MAX_VALUES:
        raise InvalidDocument(f"more than {MAX_VALUES} values")
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidDocument(str(error)) from None


def decode(kind: type[T], value: Any, place: str = "") -> T:
    """Return a value of parsed JSON as a type.

    Args:
        kind: A dataclass, whose fields with defaults can be missing, or the type of such a field.
        value: The value.
        place: Its place, for messages.

    Raises:
        InvalidDocument: It is not of this type.
    """
    found: T = _decoded(kind, value, place)
    return found


def _decoded(kind: Any, value: Any, place: str) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        [other] = [part for part in parts if part is not NoneType]
        return None if value is None else _decoded(other, value, place)
    if origin is Literal and isinstance(value, str) and value in parts:
        return value
    if origin is tuple and isinstance(value, list):
        kinds = [parts[0]] * len(value) if parts[1:] == (...,) else parts
        if len(kinds) == len(value):
            pairs = enumerate(zip(kinds, value, strict=True))
            return tuple(_decoded(part, each, f"{place}[{index}]") for index, (part, each) in pairs)
    if origin is Mapping and isinstance(value, dict):
        return {key: _decoded(parts[1], each, f"{place}.{key}") for key, each in value.items()}
    if dataclasses.is_dataclass(kind) and isinstance(value, dict):
        make: Any = kind
        return make(**dict(_fields(kind, value, place)))
    if kind is str and isinstance(value, str):
        return value[:MAX_TEXT]
    if kind is bool and isinstance(value, bool):
        return value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and -MAX_MAGNITUDE < value < MAX_MAGNITUDE:  # which NaN is not
        if kind is float:
            return float(value)
        if kind is int and isinstance(value, int):
            return value
        if isinstance(kind, EnumType) and value in {*kind}:
            return kind(value)
    return _refuse(place)


def _fields(kind: Any, value: Mapping[str, Any], place: str) -> Any:
    """Yield the names and values of the fields of a dataclass."""
    for name, part, is_required in _known_fields(kind):
        if name in value or is_required:
            yield name, _decoded(part, value.get(name), f"{place}.{name}".lstrip("."))


@cache
def _known_fields(kind: Any) -> tuple[tuple[str, Any, bool], ...]:
    """Return name and type of each field, and whether it has no default."""
    hints = get_type_hints(kind)
    missing = dataclasses.MISSING
    return tuple(
        (each.name, hints[each.name], each.default is missing and each.default_factory is missing)
        for each in dataclasses.fields(kind)
    )


def _refuse(place: str) -> NoReturn:
    raise InvalidDocument(f"the document is invalid at {place[:MAX_TEXT]}")
