"""PNG images as arrays of numpy, read with Pillow; gamma and color profiles are ignored."""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cudarun.arguments.dtypes import Array
from cudarun.arguments.files import unreadable
from cudarun.base.errors import RequestError

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

_GRAY_BITS = {"1": 1, "L;2": 2, "L;4": 4, "L": 8, "I;16B": 16}
"""The bits of a gray pixel, by Pillow's name of its form in the file."""
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # the samples of a pixel, by its color type
_PASSES = (
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
    (0, 1, 1, 2),
)  # fmt: skip
"""The passes of interlaced images: the first column and row, and the steps of both."""


def png_header(path: Path) -> Array:
    """Return an array with the shape and the type of the pixels of a PNG file, but not these.

    The shape is rows × columns, or rows × columns × channels if there are several of them.
    """
    with _opened(path) as (image, form):
        axes = (channels,) if (channels := len(_mode(image))) > 1 else ()
        wide = _GRAY_BITS.get(form) == 16
        return np.empty((image.height, image.width, *axes), f"u{1 + wide}")


def read_png(path: Path) -> Array:
    """Return the pixels of a PNG file: rows × columns, or rows × columns × channels.

    Raises:
        RequestError: As of `png_header`.
    """
    with _opened(path) as (image, form):
        if _has_missing_rows(path.read_bytes(), image.tile[0][2]):
            raise _damaged(path, "its rows are truncated")
        if image.mode == "P":
            colors = len(image.palette.getdata()[1]) // 3 if image.palette else 0
            largest = np.array(image).max()
            if largest >= colors:
                raise _damaged(path, f"its palette has no color {largest}")
        if form not in _GRAY_BITS:
            return np.array(image.convert(_mode(image)))
        gray = np.array(image.convert("L") if form == "1" else image)
        transparent = image.info.get("transparency")
        if transparent is None:
            return gray
        # Pillow expands the samples to 8 bits; the transparent one only of one bit, and not always.
        most, sample_most = np.iinfo(gray.dtype).max, (1 << _GRAY_BITS[form]) - 1
        if form == "1":
            transparent = min(transparent, 1)
        is_opaque = gray != transparent * (most // sample_most)
        return np.stack((gray, is_opaque * gray.dtype.type(most)), axis=2)


def _has_missing_rows(data: bytes, at: int) -> bool:
    """Return whether image data is too short: Pillow reads missing rows as zeros.

    Args:
        at: The offset of the contents of the first chunk of image data.
    """
    if data[12:16] != b"IHDR":
        raise ValueError("it does not begin with a header")
    width, height, depth, color, _, _, interlaced = struct.unpack_from(">IIBBBBB", data, 16)
    needed = 0
    for x, y, across, down in _PASSES if interlaced else ((0, 0, 1, 1),):
        columns, rows = -(-(width - x) // across), -(-(height - y) // down)
        if columns > 0:  # else the pass has no rows
            needed += max(rows, 0) * (1 + -(-columns * depth * _CHANNELS[color] // 8))
    parts = []
    while data[at - 4 : at] == b"IDAT":
        (size,) = struct.unpack_from(">I", data, at - 8)
        parts.append(data[at : at + size])
        at += size + 12
    return len(zlib.decompressobj().decompress(b"".join(parts), needed)) < needed


def _mode(image: ImageFile) -> str:
    """Return Pillow's mode of the pixels: one letter for each channel."""
    mode = {"1": "L", "I;16": "L", "P": "RGB"}.get(image.mode, image.mode)
    return f"{mode}A" if "transparency" in image.info and not mode.endswith("A") else mode


@contextmanager
def _opened(path: Path) -> Iterator[tuple[ImageFile, str]]:
    """Open an image; also return the form of its pixels in the file."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise RequestError(
            f"cannot read {path}: PNG images require Pillow", hint="pip install pillow"
        ) from None
    try:
        with warnings.catch_warnings(), path.open("rb") as file:
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            checked = Image.open(file, formats=["PNG"])
            if not checked.tile:
                raise _damaged(path, "it has no pixels")
            checked.verify()  # the checksums; reading ignores them
            file.seek(0)
            with Image.open(file, formats=["PNG"]) as image:
                form = str(image.tile[0][3])
                if form.endswith(";16B") and form not in _GRAY_BITS:
                    raise RequestError(
                        f"{path} has colors or alpha of 16 bits, which Pillow does not read",
                        hint="save its pixels as .npy, or with 8 bits per channel",
                        file=str(path),
                    )
                yield image, form
    except Image.DecompressionBombError as error:
        raise RequestError(f"cannot read {path}: {error}", file=str(path)) from None
    except (ValueError, SyntaxError, EOFError, struct.error, zlib.error) as error:
        raise _damaged(path, error) from None
    except UnidentifiedImageError:
        raise _damaged(path, "its header is not valid") from None
    except OSError as error:
        raise (unreadable if error.errno else _damaged)(path, error) from None


def _damaged(path: Path, why: object) -> RequestError:
    return RequestError(f"cannot read {path}: the PNG image is damaged: {why}", file=str(path))
