"""The C++ variables of PTX by ``nvcc -G``: names, types, scopes and locations.

Debug information in PTX has no numbers for addresses, only labels and names. Here the address of a
label is its line in the text, so that a variable is in scope on lines of PTX, and a name gets a
number when it is read. NVIDIA writes a register as the characters of its name: ``%r1`` is the
number 0x257231.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property
from struct import Struct

from elftools.dwarf.die import DIE
from elftools.dwarf.dwarf_expr import DWARFExprOp, DWARFExprParser

from cudarun.base.records import dataclass
from cudarun.images.debug_sections import ptx_sections
from cudarun.images.debug_types import BASE_CLASS, POINTERS, STRUCTS, TypeReader
from cudarun.images.demangler import demangle
from cudarun.images.dwarf import Dwarf, UnusableDwarf, number, unusable_if_damaged

_SECTIONS = (".debug_info", ".debug_abbrev", ".debug_loc", ".debug_str", ".debug_ranges")
_LABEL = re.compile(rb"^[ \t]*([\w$]+):", re.MULTILINE)
_NAMES = 1 << 40  # the number of the first name, beyond all lines
_ENTRY = Struct("<QQH")  # of a location list: the first address, the end, the bytes of operations
_MOST_LOCATIONS = 10_000  # of a variable
_VARIABLES = ("DW_TAG_formal_parameter", "DW_TAG_variable")
_COMPILER_OWNED = ("_ZTV", "_ZTI", "_ZTS")  # tables of virtual functions, and descriptions of types
_SCOPES = ("DW_TAG_lexical_block", "DW_TAG_inlined_subroutine")


class DebugType:
    """A C++ type."""

    def __init__(self, reader: TypeReader, holder: DIE) -> None:
        self._reader = reader  # the reader of the text's types
        self._holder = holder  # what has the type: a variable, a member, a pointer, an array

    @cached_property
    def _plain(self) -> DIE | None:
        return self._reader.unqualified(self._holder)

    @cached_property
    def name(self) -> str:
        """The type as in C++, typedefs by their names."""
        return self._reader.spelling(self._holder)

    @cached_property
    def plain_name(self) -> str:
        """The name of the type behind typedefs, without qualifiers."""
        return "void" if self._plain is None else self._reader.name(self._plain)

    @cached_property
    def size(self) -> int:
        """Bytes; 0 for an incomplete type."""
        return self._reader.size(self._plain) or 0

    def _has(self, *tags: str) -> bool:
        return self._plain is not None and self._plain.tag in tags

    @property
    def is_pointer(self) -> bool:
        """True for pointers and references."""
        return self._has(*POINTERS)

    @property
    def is_reference(self) -> bool:
        """True for references."""
        return self.is_pointer and not self._has("DW_TAG_pointer_type")

    @property
    def is_enumeration(self) -> bool:
        """True for enumerations."""
        return self._has("DW_TAG_enumeration_type")

    @property
    def is_struct(self) -> bool:
        """True for structs, classes and unions."""
        return self._has(*STRUCTS, "DW_TAG_union_type")

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """The extents of an array; ``()`` for another type."""
        is_array = self._plain is not None and self._has("DW_TAG_array_type")
        return self._reader.extents(self._plain) if is_array and self._plain else ()

    @cached_property
    def target(self) -> DebugType:
        """The type of what a pointer points to, or of the scalars of an array."""
        assert self._plain is not None
        return DebugType(self._reader, self._plain)

    @cached_property
    def is_signed(self) -> bool:
        """True if an enumerator is negative."""
        return any(value < 0 for value in self.enumerators)

    @cached_property
    def enumerators(self) -> dict[int, str]:
        """The names of an enumeration's values."""
        dies = self._reader.dwarf.children(self._plain) if self._plain else ()
        values = ((number(die, "DW_AT_const_value"), self._reader.dwarf.name(die)) for die in dies)
        return {value: demangle(name) for value, name in values if value is not None and name}

    @cached_property
    def members(self) -> tuple[DebugMember, ...]:
        """The members of a struct, base classes first."""
        if not self.is_struct or self._plain is None:
            return ()
        dwarf = self._reader.dwarf
        found = []
        for die in dwarf.children(self._plain):
            if die.tag not in ("DW_TAG_member", "DW_TAG_inheritance"):
                continue
            offset = dwarf.location(die)
            if offset is None and not self._has("DW_TAG_union_type"):  # a static member
                continue
            name, type_ = dwarf.name(die) or "", DebugType(self._reader, die)
            name = type_.name if name.startswith(BASE_CLASS) else name
            member = DebugMember(name or type_.name, offset or 0, type_)
            found.append(_bit_field(die, member) if "DW_AT_bit_size" in die.attributes else member)
        return tuple(found)


class UndescribedType(DebugType):
    """The type of an array, or of a scalar, that no debug information describes."""

    def __init__(self, scalar: str, size: int, extents: tuple[int, ...] = ()) -> None:
        self._plain = None
        self.name = self.plain_name = f"{scalar}[{extents[0]}]" if extents else scalar
        self.size = size  # of an element
        self.extents = extents
        self.target = UndescribedType(scalar, size) if extents else self


@dataclass(frozen=True, slots=True)
class DebugMember:
    """A member of a struct, or a base class under the name of its type."""

    name: str
    offset: int  # the first byte of its type in the struct
    type: DebugType
    bits: int | None = None  # the width of a bit field; ``None`` for another member
    first_bit: int = 0  # the least significant bit of a bit field in its type


def _bit_field(die: DIE, member: DebugMember) -> DebugMember:
    """Return a bit field, with its place as DWARF 2 or as DWARF 4 describes it."""
    bits, unit = number(die, "DW_AT_bit_size") or 0, 8 * member.type.size
    of_struct = number(die, "DW_AT_data_bit_offset")
    byte = member.offset
    if of_struct is not None and unit:
        byte, first = of_struct // unit * member.type.size, of_struct % unit
    else:
        # The attribute has the bits that are more significant.
        first = unit - (number(die, "DW_AT_bit_offset") or 0) - bits
    if bits <= 0 or first < 0 or first + bits > unit:
        raise UnusableDwarf
    return replace(member, offset=byte, bits=bits, first_bit=first)


@dataclass(frozen=True, slots=True)
class DebugLocation:
    """A place of a variable."""

    first: int = 0  # the first line of the PTX on which the variable is there
    end: int = _NAMES  # the line after the last one
    register: str | None = None  # the register that contains it, or its address
    symbol: str | None = None  # the PTX variable that it is in
    offset: int = 0  # its first byte in that
    constant: int | None = None  # its value, if it has no place
    is_address: bool = False  # whether the register contains its address


@dataclass(frozen=True, slots=True)
class DebugVariable:
    """A C++ variable."""

    name: str
    type: DebugType
    locations: tuple[DebugLocation, ...]  # its places; none of a variable that was optimized out

    def location(self, line: int) -> DebugLocation | None:
        """Return its place on a line of the PTX; ``None`` without one."""
        return next((each for each in self.locations if each.first <= line < each.end), None)


@dataclass(slots=True)
class _FunctionVariables:
    """The variables that a function can access: its own by the lines of their scopes."""

    scopes: list[tuple[range, list[DebugVariable]]] = field(default_factory=list)
    common: list[DebugVariable] = field(default_factory=list)


class DebugVariables:
    """The variables of a PTX text.

    Args:
        others: Variables outside of functions that its debug information may lack.
    """

    def __init__(self, text: str, others: Sequence[DebugVariable] = ()) -> None:
        self._others = others
        data = text.encode(errors="replace")
        self._names: list[str] = []
        self._lines = dict(_lines_of_labels(data)) if b".debug_info" in data else {}
        self._sections = ptx_sections(data, _SECTIONS, self._address)
        self._reader = TypeReader(Dwarf(self._sections), keeps_typedefs=True)
        self._functions: dict[str, _FunctionVariables | UnusableDwarf] = {}

    def _address(self, name: str) -> int:
        line = self._lines.get(name.encode())
        if line is not None:
            return line
        self._names.append(name)
        return _NAMES + len(self._names) - 1

    def local(self, function: str, line: int) -> list[DebugVariable]:
        """Return the variables in scope on a line of a function, those of outer scopes first.

        Args:
            function: The name in the PTX.
            line: The line of the PTX.

        Raises:
            UnusableDwarf: The debug information cannot be read.
        """
        scopes = self._function(function).scopes
        return [each for lines, found in scopes if line in lines for each in found]

    def common(self, function: str) -> list[DebugVariable]:
        """Return the variables outside of functions that a function can access.

        Raises:
            UnusableDwarf: The debug information cannot be read.
        """
        own = f"{function}."  # the start of symbols that are declared in it
        others = sorted(
            self._others, key=lambda each: (each.locations[0].symbol or "").startswith(own)
        )
        return [*others, *self._function(function).common]

    def _function(self, name: str) -> _FunctionVariables:
        if name not in self._functions:
            variables = _FunctionVariables()
            try:
                die = self._reader.dwarf.function(name)
                if die is not None:
                    with unusable_if_damaged():
                        common = [*self._declared(die.cu.get_top_DIE())]
                        variables = _FunctionVariables([*self._scopes(die)], common)
                self._functions[name] = variables
            except UnusableDwarf as error:
                self._functions[name] = error
        found = self._functions[name]
        if isinstance(found, UnusableDwarf):
            raise found
        return found

    def _declared(self, scope: DIE) -> Iterator[DebugVariable]:
        for die in self._reader.dwarf.children(scope):
            name = self._reader.dwarf.name(die) if die.tag in _VARIABLES else None
            if name is not None and not name.startswith(_COMPILER_OWNED):
                type_, locations = DebugType(self._reader, die), tuple(self._locations(die))
                yield DebugVariable(demangle(name), type_, locations)

    def _scopes(self, function: DIE) -> Iterator[tuple[range, list[DebugVariable]]]:
        """Yield the scopes of a function, outer ones before those in them."""
        scopes = [(range(_NAMES), function)]
        for lines, scope in scopes:
            yield lines, [*self._declared(scope)]
            for die in self._reader.dwarf.children(scope):
                first, end = number(die, "DW_AT_low_pc"), number(die, "DW_AT_high_pc")
                if die.tag in _SCOPES and first is not None and end is not None:
                    scopes.append((range(first, end), die))

    # --- locations -------------------------------------------------------------------------------

    def _locations(self, die: DIE) -> Iterator[DebugLocation]:
        constant = number(die, "DW_AT_const_value")
        if constant is not None:
            yield DebugLocation(constant=constant)
        attribute = die.attributes.get("DW_AT_location")
        value = None if attribute is None else attribute.value
        if isinstance(value, int):
            data = self._sections.get(".debug_loc", b"")
            for _ in range(_MOST_LOCATIONS):
                header = data[value : value + _ENTRY.size]
                if len(header) < _ENTRY.size:
                    return
                first, end, size = _ENTRY.unpack(header)
                if not (first or end):
                    return
                value += _ENTRY.size + size
                location = self._location(die, data[value - size : value], first, end)
                if location is not None:
                    yield location
        elif value is not None:
            location = self._location(die, value)
            if location is not None:
                yield location

    def _location(
        self, die: DIE, code: Sequence[int], first: int = 0, end: int = _NAMES
    ) -> DebugLocation | None:
        """Return the place that operations compute; ``None`` for one of an unknown kind."""
        operations: list[DWARFExprOp] = DWARFExprParser(die.cu.structs).parse_expr([*code])
        match [(each.op_name, *each.args) for each in operations]:
            case [("DW_OP_regx", int(register))]:
                return DebugLocation(first, end, register=_register(register))
            case [("DW_OP_bregx", int(register), int(offset))]:
                name = _register(register)
                return DebugLocation(first, end, register=name, offset=offset, is_address=True)
            case [("DW_OP_addr", int(symbol))]:
                return DebugLocation(first, end, symbol=self._name(symbol))
            case [("DW_OP_addr", int(symbol)), ("DW_OP_plus_uconst", int(offset))]:
                return DebugLocation(first, end, symbol=self._name(symbol), offset=offset)
            case [("DW_OP_constu" | "DW_OP_consts", int(value)), ("DW_OP_stack_value",)]:
                return DebugLocation(first, end, constant=value)
        return None

    def _name(self, number: int) -> str:
        if not 0 <= number - _NAMES < len(self._names):
            raise UnusableDwarf
        return self._names[number - _NAMES]


def _register(number: int) -> str:
    """Return the name of a register from its number."""
    return number.to_bytes(-(-number.bit_length() // 8), "big").decode("latin-1")


def _lines_of_labels(text: bytes) -> Iterator[tuple[bytes, int]]:
    line, end = 1, 0
    for match in _LABEL.finditer(text):
        line += text.count(b"\n", end, match.start(1))
        end = match.start(1)
        yield match[1], line
