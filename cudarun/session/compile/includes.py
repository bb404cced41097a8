"""The files that ``#include`` directives of CUDA source can name, without a compiler.

They keep an output from replacing a header. The text is not preprocessed: a directive counts in a
comment and in a dead branch, too, and one with a macro as name does not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

# C++17, 5.2 [lex.phases] and 5.4 [lex.trigraph]: what precedes the recognition of a directive.
_SPLICE = re.compile(rb"(?:\\|\?\?/)[ \t]*\r?\n")
_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DIRECTIVE = re.compile(
    rb"(?:#|%:|\?\?=)(?:\s|/\*.*?\*/)*(?:include_next|include|import|embed)\b(?P<operand>[^\n]*)",
    re.DOTALL,
)
_LITERAL = re.compile(rb"\s*(?:\"(?P<quoted>[^\"\n]+)\"|<(?P<angled>[^>\n]+)>)")


def find_includes(source: bytes, origin: str, folders: Sequence[str]) -> list[str]:
    """Return the files that CUDA source can include.

    Args:
        source: The text.
        origin: Its path.
        folders: The folders that are searched, besides that of the including file.
    """
    paths: dict[str, None] = {}
    pending = [(source, origin)]
    while pending:
        text, path = pending.pop()
        for name, is_quoted in _names(text):
            for folder in (os.path.dirname(path), *folders):
                candidate = os.path.join(folder, name)
                is_file = os.path.isfile(candidate)
                if candidate not in paths:
                    paths[candidate] = None
                    if is_file:
                        with suppress(OSError), open(candidate, "rb") as file:
                            pending.append((file.read(), candidate))
                # Which folder precedes the others is certain for "…" in a header, not for <…>.
                if is_file and (folder in folders or (is_quoted and path != origin)):
                    break
    return [*paths]


def _names(text: bytes) -> Iterator[tuple[str, bool]]:
    """Yield the name in each directive, and whether it is in quotes."""
    for directive in _DIRECTIVE.finditer(_SPLICE.sub(b"", text)):
        literal = _LITERAL.match(_COMMENT.sub(b" ", directive["operand"]))
        if literal is not None:
            yield os.fsdecode(literal["quoted"] or literal["angled"]), bool(literal["quoted"])
