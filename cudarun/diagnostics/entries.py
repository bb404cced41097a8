"""One complaint of a compiler or linker, and where in which file it belongs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Literal

from cudarun.records import dataclass

Severity = Literal["fatal", "error", "warning", "info", "note"]
Tool = Literal["ptxas", "nvlink", "nvJitLink", "NVRTC", "cudarun"]

SERIOUS: frozenset[Severity] = frozenset({"fatal", "error"})

_QUOTED = re.compile(r"'([^']+)'")
_WORD = re.compile(r"[\w.%$]+")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One complaint.

    Attributes:
        tool: Who complains.
        severity: As the tool grades it; NVRTC's ``catastrophic error`` is a ``fatal`` one.
        message: Its words.
        file: The input it is about, where that is known.
        line: From 1.
        column: From 1: where in the line, as far as it can be told.
        width: How many characters from there it is about.
        source: The line itself.
    """

    tool: Tool
    severity: Severity
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    width: int = 1
    source: str | None = None

    @property
    def is_serious(self) -> bool:
        """Whether it is why there is no result."""
        return self.severity in SERIOUS

    @property
    def place(self) -> str | None:
        """``main.ptx:43:2``, or as much of that as is known."""
        if self.line is None:
            return self.file
        line = f"line {self.line}" if self.file is None else f"{self.file}:{self.line}"
        return line if self.column is None else f"{line}:{self.column}"


def notes(texts: Iterable[str]) -> tuple[Diagnostic, ...]:
    """What we remark ourselves."""
    return tuple(Diagnostic("cudarun", "note", text) for text in texts)


def located(
    diagnostics: Iterable[Diagnostic], sources: Mapping[str, str]
) -> tuple[Diagnostic, ...]:
    """The diagnostics with their source lines, and with the file where there is only one.

    ptxas names no column: it is that of the word of the message which stands in the line.

    Args:
        diagnostics: As parsed.
        sources: The texts of the inputs by name; binaries have none.
    """
    return tuple(_located(diagnostics, sources))


def _located(diagnostics: Iterable[Diagnostic], sources: Mapping[str, str]) -> Iterator[Diagnostic]:
    lines = {name: text.split("\n") for name, text in sources.items()}
    only = next(iter(sources)) if len(sources) == 1 else None
    for given in diagnostics:
        file = given.file or only
        text = lines.get(file or "")
        if given.line is None or text is None or not 0 < given.line <= len(text):
            yield given if given.line is None else replace(given, file=file)
            continue
        source = given.source or text[given.line - 1].rstrip("\r")
        column, width = given.column, given.width
        if column is None:
            column, width = _column(given.message, source)
        yield replace(given, file=file, source=source, column=column, width=width)


def _column(message: str, source: str) -> tuple[int | None, int]:
    """Column and width of what the message is about; ``None`` where no word of it is there."""
    words = [*_QUOTED.findall(message), *(w for w in _WORD.findall(message) if len(w) > 2)]
    for word in words:
        at = _find_word(word, source)
        if at >= 0:
            return at + 1, len(word)
    return None, 1


def _find_word(word: str, source: str) -> int:
    """Where ``word`` stands alone, not as a piece of a longer one."""
    before = r"(?<![\w%$])" if word[0] not in "." else ""
    match = re.search(before + re.escape(word) + r"(?![\w$])", source)
    return match.start() if match else -1
