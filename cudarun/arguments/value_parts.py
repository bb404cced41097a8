"""The parts of a value: its initializers, its textures and surfaces, its tensor maps."""

from __future__ import annotations

from collections.abc import Iterator

from cudarun.arguments.types import has_pointers
from cudarun.arguments.values import (
    Buffer,
    Descriptor,
    Initial,
    ListInitial,
    ObjectValue,
    StructValue,
    TensorMapValue,
    Value,
)


def initials_in(value: Value) -> Iterator[Initial]:
    """Yield the initializers of all buffers in a value."""
    match value:
        case Buffer(initial=initial) if initial is not None:
            yield initial
            if isinstance(initial, ListInitial) and has_pointers(value.type):
                for leaf in initial.leaves:
                    yield from initials_in(leaf)
        case StructValue(members):
            for member in members:
                yield from initials_in(member.value)
        case Descriptor():
            found: list[Initial] = []

            def collect(buffer: Value) -> Value:
                found.extend(initials_in(buffer))
                return buffer

            value.mapped(collect)
            yield from found
        case ObjectValue(source=tuple(levels)):
            for level in levels:
                yield from initials_in(level)
        case TensorMapValue(tensor):
            yield from initials_in(tensor)


def has_tensor_map(value: Value) -> bool:
    """Return whether a value is a tensor map, or a struct with one."""
    if isinstance(value, StructValue):
        return any(has_tensor_map(member.value) for member in value.members)
    return isinstance(value, TensorMapValue)


def objects_in(value: Value) -> Iterator[ObjectValue]:
    """Yield the texture and surface objects in a value."""
    match value:
        case ObjectValue():
            yield value
        case Buffer(initial=ListInitial() as initial):
            for leaf in initial.leaves:
                yield from objects_in(leaf)
        case StructValue(members):
            for member in members:
                yield from objects_in(member.value)
