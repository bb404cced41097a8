"""The functions of executables and libraries, by address."""

from __future__ import annotations

import functools
import os
import stat
import struct
from bisect import bisect_right

from cudarun.base.errors import ImageRefused
from cudarun.images.demangler import demangle
from cudarun.images.elf import read_elf
from cudarun.images.kinds import ImageKind

_SYMBOL = struct.Struct("<IBBHQQ")
_TABLES = {".symtab": ".strtab", ".dynsym": ".dynstr"}  # with the sections of their names
_FUNCTION = 2  # STT_FUNC
_MOST_BYTES = 1 << 30  # of a file
_MOST_NAME = 4096  # bytes of a name; many symbols can have one name


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
    """Return address, size and name of the functions of an ELF file, by address.

    The program names the file, which can be anything: a pipe is not waited for.
    """
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
                return []
            data = file.read(_MOST_BYTES)
        sections = read_elf(data, path, ImageKind.HOST_OBJECT).named
    except (OSError, ValueError, ImageRefused):  # ValueError: a NUL in the path
        return []
    found = set()
    for table, strings in _TABLES.items():
        if not {table, strings} <= sections.keys():
            continue
        rows, names = sections[table].data, bytes(sections[strings].data)
        whole = len(rows) // _SYMBOL.size * _SYMBOL.size
        for at, info, _, section, value, size in _SYMBOL.iter_unpack(rows[:whole]):
            if info & 15 == _FUNCTION and section:
                name = names[at : at + _MOST_NAME].partition(b"\0")[0]
                found.add((value, size, name.decode(errors="replace")))
    return sorted(found)
