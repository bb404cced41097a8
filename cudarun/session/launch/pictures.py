"""Buffers as pictures: the figures of ``--show`` for a terminal, and PNG files.

PNG specification (third edition): https://www.w3.org/TR/png-3
"""

from __future__ import annotations

import math
import struct
import zlib
from typing import IO

import numpy as np
import numpy.typing as npt

from cudarun.arguments.dtypes import Array
from cudarun.arguments.packing import BufferSpec
from cudarun.arguments.types import StructType, innermost
from cudarun.base.errors import RequestError
from cudarun.model.launch import Figure
from cudarun.session.launch.step_request import Show

_BINS = 16
_COLUMNS = 80  # of an image
_PLOT_COLUMNS = 68  # fits beside the labels on a narrow terminal
_IMAGE_ROWS = 80  # two rows per line of text

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # by number of channels: gray, RGB, with 2 and 4 alpha
_NO_FILTER = 0


def check_showable(show: Show, spec: BufferSpec) -> None:
    """Refuse, before the launch, a form in which a buffer cannot be shown."""
    if isinstance(innermost(spec.type), StructType):
        raise RequestError(f"{spec.name} is {spec}: structs cannot be plotted", option="--show")
    if show.kind == "image":
        require_image(spec, "--show")
    if spec.nbytes == 0:
        raise RequestError(f"{spec.name} is {spec}: it has no elements to plot", option="--show")


def figure(show: Show, data: Array) -> Figure:
    """Return the figure of a buffer's contents; a plot is over the elements in memory order."""
    if show.kind == "image":
        return Figure(show.name, "image", 0.0, 255.0, 0, _image(data))
    with np.errstate(invalid="ignore"):  # of signaling NaNs, which elements never written are
        numbers = data.reshape(-1).astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    left_out = numbers.size - finite.size
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    if show.kind == "plot":
        return Figure(show.name, show.kind, low, high, left_out, _plot(numbers))
    bins = _BINS if high > low else 1  # equal intervals
    counts, _ = np.histogram(finite, bins, range=(low, high))
    return Figure(show.name, show.kind, low, high, left_out, tuple(counts.tolist()))


def _plot(numbers: Array) -> tuple[tuple[float, float] | None, ...]:
    """Return the smallest and the largest number of each column; ``None`` without finite ones."""
    columns = np.array_split(numbers, min(_PLOT_COLUMNS, numbers.size))
    finite = (column[np.isfinite(column)] for column in columns)
    return tuple((float(c.min()), float(c.max())) if c.size else None for c in finite)


def _image(data: Array) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """Return rows of pixels ``(red, green, blue)``; a large image by its nearest pixels."""
    pixels = brightness(data)
    pixels = pixels[..., : 3 if pixels.shape[2] > 2 else 1]  # without alpha
    height, width, channels = pixels.shape
    step = max(width / _COLUMNS, height / _IMAGE_ROWS, 1.0)
    rows, columns = (
        (np.arange(max(int(side / step), 1)) * step).astype(int) for side in (height, width)
    )
    small = pixels[rows][:, columns]
    return tuple(tuple(tuple(pixel) * (3 // channels) for pixel in row) for row in small.tolist())


def require_image(spec: BufferSpec, option: str, file: str = "") -> None:
    """Refuse a buffer that is no nonempty image: rows × columns, or with 1 to 4 channels.

    ``uchar4[h,w]`` has 4 channels.
    """
    shape = spec.array_shape
    channels = len(shape) == 2 or (len(shape) == 3 and shape[2] in _COLOR_TYPES)
    if not channels or 0 in shape or isinstance(innermost(spec.type), StructType):
        raise RequestError(
            f"{file}{spec.name} is {spec}, which is not an image",
            hint="an image has rows × columns of numbers or of vectors of 2 to 4, such as "
            "uchar4[h,w]",
            option=option,
        )


def brightness(data: Array) -> npt.NDArray[np.uint8]:
    """Convert an image's numbers to 0 to 255, with an axis of channels.

    Bytes are unchanged, booleans are black and white, and floats between 0 and 1 are scaled by 255.
    Other numbers are scaled from their minimum to their maximum. Nonfinite numbers are black.
    """
    pixels = data if data.ndim == 3 else data[..., np.newaxis]
    if pixels.dtype == np.uint8:
        return pixels
    if pixels.dtype == np.bool_:
        return np.where(pixels, np.uint8(255), np.uint8(0))
    with np.errstate(all="ignore"):
        numbers = pixels.astype(np.float64)
        finite = np.isfinite(numbers)
        low, high = (numbers[finite].min(), numbers[finite].max()) if finite.any() else (0.0, 1.0)
        if data.dtype.kind not in "iu" and low >= 0 and high <= 1:
            low, high = 0.0, 1.0
        scaled = (numbers - low) / (high - low) if high > low else np.zeros_like(numbers)
        return np.asarray(np.rint(np.where(finite, scaled, 0.0) * 255), np.uint8)


def write_png(file: IO[bytes], data: Array) -> None:
    """Write an image with 8 bits per channel; numbers of 16 bits without sign are kept as such."""
    is_wide = data.dtype == np.uint16
    pixels: Array = data if is_wide else brightness(data)
    height, width = data.shape[:2]
    channels = math.prod(data.shape[2:])
    big = pixels.astype(">u2" if is_wide else np.uint8).reshape(height, -1).view(np.uint8)
    rows = np.empty((height, 1 + big.shape[1]), np.uint8)
    rows[:, 0] = _NO_FILTER
    rows[:, 1:] = big
    depth = 16 if is_wide else 8
    header = struct.pack(">IIBBBBB", width, height, depth, _COLOR_TYPES[channels], 0, 0, 0)
    file.write(_SIGNATURE)
    for kind, content in (
        (b"IHDR", header),
        (b"IDAT", zlib.compress(rows.tobytes())),
        (b"IEND", b""),
    ):
        checksum = zlib.crc32(kind + content)
        file.write(struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum))
