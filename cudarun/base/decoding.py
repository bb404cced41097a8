"""Documents of others: JSON of a limited size, decoded to dataclasses by their types.

What a remote machine or another user wrote can be anything. Every field is checked before it is
used, and has a limit: Python prints no integer of 5,000 digits and no `float` holds it. A type can
have a limit of its own: ``Annotated[int, range(4)]``, ``Annotated[tuple[int, ...], range(1, 6)]``
for a length, and ``Annotated[str, str.isprintable]``. Names are those that documents of ours have.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from contextlib import suppress
from enum import EnumType
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NoReturn,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from cudarun.base.records import document_fields

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
    """Parse JSON; `InvalidDocument` if it is not JSON, or has too many values."""
    refuse_many_values(data if isinstance(data, bytes) else data.encode(errors="replace"))
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidDocument(str(error)) from None


def refuse_many_values(data: bytes) -> None:
    """Refuse a text of more JSON values than are read; `InvalidDocument` if it has too many."""
    if sum(map(data.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise InvalidDocument(f"more than {MAX_VALUES} values")


def decode(kind: type[T], value: object, place: str = "", *, others: bool = True) -> T:
    """Return a value of parsed JSON as a type; `InvalidDocument` if it is not of this type.

    Args:
        kind: A dataclass, whose fields with defaults can be missing, or the type of such a field.
            Bytes are hexadecimal text; a list of all fields is a dataclass, too. ``dict`` is a
            table whose values are not checked.
        place: Its place, for messages.
        others: Whether a dataclass can have further keys, of a later version.
    """
    found: T = _decoded(kind, value, place, others)
    return found


def _decoded(kind: Any, value: Any, place: str, others: bool) -> Any:
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        inner, limit = parts
        if inner is not str or not isinstance(value, str):  # a text with a limit is not cut
            value = _decoded(inner, value, place, others)
        if isinstance(limit, range):
            fits = (value if isinstance(value, int) else len(value)) in limit
        else:
            fits = bool(limit(value))
        return value if fits else _refuse(place)
    if origin in (Union, UnionType):
        [other] = [part for part in parts if part is not NoneType]
        return None if value is None else _decoded(other, value, place, others)
    if origin is Literal and isinstance(value, str) and value in parts:
        return value
    if origin is tuple and isinstance(value, list):
        kinds = [parts[0]] * len(value) if parts[1:] == (...,) else parts
        if len(kinds) == len(value):
            pairs = enumerate(zip(kinds, value, strict=True))
            return tuple(
                _decoded(part, each, f"{place}[{index}]", others) for index, (part, each) in pairs
            )
    if origin is Mapping and isinstance(value, dict):
        return {
            key: _decoded(parts[1], each, f"{place}.{key}", others) for key, each in value.items()
        }
    if dict in (kind, origin) and isinstance(value, dict):
        return value
    is_table: bool = dataclasses.is_dataclass(kind)
    if is_table:  # from a table of its fields, or from a list of all of them
        known = _known_fields(kind)
        if isinstance(value, list) and len(value) == len(known):
            value = {name: each for (name, *_), each in zip(known, value, strict=True)}
        if not isinstance(value, dict):
            return _refuse(place)
        unknown = value.keys() - {name for name, *_ in known}
        if unknown and not others:
            raise InvalidDocument(f"unknown key {min(unknown)[:MAX_TEXT]!r}")
        return kind(
            **{
                field: _decoded(part, value.get(name), f"{place}.{name}".lstrip("."), others)
                for name, field, part, is_required in known
                if name in value or is_required
            }
        )
    if kind is str and isinstance(value, str):
        return value[:MAX_TEXT]
    if kind is bytes and isinstance(value, str):
        with suppress(ValueError):
            return bytes.fromhex(value)
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


@cache
def _known_fields(kind: object) -> tuple[tuple[str, str, Any, bool], ...]:
    """Return the name in documents, the name and type of each field, and whether it is required."""
    hints = get_type_hints(kind, include_extras=True)
    missing = dataclasses.MISSING
    return tuple(
        (
            *(name, each.name, hints[each.name]),
            each.default is missing and each.default_factory is missing,
        )
        for name, each in document_fields(kind)
        if each.init
    )


def _refuse(place: str) -> NoReturn:
    raise InvalidDocument(f"the document is invalid at {place[:MAX_TEXT]}")
