"""Dataclasses that are fast to create: a command creates a hundred of them or more at start-up.

The standard library compiles up to six methods for every frozen dataclass, which takes about a
millisecond: a third of the time of all imports of cudarun. Here only ``__init__`` is compiled, and
that when the first object is made, as most classes have none in a command; comparison, hashing and
``repr`` are the same few functions for all classes. For a type checker,
which enforces ``frozen`` here, and for `dataclasses.fields`, `replace` and `asdict` these are
dataclasses.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from copy import copy
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

Number: TypeAlias = float
"""A number that can be NaN or infinite, which are texts in JSON documents."""

LEFT_OUT: Mapping[str, object] = {"document": None}
"""The metadata of a field that is not in JSON documents."""

FIRST: Mapping[str, object] = {"first": True}
"""The metadata of a field that comes before those of the base classes in JSON documents."""


def named(name: str) -> Mapping[str, object]:
    """Return the metadata of a field that has another name in JSON documents."""
    return {"document": name}


def beside(field: str) -> Mapping[str, object]:
    """Return the metadata of a field that JSON documents omit if another, or it, is ``None``."""
    return {"beside": field}


def document_fields(kind: Any) -> list[tuple[str, dataclasses.Field[Any]]]:
    """Return the fields of a dataclass that JSON documents have, each after its name there."""
    fields = sorted(dataclasses.fields(kind), key=lambda each: "first" not in each.metadata)
    found = [(each.metadata.get("document", each.name), each) for each in fields]
    return [(name, each) for name, each in found if name is not None]


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool = False, eq: bool = True):
        """Make a class a dataclass, like `dataclasses.dataclass`; existing methods are kept."""

        def make(cls: type) -> type:
            own = vars(cls)
            made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
            if "__init__" not in own:
                _compile_later(made)
            if "__repr__" not in own:
                made.__repr__ = _show
            if eq:
                _compare(made, hashable=frozen, own=own)
            return made

        return make


def _compile_later(cls: Any) -> None:
    """Give a class an ``__init__`` that is replaced by the compiled one at its first call."""

    def first(self: object, *args: object, **kwargs: object) -> None:
        cls.__init__ = _compiled(cls)
        cls.__init__(self, *args, **kwargs)

    cls.__init__ = first


def _compiled(cls: Any) -> Any:
    """Return the ``__init__`` that the standard library makes of a class with these fields."""
    fields = [(f.name, f.type, copy(f)) for f in dataclasses.fields(cls)]
    own: dict[str, Any] = {"__doc__": cls.__doc__ or cls.__name__}  # else it is made of a signature
    if hasattr(cls, "__post_init__"):
        own["__post_init__"] = cls.__post_init__
    all_given = all(f.init for _, _, f in fields)  # else defaults are written to slots
    made = dataclasses.make_dataclass(
        cls.__name__, fields, namespace=own, repr=False, eq=False, slots=not all_given
    )
    return made.__init__  # type: ignore[misc]


def _show(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _compare(cls: Any, *, hashable: bool, own: Mapping[str, object]) -> None:
    """Give a class ``__eq__``, and ``__hash__`` over the same fields if it is immutable."""
    names = [f.name for f in dataclasses.fields(cls) if f.compare]
    key = attrgetter(*names) if names else lambda self: ()

    def equal(self: object, other: object) -> bool:
        return key(self) == key(other) if type(other) is cls else NotImplemented

    def hashed(self: object) -> int:
        return hash((cls, key(self)))

    if "__eq__" not in own:
        cls.__eq__ = equal
    if "__hash__" not in own:
        cls.__hash__ = hashed if hashable else None
