"""Input files of commands: an image from a path or from stdin."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from cudarun.errors import ImageRefused, RequestError
from cudarun.session.image.image import STDIN, Image

if TYPE_CHECKING:
    from cudarun.images.facts import ImageFacts
    from cudarun.session.image.compilation import CompileOptions


def read_input(name: str, compilation: CompileOptions | None = None) -> Image:
    """Read an image file; ``-`` is stdin.

    Args:
        name: The path.
        compilation: The compile options, if the file is CUDA source.

    Raises:
        RequestError: The file cannot be read.
        ImageRefused: The file is empty, or in no format that a driver loads.
    """
    image = open_input(name, compilation)
    return replace(image, facts=_facts(image.data, image.origin))


def open_input(name: str, compilation: CompileOptions | None = None) -> Image:
    """Read a file in any format; its user reports errors in the contents.

    Raises:
        RequestError: The file cannot be read.
    """
    return Image(STDIN if name == "-" else name, _read(name), compilation=compilation)


def _read(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        with open(name, "rb") as file:
            return file.read()
    except OSError as error:
        raise RequestError(str(error.strerror), origin=name) from error


def _facts(data: bytes, origin: str) -> ImageFacts | None:
    from cudarun.images.kinds import ImageKind, identify

    kind = identify(data)
    if kind is ImageKind.EMPTY:
        raise ImageRefused("the file is empty", origin=origin)
    if kind is ImageKind.UNKNOWN:
        raise ImageRefused(
            "not an image",
            hint="an image is PTX text, a cubin, a fatbin or CUDA source",
            origin=origin,
        )
    if kind is ImageKind.CUBIN:
        from cudarun.images.elf import read_elf

        read_elf(data, origin, kind)  # the driver crashes on a truncated cubin
    if kind not in (ImageKind.PTX, ImageKind.CUBIN):
        return None
    from cudarun.images.reader import read_image

    try:
        return read_image(data, origin)
    except ImageRefused:
        return None
