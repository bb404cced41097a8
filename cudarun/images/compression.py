"""Decompression of LZ4 blocks and Zstandard frames in fatbins.

Uses the Python package if it is installed, or else the C library that most Linux systems have.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from cudarun.images.mapping import Buffer


Compression = Literal["lz4", "zstd"]


_CHUNK = 1 << 20


class NoCodec(Exception):
    """Neither the package nor the library is installed.

    Args:
        package: The package to install.
    """

    def __init__(self, package: str) -> None:
        super().__init__(package)
        self.package = package


class NotDecompressible(Exception):
    """The compressed bytes are damaged."""


def decompress(compression: Compression, stored: Buffer, size: int) -> bytes:
    """Return the ``size`` decompressed bytes.

    Raises:
        NoCodec: No decompressor is installed.
        NotDecompressible: It is damaged.
    """
    data = _from_lz4(stored, size) if compression == "lz4" else _from_zstd(stored, size)
    if len(data) != size:
        raise NotDecompressible(f"it decompresses to {len(data)} bytes, expected {size}")
    return data


def decompressed_chunks(compression: Compression, stored: Buffer, size: int) -> Iterator[bytes]:
    """Yield the ``size`` decompressed bytes in pieces; LZ4 blocks have a single one.

    Raises:
        NoCodec: No decompressor is installed.
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


def _from_lz4(stored: Buffer, size: int) -> bytes:
    try:
        lz4 = importlib.import_module("lz4.block")
    except ImportError:
        return _by_library("lz4", "liblz4.so.1", stored, size)
    try:
        return bytes(lz4.decompress(stored, uncompressed_size=size))
    except lz4.LZ4BlockError as error:
        raise NotDecompressible(str(error)) from error


def _from_zstd(stored: Buffer, size: int) -> bytes:
    try:
        zstandard = importlib.import_module("zstandard")
    except ImportError:
        return _by_library("zstandard", "libzstd.so.1", stored, size)
    try:
        # The frame's own size would determine what is allocated.
        if zstandard.frame_content_size(stored) not in (-1, size):
            raise NotDecompressible("its frame header has a different size")
        return bytes(zstandard.ZstdDecompressor().decompress(stored, max_output_size=size))
    except zstandard.ZstdError as error:
        raise NotDecompressible(str(error)) from error


def _zstd_chunks(stored: Buffer, size: int) -> Iterator[bytes]:
    try:
        zstandard = importlib.import_module("zstandard")
    except ImportError:
        yield from _zstd_chunks_by_library(bytes(stored))
        return
    try:
        if zstandard.frame_content_size(stored) not in (-1, size):
            raise NotDecompressible("its frame header has a different size")
        stream = zstandard.ZstdDecompressor().read_to_iter(stored, write_size=_CHUNK)
        yield from map(bytes, stream)
    except zstandard.ZstdError as error:
        raise NotDecompressible(str(error)) from error


class _StreamBuffer(ctypes.Structure):
    """``ZSTD_inBuffer`` and ``ZSTD_outBuffer``."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("size", ctypes.c_size_t),
        ("position", ctypes.c_size_t),
    )


def _zstd_chunks_by_library(stored: bytes) -> Iterator[bytes]:
    name = "libzstd.so.1"
    library = _open(name)
    if library is None:
        raise NoCodec("zstandard")
    library.ZSTD_createDStream.restype = ctypes.c_void_p
    library.ZSTD_freeDStream.argtypes = (ctypes.c_void_p,)
    library.ZSTD_isError.argtypes = (ctypes.c_size_t,)
    library.ZSTD_decompressStream.restype = ctypes.c_size_t
    library.ZSTD_decompressStream.argtypes = (
        ctypes.c_void_p, ctypes.POINTER(_StreamBuffer), ctypes.POINTER(_StreamBuffer),
    )  # fmt: skip
    space = ctypes.create_string_buffer(_CHUNK)
    source = ctypes.create_string_buffer(stored, len(stored))
    given = _StreamBuffer(ctypes.addressof(source), len(stored), 0)
    stream = library.ZSTD_createDStream()
    try:
        left = 1
        while left:
            made = _StreamBuffer(ctypes.addressof(space), _CHUNK, 0)
            left = library.ZSTD_decompressStream(stream, made, given)
            if library.ZSTD_isError(left):
                raise NotDecompressible(f"{name} rejects it")
            if not made.position and given.position == given.size and left:
                raise NotDecompressible(f"{name} needs more than it has")
            yield space.raw[: made.position]
    finally:
        library.ZSTD_freeDStream(stream)


def _by_library(package: str, name: str, stored: Buffer, size: int) -> bytes:
    library = _open(name)
    if library is None:
        raise NoCodec(package)
    stored = bytes(stored)
    buffer = ctypes.create_string_buffer(size)
    if package == "lz4":
        written = library.LZ4_decompress_safe(stored, buffer, len(stored), size)
    else:
        # An error is a size_t close to its end; no result is larger than the buffer.
        written = library.ZSTD_decompress(buffer, size, stored, len(stored))
    if not 0 <= written <= size:
        raise NotDecompressible(f"{name} rejects it")
    return buffer.raw[:written]


@cache
def _open(name: str) -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(name)
    except OSError:
        return None
    if hasattr(library, "LZ4_decompress_safe"):
        library.LZ4_decompress_safe.argtypes = (
            ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int,
        )  # fmt: skip
    else:
        library.ZSTD_decompress.restype = ctypes.c_size_t
        library.ZSTD_decompress.argtypes = (
            ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t,
        )  # fmt: skip
    return library
