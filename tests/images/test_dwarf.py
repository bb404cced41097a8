"""Debug information that nvcc does not write: DWARF 3 to 5, and what makes readers slow."""

from __future__ import annotations

import struct

import pytest
from elftools.dwarf.enums import ENUM_DW_AT, ENUM_DW_FORM, ENUM_DW_TAG

from cudarun.images import dwarf
from cudarun.images.debug_types import debug_parameters
from cudarun.images.dwarf import Dwarf, UnusableDwarf
from cudarun.images.parameters import Parameter

_TAGS = "base_type subprogram formal_parameter member structure_type pointer_type typedef"
BASE, SUBPROGRAM, FORMAL, MEMBER, STRUCTURE, POINTER, TYPEDEF = (
    ENUM_DW_TAG[f"DW_TAG_{each}"] for each in _TAGS.split()
)
SUBROUTINE = ENUM_DW_TAG["DW_TAG_subroutine_type"]
_ATTRIBUTES = "name type byte_size declaration specification linkage_name data_member_location"
NAME, TYPE, BYTE_SIZE, DECLARATION, SPECIFICATION, LINKAGE_NAME, LOCATION = (
    ENUM_DW_AT[f"DW_AT_{each}"] for each in _ATTRIBUTES.split()
)
SIBLING = ENUM_DW_AT["DW_AT_sibling"]
_FORMS = "strp line_strp implicit_const exprloc flag_present data1 sdata udata ref4 ref_addr"
STRP, LINE_STRP, IMPLICIT, EXPRLOC, PRESENT, DATA1, SDATA, UDATA, REF4, REF_ADDR = (
    ENUM_DW_FORM[f"DW_FORM_{each}"] for each in _FORMS.split()
)
SEC_OFFSET, STRING, STRX1 = (
    ENUM_DW_FORM[f"DW_FORM_{each}"] for each in ("sec_offset", "string", "strx1")
)


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


STRINGS = b"\0scale\0factor\0float\0"
LINE_STRINGS = b"count\0"
AT = {text: STRINGS.index(text) for text in (b"scale", b"factor", b"float")}


def version5(offset_size: int = 4) -> dict[str, bytes]:
    """A unit: `scale(float factor, int count)`, declared in one DIE and defined in another."""
    abbreviations = table(
        (0x11, 1, ((0x10, SEC_OFFSET), (0x25, STRP))),
        (BASE, 0, ((NAME, STRP), (BYTE_SIZE, IMPLICIT, 4), (0x3E, DATA1))),
        (SUBPROGRAM, 1, ((LINKAGE_NAME, STRP), (DECLARATION, PRESENT))),
        (FORMAL, 0, ((TYPE, REF4),)),
        (SUBPROGRAM, 1, ((SPECIFICATION, REF_ADDR), (0x40, EXPRLOC))),
        (FORMAL, 1, ((NAME, STRP), (TYPE, REF4))),
        (FORMAL, 0, ((NAME, LINE_STRP), (TYPE, REF4), (0x0B, SDATA))),
        (BASE, 0, ((NAME, STRING), (BYTE_SIZE, UDATA))),
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


def unit(abbreviations: bytes, dies: bytes, strings: bytes = b"") -> Dwarf:
    """A unit of DWARF 4."""
    body = struct.pack("<HIB", 4, 0, 8) + dies
    info = struct.pack("<I", len(body)) + body
    return Dwarf({".debug_abbrev": abbreviations, ".debug_info": info, ".debug_str": strings})


FUNCTION = (SUBPROGRAM, 1, ((NAME, STRING),))
PARAMETER = (FORMAL, 0, ((NAME, STRING), (TYPE, REF4)))
FIRST = 11 + len(b"\1f\0")  # the offset behind the function's DIE


def test_a_function_that_is_only_declared():
    declared = (SUBPROGRAM, 1, ((NAME, STRING), (DECLARATION, PRESENT)))
    dies = b"\1f\0\2p\0" + struct.pack("<I", 0) + b"\0\0"
    assert debug_parameters(unit(table(declared, PARAMETER), dies), "f") is None
    found = debug_parameters(unit(table(FUNCTION, (BASE, 0, ())), b"\1f\0\0"), "f")
    assert found == ()


def test_types_that_contain_themselves():
    pointer = (POINTER, 0, ((TYPE, REF4),))
    typedef = (TYPEDEF, 0, ((TYPE, REF4),))
    itself = FIRST + len(b"\2p\0....\0")
    for abbreviation in (pointer, typedef):
        dies = b"\1f\0\2p\0" + struct.pack("<I", itself) + b"\0\3" + struct.pack("<I", itself)
        with pytest.raises(UnusableDwarf):
            debug_parameters(unit(table(FUNCTION, PARAMETER, abbreviation), dies), "f")


def test_functions_with_functions_as_parameters_take_bounded_time():
    """Each type has the next one twice: 2^40 names if they were all written."""
    subroutine = (SUBROUTINE, 1, ())
    unnamed = (FORMAL, 0, ((TYPE, REF4),))
    first = FIRST + len(b"\2p\0....\0")
    size = len(b"\3\4....\4....\0")
    dies = b"\1f\0\2p\0" + struct.pack("<I", first) + b"\0"
    for level in range(40):
        following = struct.pack("<I", first + (level + 1) * size)
        dies += b"\3\4" + following + b"\4" + following + b"\0"
    dies += b"\3\0"
    with pytest.raises(UnusableDwarf):
        debug_parameters(unit(table(FUNCTION, PARAMETER, subroutine, unnamed), dies), "f")


def test_members_by_constant_and_static_members():
    struct_ = (STRUCTURE, 1, ((NAME, STRING), (BYTE_SIZE, DATA1)))
    member = (MEMBER, 0, ((NAME, STRING), (TYPE, REF4), (LOCATION, SDATA)))
    static = (MEMBER, 0, ((NAME, STRING), (TYPE, REF4)))
    base = (BASE, 0, ((NAME, STRING), (BYTE_SIZE, DATA1)))
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
    assert (found.size, found.members) == (8, (Parameter(0, 4, 4, type="int", name="a"),))
    assert parameters(8, b"\5").members == ()  # beyond the struct's end
    with pytest.raises(UnusableDwarf):
        parameters(8, b"\x7f")  # -1


def test_names_by_index_with_references_to_other_sections():
    """As clang writes DWARF 5: the names and the addresses are in tables of their own."""
    abbreviations = table(
        (0x11, 1, ((0x72, SEC_OFFSET), (0x8C, SEC_OFFSET), (0x10, SEC_OFFSET))),
        (SUBPROGRAM, 1, ((LINKAGE_NAME, STRX1), (0x40, ENUM_DW_FORM["DW_FORM_loclistx"]))),
        (FORMAL, 0, ((NAME, STRX1), (TYPE, REF4))),
        (BASE, 0, ((NAME, STRX1), (BYTE_SIZE, DATA1))),
    )
    dies = b"\1" + struct.pack("<III", 8, 12, 0) + b"\2\0\0"
    type_ = 12 + len(dies) + len(b"\3\1....\0")
    dies += b"\3\1" + struct.pack("<I", type_) + b"\0" + b"\4\2\4" + b"\0"
    body = struct.pack("<HBBI", 5, 1, 8, 0) + dies
    offsets = struct.pack("<3I", *AT.values())
    lists = struct.pack("<HBBI", 5, 8, 0, 1) + struct.pack("<I", 4)
    sections = {
        ".debug_abbrev": abbreviations,
        ".debug_info": struct.pack("<I", len(body)) + body,
        ".debug_str": STRINGS,
        ".debug_str_offsets": struct.pack("<IHH", 4 + len(offsets), 5, 0) + offsets,
        ".debug_loclists": struct.pack("<I", len(lists)) + lists,
    }
    [found] = debug_parameters(Dwarf(sections), "scale") or ()
    assert (found.name, found.type, found.size) == ("factor", "float", 4)
    for missing in (".debug_str_offsets", ".debug_loclists"):
        rest = Dwarf({name: data for name, data in sections.items() if name != missing})
        with pytest.raises(UnusableDwarf):
            debug_parameters(rest, "scale")


# --- bounded work ---------------------------------------------------------------------------------


def test_siblings_that_are_the_same():
    """References to siblings are not followed: this parameter is its own next sibling."""
    parameter = (FORMAL, 1, ((NAME, STRING), (SIBLING, REF4)))
    dies = b"\1f\0\2p\0" + struct.pack("<I", FIRST) + b"\0\0"
    [found] = debug_parameters(unit(table(FUNCTION, parameter), dies), "f") or ()
    assert (found.name, found.type) == ("p", "void")


def test_children_at_any_depth():
    depth = 2_000
    dies = b"\1f\0" + b"\2" * depth + b"\0" * depth + b"\0"
    assert debug_parameters(unit(table(FUNCTION, (POINTER, 1, ())), dies), "f") == ()


def test_a_number_without_an_end():
    for size in (1_000, 1_000_000):
        with pytest.raises(UnusableDwarf):
            debug_parameters(unit(table(FUNCTION), b"\1f\0" + b"\x80" * size), "f")


def test_attributes_that_occupy_no_bytes():
    """Each DIE is one byte with a thousand attributes."""
    empty = (POINTER, 0, ((BYTE_SIZE, IMPLICIT, 4),) * 1_000)
    with pytest.raises(UnusableDwarf):
        debug_parameters(unit(table(FUNCTION, empty), b"\1f\0" + b"\2" * 20_000), "f")


def test_long_names_that_are_shared():
    """Ten thousand times the same name of 100,000 bytes."""
    named = table(FUNCTION, (POINTER, 0, ((NAME, STRP),)))
    dies = b"\1f\0" + b"\2\0\0\0\0" * 10_000
    with pytest.raises(UnusableDwarf):
        debug_parameters(unit(named, dies, b"n" * 100_000 + b"\0"), "f")


def test_tables_that_overlap():
    """Each unit has its own table, which goes on to the end of the section."""
    function = b"\1f\0\0"
    abbreviations = table(FUNCTION)[:-1] * 2_000 + b"\0"
    units = b""
    for number in range(2_000):
        at = number * (len(table(FUNCTION)) - 1)
        body = struct.pack("<HIB", 4, at, 8) + function.replace(b"f", b"g")
        units += struct.pack("<I", len(body)) + body
    sections = {".debug_abbrev": abbreviations, ".debug_info": units, ".debug_str": b"f\0"}
    with pytest.raises(UnusableDwarf):
        Dwarf(sections).function("f")


def test_debug_information_that_is_too_large(monkeypatch):
    """The reads of an image are limited, and those of each kernel."""
    monkeypatch.setattr(dwarf, "_MOST_READS", 1_000)
    large = unit(table(FUNCTION), b"\1f\0\0" + bytes(20_000))
    for _ in range(2):
        with pytest.raises(UnusableDwarf, match=r"is too large or damaged$"):
            large.function("f")
    monkeypatch.setattr(dwarf, "_READS_OF_TYPES", 300_000)
    assert large.function("f") is not None


def test_abbreviations_that_are_too_large():
    sections = version5()
    sections[".debug_abbrev"] += bytes(1 << 20)
    with pytest.raises(UnusableDwarf, match=r"is too large or damaged$"):
        Dwarf(sections).function("scale")
