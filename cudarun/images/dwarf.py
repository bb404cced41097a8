"""Debugging information entries (DIEs) of DWARF 2 to 5, as far as parameters need them.

The compilers of CUDA write DWARF 2 with strings in place, both in cubins and in PTX. Only the units
that contain a function's name are searched, and a DIE that is not of interest is skipped without
decoding it, because a unit has a hundred thousand of them. Addresses and locations are not
resolved, so that relocations do not matter.

The reference is the DWARF 5 standard, section 7.5.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

from cudarun.images.dwarf_codes import (
    ADDRESS_BYTES,
    BLOCKS,
    FIXED,
    IN_UNIT,
    LEBS,
    OFFSETS,
    SIZES,
    At,
    DamagedDwarf,
    DwarfForm,
    Tag,
    sleb,
    uleb,
)
from cudarun.records import dataclass

_64_BIT = 0xFFFF_FFFF
_TABLE_SHARE = 8  # bytes of tables that are read for each byte of their section
_MOST_ORIGINS = 4  # declarations behind a definition


Value: TypeAlias = int | bytes
"""An attribute's value: a number, a reference as an offset in ``.debug_info``, a text, a block."""


@dataclass(frozen=True, slots=True)
class Die:
    """A debugging information entry.

    Attributes:
        offset: Its offset in ``.debug_info``.
        tag: Its tag.
        attributes: The values by attribute.
        unit: Its unit.
        end: The offset behind it: of its first child if it has children.
        has_children: Whether it has children.
    """

    offset: int
    tag: int
    attributes: Mapping[int, Value]
    unit: _Unit
    end: int
    has_children: bool

    @property
    def name(self) -> str | None:
        """Its name, if it has one.

        Raises:
            DamagedDwarf: It is not printable text.
        """
        value = self.attributes.get(At.NAME)
        if not isinstance(value, bytes):
            return None
        try:
            text = value.decode()
        except UnicodeDecodeError as error:
            raise DamagedDwarf from error
        if not text.isprintable():
            raise DamagedDwarf
        return text

    def number(self, attribute: At) -> int | None:
        """Return an attribute if it is a number."""
        value = self.attributes.get(attribute)
        return value if isinstance(value, int) else None

    def count(self, attribute: At) -> int | None:
        """Return an attribute if it is a number.

        Raises:
            DamagedDwarf: It is negative.
        """
        value = self.number(attribute)
        if value is not None and value < 0:
            raise DamagedDwarf
        return value


@dataclass(frozen=True, slots=True)
class _Abbreviation:
    """The form of a DIE.

    Attributes:
        tag: Its tag.
        has_children: Whether children follow.
        attributes: The attribute, its form, and the value of an implicit constant.
        steps: The forms that are skipped one by one; a negative number is that many bytes.
    """

    tag: int
    has_children: bool
    attributes: tuple[tuple[int, int, int], ...]
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A unit: its place in ``.debug_info``, the size of its fields, its abbreviations."""

    start: int
    first: int
    end: int
    offset_size: int
    reference_size: int
    abbreviations: Mapping[int, _Abbreviation]


class Dwarf:
    """The debug information of one image.

    Args:
        sections: The contents of its sections by name.
    """

    def __init__(self, sections: Mapping[str, bytes]) -> None:
        self._sections = sections
        self._info = sections.get(".debug_info", b"")
        self._tables: dict[tuple[int, int, int], Mapping[int, _Abbreviation]] = {}
        self._left = _TABLE_SHARE * len(sections.get(".debug_abbrev", b""))

    def function(self, name: str) -> Die | None:
        """Return the definition of a function by its linkage name; ``None`` without one.

        Raises:
            DamagedDwarf: A unit that contains the name cannot be read.
        """
        text = name.encode(errors="surrogateescape")
        with _DamageFound():
            for unit in self._units(text):
                for die in self._functions(unit):
                    own = {die.attributes.get(each) for each in _names(die)}
                    if text in own and At.DECLARATION not in die.attributes:
                        return die
        return None

    def children(self, parent: Die) -> Iterator[Die]:
        """Yield the children of a DIE, with the names and types of their declarations.

        Raises:
            DamagedDwarf: A child cannot be read.
        """
        with _DamageFound():
            unit, position, depth = parent.unit, parent.end, 0
            while parent.has_children:
                if position >= unit.end:
                    raise DamagedDwarf
                code, start = uleb(self._info, position)
                if code == 0:
                    if depth == 0:
                        return
                    depth -= 1
                    position = start
                    continue
                form = unit.abbreviations[code]
                if depth == 0:
                    die = self._read(unit, position)
                    yield self._complete(die)
                    position = die.end
                else:
                    position = self._skip(unit, form, start)
                depth += form.has_children

    def die(self, unit: _Unit, offset: int) -> Die:
        """Return the DIE at an offset to which an attribute of a DIE of ``unit`` refers.

        Raises:
            DamagedDwarf: There is none.
        """
        with _DamageFound():
            if not unit.first <= offset < unit.end:
                index = bisect_right(self._extents, (offset, len(self._info))) - 1
                unit = self._unit(*self._extents[max(0, index)])
            if not unit.first <= offset < unit.end:
                raise DamagedDwarf
            return self._read(unit, offset)

    # --- units -----------------------------------------------------------------------------------

    def _units(self, text: bytes) -> Iterator[_Unit]:
        """Yield the units that can contain a name."""
        sought = text + b"\0"
        is_apart = sought in self._sections.get(".debug_str", b"")
        if is_apart or sought in self._info:
            for start, end in self._extents:
                if is_apart or self._info.find(sought, start, end) >= 0:
                    yield self._unit(start, end)

    @cached_property
    def _extents(self) -> list[tuple[int, int]]:
        """The start and the end of each unit."""
        extents: list[tuple[int, int]] = []
        start = 0
        while start < len(self._info):
            (length,) = struct.unpack_from("<I", self._info, start)
            header = 4
            if length == _64_BIT:
                (length,) = struct.unpack_from("<Q", self._info, start + 4)
                header = 12
            end = start + header + length
            if end > len(self._info):
                raise DamagedDwarf
            extents.append((start, end))
            start = end
        return extents

    def _unit(self, start: int, end: int) -> _Unit:
        (length,) = struct.unpack_from("<I", self._info, start)
        offset_size = 8 if length == _64_BIT else 4
        at = start + (12 if length == _64_BIT else 4)
        (version,) = struct.unpack_from("<H", self._info, at)
        offset = SIZES[offset_size]
        if version == 5:
            kind, address_size = struct.unpack_from("<BB", self._info, at + 2)
            (table,) = struct.unpack_from(offset, self._info, at + 4)
            first = at + 4 + offset_size
            if kind != 1:  # DW_UT_compile
                raise DamagedDwarf
        elif 2 <= version <= 4:
            (table,) = struct.unpack_from(offset, self._info, at + 2)
            address_size = self._info[at + 2 + offset_size]
            first = at + 3 + offset_size
        else:
            raise DamagedDwarf
        if address_size != ADDRESS_BYTES:
            raise DamagedDwarf
        reference_size = address_size if version == 2 else offset_size
        key = (table, offset_size, reference_size)
        if key not in self._tables:
            self._tables[key] = self._abbreviations(*key)
        return _Unit(start, first, end, offset_size, reference_size, self._tables[key])

    def _abbreviations(
        self, at: int, offset_size: int, reference_size: int
    ) -> Mapping[int, _Abbreviation]:
        start = at
        sizes = FIXED | dict.fromkeys(OFFSETS, offset_size)
        sizes |= {DwarfForm.REF_ADDR: reference_size, DwarfForm.IMPLICIT_CONST: 0}
        table = self._sections.get(".debug_abbrev", b"")
        found: dict[int, _Abbreviation] = {}
        while True:
            code, at = uleb(table, at)
            self._left -= at - start  # tables can overlap
            start = at
            if self._left < 0:
                raise DamagedDwarf
            if code == 0:
                return found
            tag, at = uleb(table, at)
            has_children = table[at] != 0
            at += 1
            attributes: list[tuple[int, int, int]] = []
            steps: list[int] = []
            while True:
                attribute, at = uleb(table, at)
                form, at = uleb(table, at)
                constant = 0
                if form == DwarfForm.IMPLICIT_CONST:
                    constant, at = sleb(table, at)
                if attribute == form == 0:
                    break
                attributes.append((attribute, form, constant))
                size = sizes.get(form)
                if size is None:
                    steps.append(form)
                elif steps and steps[-1] < 0:
                    steps[-1] -= size
                elif size:
                    steps.append(-size)
            found[code] = _Abbreviation(tag, has_children, tuple(attributes), tuple(steps))

    # --- entries ---------------------------------------------------------------------------------

    def _functions(self, unit: _Unit) -> Iterator[Die]:
        """Yield every function of a unit, at any depth."""
        info, forms = self._info, unit.abbreviations
        position = unit.first
        while position < unit.end:
            code, start = uleb(info, position)
            if code == 0:
                position = start
                continue
            form = forms[code]
            if form.tag == Tag.SUBPROGRAM:
                die = self._read(unit, position)
                yield self._complete(die)
                position = die.end
            else:
                position = self._skip(unit, form, start)
        if position > unit.end:
            raise DamagedDwarf

    def _skip(self, unit: _Unit, form: _Abbreviation, position: int) -> int:
        """Return the offset behind the attributes at ``position``."""
        info = self._info
        for step in form.steps:
            if step < 0:
                position -= step
            elif step == DwarfForm.STRING:
                position = info.index(b"\0", position, unit.end) + 1
            elif step in LEBS:
                position = uleb(info, position)[1]
            else:
                position = self._block(step, position)[1]
        return position

    def _read(self, unit: _Unit, offset: int) -> Die:
        code, position = uleb(self._info, offset)
        form = unit.abbreviations[code]
        values: dict[int, Value] = {}
        for attribute, kind, constant in form.attributes:
            value, position = self._value(unit, kind, constant, position)
            values[attribute] = value
        if position > unit.end:
            raise DamagedDwarf
        return Die(offset, form.tag, values, unit, position, form.has_children)

    def _value(self, unit: _Unit, form: int, constant: int, at: int) -> tuple[Value, int]:
        info = self._info
        if form == DwarfForm.STRING:
            end = info.index(b"\0", at, unit.end)
            return info[at:end], end + 1
        if form == DwarfForm.SDATA:
            return sleb(info, at)
        if form in LEBS:
            value, at = uleb(info, at)
            return value + (unit.start if form in IN_UNIT else 0), at
        if form == DwarfForm.IMPLICIT_CONST:
            return constant, at
        if form in OFFSETS or form == DwarfForm.REF_ADDR:
            size = unit.reference_size if form == DwarfForm.REF_ADDR else unit.offset_size
            (value,) = struct.unpack_from(SIZES[size], info, at)
            return self._referenced(form, value), at + size
        fixed = FIXED.get(form)
        if fixed is None:
            return self._block(form, at)
        if at + fixed > unit.end:
            raise DamagedDwarf
        value = int.from_bytes(info[at : at + fixed], "little")
        return value + (unit.start if form in IN_UNIT else 0), at + fixed

    def _referenced(self, form: int, offset: int) -> Value:
        """Return the string at an offset; any other offset itself."""
        sections = {DwarfForm.STRP: ".debug_str", DwarfForm.LINE_STRP: ".debug_line_str"}
        if form not in sections:
            return offset
        strings = self._sections.get(sections[DwarfForm(form)], b"")
        return strings[offset : strings.index(b"\0", offset)]

    def _block(self, form: int, at: int) -> tuple[bytes, int]:
        if form in (DwarfForm.BLOCK, DwarfForm.EXPRLOC):
            size, at = uleb(self._info, at)
        elif form in BLOCKS:
            layout = BLOCKS[DwarfForm(form)]
            (size,) = struct.unpack_from(layout, self._info, at)
            at += struct.calcsize(layout)
        else:
            raise DamagedDwarf
        return self._info[at : at + size], at + size

    def _complete(self, die: Die) -> Die:
        """Return a DIE with what its declaration or its abstract instance has beside it."""
        attributes = dict(die.attributes)
        current = die
        for _ in range(_MOST_ORIGINS):
            origin = current.number(At.ABSTRACT_ORIGIN) or current.number(At.SPECIFICATION)
            if origin is None:
                break
            current = self.die(current.unit, origin)
            for attribute in (At.NAME, At.TYPE, At.LINKAGE_NAME, At.MIPS_LINKAGE_NAME):
                if attribute in current.attributes:
                    attributes.setdefault(attribute, current.attributes[attribute])
        if current is die:
            return die
        return Die(die.offset, die.tag, attributes, die.unit, die.end, die.has_children)


def _names(die: Die) -> tuple[At, ...]:
    """Return the attributes with the symbol of a function: its name if it has no other."""
    linkage = (At.LINKAGE_NAME, At.MIPS_LINKAGE_NAME)
    return linkage if any(each in die.attributes for each in linkage) else (At.NAME,)


class _DamageFound:
    """Turns the errors of reading past an end, or an undefined number, into one."""

    def __enter__(self) -> None:
        """Begin to read."""

    def __exit__(self, _: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, struct.error | IndexError | KeyError | ValueError):
            raise DamagedDwarf from error
