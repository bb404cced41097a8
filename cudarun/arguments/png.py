"""PNG images as arrays of numpy.

PNG specification (third edition): https://www.w3.org/TR/png-3. Every color type, depth and filter
is read, interlaced or not; colors are those of the file, without regard to gamma and profiles.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cudarun.arguments.files import unreadable
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass

_SIGNATURE_BYTES = 8
_Bytes = npt.NDArray[np.uint8]
_Pixels = npt.NDArray[Any]

_GRAY, _RGB, _PALETTE, _GRAY_ALPHA, _RGBA = 0, 2, 3, 4, 6
_DEPTHS = {
    _GRAY: (1, 2, 4, 8, 16),
    _PALETTE: (1, 2, 4, 8),
    **dict.fromkeys((_RGB, _GRAY_ALPHA, _RGBA), (8, 16)),
}
_CHANNELS = {_GRAY: 1, _RGB: 3, _PALETTE: 1, _GRAY_ALPHA: 2, _RGBA: 4}
_SUB, _UP, _AVERAGE, _PAETH = 1, 2, 3, 4
_PASSES = (
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
    (0, 1, 1, 2),
)  # fmt: skip
"""The passes of interlaced images: the first column and row, and the steps of both."""
_MOST_RATIO = 1040  # of deflate: 258 bytes in 2 bits


@dataclass(frozen=True)
class PngHeader:
    """The header of a PNG image.

    Attributes:
        width: Pixels per row.
        height: Rows.
        depth: Bits of a sample, or of an index to the palette.
        color: The color type.
        interlaced: Whether the rows are in seven passes.
        palette: The palette, an RGB color to a row.
        transparency: The contents of ``tRNS``; ``None`` without one.
    """

    width: int
    height: int
    depth: int
    color: int
    interlaced: bool
    palette: _Bytes | None = None
    transparency: bytes | None = None

    @property
    def channels(self) -> int:
        """The channels of a pixel: 1, or 3 of colors, and one more for alpha."""
        colors = 3 if self.color == _PALETTE else _CHANNELS[self.color]
        return colors + (self.transparency is not None)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array: rows and columns, and channels if there are several."""
        size = self.height, self.width
        return size if self.channels == 1 else (*size, self.channels)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of a channel."""
        return np.dtype(np.uint16 if self.depth == 16 else np.uint8)

    @property
    def sample_bits(self) -> int:
        """The bits of a pixel in the file."""
        return self.depth * _CHANNELS[self.color]

    @property
    def passes(self) -> list[tuple[tuple[int, int, int, int], int, int]]:
        """The passes with pixels: the place of each, its width and its height."""
        found = []
        for place in _PASSES if self.interlaced else ((0, 0, 1, 1),):
            x, y, across, down = place
            width, height = -(-(self.width - x) // across), -(-(self.height - y) // down)
            if width > 0 and height > 0:
                found.append((place, width, height))
        return found

    def stride(self, width: int) -> int:
        """Return the bytes of a filtered row, with that of its filter."""
        return 1 + -(-width * self.sample_bits // 8)


class _Damaged(Exception):
    """A file that is no valid PNG image."""


def png_header(path: Path) -> PngHeader:
    """Return the header of a PNG file.

    Raises:
        RequestError: The file cannot be read, or is damaged.
    """
    return _parsed(path)[0]


def read_png(path: Path) -> _Pixels:
    """Return the pixels of a PNG file: rows × columns, or rows × columns × channels.

    Raises:
        RequestError: The file cannot be read, or is damaged.
    """
    header, compressed = _parsed(path)
    try:
        return _pixels(header, compressed)
    except (_Damaged, zlib.error) as error:
        raise _refused(path, str(error)) from None


def _refused(path: Path, why: str) -> RequestError:
    return RequestError(f"cannot read {path}: the PNG image is damaged: {why}", file=str(path))


def _parsed(path: Path) -> tuple[PngHeader, bytes]:
    try:
        data = path.read_bytes()
        return _contents(data)
    except OSError as error:
        raise unreadable(path, error) from None
    except (_Damaged, struct.error) as error:
        raise _refused(path, str(error)) from None


# --- the file ------------------------------------------------------------------------------------


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the types and the contents of the chunks up to the end of the image."""
    at = _SIGNATURE_BYTES
    while True:
        if at + 12 > len(data):
            raise _Damaged("it is truncated")
        size, kind = struct.unpack_from(">I4s", data, at)
        content = data[at + 8 : at + 8 + size]
        if at + 12 + size > len(data):
            raise _Damaged("it is truncated")
        (checksum,) = struct.unpack_from(">I", data, at + 8 + size)
        if zlib.crc32(kind + content) != checksum:
            raise _Damaged(f"the checksum of a chunk of type {kind!r} is wrong")
        if kind == b"IEND":
            return
        yield kind, content
        at += 12 + size


def _contents(data: bytes) -> tuple[PngHeader, bytes]:
    """Return the header and the compressed rows."""
    chunks = _chunks(data)
    kind, content = next(chunks, (b"", b""))
    if kind != b"IHDR" or len(content) != 13:
        raise _Damaged("it has no header")
    width, height, depth, color, compression, filtering, interlace = struct.unpack(
        ">IIBBBBB", content
    )
    if depth not in _DEPTHS.get(color, ()) or compression or filtering or interlace > 1:
        raise _Damaged("its header has unknown values")
    if not (0 < width < 1 << 31 and 0 < height < 1 << 31):
        raise _Damaged("it has no pixels")
    palette: _Bytes | None = None
    transparency: bytes | None = None
    rows: list[bytes] = []
    for kind, content in chunks:
        if kind == b"PLTE":
            if len(content) % 3 or not content:
                raise _Damaged("its palette has incomplete colors")
            palette = np.frombuffer(content, np.uint8).reshape(-1, 3)
        elif kind == b"tRNS" and color in (_GRAY, _RGB, _PALETTE):
            transparency = content
        elif kind == b"IDAT":
            rows.append(content)
        elif not kind[0] & 0x20:
            raise _Damaged(f"a chunk of type {kind!r} is unknown")
    if color == _PALETTE and palette is None:
        raise _Damaged("it has no palette")
    if transparency is not None and color != _PALETTE and len(transparency) != 2 * _CHANNELS[color]:
        raise _Damaged("its transparent color is incomplete")
    header = PngHeader(width, height, depth, color, interlace == 1, palette, transparency)
    return header, b"".join(rows)


# --- pixels --------------------------------------------------------------------------------------


def _pixels(header: PngHeader, compressed: bytes) -> _Pixels:
    sizes = [height * header.stride(width) for _, width, height in header.passes]
    if sum(sizes) > _MOST_RATIO * len(compressed) + _MOST_RATIO:
        raise _Damaged("its rows are truncated")
    raw = zlib.decompressobj().decompress(compressed, sum(sizes))
    if len(raw) != sum(sizes):
        raise _Damaged("its rows are truncated")
    channels = _CHANNELS[header.color]
    samples = np.empty((header.height, header.width, channels), header.dtype)
    start = 0
    for (place, width, height), size in zip(header.passes, sizes, strict=True):
        x, y, across, down = place
        rows = np.frombuffer(raw, np.uint8, size, start).reshape(height, -1)
        bytes_ = _unfiltered(rows, max(header.sample_bits // 8, 1))
        samples[y::down, x::across] = _samples(bytes_, header.depth, width, channels)
        start += size
    return _colors(header, samples).reshape(header.shape)


def _unfiltered(rows: _Bytes, step: int) -> _Bytes:
    """Return rows without their filters; ``step`` is the distance to the pixel on the left."""
    filters, filtered = rows[:, 0], rows[:, 1:]
    if filters.max() > _PAETH:
        raise _Damaged(f"filter {filters.max()} is unknown")
    if filters.max() > _UP:
        return _unfiltered_by_diagonals(filters, filtered, step)
    result = filtered.copy()
    for y, kind in enumerate(filters.tolist()):
        if kind == _SUB:
            by_pixel = _by_pixel(result[y : y + 1], step)[0]
            total = np.add.accumulate(by_pixel, axis=0, dtype=np.uint8)
            result[y] = total.reshape(-1)[: result.shape[1]]
        elif kind == _UP and y:
            result[y] += result[y - 1]
    return result


def _by_pixel(rows: _Bytes, step: int) -> _Bytes:
    """Return rows as pixels of ``step`` bytes, the last one filled up."""
    height, width = rows.shape
    columns = -(-width // step)
    whole = np.zeros((height, columns * step), np.uint8)
    whole[:, :width] = rows
    return whole.reshape(height, columns, step)


def _unfiltered_by_diagonals(filters: _Bytes, filtered: _Bytes, step: int) -> _Bytes:
    """Undo filters that depend on the pixels on the left, above, and above on the left.

    These are on the diagonals before that of a pixel, so that a diagonal is computed at once.
    """
    pixels = _by_pixel(filtered, step)
    height, columns, _ = pixels.shape
    pitch = columns + 1
    # Rows and columns of zeros precede the pixels, which makes a diagonal a slice of this step:
    result = np.zeros(((height + 1) * pitch, step), np.int16)
    source = pixels.reshape(-1, step)
    kind = filters[:, np.newaxis]
    for diagonal in range(height + columns - 1):
        first, end = max(0, diagonal - columns + 1), min(height, diagonal + 1)
        here = (first + 1) * pitch + diagonal - first + 1

        def part(at: int, count: int = end - first) -> npt.NDArray[np.int16]:
            return result[at : at + (count - 1) * (pitch - 1) + 1 : pitch - 1]

        left, above, corner = part(here - 1), part(here - pitch), part(here - pitch - 1)
        from_left, from_above = np.abs(above - corner), np.abs(left - corner)
        from_corner = np.abs(left + above - 2 * corner)
        nearest = np.where(
            (from_left <= from_above) & (from_left <= from_corner),
            left,
            np.where(from_above <= from_corner, above, corner),
        )
        choices = (np.zeros_like(left), left, above, (left + above) >> 1, nearest)
        predicted = np.choose(kind[first:end], choices)
        at = first * columns + diagonal - first
        count = end - first
        given = source[at : at + (count - 1) * (columns - 1) + 1 : max(columns - 1, 1)]
        part(here)[...] = (predicted + given) & 0xFF
    whole = result.reshape(height + 1, pitch, step)[1:, 1:].astype(np.uint8)
    return whole.reshape(height, -1)[:, : filtered.shape[1]]


def _samples(rows: _Bytes, depth: int, width: int, channels: int) -> _Pixels:
    """Return the samples of rows: rows × columns × channels."""
    height = len(rows)
    if depth == 16:
        return np.ascontiguousarray(rows).view(">u2").reshape(height, width, channels)
    if depth == 8:
        return rows.reshape(height, width, channels)
    shifts = np.arange(8 - depth, -1, -depth, dtype=np.uint8)
    unpacked = (rows[:, :, np.newaxis] >> shifts) & ((1 << depth) - 1)
    return unpacked.reshape(height, -1)[:, :width, np.newaxis]


def _colors(header: PngHeader, samples: _Pixels) -> _Pixels:
    """Return the channels of samples: colors of the palette, full range, and alpha."""
    if header.color == _PALETTE:
        assert header.palette is not None, "the file has one"
        index = samples[..., 0]
        if index.max() >= len(header.palette):
            raise _Damaged("a pixel has no color in its palette")
        if header.transparency is None:
            return header.palette[index]
        alpha = np.full(len(header.palette), 255, np.uint8)
        given = np.frombuffer(header.transparency, np.uint8)[: len(alpha)]
        alpha[: len(given)] = given
        return np.concatenate((header.palette, alpha[:, np.newaxis]), axis=1)[index]
    scale = 255 // ((1 << header.depth) - 1) if header.depth < 8 else 1
    scaled: _Pixels = samples * header.dtype.type(scale)
    if header.transparency is None:
        return scaled
    key = np.frombuffer(header.transparency, ">u2")
    opaque = (samples != key).any(axis=2, keepdims=True)
    most = header.dtype.type((1 << max(header.depth, 8)) - 1)
    return np.concatenate((scaled, opaque * most), axis=2)
