"""Files named in arguments and expressions: paths, formats and sizes, without numpy."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from cudarun.arguments.initial_values import FileInitial
from cudarun.arguments.values import Argument, Buffer, FileBuffer, Value, walk, with_parts
from cudarun.base.errors import RequestError

_NPY_MAGIC = b"\x93NUMPY"
_PNG_MAGIC = b"\x89PNG\r\n\x1a\n"


def locate(path: str, directory: Path) -> Path:
    """Resolve a path: relative to ``directory``, with ``~`` as the home directory."""
    return directory / Path(path).expanduser()


def relocated(argument: Argument, move: Callable[[str], str]) -> Argument:
    """Return the argument with ``move`` applied to every path in it."""

    def moved(value: Value) -> Value:
        match value:
            case FileBuffer(path):
                return replace(value, path=move(path))
            case Buffer(initial=FileInitial(path) as initial):
                return replace(value, initial=replace(initial, path=move(path)))
        return with_parts(value, moved)

    return replace(argument, value=moved(argument.value))


def files_of(argument: Argument) -> list[str]:
    """Return every path in the argument, as written."""
    initials = (getattr(value, "initial", None) for value in walk(argument.value))
    return [each.path for each in initials if isinstance(each, FileInitial)]


def unreadable(path: Path, error: OSError | ValueError) -> RequestError:
    """Return the error for a file that cannot be read; a path with a NUL is a ``ValueError``."""
    reason = error.strerror if isinstance(error, OSError) else None
    shown = str(path).replace("\0", "\\0")
    return RequestError(f"cannot read {shown}: {reason or error}", file=shown)


def regular_size(path: Path) -> int:
    """Return the size of a regular file: others have no end, or can be read only once.

    Raises:
        RequestError: It cannot be read, or is not a regular file.
    """
    try:
        found = path.stat()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    if stat.S_ISDIR(found.st_mode):
        raise unreadable(path, IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)))
    if not stat.S_ISREG(found.st_mode):
        raise RequestError(f"cannot read {path}: not a regular file", file=str(path))
    return found.st_size


def is_npy(path: Path) -> bool:
    """Return whether a file's contents are in numpy's format; its name does not matter."""
    return _starts_with(path, _NPY_MAGIC)


def is_png(path: Path) -> bool:
    """Return whether a file is a PNG image; its name does not matter."""
    return _starts_with(path, _PNG_MAGIC)


def _starts_with(path: Path, magic: bytes) -> bool:
    regular_size(path)
    try:
        with path.open("rb") as stream:
            return stream.read(len(magic)) == magic
    except OSError as error:
        raise unreadable(path, error) from None


def check_raw_size(path: Path, nbytes: int, what: str) -> None:
    """Check that a raw file has exactly the size of the buffer ``what``.

    Raises:
        RequestError: The sizes differ.
    """
    size = regular_size(path)
    if size != nbytes:
        raise RequestError(f"{path} has {size} bytes; {what} has {nbytes}", file=str(path))
