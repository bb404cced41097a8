"""Files that commands read: an image from a path or from stdin."""

from __future__ import annotations

import sys
from pathlib import Path

from cudarun.errors import ImageRefused, RequestError
from cudarun.images.identify import ImageKind, identify
from cudarun.session.requests import Image


def read_input(name: str) -> Image:
    """Read an image file; ``-`` is stdin.

    Raises:
        RequestError: It cannot be read.
        ImageRefused: It is empty, or is nothing that any driver could load.
    """
    if name == "-":
        image = Image("<stdin>", sys.stdin.buffer.read())
    else:
        try:
            image = Image(name, Path(name).read_bytes())
        except OSError as error:
            raise RequestError(f"{name}: {error.strerror}") from error
    if not image.data:
        raise ImageRefused(f"{image.origin}: the file is empty")
    if identify(image.data) is ImageKind.UNKNOWN:
        raise ImageRefused(
            f"{image.origin}: not an image", hint="an image is PTX text, a cubin or a fatbin"
        )
    return image
