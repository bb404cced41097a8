"""The types of parameters in debug information: their C++ spelling, size and members.

Spellings are those of a demangled name: ``float const*``, ``void (*)(int)``. Typedefs are resolved,
as in mangled names; a struct has its own name, without its namespaces, which nvcc does not write.
"""

from __future__ import annotations

import re
from itertools import islice
from math import prod

from elftools.dwarf.die import DIE

from cudarun.base.records import dataclass
from cudarun.images.demangler import demangle
from cudarun.images.dwarf import Dwarf, UnusableDwarf, count, number
from cudarun.images.parameters import Parameter

_POINTER_BYTES = 8
_DEEPEST = 64  # types within types
_MOST_TYPES = 20_000  # of the members of a parameter, all levels together
_MOST_EXTENTS = 16
POINTERS = {
    "DW_TAG_pointer_type": "*",
    "DW_TAG_reference_type": "&",
    "DW_TAG_rvalue_reference_type": "&&",
}
_QUALIFIERS = {
    "DW_TAG_const_type": " const",
    "DW_TAG_volatile_type": " volatile",
    "DW_TAG_restrict_type": "",
}
STRUCTS = ("DW_TAG_structure_type", "DW_TAG_class_type")
_VECTOR = re.compile(r"(?:u?(?:char|short|int|long|longlong)|float|double)([1-4])(?:_\d\da)?")
BASE_CLASS = "__b_"  # the prefix of the member that nvcc writes for a base class

_SUBOBJECT = re.compile(r"^__SO__\d+")  # before the name of a base class with padding
_INTEGERS = {1: "char", 2: "short", 4: "int", 8: "long"}


@dataclass(frozen=True, slots=True)
class DebugParameter:
    """A parameter in debug information."""

    name: str | None
    type: str  # its C++ type
    size: int | None  # bytes; ``None`` if they are unknown
    members: tuple[Parameter, ...] = ()  # the members of a struct
    is_enumeration: bool = False  # whether it is an enumeration; its type names the underlying one


def debug_parameters(dwarf: Dwarf, kernel: str) -> tuple[DebugParameter, ...] | None:
    """Return the parameters of a kernel; ``None`` if it is not in the debug information.

    Raises:
        UnusableDwarf: It is not usable.
    """
    function = dwarf.function(kernel)
    if function is None:
        return None
    reader = TypeReader(dwarf)
    return tuple(
        reader.parameter(die)
        for die in dwarf.children(function)
        if die.tag == "DW_TAG_formal_parameter"
    )


class TypeReader:
    """A reader of types."""

    def __init__(self, dwarf: Dwarf, *, keeps_typedefs: bool = False) -> None:
        self.dwarf = dwarf  # the debug information
        self._keeps_typedefs = keeps_typedefs  # spell a typedef by its name
        self._left = 0

    def parameter(self, die: DIE) -> DebugParameter:
        """Return a parameter."""
        type_ = self.unqualified(die)
        self._left = _MOST_TYPES
        name = self.dwarf.name(die)
        return DebugParameter(
            name=name if name is not None and name.isidentifier() else None,
            type=self._value_spelling(type_),
            size=self.size(type_),
            members=self._members(type_),
            is_enumeration=type_ is not None and type_.tag == "DW_TAG_enumeration_type",
        )

    def _target(self, die: DIE) -> DIE | None:
        """Return the type of a DIE; ``None`` for void."""
        target = self.dwarf.target(die)
        return None if target is not None and target.tag == "DW_TAG_unspecified_type" else target

    def spelling(self, die: DIE) -> str:
        """Return the type of a DIE as text."""
        self._left = _MOST_TYPES
        return self._spelling(self._target(die))

    def unqualified(self, die: DIE) -> DIE | None:
        """Return the type of a DIE without typedefs and qualifiers."""
        current: DIE | None = die
        for _ in range(_DEEPEST):
            assert current is not None, "the loop ends at void"
            current = self._target(current)
            if current is None or current.tag not in ("DW_TAG_typedef", *_QUALIFIERS):
                return current
        raise UnusableDwarf

    # --- sizes -----------------------------------------------------------------------------------

    def size(self, type_: DIE | None, depth: int = 0) -> int | None:
        """Return the bytes of a type without qualifiers; ``None`` if they are unknown."""
        if type_ is None or depth > _DEEPEST:
            return None
        if type_.tag in POINTERS:
            return _POINTER_BYTES
        if type_.tag == "DW_TAG_array_type":
            size = self.size(self.unqualified(type_), depth + 1)
            return None if size is None else size * prod(self.extents(type_))
        return count(type_, "DW_AT_byte_size")

    def extents(self, array: DIE) -> tuple[int, ...]:
        """Return the extents of an array; 0 for an unknown one."""
        extents: list[int] = []
        for die in self.dwarf.children(array):
            if die.tag == "DW_TAG_subrange_type":
                last = number(die, "DW_AT_upper_bound")  # -1 of an array without elements
                extents.append(
                    count(die, "DW_AT_count") or (0 if last is None else max(0, last + 1))
                )
            if len(extents) > _MOST_EXTENTS:
                raise UnusableDwarf
        return tuple(extents)

    # --- spelling --------------------------------------------------------------------------------

    def _value_spelling(self, type_: DIE | None) -> str:
        """Return the spelling of a type by value: that of an enumeration has its integer type."""
        spelling = self._spelling(type_)
        if type_ is None or type_.tag != "DW_TAG_enumeration_type":
            return spelling
        declared = self.unqualified(type_)
        if declared is not None:
            return f"enum {spelling} : {self._spelling(declared)}"
        values = (number(each, "DW_AT_const_value") for each in self.dwarf.children(type_))
        is_signed = any(value is not None and value < 0 for value in values)
        integer = _INTEGERS.get(count(type_, "DW_AT_byte_size") or 0, "int")
        return f"enum {spelling} : {'signed' if is_signed else 'unsigned'} {integer}"

    def _spelling(self, type_: DIE | None, declarator: str = "", depth: int = 0) -> str:
        """Return a type as text around ``declarator``, which stands where a name would."""
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            raise UnusableDwarf
        if type_ is None:
            return f"void{declarator}"

        def of_target(inner: str) -> str:
            return self._spelling(self._target(type_), inner, depth + 1)

        if type_.tag in POINTERS:
            return of_target(f"{POINTERS[type_.tag]}{declarator}")
        if type_.tag in _QUALIFIERS:
            return of_target(f"{_QUALIFIERS[type_.tag]}{declarator}")
        if type_.tag == "DW_TAG_typedef" and not self._keeps_typedefs:
            return of_target(declarator)
        around = f" ({declarator.strip()})" if declarator else ""
        if type_.tag == "DW_TAG_array_type":
            extents = "".join(f"[{extent or ''}]" for extent in self.extents(type_))
            return of_target(f"{around} {extents}")
        if type_.tag == "DW_TAG_subroutine_type":
            parameters = [
                self._spelling(self._target(each), depth=depth + 1)
                for each in self.dwarf.children(type_)
                if each.tag == "DW_TAG_formal_parameter"
            ]
            return of_target(f"{around}({', '.join(parameters)})")
        return f"{self._name(type_)}{declarator}"

    def name(self, type_: DIE) -> str:
        """Return the name of a type; pointers and arrays have none."""
        self._left = _MOST_TYPES
        return self._name(type_)

    def _name(self, type_: DIE) -> str:
        name = self.dwarf.name(type_)
        if name is None:
            return "(unnamed)"
        if type_.tag == "DW_TAG_base_type":
            is_long = name == "double" and count(type_, "DW_AT_byte_size") != _POINTER_BYTES
            return "long double" if is_long else name
        name = demangle(_SUBOBJECT.sub("", name))
        vector = _VECTOR.fullmatch(name)
        is_struct = type_.tag in STRUCTS
        if vector and is_struct and not self._is_vector(type_, int(vector[1])):
            return f"{name} {{…}}"  # another struct with the name of a CUDA vector
        return name

    def _is_vector(self, type_: DIE, components: int) -> bool:
        children = islice(self.dwarf.children(type_), components + 1)
        members = [each for each in children if each.tag == "DW_TAG_member"]
        names = [self.dwarf.name(each) for each in members]
        types = {self._spelling(self._target(each)) for each in members}
        return names == [*"xyzw"[:components]] and len(types) == 1

    # --- members ---------------------------------------------------------------------------------

    def _members(self, type_: DIE | None, depth: int = 0) -> tuple[Parameter, ...]:
        """Return the members of a struct; none of another type or of an incomplete struct."""
        if type_ is None or type_.tag not in STRUCTS or depth > _DEEPEST:
            return ()
        found: list[Parameter] = []
        for die in self.dwarf.children(type_):
            offset = self.dwarf.location(die)
            if die.tag not in ("DW_TAG_member", "DW_TAG_inheritance") or offset is None:
                continue
            inner = self.unqualified(die)
            size = self.size(inner)
            if not size:  # an incomplete type, or a flexible array
                continue
            name = self.dwarf.name(die)
            if name is not None and name.startswith(BASE_CLASS):
                name = None
            if "DW_AT_bit_size" in die.attributes:  # other members can be in the same bytes
                found.append(Parameter(0, offset, size, name=name))
                continue
            elements = 1
            while inner is not None and inner.tag == "DW_TAG_array_type":
                elements *= prod(self.extents(inner))
                inner = self.unqualified(inner)
            spelling, members = self._value_spelling(inner), self._members(inner, depth + 1)
            found.append(Parameter(0, offset, size, None, spelling, name, members, elements))
        whole = count(type_, "DW_AT_byte_size") or 0
        return tuple(found) if all(each.offset + each.size <= whole for each in found) else ()
