"""Fatbins: one file with code for several targets, as PTX, machine code or LTO-IR.

The format is not documented; it was derived from the output of nvcc 13.0 and its ``fatbinary``. A
container is a header of 16 bytes (magic, version 1, size of the header, bytes that follow) and
entries. An entry is a header and then its content::

    offset  0  u16 kind: 1 PTX, 2 cubin, 8 LTO-IR
            4  u32 bytes of this header
            8  u64 bytes of the content as stored, padding included
           16  u32 the same without padding, where it is compressed
           28  u32 architecture, 90 for sm_90
           40  u64 flags: 0x2 debug information, 0x2000 compressed with LZ4, 0x8000 with Zstandard,
                   0x10000 scrambled, 0x100000 suffix a, 0x200000 suffix f
           56  u64 bytes once decompressed

Several containers may follow one another, as in the ``.nv_fatbin`` section of a linked program.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

from cudarun.base.errors import ImageRefused
from cudarun.base.records import dataclass
from cudarun.images.contents import Buffer, CodeBytes, StreamedCode, WholeCode
from cudarun.images.kinds import (
    FATBIN_MAGIC,
    FATBIN_WRAPPER_MAGIC,
    Damaged,
    ImageKind,
    refused_if_damaged,
)
from cudarun.images.versions import parse_target

_CONTAINER = struct.Struct("<4sHHQ")
_ENTRY = struct.Struct("<H2xIQI8xI8xQ8xQ")
CONTAINER_BYTES = _CONTAINER.size  # the size of the header of a container
_WRAPPER_BYTES = 24
_TRUNCATED = "the file is truncated in a header"

_KINDS = {1: ImageKind.PTX, 2: ImageKind.CUBIN, 8: ImageKind.LTO_IR}
_COMPRESSIONS: dict[int, Compression] = {0x2000: "lz4", 0x8000: "zstd"}
_DEBUG = 0x2
_SCRAMBLED = 0x1_0000
_SUFFIXES = {0x10_0000: "a", 0x20_0000: "f"}

_LARGEST = (1 << 31) - 1  # the largest decompressed size of an entry: LZ4 counts with an int
_PADDING = re.compile(rb"\0*")

_STREAMED_FROM = 8 << 20
"""The decompressed size above which an entry is not held in memory as a whole."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The code for one target."""

    kind: ImageKind  # PTX, cubin or LTO-IR; ``UNKNOWN`` for other entries
    target: str  # ``"sm_90"``; of PTX and LTO-IR ``"compute_90"``
    # The content as stored in the file; a view, so that nothing is read before it is used.
    stored: bytes | memoryview
    size: int  # bytes of the content, decompressed
    compression: Compression | None = None  # the compression method, if any
    is_scrambled: bool = False  # True if only NVIDIA's tools can read it, as with LTO-IR
    has_debug: bool = False  # whether it was compiled with debug information (``-G``)
    number: int = 1  # its number in the file, from 1
    fatbin: int = 1  # the number of its fatbin in the file, from 1

    def content(self, origin: str) -> bytes:
        """Return the image itself, decompressed.

        Raises:
            ImageRefused: It is scrambled, or the compressed bytes are damaged.
        """
        with self._refusals(origin):
            if self.compression is None:
                return bytes(self.stored)
            return decompress(self.compression, self.stored, self.size)

    def contents(self, origin: str) -> CodeBytes:
        """Return the image itself, as a stream if it is compressed and large."""
        if self.compression is None and not self.is_scrambled:
            return WholeCode(self.stored)
        if self.compression is None or self.is_scrambled or self.size <= _STREAMED_FROM:
            return WholeCode(self.content(origin))
        compression = self.compression

        def chunks() -> Iterator[bytes]:
            with self._refusals(origin):
                yield from decompressed_chunks(compression, self.stored, self.size)

        return StreamedCode(chunks, self.size)

    @contextmanager
    def _refusals(self, origin: str) -> Iterator[None]:
        if self.is_scrambled:
            raise ImageRefused(
                f"the {self.kind.value} for {self.target} is scrambled", origin=origin
            )
        try:
            yield
        except NotDecompressible as error:
            raise ImageRefused(
                f"the {self.kind.value} for {self.target} cannot be decompressed",
                cause=str(error),
                origin=origin,
            ) from error


def read_entries(data: Buffer, origin: str) -> tuple[Entry, ...]:
    """Return the entries of all containers in ``data``, in order, from their headers.

    Raises:
        ImageRefused: It is not a fatbin, or is damaged or truncated.
    """
    with refused_if_damaged(ImageKind.FATBIN, origin, _TRUNCATED):
        return tuple(_entries(_unwrapped(data)))


def container_size(header: bytes) -> int:
    """Return the size of a container that starts with these bytes, header included."""
    _, _, header_bytes, size = _CONTAINER.unpack(header)
    return int(header_bytes + size)


def split_containers(data: Buffer, origin: str) -> tuple[memoryview, ...]:
    """Return each container in ``data`` separately, as a driver takes it.

    Raises:
        ImageRefused: It is not a fatbin, or is damaged or truncated.
    """
    with refused_if_damaged(ImageKind.FATBIN, origin, _TRUNCATED):
        view = _unwrapped(data)
        return tuple(view[start:end] for start, _, end in _containers(view))


def best_entry(
    architecture: int, entries: Iterable[Entry], *, machine_code: bool = True
) -> Entry | None:
    """Return the entry that a driver or linker takes: machine code if possible, or else PTX.

    Args:
        architecture: 90 for sm_90.
        entries: The entries of one fatbin.
    """
    fitting = []
    for entry in entries:
        target = parse_target(entry.target)
        is_code = entry.kind is ImageKind.PTX or (machine_code and entry.kind is ImageKind.CUBIN)
        if is_code and target and target.runs_on(architecture):
            fitting.append((not target.is_virtual, target.number, entry))
    return max(fitting, key=lambda item: item[:2])[2] if fitting else None


def _unwrapped(data: Buffer) -> memoryview:
    """Return the container without the wrapper of a dump in front of it."""
    view = memoryview(data)
    if view[: len(FATBIN_WRAPPER_MAGIC)] == FATBIN_WRAPPER_MAGIC:
        view = view[_WRAPPER_BYTES:]
    if view[: len(FATBIN_MAGIC)] != FATBIN_MAGIC:
        raise Damaged("its wrapper is not followed by a container")
    return view


def _entries(data: memoryview) -> Iterator[Entry]:
    for _, at, end in _containers(data):
        while at < end:
            kind_number, header_bytes, stored, compressed, architecture, flags, size = (
                _ENTRY.unpack_from(data, at)
            )
            start = at + header_bytes
            if header_bytes < _ENTRY.size or start + stored > end:
                raise Damaged("an entry extends past the end of its container")
            kind = _KINDS.get(kind_number, ImageKind.UNKNOWN)
            compression = next((word for bit, word in _COMPRESSIONS.items() if flags & bit), None)
            if compression and (compressed > stored or size > _LARGEST):
                raise Damaged("an entry has inconsistent sizes")
            suffix = next((letter for bit, letter in _SUFFIXES.items() if flags & bit), "")
            family = "sm" if kind is ImageKind.CUBIN else "compute"
            entry = Entry(
                kind=kind,
                target=f"{family}_{architecture}{suffix}",
                stored=data[start : start + (compressed if compression else stored)],
                size=size if compression else stored,
                compression=compression,
                is_scrambled=bool(flags & _SCRAMBLED),
                has_debug=bool(flags & _DEBUG),
            )
            yield entry
            at = start + stored


def _containers(data: memoryview) -> Iterator[tuple[int, int, int]]:
    """Yield the offsets of each container, of its first entry, and of its end."""
    at = 0
    while data[at : at + len(FATBIN_MAGIC)] == FATBIN_MAGIC:
        _, version, header_bytes, size = _CONTAINER.unpack_from(data, at)
        if version != 1:
            raise Damaged(f"container version {version} is not supported")
        end = at + header_bytes + size
        if header_bytes < _CONTAINER.size or end > len(data):
            raise Damaged("the container extends past the end of the file")
        yield at, at + header_bytes, end
        padding = _PADDING.match(data, end)
        at = padding.end() if padding else end


# --- compression ---------------------------------------------------------------------------------


Compression = Literal["lz4", "zstd"]
Stored = bytes | memoryview
_CHUNK = 1 << 20


class NotDecompressible(Exception):
    """The compressed bytes are damaged."""


def decompress(compression: Compression, stored: Stored, size: int) -> bytes:
    """Return the ``size`` decompressed bytes; `NotDecompressible` if it is damaged."""
    return b"".join(decompressed_chunks(compression, stored, size))


def decompressed_chunks(compression: Compression, stored: Stored, size: int) -> Iterator[bytes]:
    """Yield the ``size`` decompressed bytes in pieces; LZ4 blocks have a single one.

    Raises:
        NotDecompressible: It is damaged. What was yielded before can be wrong.
    """
    length = 0
    for chunk in (_from_lz4 if compression == "lz4" else _from_zstd)(stored, size):
        length += len(chunk)
        if length > size:
            break
        yield chunk
    if length != size:
        raise NotDecompressible(f"it decompresses to {length} bytes, expected {size}")


def _from_lz4(stored: Stored, size: int) -> Iterator[bytes]:
    import lz4.block

    try:
        yield bytes(lz4.block.decompress(stored, uncompressed_size=size))
    except lz4.block.LZ4BlockError as error:
        raise NotDecompressible(str(error)) from error


def _from_zstd(stored: Stored, size: int) -> Iterator[bytes]:
    import zstandard

    try:
        # The frame's own size would determine what is allocated.
        if zstandard.frame_content_size(stored) not in (-1, size):
            raise NotDecompressible("its frame header has a different size")
        yield from map(bytes, zstandard.ZstdDecompressor().read_to_iter(stored, write_size=_CHUNK))
    except zstandard.ZstdError as error:
        raise NotDecompressible(str(error)) from error
