"""The library in the recorded program."""

from __future__ import annotations

import os
from pathlib import Path

from cudarun.session.workers.c_library import build_libraries

SOURCES = Path(__file__).parent / "native"
_NAME = "librecord.so"


def build_library(folder: Path, options: tuple[str, ...] = ()) -> Path:
    """Return the path of the library in a folder, which is built if the cache does not have it.

    Raises:
        RequestError: It cannot be built.
    """
    sources = sorted(SOURCES.glob("*.[ch]"))
    code = [os.fspath(each) for each in sources if each.suffix == ".c"]
    command = (*options, *code, "-Wl,-Bsymbolic")
    build_libraries(folder, "record", sources, lambda: {_NAME: command})
    return folder / _NAME
