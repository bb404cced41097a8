"""The types of parameters in debug information: their C++ spelling, size and members.

Spellings are those of a demangled name: ``float const*``, ``void (*)(int)``. Typedefs are resolved,
as in mangled names; a struct has its own name, without its namespaces, which nvcc does not write.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from math import prod

from cudarun.images.demangler import demangle
from cudarun.images.dwarf import Die, Dwarf
from cudarun.images.dwarf_codes import At, DamagedDwarf, Tag
from cudarun.parameters import ParameterMember
from cudarun.records import dataclass

_POINTER_BYTES = 8
_DEEPEST = 64  # types within types
_MOST_TYPES = 20_000  # of the members of a parameter, all levels together
_MOST_EXTENTS = 16
_POINTERS = {Tag.POINTER: "*", Tag.REFERENCE: "&", Tag.RVALUE_REFERENCE: "&&"}
_QUALIFIERS = {Tag.CONST: " const", Tag.VOLATILE: " volatile", Tag.RESTRICT: ""}
_STRUCTS = (Tag.STRUCTURE, Tag.CLASS)
_VECTOR = re.compile(r"(?:u?(?:char|short|int|long|longlong)|float|double)([1-4])(?:_\d\da)?")
_LOCATION = 0x23  # DW_OP_plus_uconst
_BASE_CLASS = "__b_"  # the prefix of the member that nvcc writes for one
_INTEGERS = {1: "char", 2: "short", 4: "int", 8: "long"}


@dataclass(frozen=True, slots=True)
class DebugParameter:
    """A parameter in debug information.

    Attributes:
        name: Its name.
        type: Its C++ type.
        size: Bytes; ``None`` if they are unknown.
        members: The members of a struct.
        is_enumeration: Whether it is an enumeration; its type names the underlying one.
    """

    name: str | None
    type: str
    size: int | None
    members: tuple[ParameterMember, ...] = ()
    is_enumeration: bool = False


def debug_parameters(dwarf: Dwarf, kernel: str) -> tuple[DebugParameter, ...] | None:
    """Return the parameters of a kernel; ``None`` if it is not in the debug information.

    Args:
        dwarf: The debug information.
        kernel: The mangled name.

    Raises:
        DamagedDwarf: It is damaged.
    """
    function = dwarf.function(kernel)
    if function is None:
        return None
    reader = _TypeReader(dwarf)
    return tuple(
        reader.parameter(die) for die in dwarf.children(function) if die.tag == Tag.FORMAL_PARAMETER
    )


class _TypeReader:
    """A reader of the types of one kernel's parameters."""

    def __init__(self, dwarf: Dwarf) -> None:
        self._dwarf = dwarf
        self._left = 0

    def parameter(self, die: Die) -> DebugParameter:
        type_ = self._unqualified(die)
        self._left = _MOST_TYPES
        name = die.name
        return DebugParameter(
            name=name if name is not None and name.isidentifier() else None,
            type=self._value_spelling(type_),
            size=self._size(type_),
            members=self._members(type_),
            is_enumeration=type_ is not None and type_.tag == Tag.ENUMERATION,
        )

    def _target(self, die: Die) -> Die | None:
        """Return the type of a DIE; ``None`` for void."""
        offset = die.number(At.TYPE)
        target = None if offset is None else self._dwarf.die(die.unit, offset)
        return None if target is not None and target.tag == Tag.UNSPECIFIED else target

    def _unqualified(self, die: Die) -> Die | None:
        """Return the type of a DIE without typedefs and qualifiers."""
        current: Die | None = die
        for _ in range(_DEEPEST):
            assert current is not None, "the loop ends at void"
            current = self._target(current)
            if current is None or current.tag not in (Tag.TYPEDEF, *_QUALIFIERS):
                return current
        raise DamagedDwarf

    # --- sizes -----------------------------------------------------------------------------------

    def _size(self, type_: Die | None, depth: int = 0) -> int | None:
        if type_ is None or depth > _DEEPEST:
            return None
        if type_.tag in _POINTERS:
            return _POINTER_BYTES
        if type_.tag == Tag.ARRAY:
            size = self._size(self._unqualified(type_), depth + 1)
            return None if size is None else size * prod(self._extents(type_))
        return type_.count(At.BYTE_SIZE)

    def _extents(self, array: Die) -> tuple[int, ...]:
        """Return the extents of an array; 0 for an unknown one."""
        extents: list[int] = []
        for die in self._dwarf.children(array):
            if die.tag == Tag.SUBRANGE:
                last = die.number(At.UPPER_BOUND)  # -1 of an array without elements
                extents.append(die.count(At.COUNT) or (0 if last is None else max(0, last + 1)))
            if len(extents) > _MOST_EXTENTS:
                raise DamagedDwarf
        return tuple(extents)

    # --- spelling --------------------------------------------------------------------------------

    def _value_spelling(self, type_: Die | None) -> str:
        """Return the spelling of a type by value: that of an enumeration has its integer type."""
        spelling = self._spelling(type_)
        if type_ is None or type_.tag != Tag.ENUMERATION:
            return spelling
        return f"enum {spelling} : {self._integer(type_)}"

    def _integer(self, enumeration: Die) -> str:
        """Return the underlying type of an enumeration."""
        declared = self._unqualified(enumeration)
        if declared is not None:
            return self._spelling(declared)
        values = (each.number(At.CONST_VALUE) for each in self._dwarf.children(enumeration))
        is_signed = any(value is not None and value < 0 for value in values)
        integer = _INTEGERS.get(enumeration.count(At.BYTE_SIZE) or 0, "int")
        return f"{'signed' if is_signed else 'unsigned'} {integer}"

    def _spelling(self, type_: Die | None, declarator: str = "", depth: int = 0) -> str:
        """Return a type as text around ``declarator``, which stands where a name would."""
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            raise DamagedDwarf
        if type_ is None:
            return f"void{declarator}"

        def of_target(inner: str) -> str:
            return self._spelling(self._target(type_), inner, depth + 1)

        if type_.tag in _POINTERS:
            return of_target(f"{_POINTERS[Tag(type_.tag)]}{declarator}")
        if type_.tag in _QUALIFIERS:
            return of_target(f"{_QUALIFIERS[Tag(type_.tag)]}{declarator}")
        if type_.tag == Tag.TYPEDEF:
            return of_target(declarator)
        around = f" ({declarator.strip()})" if declarator else ""
        if type_.tag == Tag.ARRAY:
            extents = "".join(f"[{extent or ''}]" for extent in self._extents(type_))
            return of_target(f"{around} {extents}")
        if type_.tag == Tag.SUBROUTINE:
            parameters = [
                self._spelling(self._target(each), depth=depth + 1)
                for each in self._dwarf.children(type_)
                if each.tag == Tag.FORMAL_PARAMETER
            ]
            return of_target(f"{around}({', '.join(parameters)})")
        return f"{self._name(type_)}{declarator}"

    def _name(self, type_: Die) -> str:
        name = type_.name
        if name is None:
            return "(unnamed)"
        if type_.tag == Tag.BASE:
            is_long = name == "double" and type_.count(At.BYTE_SIZE) != _POINTER_BYTES
            return "long double" if is_long else name
        name = demangle(name)
        vector = _VECTOR.fullmatch(name)
        if vector and not self._is_vector(type_, int(vector[1])):
            return f"{name} {{…}}"  # another struct with the name of a CUDA vector
        return name

    def _is_vector(self, type_: Die, components: int) -> bool:
        children = islice(self._dwarf.children(type_), components + 1)
        members = [each for each in children if each.tag == Tag.MEMBER]
        names = [each.name for each in members]
        types = {self._spelling(self._target(each)) for each in members}
        return names == [*"xyzw"[:components]] and len(types) == 1

    # --- members ---------------------------------------------------------------------------------

    def _members(self, type_: Die | None, depth: int = 0) -> tuple[ParameterMember, ...]:
        """Return the members of a struct; none of another type or of an incomplete struct."""
        if type_ is None or type_.tag not in _STRUCTS or depth > _DEEPEST:
            return ()
        size = type_.count(At.BYTE_SIZE) or 0
        found = [*self._declared_members(type_, depth)]
        is_whole = all(each.offset + each.size <= size for each in found)
        return tuple(found) if is_whole else ()

    def _declared_members(self, struct: Die, depth: int) -> Iterator[ParameterMember]:
        for die in self._dwarf.children(struct):
            offset = _offset(die)
            if die.tag not in (Tag.MEMBER, Tag.INHERITANCE) or offset is None:
                continue
            type_ = self._unqualified(die)
            size = self._size(type_)
            if not size:  # an incomplete type, or a flexible array
                continue
            name = die.name
            if name is not None and name.startswith(_BASE_CLASS):
                name = None
            if At.BIT_SIZE in die.attributes:  # other members can be in the same bytes
                yield ParameterMember(offset, size, name=name)
                continue
            count = 1
            while type_ is not None and type_.tag == Tag.ARRAY:
                count *= prod(self._extents(type_))
                type_ = self._unqualified(type_)
            spelling = self._value_spelling(type_)
            yield ParameterMember(
                offset, size, spelling, name, count, self._members(type_, depth + 1)
            )


def _offset(member: Die) -> int | None:
    """Return the offset of a member; ``None`` for a static one."""
    location = member.attributes.get(At.MEMBER_LOCATION)
    if isinstance(location, int):
        return member.count(At.MEMBER_LOCATION)
    if location is None or location[:1] != bytes([_LOCATION]):
        return None
    value = 0
    for shift, byte in enumerate(location[1:]):
        value |= (byte & 0x7F) << (7 * shift)
    return value
