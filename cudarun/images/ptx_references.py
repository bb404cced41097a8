"""The variables to which a kernel of a PTX text refers, itself or through the functions it calls.

The text is searched, not parsed: of a large file only the functions concerned are read. Calls
through pointers are not followed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

_CALL = re.compile(r"\bcall(?:\.uni)?\s+(?:\([^()]*\)\s*,\s*)?([A-Za-z_$][\w$]*)")
_FUNCTION = re.compile(
    r"\.(?:entry|func)\b(?:\s+|\.\w+|\((?:[^()]|\([^()]*\))*\)){0,64}+([A-Za-z_$%][\w$]*)"
)
_BODY_OR_END = re.compile(r"[{;]")
_BRACE = re.compile(r"[{}]|//[^\n]*|\"[^\"\n]*\"")


def references(text: str, kernel: str, names: Collection[str]) -> set[str]:
    """Return those of the names that a kernel uses."""
    if not names:
        return set()
    heads: dict[str, list[int]] = {}
    for function in _FUNCTION.finditer(text):
        heads.setdefault(function[1], []).append(function.end())
    mention = re.compile(rf"(?<![\w$%.])(?:{'|'.join(map(re.escape, names))})(?![\w$])")
    found: set[str] = set()
    seen, waiting = {kernel}, [kernel]
    while waiting:
        body = _body(text, heads.get(waiting.pop(), ()))
        found |= set(mention.findall(body))
        called = set(_CALL.findall(body)) - seen
        seen |= called
        waiting += called
    return found


def _body(text: str, heads: Iterable[int]) -> str:
    """Return the text between the braces of a function; a declaration has none."""
    for head in heads:
        start = _BODY_OR_END.search(text, head)
        if start is None or start[0] == ";":
            continue
        level = 0
        for brace in _BRACE.finditer(text, start.start()):
            level += {"{": 1, "}": -1}.get(brace[0], 0)
            if level == 0:
                return text[start.end() : brace.start()]
    return ""
