"""ELF files, with one-line errors for every kind of damage.

Only 64-bit little-endian files are read; a table or section that ends past the end of the file is
an error. The work and the memory are bounded by the size of the file.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from cudarun.base.records import dataclass
from cudarun.images.contents import Buffer, CodeBytes, WholeCode
from cudarun.images.kinds import Damaged, ImageKind, refused_if_damaged

_HEADER = struct.Struct("<7xB8xH22xQI6xHHH")
_SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")
_64_BIT_LITTLE_ENDIAN = b"\x02\x01"
_RELOCATABLE = 1  # e_type
_MALFORMED = "the ELF file is malformed"
_SYMBOL = struct.Struct("<IBBHQQ")
_NAME_SHARE = 8

_NULL, _SYMBOL_TABLE, _STRING_TABLE, _NOTE, _NO_BITS = 0, 2, 3, 7, 8  # sh_type
_CUDA_SHARED = 0x7000_000A
"""``sh_type`` of ``.nv_debug.shared``, which ptxas writes with a size and without content."""
_WITHOUT_CONTENT = (_NULL, _NO_BITS, _CUDA_SHARED)
_KEPT_TYPES = (_SYMBOL_TABLE, _STRING_TABLE, _NOTE)  # of a stream, with NVIDIA's own
_CUDA_TYPES = range(0x7000_0000, 0x8000_0000)

_UNDEFINED, _FIRST_RESERVED = 0, 0xFF00  # st_shndx
_TYPES = {0: "STT_NOTYPE", 1: "STT_OBJECT", 2: "STT_FUNC", 3: "STT_SECTION", 4: "STT_FILE"}
_BINDINGS = {0: "STB_LOCAL", 1: "STB_GLOBAL", 2: "STB_WEAK"}


@dataclass(frozen=True, slots=True)
class ElfSection:
    """A section. ``data`` is empty if it occupies no space in the file (``SHT_NOBITS``).

    It is a view: executables with device code can be very large. Of streamed contents only symbols,
    strings, notes and NVIDIA's own tables are kept; ``data`` of the other sections is empty.
    """

    name: str
    size: int
    data: memoryview


@dataclass(frozen=True, slots=True)
class ElfSymbol:
    """A symbol. ``section`` is the name of its section; ``other`` is all of ``st_other``.

    ELF defines only some bits of ``st_other``; NVIDIA uses more of them.
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


def read_elf(
    data: Buffer | CodeBytes, origin: str, kind: ImageKind, *, symbols: bool = True
) -> Elf:
    """Read an ELF file.

    Args:
        data: The file, or its contents as a stream.
        origin: Its name in messages.
        symbols: Read the symbols of a cubin; their tables are checked in any case.

    Raises:
        ImageRefused: It is damaged, or not a 64-bit little-endian one: ``broken.cubin: not a cubin:
            the section table extends past the end of the file``.
    """
    with refused_if_damaged(kind, origin, _MALFORMED):
        contents = data if isinstance(data, CodeBytes) else WholeCode(data)
        return _read(contents, kind, with_symbols=symbols and kind is ImageKind.CUBIN)


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

    @property
    def extent(self) -> tuple[int, int]:
        """The start and the end in the file; nothing of a section without content."""
        if self.type in _WITHOUT_CONTENT:
            return 0, 0
        return self.offset, self.offset + self.size


def _read(contents: CodeBytes, kind: ImageKind, *, with_symbols: bool) -> Elf:
    [header] = contents.fetch([(0, min(_HEADER.size, contents.size))])
    if len(header) < _HEADER.size:
        raise Damaged("the file is truncated in the ELF header")
    if header[4:6] != _64_BIT_LITTLE_ENDIAN:
        raise Damaged("it is not 64-bit little-endian ELF")
    os_abi, type_, start, flags, entry_size, count, strings = _HEADER.unpack(header)
    if not start or not count:
        raise Damaged("it has no sections")
    if entry_size != _SECTION_HEADER.size:
        raise Damaged("the section headers have an unsupported size")
    if (end := start + count * entry_size) > contents.size:
        raise Damaged("the section table extends past the end of the file")
    if strings >= count:
        raise Damaged("it has no section names")
    [headers] = contents.fetch([(start, end)], to_end=True)
    sections = [_SectionHeader(*row) for row in _SECTION_HEADER.iter_unpack(headers)]
    if any(section.link >= count for section in sections[1:]):
        raise Damaged(_MALFORMED)

    tables = []
    if kind is ImageKind.CUBIN:
        tables = [index for index, s in enumerate(sections) if s.type == _SYMBOL_TABLE]
    # The work of reading sections and symbols is bounded by the size of the file.
    for index in (strings, *(sections[table].link for table in tables)):
        if sections[index].offset + sections[index].size > contents.size:
            raise Damaged("a string table extends past the end of the file")
    if sum(sections[table].size for table in tables) > contents.size:
        raise Damaged("its symbol tables overlap")
    for section in (sections[table] for table in tables):
        if section.entry_size != _SYMBOL.size or section.size % _SYMBOL.size:
            raise Damaged("the symbols have an unsupported size")
    kept = [
        section.extent
        if section.extent[1] <= contents.size  # otherwise it is refused by its name
        # Of a stream only what the readers of cubins use.
        and (contents.is_whole or section.type in _KEPT_TYPES or section.type in _CUDA_TYPES)
        else (0, 0)
        for section in sections
    ]
    if kind is ImageKind.CUBIN and sum(end - start for start, end in kept) > contents.size:
        raise Damaged("its sections overlap")
    data = contents.fetch(kept)
    names = _names(contents, data, strings, (section.name for section in sections))
    for section, name in zip(sections, names, strict=True):
        if section.extent[1] > contents.size:
            raise Damaged(f"section {name!r} extends past the end of the file")
    read = tuple(
        ElfSection(name, section.size, view)
        for section, name, view in zip(sections, names, data, strict=True)
    )
    symbols: list[ElfSymbol] = []
    for index in tables:
        rows = [*_SYMBOL.iter_unpack(data[index])]
        of_symbols = _names(contents, data, sections[index].link, (row[0] for row in rows))
        if with_symbols:
            symbols += map(partial(_symbol, names), rows, of_symbols)
    return Elf(
        os_abi=os_abi,
        is_relocatable=type_ == _RELOCATABLE,
        flags=flags,
        sections=read,
        symbols=tuple(symbols),
        named={section.name: section for section in read},
    )


def _names(
    contents: CodeBytes, data: list[memoryview], strings: int, offsets: Iterable[int]
) -> list[str]:
    """Return the names at offsets in a string table."""
    table = bytes(data[strings])
    left = _NAME_SHARE * contents.size  # names may share their ends
    names = []
    for offset in offsets:
        end = table.find(b"\0", offset)
        if end < 0:
            raise Damaged("a name extends past the end of its string table")
        left -= end - offset
        if left < 0:
            raise Damaged("its names overlap")
        names.append(table[offset:end].decode("utf-8", "replace"))
    return names


_SymbolRow = tuple[int, int, int, int, int, int]  # name, info, other, section, value, size


def _symbol(sections: list[str], row: _SymbolRow, name: str) -> ElfSymbol:
    _, info, other, home, _, size = row
    type_, binding = info & 0xF, info >> 4
    is_here = _UNDEFINED < home < min(_FIRST_RESERVED, len(sections))
    return ElfSymbol(
        name=name,
        type=_TYPES.get(type_, f"STT_{type_}"),
        binding=_BINDINGS.get(binding, f"STB_{binding}"),
        other=other,
        size=size,
        section=sections[home] if is_here else None,
        is_defined=home != _UNDEFINED,
    )
