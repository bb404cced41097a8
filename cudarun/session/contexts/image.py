"""The image ``builtin`` for context scripts: small kernels and variables."""

from __future__ import annotations

from pathlib import Path

from cudarun.session.image.image import Image


def builtin_image() -> Image:
    """Return the image in the same form as one read from a file."""
    from cudarun.images.reader import read_image

    data = Path(__file__).with_name("builtin.ptx").read_bytes()
    return Image("builtin", data, read_image(data, "builtin"))
