"""Text files of the user: specs and scripts, read up to a limit."""

from __future__ import annotations

import sys
from typing import BinaryIO

from cudarun.base.errors import RequestError

DASH = "-"
"""The name of stdin on the command line."""
MAX_BYTES = 4 << 20
"""The largest text."""


def read_text(path: str, option: str, limit: int = MAX_BYTES) -> str:
    """Read a file, a pipe or, for ``-``, stdin, up to a limit.

    Args:
        path: The file.
        option: The option that names it.
        limit: The most bytes.

    Raises:
        RequestError: The file cannot be read, is too large or is not in UTF-8.
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
