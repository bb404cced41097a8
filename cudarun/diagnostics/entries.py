"""The diagnostics of compilers, linkers and the sanitizer, and the error that has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from cudarun.base.errors import ImageRefused
from cudarun.base.records import dataclass

if TYPE_CHECKING:
    from typing import Unpack

    from cudarun.base.errors import ErrorContext

Severity = Literal["fatal", "error", "warning", "info", "note"]
Tool = Literal["ptxas", "nvlink", "nvJitLink", "NVRTC", "nvcc", "cudarun"]

SERIOUS: frozenset[Severity] = frozenset({"fatal", "error"})

_QUOTED = re.compile(r"'([^']+)'")
_WORD = re.compile(r"[\w.%$]+")
Extent = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A diagnostic of a compiler or linker, or a note of cudarun.

    Attributes:
        tool: The program that reported it.
        severity: The severity by that program.
        message: Its text.
        file: The input that it is about.
        line: The line, from 1.
        column: The column, from 1.
        width: The number of characters from there.
        source: The text of the line.
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
        """True if it is the cause of the failure."""
        return self.severity in SERIOUS

    @property
    def place(self) -> str | None:
        """The location, ``main.ptx:43:2``, as far as it is known."""
        if self.line is None:
            return self.file
        line = f"line {self.line}" if self.file is None else f"{self.file}:{self.line}"
        return line if self.column is None else f"{line}:{self.column}"


def notes(texts: Iterable[str]) -> tuple[Diagnostic, ...]:
    """Return notes of our own."""
    return tuple(Diagnostic("cudarun", "note", text) for text in texts)


def located(
    diagnostics: Iterable[Diagnostic], sources: Mapping[str, str]
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics with their source lines, and with the file if there is only one.

    ptxas reports no column: it is that of a word of the message that occurs in the line.

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
    """Return column and width of the subject of the message; ``None`` if no word of it occurs."""
    words = [*_QUOTED.findall(message), *(w for w in _WORD.findall(message) if len(w) > 2)]
    for word in words:
        at = _find_word(word, source)
        if at >= 0:
            return at + 1, len(word)
    return None, 1


def _find_word(word: str, source: str) -> int:
    """Return the index of ``word`` as a whole word."""
    before = r"(?<![\w%$])" if word[0] not in "." else ""
    match = re.search(before + re.escape(word) + r"(?![\w$])", source)
    return match.start() if match else -1


class Diagnosed(ImageRefused):
    """A refusal with a parsed log; the text of the log is in ``log``.

    Args:
        what: The description of what happened, without the subjects.
        diagnostics: The complaints, with their source lines.
        explanation: Why, in plain words.
        hint: What the user can do about it.
        cuda: The driver's result, as ``(name, number)``.
        log: The log in full.
        context: The context of the operation.
    """

    def __init__(
        self,
        what: str,
        *,
        diagnostics: Sequence[Diagnostic] = (),
        explanation: str | None = None,
        hint: str | None = None,
        cuda: tuple[str, int] | None = None,
        log: str | None = None,
        **context: Unpack[ErrorContext],
    ) -> None:
        super().__init__(what, hint=hint, cuda=cuda, log=log, **context)
        self.diagnostics = tuple(diagnostics)
        self.explanation = explanation


@dataclass(frozen=True, slots=True)
class FindingLocation:
    """An instruction that a finding of the sanitizer is about.

    Attributes:
        access: The kind of access; empty where the finding says it.
        function: The function, in C++ spelling.
        offset: Bytes from the function's start.
        file: The source file; ``None`` without line information.
        line: The line, from 1.
    """

    access: str
    function: str | None
    offset: int | None
    file: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class SanitizerFinding:
    """A fault that compute-sanitizer found.

    Attributes:
        kind: Its kind, such as Invalid __global__ write.
        severity: The severity by the sanitizer.
        message: Its first line.
        kernel: The kernel; ``None`` where the sanitizer does not name it.
        places: The instruction and its callers; of a race, all that take part.
        block: The thread's block.
        thread: The thread in its block.
        address: The address.
        details: Its other lines.
    """

    kind: str
    severity: Literal["error", "warning"]
    message: str
    kernel: str | None = None
    places: tuple[FindingLocation, ...] = ()
    block: Extent | None = None
    thread: Extent | None = None
    address: int | None = None
    details: tuple[str, ...] = ()
