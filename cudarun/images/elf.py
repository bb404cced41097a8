"""ELF files as read by pyelftools, with one-line errors for every kind of damage.

Only 64-bit little-endian files are read; a table or section that ends past the end of the file is
an error.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from cudarun.errors import ImageRefused
from cudarun.images.kinds import ImageKind
from cudarun.records import dataclass

_HEADER_BYTES = 64
_SECTION_HEADER_BYTES = 64
_64_BIT_LITTLE_ENDIAN = b"\x02\x01"
_OS_ABI_OFFSET = 7  # in the header
_LINK_OFFSET = 40  # of sh_link, the index of another section, in a section header
_SYMBOL_TABLE = 2  # sh_type
_SYMBOL_BYTES = 24
_NAME_SHARE = 8
_OTHER_OFFSET = 5  # of st_other in a symbol


@dataclass(frozen=True, slots=True)
class ElfSection:
    """A section. ``data`` is empty if it occupies no space in the file (``SHT_NOBITS``).

    It is a view: executables with device code can be very large.
    """

    name: str
    size: int
    data: memoryview


@dataclass(frozen=True, slots=True)
class ElfSymbol:
    """A symbol. ``section`` is the name of its section; ``other`` is all of ``st_other``.

    pyelftools decodes only the bits of ``st_other`` that ELF defines; NVIDIA uses more of them.
    """

    name: str
    type: str  # "STT_FUNC", …
    binding: str  # "STB_GLOBAL", …
    other: int
    size: int
    section: str | None
    is_defined: bool


@dataclass(frozen=True, slots=True)
class Elf:
    """An ELF file: the header's relevant fields; sections and symbols by index.

    Symbols are read for cubins only.
    """

    os_abi: int
    is_relocatable: bool
    flags: int
    sections: tuple[ElfSection, ...]
    symbols: tuple[ElfSymbol, ...]
    named: dict[str, ElfSection]  # of several of one name, the last


def read_elf(data: bytes, origin: str, kind: ImageKind, *, symbols: bool = True) -> Elf:
    """Read an ELF file.

    Args:
        data: The file.
        origin: Its name in messages.
        kind: Its kind.
        symbols: Read the symbols of a cubin; their tables are checked in any case.

    Raises:
        ImageRefused: It is damaged, or not a 64-bit little-endian one: ``broken.cubin: not a cubin:
            the section table lies past the end of the file``.
    """
    with _told_in_one_line(origin, kind):
        _check_header(data)
        _check_tables(data, with_symbols=kind is ImageKind.CUBIN)
        file = ELFFile(io.BytesIO(data))
        sections = tuple(_sections(file, data))
        are_read = symbols and kind is ImageKind.CUBIN
        header = file.header
        return Elf(
            os_abi=data[_OS_ABI_OFFSET],  # which pyelftools turns into a name where it knows one
            is_relocatable=header["e_type"] == "ET_REL",
            flags=header["e_flags"],
            sections=sections,
            symbols=tuple(_symbols(file, data, sections)) if are_read else (),
            named={section.name: section for section in sections},
        )


class _MalformedElf(Exception):
    """The file is damaged; the message is the reason."""


@contextmanager
def _told_in_one_line(origin: str, kind: ImageKind) -> Iterator[None]:
    try:
        yield
    except _MalformedElf as error:
        raise ImageRefused(f"not a {kind.value}", cause=str(error), origin=origin) from None
    # OverflowError from a seek beyond all files; AttributeError from pyelftools 0.31, where the
    # string table of a symbol table is a section of another type.
    except (ELFError, OverflowError, AttributeError) as error:
        cause = "the ELF file is malformed"
        raise ImageRefused(f"not a {kind.value}", cause=cause, origin=origin) from error


def _check_header(data: bytes) -> None:
    if len(data) < _HEADER_BYTES:
        raise _MalformedElf("the file is truncated in the ELF header")
    if data[4:6] != _64_BIT_LITTLE_ENDIAN:
        raise _MalformedElf("it is not 64-bit little-endian ELF")
    (table,) = struct.unpack_from("<Q", data, 0x28)
    entry_size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    if not table or not count:
        raise _MalformedElf("it has no sections")
    if entry_size != _SECTION_HEADER_BYTES:
        raise _MalformedElf("the section headers have an unsupported size")
    if table + count * entry_size > len(data):
        raise _MalformedElf("the section table extends past the end of the file")
    if names >= count:
        raise _MalformedElf("it has no section names")
    for index in range(1, count):
        (link,) = struct.unpack_from("<I", data, table + index * entry_size + _LINK_OFFSET)
        if link >= count:
            raise _MalformedElf("the ELF file is malformed")


class _SectionHeader(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry_size: int


def _check_tables(data: bytes, *, with_symbols: bool) -> None:
    """Check that the work of reading sections and symbols is bounded by the size of the file."""
    (table,) = struct.unpack_from("<Q", data, 0x28)
    count, names = struct.unpack_from("<HH", data, 0x3C)
    rows = struct.iter_unpack("<IIQQQQIIQQ", data[table : table + count * _SECTION_HEADER_BYTES])
    sections = [_SectionHeader(*row) for row in rows]
    _check_names(data, sections[names], (section.name for section in sections))
    tables = [section for section in sections if section.type == _SYMBOL_TABLE]
    if not with_symbols:
        return
    if sum(section.size for section in tables) > len(data):
        raise _MalformedElf("its symbol tables overlap")
    for section in tables:
        symbols = data[section.offset : section.offset + section.size]
        if section.entry_size != _SYMBOL_BYTES or len(symbols) % _SYMBOL_BYTES:
            raise _MalformedElf("the symbols have an unsupported size")
        given = (name for name, *_ in struct.iter_unpack("<IBBHQQ", symbols))
        _check_names(data, sections[section.link], given)


def _check_names(data: bytes, strings: _SectionHeader, offsets: Iterable[int]) -> None:
    end_of_table = strings.offset + strings.size
    if end_of_table > len(data):
        raise _MalformedElf("a string table extends past the end of the file")
    left = _NAME_SHARE * len(data)  # names may share their ends
    for offset in offsets:
        start = strings.offset + offset
        end = data.find(b"\0", start, end_of_table)
        if end < 0:
            raise _MalformedElf("a name extends past the end of its string table")
        left -= end - start
        if left < 0:
            raise _MalformedElf("its names overlap")


def _sections(file: ELFFile, data: bytes) -> Iterator[ElfSection]:
    view = memoryview(data)
    for section in file.iter_sections():
        size = section["sh_size"]
        if section["sh_type"] in ("SHT_NOBITS", "SHT_NULL"):
            yield ElfSection(section.name, size, view[:0])
            continue
        start = section["sh_offset"]
        if start + size > len(data):
            raise _MalformedElf(f"section {section.name!r} extends past the end of the file")
        yield ElfSection(section.name, size, view[start : start + size])


def _symbols(file: ELFFile, data: bytes, sections: tuple[ElfSection, ...]) -> Iterator[ElfSymbol]:
    for table in file.iter_sections():
        if not isinstance(table, SymbolTableSection):
            continue
        start, entry_size = table["sh_offset"], table["sh_entsize"]
        for index, symbol in enumerate(table.iter_symbols()):
            entry = symbol.entry
            home = entry["st_shndx"]  # an index, or a name such as SHN_UNDEF
            is_here = isinstance(home, int) and home < len(sections)
            yield ElfSymbol(
                name=symbol.name,
                type=entry["st_info"]["type"],
                binding=entry["st_info"]["bind"],
                other=data[start + index * entry_size + _OTHER_OFFSET],
                size=entry["st_size"],
                section=sections[home].name if is_here else None,
                is_defined=home != "SHN_UNDEF",
            )
