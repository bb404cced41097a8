"""The kernels that a PTX text defines, found without parsing it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORD = b".entry"
_KERNEL = re.compile(rb"\.entry\s+([\w$%]+)")
_BLOCK_COMMENT = re.compile(rb"/\*.*?(?:\*/|\Z)", re.DOTALL)
_BODY_OR_END = re.compile(rb"[{;]")


def kernel_names(text: bytes) -> tuple[str, ...]:
    """Return the names of the kernels in a text, up to its first NUL, in order."""
    text = text.split(b"\0", 1)[0]
    if b"/*" in text:
        text = _BLOCK_COMMENT.sub(b" ", text)
    names = []
    for start in _occurrences(text):
        found = _KERNEL.match(text, start)
        if found is None:
            continue
        line = text[text.rfind(b"\n", 0, start) + 1 : start]
        end = _BODY_OR_END.search(text, found.end())
        if b"//" not in line and end is not None and end[0] == b"{":
            names.append(found[1].decode())
    return tuple(dict.fromkeys(names))


def possible_names(text: bytes) -> list[str] | None:
    """Return all names that kernels in a text can have, and possibly others, as from comments.

    Returns:
        ``None`` if a name is not where it is expected, as after a comment.
    """
    names = []
    for start in _occurrences(text):
        found = _KERNEL.match(text, start)
        if found is None:
            return None
        names.append(found[1].decode())
    return names


def _occurrences(text: bytes) -> Iterator[int]:
    """Yield the offsets of the word; the search for its bytes is faster than an expression."""
    start = text.find(_WORD)
    while start >= 0:
        yield start
        start = text.find(_WORD, start + len(_WORD))
