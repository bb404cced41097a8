"""Values of a type: scalars, vectors, arrays and structs, without their type."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable
from typing import TypeVar

from cudarun.arguments.literals import NUMBER
from cudarun.arguments.numbers import NUMBER_AHEAD, NumberRules
from cudarun.arguments.scalars import Scalar, UntypedNumber
from cudarun.arguments.types import (
    MAX_DEPTH,
    ArrayType,
    Kind,
    PointerType,
    ScalarType,
    StructType,
    Type,
    VectorType,
)
from cudarun.arguments.values import (
    ArrayValue,
    Element,
    Leaf,
    Member,
    Pointer,
    StructValue,
    VectorValue,
)

_LITERAL_AHEAD = re.compile(rf"{NUMBER_AHEAD.pattern}|\{{")

_Kept = TypeVar("_Kept")


class ElementRules(NumberRules):
    """The values of an element; its type is known."""

    def element(self, element: Type) -> Element:
        """Parse a value without its type: ``1,2,3,4`` for ``float4``."""
        match element:
            case ScalarType():
                return self.scalar(element)
            case VectorType():
                components = self.run(element, element.count, lambda: self.scalar(element.scalar))
                return VectorValue(element, components)
            case ArrayType():
                inner = element.element
                return ArrayValue(
                    element, self.run(element, element.count, lambda: self.element(inner))
                )
            case StructType():
                return self.struct_literal(element)
            case _:
                raise AssertionError(f"the type {element} has no text form")

    def member_value(self, element: Type) -> Leaf:
        """Parse a value without its type, or a pointer: an address, ``null`` or a buffer."""
        return self.pointer() if isinstance(element, PointerType) else self.element(element)

    @abstractmethod
    def pointer(self) -> Pointer:
        """Parse the value of a pointer."""

    def scalar(self, scalar: ScalarType) -> Scalar:
        """Parse one number of a type."""
        start = self.scanner.skip_space()
        found = self.scanner.match(NUMBER)
        if found is None:
            raise self.scanner.error(
                f"expected {_described(scalar)}, found {self.scanner.found()}", start
            )
        with self.located(start):
            return UntypedNumber(found.group()).of(scalar)

    def run(self, whole: Type, count: int, one: Callable[[], _Kept]) -> tuple[_Kept, ...]:
        """Parse ``count`` comma-separated values."""
        scanner = self.scanner
        values = [one()]
        while len(values) < count:
            if not (scanner.accept(",") and scanner.looks_at(_LITERAL_AHEAD)):
                raise scanner.error(f"{whole} takes {count} values, got {len(values)}")
            values.append(one())
        return tuple(values)

    def struct_literal(self, struct: StructType) -> StructValue:
        """Parse ``{…}``, a value for each member of a struct."""
        scanner = self.scanner
        scanner.expect("{", f"before the members of {struct}")
        members: list[Member] = []
        with self.enclosed("}"), scanner.nested(MAX_DEPTH):
            for member in struct.members:
                if members:
                    scanner.expect(",", f"before member {len(members) + 1} of {struct}")
                members.append(Member(member.name, self.member_value(member.type)))
            scanner.expect("}", f"after the {len(members)} members of {struct}")
        return StructValue(tuple(members))


def _described(scalar: ScalarType) -> str:
    return {Kind.FLOAT: "a number", Kind.BOOL: "true or false"}.get(scalar.kind, "an integer")
