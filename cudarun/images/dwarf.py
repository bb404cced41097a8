"""The debug information entries (DIEs) of an image, as read by pyelftools.

pyelftools trusts what it reads. Therefore its streams count the reads, DIEs are walked one after
the other without the references to siblings (which can form cycles, and which nvcc does not write),
and every error that damage causes becomes one. Addresses and locations are not resolved, so that
relocations do not matter.

The reference is the DWARF 5 standard, section 7.5.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from inspect import signature
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.construct import ConstructError
from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarf_expr import DW_OP_name2opcode
from elftools.dwarf.dwarfinfo import DebugSectionDescriptor, DwarfConfig, DWARFInfo

from cudarun.base.errors import RequestError

_ADDRESS_BYTES = 8
_READS_OF_BYTE = 6
_MOST_READS = 8_000_000  # of an image, which take some seconds
_MOST_ABBREVIATIONS = 1 << 20  # bytes; nvcc writes about 1 KiB for a unit
_READS_OF_TYPES = 100_000  # of each kernel, beside those of the image
_READS_OF_DIE = 10  # beside those of its attributes, in time
_MOST_ORIGINS = 4  # declarations behind a definition
_TOO_MUCH = "is too large or damaged"
_ENDLESS = re.compile(rb"[\x80-\xff]{1000}")  # a number that takes quadratic time
_WITH_NUMBERS = (".debug_info", ".debug_abbrev")
_NAMES = ("DW_AT_linkage_name", "DW_AT_MIPS_linkage_name")
_CONFIG = DwarfConfig(little_endian=True, machine_arch="", default_address_size=_ADDRESS_BYTES)


class UnusableDwarf(RequestError):
    """The debug information is damaged, too large, or of a kind that is not supported."""

    def __init__(self, problem: str = "cannot be read") -> None:
        super().__init__(f"the debug information {problem}")


class Dwarf:
    """The debug information of one image."""

    def __init__(self, sections: Mapping[str, bytes]) -> None:
        self._sections = sections  # the contents of its sections by name
        self._info = sections.get(".debug_info", b"")
        self._reads = _Reads(min(_READS_OF_BYTE * sum(map(len, sections.values())), _MOST_READS))
        self._functions: dict[int, Mapping[bytes, int]] = {}

    def function(self, name: str) -> DIE | None:
        """Return the definition of a function by its linkage name; ``None`` without one.

        Raises:
            UnusableDwarf: A unit that contains the name cannot be read.
        """
        self._reads.left = max(0, self._reads.left) + _READS_OF_TYPES
        text = name.encode(errors="surrogateescape")
        with unusable_if_damaged():
            for unit in self._units(text):
                if unit.cu_offset not in self._functions:
                    self._functions[unit.cu_offset] = self._index(unit)
                offset = self._functions[unit.cu_offset].get(text)
                if offset is not None:
                    return self._read(unit.get_top_DIE(), offset)
        return None

    def children(self, parent: DIE) -> Iterator[DIE]:
        """Yield the children of a DIE; `UnusableDwarf` if a child cannot be read."""
        with unusable_if_damaged():
            position, depth = parent.offset + parent.size, 0
            while parent.has_children:
                die = self._read(parent, position)
                position += die.size
                if die.is_null():
                    if depth == 0:
                        return
                    depth -= 1
                    continue
                if depth == 0:
                    yield die
                depth += bool(die.has_children)

    def target(self, die: DIE, attribute: str = "DW_AT_type") -> DIE | None:
        """Return the DIE that an attribute of a DIE, or of its declaration, refers to.

        Raises:
            UnusableDwarf: There is none.
        """
        with unusable_if_damaged():
            holder = _holder(die, attribute)
            return None if holder is None else holder.get_DIE_from_attribute(attribute)

    def name(self, die: DIE) -> str | None:
        """Return the name of a DIE or of its declaration, if it has one.

        Raises:
            UnusableDwarf: It is not printable text.
        """
        with unusable_if_damaged():
            holder = _holder(die, "DW_AT_name")
            if holder is None:
                return None
            value = holder.attributes["DW_AT_name"].value
            text = value.decode() if isinstance(value, bytes) else None
        if text is None or not text.isprintable():
            raise UnusableDwarf
        return text

    def location(self, member: DIE) -> int | None:
        """Return the offset of a member in its struct; ``None`` for a static one.

        Raises:
            UnusableDwarf: It is negative, or no number can be read.
        """
        attribute = member.attributes.get("DW_AT_data_member_location")
        if attribute is None or isinstance(attribute.value, int):
            return count(member, "DW_AT_data_member_location")
        with unusable_if_damaged():
            operation, *operands = attribute.value
            if operation != DW_OP_name2opcode["DW_OP_plus_uconst"]:
                return None
            offset = member.cu.structs.Dwarf_uleb128("").parse(bytes(operands))
            return int(offset)

    # --- units -----------------------------------------------------------------------------------

    @cached_property
    def _dwarf(self) -> DWARFInfo:
        if any(_ENDLESS.search(self._sections.get(each, b"")) for each in _WITH_NUMBERS):
            raise UnusableDwarf
        if len(self._sections.get(".debug_abbrev", b"")) > _MOST_ABBREVIATIONS:
            raise UnusableDwarf(_TOO_MUCH)
        # Versions of pyelftools differ in the sections that they know.
        names = [each for each in signature(DWARFInfo).parameters if each != "config"]
        sections: dict[str, Any] = {each: self._section(each) for each in names}
        return DWARFInfo(config=_CONFIG, **sections)

    def _section(self, parameter: str) -> DebugSectionDescriptor | None:
        name = f".{parameter.removesuffix('_sec')}"
        data = self._sections.get(name)
        if data is None:
            return None
        stream = _CountedStream(data, self._reads)
        return DebugSectionDescriptor(stream, name, None, len(data), 0)

    def _units(self, text: bytes) -> Iterator[CompileUnit]:
        """Yield the units that can contain a name."""
        sought = text + b"\0"
        is_apart = sought in self._sections.get(".debug_str", b"")
        if not is_apart and sought not in self._info:
            return
        for unit in self._dwarf.iter_CUs():
            end = unit.cu_offset + unit.size
            if end > len(self._info):
                raise UnusableDwarf
            if is_apart or self._info.find(sought, unit.cu_offset, end) >= 0:
                yield unit

    def _index(self, unit: CompileUnit) -> Mapping[bytes, int]:
        """Return the offsets of the functions that a unit defines, at any depth, by their names."""
        if unit["address_size"] != _ADDRESS_BYTES:
            raise UnusableDwarf
        top = unit.get_top_DIE()
        found: dict[bytes, int] = {}
        position = unit.cu_die_offset
        while position < unit.cu_offset + unit.size:
            die = self._read(top, position)
            position += die.size
            if die.tag != "DW_TAG_subprogram" or "DW_AT_declaration" in die.attributes:
                continue
            linkage = [name for name in _NAMES if _holder(die, name) is not None]
            for attribute in linkage or ["DW_AT_name"]:
                holder = _holder(die, attribute)
                name = None if holder is None else holder.attributes[attribute].value
                if isinstance(name, bytes):
                    found.setdefault(name, die.offset)
        return found

    def _read(self, other: DIE, offset: int) -> DIE:
        """Read a DIE in the unit of another: pyelftools' own walks keep all of them in memory."""
        unit = other.cu
        self._reads.add(_READS_OF_DIE)
        die = DIE(unit, other.stream, offset)
        if not isinstance(unit, CompileUnit) or offset + die.size > unit.cu_offset + unit.size:
            raise UnusableDwarf
        if die.abbrev_code:  # an attribute can occupy no bytes
            form = unit.get_abbrev_table().get_abbrev(die.abbrev_code)
            self._reads.add(len(form["attr_spec"]))
        return die


def number(die: DIE, attribute: str) -> int | None:
    """Return an attribute of a DIE if it is a number."""
    found = die.attributes.get(attribute)
    return found.value if found is not None and isinstance(found.value, int) else None


def count(die: DIE, attribute: str) -> int | None:
    """Return an attribute of a DIE if it is a number; `UnusableDwarf` if it is negative."""
    value = number(die, attribute)
    if value is not None and value < 0:
        raise UnusableDwarf
    return value


def _holder(die: DIE, attribute: str) -> DIE | None:
    """Return the DIE with an attribute: itself, its declaration or its abstract instance."""
    for _ in range(_MOST_ORIGINS):
        if attribute in die.attributes:
            return die
        origins = {"DW_AT_abstract_origin", "DW_AT_specification"} & die.attributes.keys()
        if not origins:
            return None
        die = die.get_DIE_from_attribute(min(origins))
    return die if attribute in die.attributes else None


class _Reads:
    """The number of reads that are left, in all sections together."""

    def __init__(self, left: int) -> None:
        self.left = left

    def add(self, number: int) -> None:
        """Count reads; `UnusableDwarf` if they are too many."""
        self.left -= number
        if self.left < 0:
            raise UnusableDwarf(_TOO_MUCH)


class _CountedStream(io.BytesIO):
    """A section; pyelftools reads numbers and texts byte by byte."""

    def __init__(self, data: bytes, reads: _Reads) -> None:
        super().__init__(data)
        self._reads = reads

    def read(self, size: int | None = -1, /) -> bytes:
        """Read, and count it."""
        self._reads.add(1)
        return super().read(size)


@contextmanager
def unusable_if_damaged() -> Iterator[None]:
    """Turn the errors of pyelftools into one."""
    try:
        yield
    # Besides its own errors: KeyError from an unknown abbreviation or form; ValueError from a
    # negative offset or a text; OverflowError from an offset beyond all files; AssertionError, or
    # AttributeError before pyelftools 0.33, from a section that does not exist; TypeError from an
    # attribute of another form; NotImplementedError from references to other files.
    except (
        ELFError, DWARFError, ConstructError, KeyError, ValueError, OverflowError, AssertionError,
        AttributeError, TypeError, NotImplementedError,
    ) as error:  # fmt: skip
        raise UnusableDwarf from error
