"""Input files of commands, from a path or from stdin: images, and texts of the user."""

from __future__ import annotations

import os
import stat
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from cudarun.base.errors import ImageRefused, RequestError
from cudarun.commands.declaration import Values, filled
from cudarun.session.image.image import IN_MEMORY, MAX_IMAGE, STDIN, CompileOptions, Image

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudarun.images.contents import Data
    from cudarun.images.facts import ImageFacts

DASH = "-"  # the name of stdin on the command line
MAX_BYTES = 4 << 20  # the largest text: of a spec or a script
ZIP_MAGIC = b"PK\x03\x04"  # the start of a zip, which no image is: of a recording

_MAPPED_FROM = 1 << 20  # the size in bytes from which a file is mapped: a map keeps its file open

_LONG = 1 << 18
"""The size in bytes from which PTX is searched for a kernel before its declarations are parsed."""


def read_input(
    name: str | bytes,
    compilation: CompileOptions | None = None,
    limit: int | None = None,
    kernel: str | None = None,
) -> Image:
    """Read an image file; ``-`` is stdin; `ImageRefused` for what no driver loads.

    Args:
        name: The path, or the contents.
        compilation: The compile options, if the file is CUDA source.
        limit: The most bytes of a file that is read as a whole, and of code when decompressed.
        kernel: The kernel that will be used.
    """
    image, portable = open_input(name, compilation, limit), None
    if (recording := image.recording) is not None:
        kernel = recording.manifest.kernel
        if recording.ptx is not None and recording.ptx != recording.image:  # for emulated devices
            facts = _facts(recording.ptx, image.origin, kernel)
            portable = replace(image, data=recording.ptx, facts=facts)
    return replace(image, facts=_facts(image.data, image.origin, kernel), portable=portable)


def open_input(
    name: str | bytes, compilation: CompileOptions | None = None, limit: int | None = None
) -> Image:
    """Read a file in any format; its user reports errors in the contents.

    A large fatbin, object, library or executable is mapped, and read part by part when it is used.
    The limit applies to its code, see `cudarun.images.reader.check_sizes`.
    """
    most = limit or MAX_IMAGE
    if isinstance(name, bytes):
        _check_size(len(name), most, IN_MEMORY)
        return Image(IN_MEMORY, name, limit=most, compilation=compilation)
    origin = STDIN if name == "-" else name
    data = _read(name, most, origin)
    if bytes(data[:4]) == ZIP_MAGIC and name != "-":
        from cudarun.session.recording.archive import read_recording  # few images are one

        recording = read_recording(name, most)
        return Image(origin, recording.image, limit=most, recording=recording)
    return Image(origin, data, limit=most, compilation=compilation)


def is_recording(path: str) -> bool:
    """Return whether a path is that of a recording, by its first bytes."""
    try:
        with open(path, "rb") as file:
            return stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.read(4) == ZIP_MAGIC
    except (OSError, ValueError):  # its reader reports it
        return False


def open_inputs(names: Sequence[str], values: Values) -> tuple[Image, ...]:
    """Read several files with the compile options and the limit of a command; stdin once."""
    if names.count("-") > 1:
        raise RequestError("stdin (-) can be read only once")
    compilation = filled(CompileOptions, values)
    return tuple(open_input(name, compilation, values["max_image"]) for name in names)


def _read(name: str, most: int, origin: str) -> Data:
    if name == "-":
        return _complete(sys.stdin.buffer, most, origin)
    try:
        with open(name, "rb") as file:
            return _mapped(file) or _complete(file, most, origin)
    except (OSError, ValueError) as error:  # the latter of a path with a NUL
        reason = error.strerror if isinstance(error, OSError) else None
        raise RequestError(str(reason or error), origin=name.replace("\0", "\\0")) from error


def _mapped(file: BinaryIO) -> Data | None:
    """Map a large regular file that contains other images; return ``None`` for any other one."""
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode) or found.st_size < _MAPPED_FROM:
        return None
    from cudarun.images.kinds import CONTAINERS, SIGNATURE_BYTES, identify_by_signature

    start = os.pread(file.fileno(), SIGNATURE_BYTES, 0)
    if identify_by_signature(start) not in CONTAINERS:
        return None
    from cudarun.images.contents import MappedFile

    return MappedFile.of(file)


def _complete(file: BinaryIO, most: int, origin: str) -> bytes:
    """Read all of a regular file, a pipe or stdin: other devices have no end."""
    found = os.fstat(file.fileno())
    if stat.S_ISCHR(found.st_mode) and file is not sys.stdin.buffer:
        raise RequestError("neither a regular file nor a pipe", origin=origin)
    # The buffer of a read is as large as the request: not the whole limit for a small file.
    data = b"" if found.st_size > most else file.read((found.st_size or most) + 1)
    _check_size(max(found.st_size, len(data)), most, origin)
    return data


def _check_size(size: int, most: int, origin: str) -> None:
    """Refuse an image that is larger than the limit."""
    if size > most:
        raise RequestError(
            f"the image is larger than the limit of {most} bytes",
            hint="raise the limit: --max-image BYTES",
            origin=origin,
        )


def _facts(data: Data, origin: str, kernel: str | None) -> ImageFacts | None:
    from cudarun.images.kinds import ImageKind, identify

    kind = identify(data)
    if kind is ImageKind.EMPTY:
        raise ImageRefused("the file is empty", origin=origin)
    if kind is ImageKind.UNKNOWN:
        raise ImageRefused(
            "not an image", hint="pass PTX text, a cubin, a fatbin or CUDA source", origin=origin
        )
    if kind not in (ImageKind.PTX, ImageKind.CUBIN):
        return None
    if kind is ImageKind.PTX and kernel is not None and len(data) > _LONG:
        from cudarun.session.image.kernels import check_text

        check_text(bytes(data), kernel, origin)
    from cudarun.images.reader import check_structure, read_image

    if kind is ImageKind.CUBIN:  # of containers the workers do
        check_structure(data, origin)
    try:
        return read_image(data, origin, whole=False)
    except ImageRefused:
        return None


def read_text(path: str, option: str, limit: int = MAX_BYTES) -> str:
    """Read a file, a pipe or, for ``-``, stdin: text in UTF-8, up to a limit.

    Args:
        option: The option that names it.
    """
    if path == DASH:
        return _decoded(sys.stdin.buffer, path, option, limit)
    try:
        with open(path, "rb") as file:
            return _decoded(file, path, option, limit)
    except OSError as error:
        raise RequestError(f"{path}: {error.strerror}", option=option) from error


def _decoded(file: BinaryIO, path: str, option: str, limit: int) -> str:
    data = file.read(limit + 1)
    if len(data) > limit:
        raise RequestError(f"{path}: larger than the limit of {limit >> 20} MiB", option=option)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise RequestError(f"{path} is not UTF-8 text", option=option) from error
