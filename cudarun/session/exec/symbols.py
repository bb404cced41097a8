"""The functions of executables and libraries, by address."""

from __future__ import annotations

import functools
import struct
from bisect import bisect_right

from cudarun.images.demangler import demangle

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMBOL_TABLES = (2, 11)  # SHT_SYMTAB, SHT_DYNSYM
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
            data = file.read()
        return sorted(set(_read(data)))
    except (OSError, struct.error):
        return []


def _read(data: bytes) -> list[tuple[int, int, str]]:
    *_, start, _, _, _, _, size, count, _ = _HEADER.unpack_from(data)
    if data[:6] != b"\x7fELF\x02\x01" or size != _SECTION.size:
        return []
    sections = [_SECTION.unpack_from(data, start + size * at) for at in range(count)]
    found = []
    for _, kind, _, _, place, length, link, *_ in sections:
        if kind not in _SYMBOL_TABLES:
            continue
        names = sections[link][4]
        for name, info, _, section, value, extent in _SYMBOL.iter_unpack(
            data[place : place + length // _SYMBOL.size * _SYMBOL.size]
        ):
            if info & 15 == _FUNCTION and section:
                end = data.find(b"\0", names + name)
                found.append((value, extent, data[names + name : end].decode(errors="replace")))
    return found
