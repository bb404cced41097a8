"""The variables to which a kernel of a PTX text refers, itself or through the functions it calls.

The text is searched, not parsed: of a large file only the functions concerned are read. Calls
through pointers are not followed.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_CALL = re.compile(r"\bcall(?:\.uni)?\s+(?:\([^)]*\)\s*,\s*)?([A-Za-z_$][\w$]*)")
_BODY_OR_END = re.compile(r"[{;]")
_BRACE = re.compile(r"[{}]|//[^\n]*|\"[^\"\n]*\"")


def references(text: str, kernel: str, names: Collection[str]) -> set[str]:
    """Return those of the names that a kernel uses.

    Args:
        text: The PTX.
        kernel: The kernel's name.
        names: Names of variables.
    """
    if not names:
        return set()
    names_in_text = re.compile(rf"(?<![\w$%.])(?:{'|'.join(map(re.escape, names))})(?![\w$])")
    found: set[str] = set()
    seen = {kernel}
    waiting = [_body(text, rf"\.entry\s+{re.escape(kernel)}(?![\w$])")]
    while waiting:
        body = waiting.pop()
        found |= set(names_in_text.findall(body))
        called = set(_CALL.findall(body)) - seen
        seen |= called
        waiting += [
            _body(text, rf"\.func\b[^;{{}}]*?(?<![\w$]){re.escape(n)}\s*[({{]") for n in called
        ]
    return found


def _body(text: str, head: str) -> str:
    """Return the text between the braces of a function; a declaration has none."""
    for match in re.finditer(head, text):
        start = _BODY_OR_END.search(text, match.end() - 1)
        if start is None or start[0] == ";":
            continue
        level = 0
        for brace in _BRACE.finditer(text, start.start()):
            level += {"{": 1, "}": -1}.get(brace[0], 0)
            if level == 0:
                return text[start.end() : brace.start()]
    return ""
