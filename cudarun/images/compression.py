"""Decompression of LZ4 blocks and Zstandard frames in fatbins.

Uses the Python package if it is installed, or else the C library that most Linux systems have.
"""

from __future__ import annotations

import ctypes
import importlib
from functools import cache
from typing import Literal

Compression = Literal["lz4", "zstd"]


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


def decompress(compression: Compression, stored: bytes, size: int) -> bytes:
    """Return the ``size`` decompressed bytes.

    Raises:
        NoCodec: No decompressor is installed.
        NotDecompressible: It is damaged.
    """
    data = _from_lz4(stored, size) if compression == "lz4" else _from_zstd(stored, size)
    if len(data) != size:
        raise NotDecompressible(f"it decompresses to {len(data)} bytes, expected {size}")
    return data


def _from_lz4(stored: bytes, size: int) -> bytes:
    try:
        lz4 = importlib.import_module("lz4.block")
    except ImportError:
        return _by_library("lz4", "liblz4.so.1", stored, size)
    try:
        return bytes(lz4.decompress(stored, uncompressed_size=size))
    except lz4.LZ4BlockError as error:
        raise NotDecompressible(str(error)) from error


def _from_zstd(stored: bytes, size: int) -> bytes:
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


def _by_library(package: str, name: str, stored: bytes, size: int) -> bytes:
    library = _open(name)
    if library is None:
        raise NoCodec(package)
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
