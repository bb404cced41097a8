"""ELF files as pyelftools reads them, which shares no code with ours."""

from __future__ import annotations

import io

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from cudarun.images.elf import read_elf
from cudarun.images.kinds import ImageKind
from tests.images.golden_files import golden

CUBINS = ("facts.cubin", "facts_cuda12.cubin", "wants.cubin", "debug.cubin", "tiny_sm80.cubin")


@pytest.mark.parametrize("name", [*CUBINS, "tiny.o"])
def test_sections(name: str) -> None:
    kind = ImageKind.CUBIN if name in CUBINS else ImageKind.HOST_OBJECT
    ours = read_elf(golden(name), name, kind)
    theirs = ELFFile(io.BytesIO(golden(name)))
    assert [(s.name, s.size) for s in ours.sections] == [
        (section.name, section["sh_size"]) for section in theirs.iter_sections()
    ]
    assert [bytes(section.data) for section in ours.sections] == [
        b"" if section["sh_type"] in ("SHT_NOBITS", "SHT_NULL") else section.data()
        for section in theirs.iter_sections()
    ]
    assert ours.flags == theirs.header["e_flags"]
    assert ours.is_relocatable == (theirs.header["e_type"] == "ET_REL")


@pytest.mark.parametrize("name", CUBINS)
def test_symbols(name: str) -> None:
    ours = read_elf(golden(name), name, ImageKind.CUBIN)
    file = ELFFile(io.BytesIO(golden(name)))
    theirs = [
        symbol
        for table in file.iter_sections()
        if isinstance(table, SymbolTableSection)
        for symbol in table.iter_symbols()
    ]
    assert len(theirs) > 3
    assert [(s.name, s.size, s.is_defined) for s in ours.symbols] == [
        (s.name, s["st_size"], s["st_shndx"] != "SHN_UNDEF") for s in theirs
    ]
    homes = [s["st_shndx"] for s in theirs]
    assert [s.section for s in ours.symbols] == [
        file.get_section(home).name if isinstance(home, int) else None for home in homes
    ]
    known = ("STT_NOTYPE", "STT_OBJECT", "STT_FUNC", "STT_SECTION", "STT_FILE")
    for mine, theirs_ in zip(ours.symbols, theirs, strict=True):
        assert mine.binding == theirs_["st_info"]["bind"]
        if theirs_["st_info"]["type"] in known:
            assert mine.type == theirs_["st_info"]["type"]
