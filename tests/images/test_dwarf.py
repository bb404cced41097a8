"""DWARF as pyelftools reads it, and the parts of DWARF 3 to 5 that nvcc does not use."""

from __future__ import annotations

import io
import struct

import pytest
from elftools.elf.elffile import ELFFile

from cudarun.images.debug_types import debug_parameters
from cudarun.images.dwarf import Dwarf
from cudarun.images.dwarf_codes import At, DamagedDwarf, Tag, sleb, uleb
from cudarun.parameters import ParameterMember
from tests.images.golden_files import golden

CUBINS = ["debug.cubin", "debug_cuda12.cubin", "debug_linked.cubin"]


@pytest.mark.parametrize("name", CUBINS)
def test_functions_and_their_children_as_pyelftools_reads_them(name):
    """The reference shares no code with ours."""
    file = ELFFile(io.BytesIO(golden(name)))
    ours = Dwarf({section.name: section.data() for section in file.iter_sections() if section.name})
    info = file.get_dwarf_info(relocate_dwarf_sections=False)
    functions = 0
    for unit in info.iter_CUs():
        for die in unit.iter_DIEs():
            if die.tag != "DW_TAG_subprogram":
                continue
            functions += 1
            found = ours.function(die.attributes["DW_AT_MIPS_linkage_name"].value.decode())
            assert found is not None
            assert found.offset == die.offset
            expected = [
                (child.offset, child.attributes["DW_AT_name"].value.decode(), type_offset(child))
                for child in die.iter_children()
                if child.tag == "DW_TAG_formal_parameter" and "DW_AT_name" in child.attributes
            ]
            assert expected == [
                (child.offset, child.name, child.number(At.TYPE))
                for child in ours.children(found)
                if child.tag == Tag.FORMAL_PARAMETER and child.name is not None
            ]
    assert functions >= 3


def type_offset(die):
    return die.attributes["DW_AT_type"].value + die.cu.cu_offset


# --- DWARF 3 to 5 --------------------------------------------------------------------------------


def leb(value: int) -> bytes:
    """An unsigned LEB128 number."""
    found = bytearray()
    while True:
        value, low = value >> 7, value & 0x7F
        found.append(low | (0x80 if value else 0))
        if not value:
            return bytes(found)


def table(*abbreviations: tuple[int, int, tuple[tuple[int, ...], ...]]) -> bytes:
    """A table: of each abbreviation its tag, whether it has children, attributes and forms."""
    found = b""
    for code, (tag, children, attributes) in enumerate(abbreviations, start=1):
        found += leb(code) + leb(tag) + bytes([children])
        for attribute, form, *constant in attributes:
            found += leb(attribute) + leb(form) + bytes(constant)
        found += b"\0\0"
    return found + b"\0"


STRP, LINE_STRP, IMPLICIT, EXPRLOC, PRESENT = 0x0E, 0x1F, 0x21, 0x18, 0x19
DATA1, SDATA, UDATA, REF4, REF_ADDR, SEC_OFFSET, STRING = 0x0B, 0x0D, 0x0F, 0x13, 0x10, 0x17, 0x08
STRINGS = b"\0scale\0factor\0float\0"
LINE_STRINGS = b"count\0"
AT = {text: STRINGS.index(text) for text in (b"scale", b"factor", b"float")}


def version5(offset_size: int = 4) -> dict[str, bytes]:
    """A unit: `scale(float factor, int count)`, declared in one DIE and defined in another."""
    abbreviations = table(
        (0x11, 1, ((0x10, SEC_OFFSET), (0x25, STRP))),
        (Tag.BASE, 0, ((At.NAME, STRP), (At.BYTE_SIZE, IMPLICIT, 4), (0x3E, DATA1))),
        (Tag.SUBPROGRAM, 1, ((At.LINKAGE_NAME, STRP), (At.DECLARATION, PRESENT))),
        (Tag.FORMAL_PARAMETER, 0, ((At.TYPE, REF4),)),
        (Tag.SUBPROGRAM, 1, ((At.SPECIFICATION, REF_ADDR), (0x40, EXPRLOC))),
        (Tag.FORMAL_PARAMETER, 1, ((At.NAME, STRP), (At.TYPE, REF4))),
        (Tag.FORMAL_PARAMETER, 0, ((At.NAME, LINE_STRP), (At.TYPE, REF4), (0x0B, SDATA))),
        (Tag.BASE, 0, ((At.NAME, STRING), (At.BYTE_SIZE, UDATA))),
    )
    offset = "<I" if offset_size == 4 else "<Q"
    header = (4 if offset_size == 4 else 12) + 2 + 2 + offset_size

    def at(text: bytes) -> bytes:
        return struct.pack(offset, AT[text])

    dies = b"\1" + struct.pack(offset, 0) + at(b"scale")
    real = header + len(dies)
    dies += b"\2" + at(b"float") + b"\4"
    integer = header + len(dies)
    dies += b"\x08int\0\x04"
    declaration = header + len(dies)
    dies += b"\3" + at(b"scale") + b"\4" + struct.pack("<I", real) + b"\0"
    dies += b"\5" + struct.pack(offset, declaration) + b"\2\x9c\0"
    dies += b"\6" + at(b"factor") + struct.pack("<I", real)
    dies += b"\4" + struct.pack("<I", integer) + b"\0"  # a child of a parameter
    dies += b"\7" + struct.pack(offset, 0) + struct.pack("<I", integer) + b"\x7f"
    dies += b"\0\0"
    body = struct.pack("<HBB", 5, 1, 8) + struct.pack(offset, 0) + dies
    length = struct.pack("<I", len(body))
    if offset_size == 8:
        length = b"\xff\xff\xff\xff" + struct.pack("<Q", len(body))
    return {
        ".debug_abbrev": abbreviations,
        ".debug_info": length + body,
        ".debug_str": STRINGS,
        ".debug_line_str": LINE_STRINGS,
    }


@pytest.mark.parametrize("offset_size", [4, 8])
def test_version_5(offset_size):
    parameters = debug_parameters(Dwarf(version5(offset_size)), "scale")
    assert parameters is not None
    assert [(each.name, each.type, each.size) for each in parameters] == [
        ("factor", "float", 4),
        ("count", "int", 4),
    ]


def unit(abbreviations: bytes, dies: bytes) -> Dwarf:
    """A unit of DWARF 4."""
    body = struct.pack("<HIB", 4, 0, 8) + dies
    info = struct.pack("<I", len(body)) + body
    return Dwarf({".debug_abbrev": abbreviations, ".debug_info": info})


FUNCTION = (Tag.SUBPROGRAM, 1, ((At.NAME, STRING),))
PARAMETER = (Tag.FORMAL_PARAMETER, 0, ((At.NAME, STRING), (At.TYPE, REF4)))
FIRST = 11 + len(b"\1f\0")  # the offset behind the function's DIE


def test_a_function_that_is_only_declared():
    declared = (Tag.SUBPROGRAM, 1, ((At.NAME, STRING), (At.DECLARATION, PRESENT)))
    dies = b"\1f\0\2p\0" + struct.pack("<I", 0) + b"\0\0"
    assert debug_parameters(unit(table(declared, PARAMETER), dies), "f") is None
    found = debug_parameters(unit(table(FUNCTION, (Tag.BASE, 0, ())), b"\1f\0\0"), "f")
    assert found == ()


def test_types_that_contain_themselves():
    pointer = (Tag.POINTER, 0, ((At.TYPE, REF4),))
    typedef = (Tag.TYPEDEF, 0, ((At.TYPE, REF4),))
    itself = FIRST + len(b"\2p\0....\0")
    for abbreviation in (pointer, typedef):
        dies = b"\1f\0\2p\0" + struct.pack("<I", itself) + b"\0\3" + struct.pack("<I", itself)
        with pytest.raises(DamagedDwarf):
            debug_parameters(unit(table(FUNCTION, PARAMETER, abbreviation), dies), "f")


def test_functions_with_functions_as_parameters_take_bounded_time():
    """Each type has the next one twice: 2^40 names if they were all written."""
    subroutine = (Tag.SUBROUTINE, 1, ())
    unnamed = (Tag.FORMAL_PARAMETER, 0, ((At.TYPE, REF4),))
    first = FIRST + len(b"\2p\0....\0")
    size = len(b"\3\4....\4....\0")
    dies = b"\1f\0\2p\0" + struct.pack("<I", first) + b"\0"
    for level in range(40):
        following = struct.pack("<I", first + (level + 1) * size)
        dies += b"\3\4" + following + b"\4" + following + b"\0"
    dies += b"\3\0"
    with pytest.raises(DamagedDwarf):
        debug_parameters(unit(table(FUNCTION, PARAMETER, subroutine, unnamed), dies), "f")


def test_members_by_constant_and_static_members():
    struct_ = (Tag.STRUCTURE, 1, ((At.NAME, STRING), (At.BYTE_SIZE, DATA1)))
    member = (Tag.MEMBER, 0, ((At.NAME, STRING), (At.TYPE, REF4), (At.MEMBER_LOCATION, SDATA)))
    static = (Tag.MEMBER, 0, ((At.NAME, STRING), (At.TYPE, REF4)))
    base = (Tag.BASE, 0, ((At.NAME, STRING), (At.BYTE_SIZE, DATA1)))
    integer = FIRST + len(b"\2p\0....\0")
    whole = integer + len(b"\6int\0\4")
    reference = struct.pack("<I", integer)

    def parameters(size: int, offset: bytes):
        dies = b"\1f\0\2p\0" + struct.pack("<I", whole) + b"\0\6int\0\4\3S\0" + bytes([size])
        dies += b"\4a\0" + reference + offset + b"\5s\0" + reference + b"\0"
        abbreviations = table(FUNCTION, PARAMETER, struct_, member, static, base)
        found = debug_parameters(unit(abbreviations, dies), "f")
        assert found is not None
        return found[0]

    found = parameters(8, b"\4")
    assert (found.size, found.members) == (8, (ParameterMember(4, 4, "int", "a"),))
    assert parameters(8, b"\5").members == ()  # beyond the struct's end
    with pytest.raises(DamagedDwarf):
        parameters(8, b"\x7f")  # -1


def test_numbers():
    assert uleb(b"\xe5\x8e\x26", 0) == (624485, 3)
    assert sleb(b"\x80\x7f", 0) == (-128, 2)
    assert sleb(b"\x02", 0) == (2, 1)
    with pytest.raises(DamagedDwarf):
        uleb(b"\x80" * 11, 0)
