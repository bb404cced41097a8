"""The codes of DWARF 2 to 5: tags, attributes, forms and LEB128 numbers.

The reference is the DWARF 5 standard, sections 7.5 (abbreviations, forms) and 7.6 (LEB128).
"""

from __future__ import annotations

from enum import IntEnum

ADDRESS_BYTES = 8
_LEB_BYTES = 10  # of 64 bits


class DamagedDwarf(Exception):
    """The debug information is damaged, or of a kind that is not supported."""


class Tag(IntEnum):
    """The tags that are used (section 7.5.3)."""

    ARRAY = 0x01
    CLASS = 0x02
    ENUMERATION = 0x04
    FORMAL_PARAMETER = 0x05
    MEMBER = 0x0D
    POINTER = 0x0F
    REFERENCE = 0x10
    STRUCTURE = 0x13
    SUBROUTINE = 0x15
    TYPEDEF = 0x16
    UNION = 0x17
    INHERITANCE = 0x1C
    SUBRANGE = 0x21
    BASE = 0x24
    CONST = 0x26
    SUBPROGRAM = 0x2E
    VOLATILE = 0x35
    RESTRICT = 0x37
    UNSPECIFIED = 0x3B
    RVALUE_REFERENCE = 0x42


class At(IntEnum):
    """The attributes that are used (section 7.5.4)."""

    NAME = 0x03
    BYTE_SIZE = 0x0B
    BIT_SIZE = 0x0D
    CONST_VALUE = 0x1C
    UPPER_BOUND = 0x2F
    ABSTRACT_ORIGIN = 0x31
    COUNT = 0x37
    MEMBER_LOCATION = 0x38
    DECLARATION = 0x3C
    SPECIFICATION = 0x47
    TYPE = 0x49
    LINKAGE_NAME = 0x6E
    MIPS_LINKAGE_NAME = 0x2007  # of DWARF 2 and 3


class DwarfForm(IntEnum):
    """Forms that need more than their size (section 7.5.6)."""

    BLOCK2 = 0x03
    BLOCK4 = 0x04
    STRING = 0x08
    BLOCK = 0x09
    BLOCK1 = 0x0A
    SDATA = 0x0D
    STRP = 0x0E
    UDATA = 0x0F
    REF_ADDR = 0x10
    REF_UDATA = 0x15
    EXPRLOC = 0x18
    STRX = 0x1A
    ADDRX = 0x1B
    LINE_STRP = 0x1F
    IMPLICIT_CONST = 0x21
    LOCLISTX = 0x22
    RNGLISTX = 0x23


_BY_SIZE = {  # numbers, references in the unit, flags, indices of strings and of addresses
    0: (0x19,),
    1: (0x0B, 0x11, 0x0C, 0x25, 0x29),
    2: (0x05, 0x12, 0x26, 0x2A),
    3: (0x27, 0x2B),
    4: (0x06, 0x13, 0x28, 0x2C),
    8: (0x07, 0x14, 0x20, 0x01),  # 0x20 by signature, 0x01 an address
    16: (0x1E,),
}
FIXED = {form: size for size, forms in _BY_SIZE.items() for form in forms}
IN_UNIT = frozenset(
    {0x11, 0x12, 0x13, 0x14, DwarfForm.REF_UDATA}
)  # references from the unit's start
OFFSETS = frozenset({DwarfForm.STRP, DwarfForm.LINE_STRP, 0x17, 0x1D})  # in other sections
LEBS = frozenset({
    DwarfForm.UDATA, DwarfForm.SDATA, DwarfForm.REF_UDATA, DwarfForm.STRX, DwarfForm.ADDRX,
    DwarfForm.LOCLISTX, DwarfForm.RNGLISTX,
})  # fmt: skip
BLOCKS = {DwarfForm.BLOCK1: "<B", DwarfForm.BLOCK2: "<H", DwarfForm.BLOCK4: "<I"}
SIZES = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}


def uleb(data: bytes, at: int) -> tuple[int, int]:
    """Return the unsigned LEB128 number at ``at``, and the offset behind it."""
    byte = data[at]
    at += 1
    if byte < 0x80:
        return byte, at
    value = byte & 0x7F
    for shift in range(7, 7 * _LEB_BYTES, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise DamagedDwarf


def sleb(data: bytes, at: int) -> tuple[int, int]:
    """Return the signed LEB128 number at ``at``, and the offset behind it."""
    value, end = uleb(data, at)
    bits = 7 * (end - at)
    return value - (1 << bits if value >> (bits - 1) else 0), end
