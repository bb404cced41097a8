"""The names of the parameters of a Triton kernel, from the intermediate code beside its image."""

from __future__ import annotations

import os
import re
from pathlib import Path

from cudarun.session.image.triton import NAME_SUFFIXES

_LARGEST = 1 << 24  # bytes of a file
_PARAMETER = re.compile(r"%(?P<name>[A-Za-z_][\w.$-]*): ")
_NUMBERED = re.compile(r"arg[0-9]+")


def names_beside(origin: str, kernel: str) -> tuple[str, ...]:
    """Return the names of a kernel's parameters without those for scratch memory.

    Returns:
        The names, ``A.shape.0`` for a dimension of the tensor ``A``; nothing if they are unknown.
    """
    for path in (f"{os.path.splitext(origin)[0]}{suffix}" for suffix in NAME_SUFFIXES):
        try:
            if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST:
                continue
            text = Path(path).read_text(errors="replace")
        except OSError:
            continue
        found = _names(text, kernel)
        if found:
            return found
    return ()


def _names(text: str, kernel: str) -> tuple[str, ...]:
    found = re.search(rf"tt\.func public @{re.escape(kernel)}\(", text)
    if found is None:
        return ()
    end = text.find("\n", found.end())
    names = tuple(each["name"] for each in _PARAMETER.finditer(text[found.end() : end]))
    return () if any(_NUMBERED.fullmatch(name) for name in names) else names
