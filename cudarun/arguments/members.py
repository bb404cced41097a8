"""The members of a struct parameter, as debug information describes them, and values for them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod

from cudarun.arguments import types, values
from cudarun.arguments.dimensions import parse_count
from cudarun.arguments.frameworks import FilledArray
from cudarun.arguments.initial_values import FileInitial
from cudarun.arguments.parameter_match import (
    ParameterMismatch,
    PtxType,
    expected_type,
    has_same_bits,
)
from cudarun.arguments.parameter_order import has_names
from cudarun.arguments.scalars import Scalar
from cudarun.images.parameters import Parameter


def struct_fields(
    members: Sequence[Parameter], offset: int = 0, prefix: str = ""
) -> Iterator[Parameter]:
    """Yield the members that are no structs, in order; those of a struct in it in its place.

    Their names are those of the members that lead to them: ``in.v``, ``rows[1].n``. Their offsets
    are in the parameter; the size of an array is that of all elements, its type that of one.
    """
    for member in members:
        name = f"{prefix}{member.name}" if member.name else prefix.rstrip(".")
        start = offset + member.offset
        if expected_type(member.type) is not None or not member.members:
            yield replace(member, offset=start, name=name, members=(), count=1)
            continue
        size = member.size // member.count
        for index in range(member.count):
            own = name if member.count == 1 else f"{name}[{index}]"
            inside = f"{own}." if own else ""
            yield from struct_fields(member.members, start + index * size, inside)


def fields_of(parameter: Parameter) -> list[Parameter]:
    """Return the members of a struct, the elements of an array, or the components of a vector.

    The members of base classes precede those of the class, as in an initializer of C++. There are
    none if they are unknown, or if several bit fields share their bytes.
    """
    if parameter.count > 1:
        step = parameter.size // parameter.count
        return [
            Parameter(i, i * step, step, None, parameter.type, f"[{i}]", parameter.members)
            for i in range(parameter.count)
        ]
    expected = expected_type(parameter.type)
    if isinstance(expected, types.VectorType):
        size, type_ = expected.element.size, expected.element.name
        names = "xyzw"[: expected.count]
        return [Parameter(i, i * size, size, None, type_, name) for i, name in enumerate(names)]
    found = [*_declared_fields(parameter.members, 0)] if expected is None else []
    if any(each.type is None for each in found):
        return []
    return [replace(each, index=index) for index, each in enumerate(found)]


def _declared_fields(members: Sequence[Parameter], offset: int) -> Iterator[Parameter]:
    for each in members:
        start = offset + each.offset
        if each.name is None and each.members:
            yield from _declared_fields(each.members, start)
        else:
            yield replace(each, offset=start)


def has_member_names(value: values.Value) -> bool:
    """Return whether a struct, or one in it, names its members."""
    return isinstance(value, values.StructValue) and any(
        each.name or has_member_names(each.value) for each in value.members
    )


def member_remarks(
    arguments: Sequence[values.Argument], parameters: Sequence[Parameter]
) -> Iterator[str]:
    """Yield a remark for each struct with names that are not compared with those of its members."""
    for argument, parameter in zip(arguments, parameters, strict=True):
        fields = fields_of(parameter)
        if has_member_names(argument.value) and not (fields and has_names(fields)):
            name = argument.name or parameter.label
            yield f"members of {name} bound by order: the image does not name them all"


def unknown_members(parameter: Parameter) -> str:
    """Return the problem of a struct without types whose parameter has no known members."""
    expected = expected_type(parameter.type)
    if isinstance(expected, types.PointerType):
        return "it is a pointer: pass a buffer, &symbol or null"
    if expected is not None and not isinstance(expected, PtxType):
        return f"it is {expected}, not a struct"
    hint = "" if parameter.members else ", or compile with -G"
    return f"the types of its members are unknown: write them (f32:1){hint}"


def braced(struct: values.StructValue, parameter: Parameter) -> tuple[values.Member, ...]:
    """Return the members of a value; those of an array of arrays as of one array."""
    members, count = struct.members, parameter.count
    is_scalar = isinstance(expected_type(parameter.type), types.ScalarType | types.PointerType)
    while count > 1 and (is_scalar or len(members) < count):
        inner = [each.value for each in members if isinstance(each.value, values.StructValue)]
        if len(inner) < len(members):
            break
        members = tuple(member for each in inner for member in each.members)
    return members


def by_value(buffer: values.Buffer | values.FileBuffer, parameter: Parameter) -> values.Value:
    """Return the elements of a list or a file, ``f32[3]:[1,2,3]``, for an array or a vector.

    Other buffers are unchanged; one for an array of pointers is one of them.
    """
    initial, element, count = buffer.initial, expected_type(parameter.type), parameter.count
    if isinstance(initial, FileInitial) and isinstance(
        element, types.ScalarType | types.VectorType
    ):
        if isinstance(element, types.VectorType) and count == 1:
            count, element = element.count, element.element
        if isinstance(buffer, values.Buffer):
            sizes = [*map(str, buffer.dimensions)]
            given = (*map(int, sizes),) if all(map(str.isdecimal, sizes)) else (0,)
            whole = prod((*given, *types.inner_shape(buffer.type)))
            is_whole = whole == prod((count, *types.inner_shape(element)))
            if not is_whole or types.innermost(buffer.type) != types.innermost(element):
                return buffer
        contents = values.Buffer(element, (parse_count(str(count)),), initial)
        return FilledArray(types.ArrayType(element, count), contents)
    if (
        not (isinstance(buffer, values.Buffer) and isinstance(initial, values.ListInitial))
        or count == 1
    ):
        return buffer
    if any(isinstance(each, types.PointerType) for each in (buffer.type, element)):
        return buffer
    axes = len(buffer.dimensions)
    elements = tuple(each for each in initial.leaves if isinstance(each, values.Element))
    if not elements or [*map(str, buffer.dimensions)] != [*map(str, initial.shape[:axes])]:
        return buffer
    return values.SequenceValue(types.ArrayType(elements[0].type, len(elements)), elements)


def laid_out(
    arguments: Sequence[values.Argument | None],
    given: Sequence[values.Value],
    fields: Sequence[Parameter],
    parameter: Parameter,
) -> values.Value:
    """Return a value with the given members at the offsets that the parameter's have.

    Args:
        arguments: The arguments, with the names that the user gave.

    Raises:
        ParameterMismatch: The struct is packed.
    """
    expected = expected_type(parameter.type)
    elements = tuple(each for each in given if isinstance(each, Scalar | values.SequenceValue))
    if len(elements) == len(given) and parameter.count > 1:
        return values.SequenceValue(types.ArrayType(elements[0].type, len(elements)), elements)
    if isinstance(expected, types.VectorType) and parameter.count == 1:
        return values.SequenceValue(expected, elements)
    members: list[values.Member] = []
    end, widest = 0, 1

    def fill(start: int, alignment: int) -> None:
        if types.align_up(end, alignment) != start:
            members.append(values.Member(None, values.Bytes(bytes(start - end))))

    for index, (argument, value, field) in enumerate(zip(arguments, given, fields, strict=True)):
        type_ = values.value_type(value)
        if field.offset % type_.alignment:
            raise ParameterMismatch(f"it is packed, with {field.label} at {field.offset}: bytes:…")
        fill(field.offset, type_.alignment)
        counted = None if len(members) == index else str(index)  # without what fills gaps
        members.append(values.Member((argument and argument.name) or counted, value))
        end, widest = field.offset + type_.size, max(widest, type_.alignment)
    fill(parameter.size, widest)
    return values.StructValue(tuple(members))


def fit_members(given: types.Type, parameter: Parameter) -> None:
    """Compare a struct or an array with the members of its parameter, as far as they are known.

    Bytes are taken for every member. Signedness is ignored, as for a scalar.

    Raises:
        ParameterMismatch: A part has another type than the member at its offset.
    """
    if not (parameter.members or parameter.count > 1) or not isinstance(
        given, types.StructType | types.ArrayType
    ):
        return
    name = parameter.name if parameter.count > 1 else None
    declared = dict(_declared((replace(parameter, offset=0, name=name),)))
    offsets = sorted(declared)
    for offset, part in _parts(given, 0):
        if part.size == 1 and isinstance(part, types.ScalarType) and part.is_integer:
            continue
        before = bisect_right(offsets, offset) - 1
        if before < 0:
            continue
        start = offsets[before]
        label, expected, spelling = declared[start]
        if offset >= start + expected.size:  # padding, or a member of an unknown type
            continue
        if offset != start or not _agree(part, expected):
            what = "a pointer" if isinstance(part, types.PointerType) else str(part)
            where = f" at offset {offset}" if offset != start else ""
            raise ParameterMismatch(f"{label} at offset {start} is {spelling}, not {what}{where}")


def pointer_at(parameter: Parameter, offset: int) -> Parameter | None:
    """Return the pointer at an offset in a struct as a parameter; ``None`` without one."""
    for field in struct_fields(parameter.members):
        if field.offset == offset and isinstance(expected_type(field.type), types.PointerType):
            return replace(field, index=parameter.index)
    return None


def _declared(
    members: Sequence[Parameter],
) -> Iterator[tuple[int, tuple[str, types.ScalarType | types.PointerType, str]]]:
    """Yield the scalars and pointers of members: their offsets, names, types and spellings."""
    for field in struct_fields(members):
        type_ = expected_type(field.type)
        type_ = type_.element if isinstance(type_, types.VectorType) else type_
        if isinstance(type_, types.ScalarType | types.PointerType):
            spelling = str(field.type if isinstance(type_, types.PointerType) else type_)
            for start in range(field.offset, field.offset + field.size, type_.size):
                yield start, (field.name or "", type_, spelling)


def _parts(
    given: types.Type, offset: int
) -> Iterator[tuple[int, types.ScalarType | types.PointerType]]:
    """Yield the scalars and pointers of a type with their offsets."""
    match given:
        case types.ScalarType() | types.PointerType():
            yield offset, given
        case types.VectorType(element=element, count=count) | types.ArrayType(element, count):
            for index in range(count):
                yield from _parts(element, offset + index * element.size)
        case types.StructType(members=members, layout=layout):
            for member, start in zip(members, layout.offsets, strict=True):
                yield from _parts(member.type, offset + start)


def _agree(
    given: types.ScalarType | types.PointerType, declared: types.ScalarType | types.PointerType
) -> bool:
    if isinstance(declared, types.PointerType):
        return isinstance(given, types.PointerType) or given == types.SCALARS["u64"]
    if isinstance(given, types.PointerType):
        return declared == types.SCALARS["u64"]
    return has_same_bits(given, declared)
