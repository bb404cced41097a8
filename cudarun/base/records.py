"""Dataclasses that are fast to create: a command creates three hundred of them at start-up.

The standard library takes about a millisecond for every frozen dataclass, because it compiles up to
six methods: a third of the time of all imports of cudarun. Here only ``__init__`` is compiled, when
the first object is made, as most classes have none in a command; comparison, hashing and ``repr``
are the same few functions for all classes. Annotations are texts, by ``from __future__``. For a
type checker, which enforces ``frozen`` here, and for `dataclasses.fields`, `replace` and `asdict`
these are dataclasses.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import MISSING
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

T = TypeVar("T")

Number: TypeAlias = float  # a number that can be NaN or infinite, which are texts in JSON documents

LEFT_OUT: Mapping[str, object] = {"document": None}
"""The metadata of a field that is not in JSON documents."""

FIRST: Mapping[str, object] = {"first": True}
"""The metadata of a field that comes before those of the base classes in JSON documents."""


DETAIL: Mapping[str, object] = {"detail": True}
"""The metadata of a field that the short documents of cases do not have."""


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


def derived(kind: type[T], /, *sources: object, **own: object) -> T:
    """Return a dataclass whose fields have the values of attributes with their names.

    Args:
        sources: The objects with the attributes; the first one with a name decides.
        own: The values of other fields.
    """
    for name in cast("Any", kind).__match_args__:
        if name not in own:
            for source in sources:
                if hasattr(source, name):
                    own[name] = getattr(source, name)
                    break
    return kind(**own)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
else:

    def replace(instance, /, **changes):
        """Return a copy with other values of fields, as `dataclasses.replace` does, but faster."""
        for name in instance.__match_args__:
            if name not in changes:
                changes[name] = getattr(instance, name)
        return type(instance)(**changes)

    def dataclass(*, frozen: bool = False, slots: bool = False, eq: bool = True):
        """Make a class a dataclass, like `dataclasses.dataclass`; existing methods are kept."""

        def make(cls: type) -> type:
            own = dict(vars(cls))
            made = _with_fields(cls, slots=slots)
            if "__init__" not in own:

                def first(self: object, *args: object, **kwargs: object) -> None:
                    made.__init__ = _compiled(made)  # in the place of this one
                    made.__init__(self, *args, **kwargs)

                made.__init__ = first
            if "__repr__" not in own:
                made.__repr__ = _show
            if eq:
                names = [f.name for f in dataclasses.fields(made) if f.compare]
                key = attrgetter(*names) if names else lambda self: ()

                def equal(self: object, other: object) -> bool:
                    return key(self) == key(other) if type(other) is made else NotImplemented

                def hashed(self: object) -> int:
                    return hash((made, key(self)))

                if "__eq__" not in own:
                    made.__eq__ = equal
                if "__hash__" not in own:
                    made.__hash__ = hashed if frozen else None
            return made

        return make


def _with_fields(cls: Any, *, slots: bool) -> Any:
    """Return a class with the fields of its annotations, after those of its bases.

    Only a class with slots is a new one, in whose methods ``super()`` without arguments fails.
    """
    own = {
        name: _field(name, kind, vars(cls).get(name, MISSING))
        for name, kind in cls.__annotations__.items()
        if not kind.startswith("ClassVar")
    }
    inherited: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited |= vars(base).get("__dataclass_fields__", {})
    cls.__dataclass_fields__ = fields = inherited | own
    names = tuple(name for name, each in fields.items() if each.init)
    cls.__match_args__ = names  # type: ignore[misc]
    if slots:
        without = {*own, "__dict__", "__weakref__"}
        namespace = {name: value for name, value in vars(cls).items() if name not in without}
        namespace["__slots__"] = tuple(name for name in own if name not in inherited)
        return type(cls)(cls.__name__, cls.__bases__, namespace)
    for name, each in own.items():
        if each.default is not MISSING:
            setattr(cls, name, each.default)
        elif name in vars(cls):  # a field with a factory
            delattr(cls, name)
    return cls


def _field(name: str, kind: str, value: Any) -> Any:
    """Return a field as `dataclasses.fields` requires it, from its value in the class."""
    made: Any = value if isinstance(value, dataclasses.Field) else dataclasses.field(default=value)
    made.name, made.type, made.kw_only = name, kind, False
    made._field_type = dataclasses._FIELD  # type: ignore[attr-defined]
    return made


def _compiled(cls: Any) -> Any:
    """Return the ``__init__`` that sets the fields of a class."""
    parameters, lines = ["self"], ["pass"]
    names: dict[str, Any] = {"MISSING": MISSING}
    for number, (name, each) in enumerate(cls.__dataclass_fields__.items()):
        is_made = each.default_factory is not MISSING
        names[f"_{number}"] = default = each.default_factory if is_made else each.default
        value = f"_{number}()" if is_made else f"_{number}"
        if each.init:
            absent = "MISSING" if is_made else value
            parameters.append(name if default is MISSING else f"{name}={absent}")
            value = f"{value} if {name} is MISSING else {name}" if is_made else name
        elif default is MISSING:
            continue
        lines.append(f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    exec("\n ".join([f"def __init__({', '.join(parameters)}):", *lines]), names)
    made = names["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


def _show(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"
