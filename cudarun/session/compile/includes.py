"""The files that ``#include`` directives of CUDA source can name, without a compiler.

The text is not preprocessed: a directive counts in a comment and in a dead branch, too. So no file
that a compiler reads is missing, except where a macro gives the name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from cudarun.records import dataclass

# C++17, 5.2 [lex.phases] and 5.4 [lex.trigraph]: what precedes the recognition of a directive.
_SPLICE = re.compile(rb"(?:\\|\?\?/)[ \t]*\r?\n")
_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DIRECTIVE = re.compile(
    rb"(?:#|%:|\?\?=)(?:\s|/\*.*?\*/)*(?:include_next|include|import|embed)\b(?P<operand>[^\n]*)",
    re.DOTALL,
)
_LITERAL = re.compile(rb"\s*(?:\"(?P<quoted>[^\"\n]+)\"|<(?P<angled>[^>\n]+)>)")


@dataclass(frozen=True, slots=True)
class Includes:
    """The files that the directives of a source and of its headers name.

    Attributes:
        paths: Every path that a directive can mean, up to the first that exists.
        computed: The files with a directive whose name comes from a macro.
    """

    paths: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()


def find_includes(source: bytes, origin: str, folders: Sequence[str]) -> Includes:
    """Return the files that CUDA source can include.

    Args:
        source: The text.
        origin: Its path.
        folders: The folders that are searched, besides that of the including file.
    """
    paths: dict[str, None] = {}
    computed: dict[str, None] = {}
    pending = [(source, origin)]
    while pending:
        text, path = pending.pop()
        for name, is_quoted in _names(text):
            if name is None:
                computed[path] = None
                continue
            for folder in (os.path.dirname(path), *folders):
                candidate = os.path.join(folder, name)
                is_file = os.path.isfile(candidate)
                if candidate not in paths:
                    paths[candidate] = None
                    if is_file:
                        with open(candidate, "rb") as file:
                            pending.append((file.read(), candidate))
                # Which folder precedes the others is certain for "…" in a header, not for <…>.
                if is_file and (folder in folders or (is_quoted and path != origin)):
                    break
    return Includes(tuple(paths), tuple(computed))


def _names(text: bytes) -> Iterator[tuple[str | None, bool]]:
    """Yield the name in each directive, ``None`` for a macro, and whether it is in quotes."""
    for directive in _DIRECTIVE.finditer(_SPLICE.sub(b"", text)):
        literal = _LITERAL.match(_COMMENT.sub(b" ", directive["operand"]))
        if literal is None:
            yield None, False
        else:
            yield os.fsdecode(literal["quoted"] or literal["angled"]), bool(literal["quoted"])
