"""The texts of CUDA source and its headers: what a compiler would read, and what it would compile.

`find_includes` keeps an output from replacing a header. The text is not preprocessed: a directive
counts in a comment and in a dead branch, too, and one with a macro as name does not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

_MOST_FILES = 256
_LARGEST_FILE = 1 << 22  # bytes

# Numbers, whose digits can be grouped by apostrophes; raw strings, strings, characters, comments.
_OPAQUE = re.compile(
    r"\b(?P<number>\d(?:'?[\w.])*)"
    r'|R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'(?:[^'\\\n]|\\.)+'"
    r"|//(?:[^\n\\]|\\.)*"
    r"|/\*.*?\*/",
    re.DOTALL,
)
_INCLUDE = re.compile(
    r'^[ \t]*#[ \t]*include[ \t]*(?:"(?P<path>[^"\n]+)"|<(?P<of_system>[^>\n]+)>)', re.MULTILINE
)
_CONDITIONAL = re.compile(r"[ \t]*#[ \t]*(?P<word>if|ifdef|ifndef|elif|else|endif)\b(?P<rest>.*)")
# C++17, 5.2 [lex.phases] and 5.4 [lex.trigraph]: what precedes the recognition of a directive.
_SPLICE = re.compile(rb"(?:\\|\?\?/)[ \t]*\r?\n")
_COMMENT = re.compile(rb"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DIRECTIVE = re.compile(
    rb"(?:#|%:|\?\?=)(?:\s|/\*.*?\*/)*(?:include_next|include|import|embed)\b(?P<operand>[^\n]*)",
    re.DOTALL,
)
_LITERAL = re.compile(rb"\s*(?:\"(?P<quoted>[^\"\n]+)\"|<(?P<angled>[^>\n]+)>)")


def read_texts(source: bytes, origin: str, folders: Sequence[str]) -> list[str]:
    """Return the source and the headers in the folders that it includes, as far as they are found.

    The order of the folders is the compiler's: those of the command line precede the source's.

    Args:
        folders: The folders of ``#include "…"``, besides that of the including file.
    """
    texts: list[str] = []
    searched = (*folders, os.path.dirname(origin))
    pending: list[tuple[str, tuple[str, ...]]] = [(source.decode(errors="replace"), ())]
    seen: set[str] = set()
    while pending and len(texts) < _MOST_FILES:
        text, own = pending.pop()
        text = text.replace("\r\n", "\n").replace("\\\n", " ")
        texts.append(text)
        bare = _OPAQUE.sub(lambda found: " " if found[0].startswith("/") else found[0], text)
        for include in _INCLUDE.finditer(bare):
            of_system = include["of_system"]
            for each in searched if of_system else (*own, *searched):
                path = os.path.realpath(os.path.join(each, of_system or include["path"]))
                if os.path.isfile(path):
                    if path not in seen and os.path.getsize(path) <= _LARGEST_FILE:
                        seen.add(path)
                        with suppress(OSError):  # the compiler did not need it
                            header = Path(path).read_bytes().decode(errors="replace")
                            pending.append((header, (os.path.dirname(path),)))
                    break
    return texts


def _blank(match: re.Match[str]) -> str:
    if match["number"]:
        return match.group()
    return '""' if match.group().endswith('"') else " "


def plain_text(text: str) -> str:
    """Return a text without comments, characters and the contents of strings.

    The branches of ``#if 0`` and ``#if 1`` that are not compiled are left out. Those of other
    conditions are all kept.
    """
    lines = []
    branches: list[list[str]] = []  # the conditions of each conditional, up to the current branch
    for line in _OPAQUE.sub(_blank, text).split("\n"):
        directive = _CONDITIONAL.match(line)
        if directive is None:
            if all(each[-1] != "0" and "1" not in each[:-1] for each in branches):
                lines.append(line)
            continue
        word = directive["word"]
        condition = directive["rest"].strip() if word in ("if", "elif") else ""
        if word.startswith("if"):
            branches.append([condition])
        elif word == "endif":
            del branches[-1:]
        elif branches:
            branches[-1].append("1" if word == "else" else condition)
    return "\n".join(lines)


def find_includes(source: bytes, origin: str, folders: Sequence[str]) -> list[str]:
    """Return the files that CUDA source can include.

    Args:
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
