"""Recordings as files: a zip with a description, code, and pieces of memory.

Members are read by their known names, in bounded amounts, and compared with their hashes. Nothing
is ever extracted to a file.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from operator import attrgetter
from typing import IO, TYPE_CHECKING

from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
from cudarun.images.kinds import ImageKind, identify
from cudarun.session.recording.manifest import (
    DIGEST_CHARACTERS,
    PIECE_BYTES,
    Manifest,
    MemoryPiece,
    RecordedRange,
    is_digest,
    read_manifest,
    write_manifest,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MANIFEST, IMAGE, PTX, MEMORY = "recording.toml", "image", "ptx", "memory/"
_CODE = (ImageKind.PTX, ImageKind.CUBIN, ImageKind.FATBIN)  # source could include files
_MAX_MANIFEST = 64 << 20
_MAX_MEMBERS = 1 << 20
_MEMORY_LEVEL = 1  # gigabytes: each level costs minutes
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the same contents make the same file
_DECODED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_MEMBER_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError),
    *(NotImplementedError, RuntimeError, UnicodeDecodeError, ValueError),
)


class RecordingWriter(AbstractContextManager["RecordingWriter"]):
    """A recording that is being written.

    It is a context manager: an error in the block leaves an incomplete file.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
        self._written: set[str] = set()

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self._zip.fp = None  # its destructor would write the directory of its members

    def pieces(
        self, data: bytes | memoryview, offset: int = 0, *, zeros: bool = True
    ) -> Iterator[MemoryPiece]:
        """Add bytes; yield their pieces.

        Args:
            offset: Their offset in the range.
            zeros: Also yield pieces that are zero, which the contents before a launch do not need.
        """
        view = memoryview(data)
        at = 0
        while at < len(view):
            size = min(PIECE_BYTES - (offset + at) % PIECE_BYTES, len(view) - at)
            part = bytes(view[at : at + size])
            if zeros or part.count(0) < size:
                yield MemoryPiece(offset + at, size, self._add(part))
            at += size

    def finish(self, manifest: Manifest, image: bytes, ptx: bytes | None) -> None:
        """Add the description and the code, and end the file."""
        self._member(MANIFEST, write_manifest(manifest).encode())
        self._member(IMAGE, image)
        if ptx is not None:
            self._member(PTX, ptx)
        self._zip.close()

    def _add(self, part: bytes) -> str:
        digest = _digest(part)
        if digest not in self._written:
            self._written.add(digest)
            self._member(MEMORY + digest, part)
        return digest

    def _member(self, name: str, data: bytes) -> None:
        info = zipfile.ZipInfo(name, _EARLIEST)
        level = _MEMORY_LEVEL if name.startswith(MEMORY) else None
        self._zip.writestr(info, data, zipfile.ZIP_DEFLATED, level)


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording in a file; its memory is read when it is used."""

    path: str  # the file, absolute
    manifest: Manifest
    image: bytes  # the code as the program loaded it
    ptx: bytes | None  # the same as PTX, if the program has it

    def contents(self) -> RecordedContents:
        """Open the file to read its memory."""
        return RecordedContents(self.path)


class RecordedContents(AbstractContextManager["RecordedContents"]):
    """The memory in a recording; it reads one piece at a time."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._zip = _opened(path)

    def read(
        self,
        recorded: RecordedRange,
        start: int = 0,
        end: int | None = None,
        *,
        after: bool = False,
    ) -> npt.NDArray[np.uint8]:
        """Return the bytes of a range before the launch, or after it, from one offset to another.

        Those without a piece are zero.
        """
        end = recorded.size if end is None else end
        import numpy as np  # not in the process that only passes the recording on

        whole = np.zeros(end - start, np.uint8)
        for pieces in (recorded.before, recorded.after) if after else (recorded.before,):
            for offset, data in self._between(pieces, start, end):
                whole[offset : offset + len(data)] = np.frombuffer(data, np.uint8)
        return whole

    def changes(self, recorded: RecordedRange, start: int, end: int) -> Sequence[tuple[int, bytes]]:
        """Return the changed parts between two offsets, by their offsets from the first."""
        return [*self._between(recorded.after, start, end)]

    def _between(
        self, pieces: Sequence[MemoryPiece], start: int, end: int
    ) -> Iterator[tuple[int, bytes]]:
        """Yield the parts of pieces, which are in order, between two offsets."""
        at = max(bisect_right(pieces, start, key=attrgetter("offset")) - 1, 0)
        for piece in islice(pieces, at, None):
            first, last = max(start, piece.offset), min(end, piece.offset + piece.size)
            if first < last:
                data = _read(self._zip, MEMORY + piece.digest, piece.size, self._path)
                if len(data) != piece.size or _digest(data) != piece.digest:
                    raise _damaged(self._path, f"the piece {piece.digest} has other contents")
                yield first - start, data[first - piece.offset : last - piece.offset]
            elif piece.offset >= end:
                return

    def close(self) -> None:
        """Close the file."""
        self._zip.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def read_recording(path: str, limit: int) -> Recording:
    """Read a recording without its memory; `RequestError` if it is not a recording, or is damaged.

    Args:
        limit: The most bytes of an image in it.
    """
    with _opened(path) as archive:
        members = archive.infolist()
        names = [member.filename for member in members]
        if any(member.compress_type not in _DECODED for member in members):
            raise _damaged(path, "a member is neither stored nor deflated")
        if MANIFEST not in names or IMAGE not in names:
            raise RequestError("not a recording of cudarun", origin=path)
        if len(names) > _MAX_MEMBERS or len({*names}) < len(names):
            raise _damaged(path, "it has too many members, or two of one name")
        for name in names:
            if name not in (MANIFEST, IMAGE, PTX) and not is_digest(name.removeprefix(MEMORY)):
                raise _damaged(path, f"unknown member '{name}'")
        manifest = read_manifest(_read(archive, MANIFEST, _MAX_MANIFEST, path), path)
        image = _read(archive, IMAGE, limit, path)
        ptx = _read(archive, PTX, limit, path) if PTX in names else None
    for code, kinds in ((image, _CODE), (ptx, (ImageKind.PTX,))):
        if code is not None and (kind := identify(code)) not in kinds:
            raise _damaged(path, f"its code is of the kind '{kind.value}'")
    return Recording(os.path.abspath(path), manifest, image, ptx)


def _opened(path: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except OSError as error:
        raise RequestError(error.strerror or str(error), origin=path) from error
    except _MEMBER_ERRORS as error:
        raise _damaged(path, str(error)) from None


def _read(archive: zipfile.ZipFile, name: str, most: int, path: str) -> bytes:
    """Read a member of at most some bytes, whatever the file says about its size."""
    try:
        with archive.open(name) as member:
            data = member.read(most + 1)
    except KeyError:
        raise _damaged(path, f"it does not contain '{name}'") from None
    except _MEMBER_ERRORS as error:
        raise _damaged(path, f"'{name}': {error}") from None
    if len(data) > most:
        raise _damaged(path, f"'{name}' is larger than {most} bytes")
    return data


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:DIGEST_CHARACTERS]


def _damaged(path: str, cause: str) -> RequestError:
    return RequestError(f"the recording is damaged: {cause}", origin=path)
