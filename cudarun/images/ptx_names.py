"""The kernels that a PTX text defines, found without parsing it."""

from __future__ import annotations

import re

_KERNEL = re.compile(rb"\.entry\s+([\w$%]+)")
_BLOCK_COMMENT = re.compile(rb"/\*.*?(?:\*/|\Z)", re.DOTALL)
_BODY_OR_END = re.compile(rb"[{;]")


def kernel_names(text: bytes) -> tuple[str, ...]:
    """Return the names of the kernels in a text, up to its first NUL, in order."""
    text = text.split(b"\0", 1)[0]
    if b"/*" in text:
        text = _BLOCK_COMMENT.sub(b" ", text)
    names = []
    for found in _KERNEL.finditer(text):
        line = text[text.rfind(b"\n", 0, found.start()) + 1 : found.start()]
        end = _BODY_OR_END.search(text, found.end())
        if b"//" not in line and end is not None and end[0] == b"{":
            names.append(found[1].decode())
    return tuple(dict.fromkeys(names))
