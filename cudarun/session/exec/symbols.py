"""The functions of executables and libraries, by address."""

from __future__ import annotations

import functools
import struct
from bisect import bisect_right

from cudarun.base.errors import ImageRefused
from cudarun.images.demangler import demangle
from cudarun.images.elf import read_elf
from cudarun.images.kinds import ImageKind

_SYMBOL = struct.Struct("<IBBHQQ")
_TABLES = {".symtab": ".strtab", ".dynsym": ".dynstr"}  # with the sections of their names
_FUNCTION = 2  # STT_FUNC


def function_at(path: str, offset: int) -> str | None:
    """Return the function that contains the instruction before an address of a file.

    ``None`` if the file cannot be read or has no symbol for it.
    """
    symbols = _functions(path)
    at = bisect_right(symbols, (offset, -1, "")) - 1
    if at < 0:
        return None
    start, size, name = symbols[at]
    return demangle(name) if offset <= start + size else None


@functools.cache
def _functions(path: str) -> list[tuple[int, int, str]]:
    """Return address, size and name of the functions of an ELF file, by address."""
    try:
        with open(path, "rb") as file:
            sections = read_elf(file.read(), path, ImageKind.HOST_OBJECT).named
    except (OSError, ImageRefused):
        return []
    found = set()
    for table, strings in _TABLES.items():
        if not {table, strings} <= sections.keys():
            continue
        rows, names = sections[table].data, bytes(sections[strings].data)
        whole = len(rows) // _SYMBOL.size * _SYMBOL.size
        for at, info, _, section, value, size in _SYMBOL.iter_unpack(rows[:whole]):
            if info & 15 == _FUNCTION and section:
                name = names[at : names.find(b"\0", at)]
                found.add((value, size, name.decode(errors="replace")))
    return sorted(found)
