"""The sections with debug information in PTX: data directives, assembled to bytes.

PTX ISA manual, section 11.5.3. A section is data of 8 to 64 bits: numbers, offsets of sections or
of their labels, and addresses of code and of variables, which have no number before PTX is
compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

_SECTION = re.compile(rb"^[ \t]*\.section[ \t]+(\.debug_\w+)\s*\{([^{}]*)\}", re.MULTILINE)
_ITEM = re.compile(rb"\.b(8|16|32|64)[ \t]+([^\n]*)|^[ \t]*([\w$]+):", re.MULTILINE)
_COMMENT = re.compile(rb"//[^\n]*")
_NUMBER = re.compile(rb"-?(?:0[xX][0-9a-fA-F]+|\d{1,20})")
_IN_SECTION = re.compile(rb"(\.debug_\w+|[\w$]+)(?:\s*\+\s*(\d{1,20}))?")

Addresses = Callable[[str], int]
"""A function that returns a number for the name of a label of code, or of a variable."""


def ptx_sections(
    text: bytes, names: Collection[str], address: Addresses = lambda name: 0
) -> dict[str, bytes]:
    """Return sections of a PTX text.

    Args:
        address: Returns the addresses in them; without it they are zeros.
    """
    found = {
        name.decode(): [*_ITEM.findall(_COMMENT.sub(b"", body))]
        for name, body in _SECTION.findall(text.partition(b"\0")[0])
        if name.decode() in names
    }
    labels: dict[bytes, int] = {}
    for items in found.values():
        labels.update(_labels(items))

    def integer(value: bytes) -> int:
        """Return a number, an offset in a section, or an address."""
        if _NUMBER.fullmatch(value):
            return int(value, 0) if value.lower().lstrip(b"-").startswith(b"0x") else int(value)
        match = _IN_SECTION.fullmatch(value)
        if match is None:
            return 0
        addend = int(match[2] or 0)
        if match[1].startswith(b"."):
            return addend
        offset = labels.get(match[1])
        return addend + (address(match[1].decode()) if offset is None else offset)

    return {name: b"".join(_assembled(items, integer)) for name, items in found.items()}


_Item = tuple[bytes, bytes, bytes]  # the bits and the values of data, or a label


def _labels(items: list[_Item]) -> Iterator[tuple[bytes, int]]:
    offset = 0
    for bits, values, label in items:
        if label:
            yield label, offset
        else:
            offset += int(bits) // 8 * (values.count(b",") + 1)


def _assembled(items: list[_Item], integer: Callable[[bytes], int]) -> Iterator[bytes]:
    for bits, values, label in items:
        size = 0 if label else int(bits) // 8
        for value in values.split(b",") if size else ():
            yield (integer(value.strip()) % (1 << 8 * size)).to_bytes(size, "little")
