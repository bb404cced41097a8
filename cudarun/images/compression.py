"""Decompression of LZ4 blocks and Zstandard frames in fatbins."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Compression = Literal["lz4", "zstd"]
Stored = bytes | memoryview
_CHUNK = 1 << 20


class NotDecompressible(Exception):
    """The compressed bytes are damaged."""


def decompress(compression: Compression, stored: Stored, size: int) -> bytes:
    """Return the ``size`` decompressed bytes.

    Raises:
        NotDecompressible: It is damaged.
    """
    data = _from_lz4(stored, size) if compression == "lz4" else _from_zstd(stored, size)
    if len(data) != size:
        raise NotDecompressible(f"it decompresses to {len(data)} bytes, expected {size}")
    return data


def decompressed_chunks(compression: Compression, stored: Stored, size: int) -> Iterator[bytes]:
    """Yield the ``size`` decompressed bytes in pieces; LZ4 blocks have a single one.

    Raises:
        NotDecompressible: It is damaged. What was yielded before can be wrong.
    """
    if compression == "lz4":
        yield decompress(compression, stored, size)
        return
    length = 0
    for chunk in _zstd_chunks(stored, size):
        length += len(chunk)
        if length > size:
            break
        yield chunk
    if length != size:
        raise NotDecompressible(f"it decompresses to {length} bytes, expected {size}")


def _from_lz4(stored: Stored, size: int) -> bytes:
    import lz4.block

    try:
        return bytes(lz4.block.decompress(stored, uncompressed_size=size))
    except lz4.block.LZ4BlockError as error:
        raise NotDecompressible(str(error)) from error


def _from_zstd(stored: Stored, size: int) -> bytes:
    import zstandard

    with _zstd_refusals(stored, size):
        return bytes(zstandard.ZstdDecompressor().decompress(stored, max_output_size=size))


def _zstd_chunks(stored: Stored, size: int) -> Iterator[bytes]:
    import zstandard

    with _zstd_refusals(stored, size):
        stream = zstandard.ZstdDecompressor().read_to_iter(stored, write_size=_CHUNK)
        yield from map(bytes, stream)


@contextmanager
def _zstd_refusals(stored: Stored, size: int) -> Iterator[None]:
    import zstandard

    try:
        # The frame's own size would determine what is allocated.
        if zstandard.frame_content_size(stored) not in (-1, size):
            raise NotDecompressible("its frame header has a different size")
        yield
    except zstandard.ZstdError as error:
        raise NotDecompressible(str(error)) from error
