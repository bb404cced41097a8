"""The values within a value: of structs, lists, textures and tensor maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from cudarun.arguments.values import (
    Buffer,
    Descriptor,
    FileBuffer,
    Leaf,
    ListInitial,
    Member,
    ObjectValue,
    StructValue,
    TensorMapValue,
    Value,
)


def with_parts(value: Value, change: Callable[[Any], Any]) -> Value:
    """Return a value with ``change`` applied to each value in it; it keeps their kinds."""
    match value:
        case Buffer(initial=ListInitial() as items):
            return replace(value, initial=_with_leaves(items, change))
        case StructValue(members):
            changed = (Member(member.name, change(member.value)) for member in members)
            return StructValue(tuple(changed))
        case Descriptor():
            return value.mapped(change)
        case ObjectValue(source=tuple(levels)):
            return replace(value, source=tuple(map(change, levels)))
        case TensorMapValue(Buffer() | FileBuffer() as tensor):
            return replace(value, tensor=change(tensor))
    return value


def _with_leaves(items: ListInitial, change: Callable[[Any], Any]) -> ListInitial:
    def changed(item: ListInitial | Leaf) -> Any:
        return _with_leaves(item, change) if isinstance(item, ListInitial) else change(item)

    return ListInitial(tuple(map(changed, items.items)))


def walk(value: Value) -> Iterator[Value]:
    """Yield a value and all values in it."""
    parts: list[Value] = []

    def note(part: Value) -> Value:
        parts.append(part)
        return part

    with_parts(value, note)
    yield value
    for part in parts:
        yield from walk(part)
