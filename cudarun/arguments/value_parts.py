"""The values within a value: of structs, lists, textures and tensor maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from cudarun.arguments import values


def with_parts(value: values.Value, change: Callable[[Any], Any]) -> values.Value:
    """Return a value with ``change`` applied to each value in it; it keeps their kinds."""
    match value:
        case values.Buffer(initial=values.ListInitial() as items):
            return replace(value, initial=_with_leaves(items, change))
        case values.StructValue(members):
            changed = (values.Member(member.name, change(member.value)) for member in members)
            return values.StructValue(tuple(changed))
        case values.Descriptor():
            return value.mapped(change)
        case values.ObjectValue(source=tuple(levels)):
            return replace(value, source=tuple(map(change, levels)))
        case values.TensorMapValue(values.Buffer() | values.FileBuffer() as tensor):
            return replace(value, tensor=change(tensor))
    return value


def _with_leaves(items: values.ListInitial, change: Callable[[Any], Any]) -> values.ListInitial:
    def changed(item: values.ListInitial | values.Leaf) -> Any:
        return _with_leaves(item, change) if isinstance(item, values.ListInitial) else change(item)

    return values.ListInitial(tuple(map(changed, items.items)))


def walk(value: values.Value) -> Iterator[values.Value]:
    """Yield a value and all values in it."""
    parts: list[values.Value] = []

    def note(part: values.Value) -> values.Value:
        parts.append(part)
        return part

    with_parts(value, note)
    yield value
    for part in parts:
        yield from walk(part)
