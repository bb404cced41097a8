"""Static libraries: the Unix ``ar`` format, with GNU and BSD long names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cudarun.base.records import dataclass
from cudarun.images.damage import Damaged, refused_if_damaged
from cudarun.images.kinds import ARCHIVE_MAGIC, ImageKind

if TYPE_CHECKING:
    from cudarun.images.mapping import Buffer

_HEADER_BYTES = 60
_MALFORMED = "a member's header is malformed"
_LONGEST = 1024  # bytes of a name
_HEADER_END = b"`\n"
_INDEXES = ("/", "/SYM64/", "__.SYMDEF", "__.SYMDEF SORTED")  # symbol tables, for linkers


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """A file in an archive; its data are a view."""

    name: str
    data: memoryview


def read_members(data: Buffer, origin: str) -> tuple[ArchiveMember, ...]:
    """Return the files in an archive, in order.

    Raises:
        ImageRefused: It is damaged or truncated.
    """
    with refused_if_damaged(ImageKind.ARCHIVE, origin, _MALFORMED):
        return tuple(_members(memoryview(data)))


def _members(data: memoryview) -> Iterator[ArchiveMember]:
    long_names = b""
    at = len(ARCHIVE_MAGIC)
    while at < len(data):
        header = bytes(data[at : at + _HEADER_BYTES])
        if len(header) < _HEADER_BYTES or not header.endswith(_HEADER_END):
            raise Damaged(_MALFORMED)
        name = header[:16].decode("latin-1").rstrip()
        size = _number(header[48:58])
        start = at + _HEADER_BYTES
        if start + size > len(data):
            raise Damaged("a member extends past the end of the file")
        content = data[start : start + size]
        at = start + size + size % 2
        if name == "//":
            long_names = bytes(content)
        elif name.startswith("#1/"):  # BSD: the name precedes the content
            length = _number(name[3:].encode("latin-1"))
            name = bytes(content[:length]).rstrip(b"\0").decode("latin-1")
            if name not in _INDEXES:
                yield ArchiveMember(name, content[length:])
        elif name not in _INDEXES:
            yield ArchiveMember(_long_name(name, long_names), content)


def _number(digits: bytes) -> int:
    if not digits.strip().isdigit():
        raise Damaged(_MALFORMED)
    return int(digits)


def _long_name(name: str, long_names: bytes) -> str:
    """Return a GNU long name: ``name/``, or ``/offset`` into the table of long names."""
    if name.startswith("/") and name[1:].isdecimal():
        start = int(name[1:])
        end = long_names.find(b"\n", start, start + _LONGEST)  # names may share their ends
        if end < 0:
            raise Damaged("a member's name is malformed")
        name = long_names[start:end].decode("latin-1")
    return name.removesuffix("/")
