"""The members of a struct parameter, as debug information describes them, and values for them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from cudarun.arguments.parameter_match import (
    Expected,
    ParameterMismatch,
    expected_type,
    has_same_bits,
)
from cudarun.arguments.types import (
    SCALARS,
    ArrayType,
    PointerType,
    ScalarType,
    StructType,
    Type,
    VectorType,
)
from cudarun.parameters import Parameter, ParameterMember
from cudarun.records import dataclass


@dataclass(frozen=True, slots=True)
class StructField:
    """A member that is no struct itself, of a struct or of the structs in it.

    Attributes:
        name: The names of the members that lead to it: ``in.v``, ``rows[1].n``.
        offset: The offset in the parameter, in bytes.
        size: The size in bytes, of an array that of all elements.
        type: The C++ type, of an array that of an element.
        expected: The parsed type; ``None`` for a union, a bit field and other unknown types.
    """

    name: str
    offset: int
    size: int
    type: str | None
    expected: Expected


def struct_fields(
    members: Sequence[ParameterMember], offset: int = 0, prefix: str = ""
) -> Iterator[StructField]:
    """Yield the fields of a struct, in order; those of a struct in it in its place."""
    for member in members:
        name = f"{prefix}{member.name}" if member.name else prefix.rstrip(".")
        start = offset + member.offset
        expected = expected_type(member.type)
        if expected is not None or not member.members:
            yield StructField(name, start, member.size, member.type, expected)
            continue
        size = member.size // member.count
        for index in range(member.count):
            own = name if member.count == 1 else f"{name}[{index}]"
            inside = f"{own}." if own else ""
            yield from struct_fields(member.members, start + index * size, inside)


def fit_members(given: Type, parameter: Parameter) -> None:
    """Compare a struct or an array with the members of its parameter, as far as they are known.

    Bytes are taken for every member. Signedness is ignored, as for a scalar.

    Raises:
        ParameterMismatch: A part has another type than the member at its offset.
    """
    if not parameter.members or not isinstance(given, StructType | ArrayType):
        return
    declared = {part.offset: part for part in _declared(parameter.members)}
    offsets = sorted(declared)
    for offset, part in _parts(given, 0):
        if part.size == 1 and isinstance(part, ScalarType) and part.is_integer:
            continue
        before = bisect_right(offsets, offset) - 1
        if before < 0:
            continue
        found = declared[offsets[before]]
        if offset >= found.offset + found.type.size:  # padding, or a member of an unknown type
            continue
        if offset != found.offset or not _agree(part, found.type):
            what = "a pointer" if isinstance(part, PointerType) else str(part)
            raise ParameterMismatch(
                f"{found.name} at offset {found.offset} is {found}, not {what}"
                + (f" at offset {offset}" if offset != found.offset else "")
            )


def pointer_at(parameter: Parameter, offset: int) -> Parameter | None:
    """Return the pointer at an offset in a struct as a parameter; ``None`` without one."""
    for field in struct_fields(parameter.members):
        if field.offset == offset and isinstance(field.expected, PointerType):
            return Parameter(parameter.index, offset, field.size, type=field.type, name=field.name)
    return None


@dataclass(frozen=True, slots=True)
class _Part:
    """A scalar or a pointer in a struct parameter."""

    name: str
    offset: int
    type: ScalarType | PointerType
    spelling: str | None

    def __str__(self) -> str:
        return str(self.spelling if isinstance(self.type, PointerType) else self.type)


def _declared(members: Sequence[ParameterMember]) -> Iterator[_Part]:
    for field in struct_fields(members):
        match field.expected:
            case ScalarType() | PointerType() as type_:
                pass
            case VectorType(scalar=type_):
                pass
            case _:
                continue
        for start in range(field.offset, field.offset + field.size, type_.size):
            yield _Part(field.name, start, type_, field.type)


def _parts(given: Type, offset: int) -> Iterator[tuple[int, ScalarType | PointerType]]:
    """Yield the scalars and pointers of a type with their offsets."""
    match given:
        case ScalarType() | PointerType():
            yield offset, given
        case VectorType(scalar=scalar, count=count):
            for index in range(count):
                yield offset + index * scalar.size, scalar
        case ArrayType(element=element, count=count):
            for index in range(count):
                yield from _parts(element, offset + index * element.size)
        case StructType(members=members, layout=layout):
            for member, start in zip(members, layout.offsets, strict=True):
                yield from _parts(member.type, offset + start)


def _agree(given: ScalarType | PointerType, declared: ScalarType | PointerType) -> bool:
    if isinstance(declared, PointerType):
        return isinstance(given, PointerType) or given == SCALARS["u64"]
    if isinstance(given, PointerType):
        return declared == SCALARS["u64"]
    return has_same_bits(given, declared)
