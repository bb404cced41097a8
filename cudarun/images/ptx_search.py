"""Kernels of a PTX text, and the variables to which one refers, found without parsing it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise

_WORD = b".entry"
_KERNEL = re.compile(rb"\.entry\s+([\w$%]+)")
_BLOCK_COMMENT = re.compile(rb"/\*.*?(?:\*/|\Z)", re.DOTALL)
_END_OF_HEAD = re.compile(rb"[{;]")


def kernel_names(text: bytes) -> tuple[str, ...]:
    """Return the names of the kernels in a text, up to its first NUL, in order."""
    text = text.split(b"\0", 1)[0]
    if b"/*" in text:
        text = _BLOCK_COMMENT.sub(b" ", text)
    names: dict[str, None] = {}
    previous, in_comment, kernel = 0, False, None
    for start, after in pairwise([*_occurrences(text), len(text)]):
        line = text.rfind(b"\n", previous, start)
        in_comment = in_comment and line < 0  # of the same line
        in_comment = in_comment or text.find(b"//", max(line, previous), start) >= 0
        previous = start
        if not in_comment:
            kernel = _KERNEL.match(text, start)
        end = _END_OF_HEAD.search(text, start, after) if kernel else None
        if kernel is not None and end is not None:
            if end[0] == b"{":
                names[kernel[1].decode()] = None
            kernel = None
    return tuple(names)


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
    mention = re.compile(rf"(?<![\w$%.])(?:{'|'.join(map(re.escape, names))})(?![\w$])")
    return set(mention.findall(code_of(text, kernel)))


def code_of(text: str, kernel: str) -> str:
    """Return the bodies of a kernel and of the functions that it calls."""
    heads: dict[str, list[int]] = {}
    for function in _FUNCTION.finditer(text):
        heads.setdefault(function[1], []).append(function.end())
    bodies: list[str] = []
    seen, waiting = {kernel}, [kernel]
    while waiting:
        bodies.append(_body(text, heads.get(waiting.pop(), ())))
        called = set(_CALL.findall(bodies[-1])) - seen
        seen |= called
        waiting += called
    return "\n".join(bodies)


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
