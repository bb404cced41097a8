"""The names of a program: the buffers and values of its earlier steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from cudarun.arguments.packing import BufferSpec, ObjectSpec
from cudarun.arguments.scalars import Scalar
from cudarun.arguments.values import AddressOf, Element, ObjectValue, Value
from cudarun.base.records import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that the arguments of a step may use; none in the first step."""

    # The buffers of earlier steps, by name.
    buffers: Mapping[str, BufferSpec] = field(default_factory=dict)
    # The values of earlier steps as given, by name: a number without a type gets the type of each
    # parameter that it is passed to.
    values: Mapping[str, Value] = field(default_factory=dict)
    # The integers among them, for dimensions and the geometry.
    integers: Mapping[str, int] = field(default_factory=dict)
    # The textures and surfaces of earlier steps that have arrays of their own.
    objects: tuple[ObjectSpec, ...] = ()

    def resolved(self, name: str) -> Value | None:
        """Return the value of a name, of a buffer its address; ``None`` for an unknown name."""
        if name in self.buffers and not isinstance(self.values.get(name), ObjectValue):
            return AddressOf(name)
        return self.values.get(name)

    def including(
        self,
        buffers: Sequence[BufferSpec],
        values: Sequence[tuple[str, Value, Value]],
        objects: Sequence[ObjectSpec],
    ) -> Scope:
        """Return the scope of the next step; later values replace earlier ones of the same name.

        Args:
            values: The name of each argument, its value as given, and with its type.
        """
        plain = {name: given for name, given, typed in values if isinstance(typed, Element)}
        plain |= {
            name: typed.again(name) for name, _, typed in values if isinstance(typed, ObjectValue)
        }
        numbers = {
            name: int(typed.value)
            for name, _, typed in values
            if isinstance(typed, Scalar) and typed.type.is_integer
        }
        return Scope(
            {**self.buffers, **{spec.name: spec for spec in buffers}},
            {**self.values, **plain},
            {name: n for name, n in self.integers.items() if name not in plain} | numbers,
            (*self.objects, *(each for each in objects if each.owns)),
        )
