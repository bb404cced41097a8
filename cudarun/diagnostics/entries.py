"""The diagnostics of compilers, linkers and the sanitizer, and the error that has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
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
    """A diagnostic of a compiler or linker, or a note of cudarun."""

    tool: Tool  # the program that reported it
    severity: Severity  # the severity by that program
    message: str  # its text
    file: str | None = None  # the input that it is about
    line: int | None = None  # the line, from 1
    column: int | None = None  # the column, from 1
    width: int = 1  # the number of characters from there
    source: str | None = None  # the text of the line

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


def located(diagnostics: Iterable[Diagnostic], sources: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Yield the diagnostics with their source lines, and with the file if there is only one.

    ptxas reports no column: it is that of a word of the message that occurs in the line.

    Args:
        sources: The texts of the inputs by name; binaries have none.
    """
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
        before = "" if word.startswith(".") else r"(?<![\w%$])"
        if match := re.search(before + re.escape(word) + r"(?![\w$])", source):
            return match.start() + 1, len(word)
    return None, 1


class Diagnosed(ImageRefused):
    """A refusal with a parsed log; the text of the log is in ``log``.

    Args:
        diagnostics: The complaints, with their source lines.
        explanation: Why, in plain words.
    """

    def __init__(
        self,
        what: str,
        *,
        diagnostics: Iterable[Diagnostic] = (),
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
    """An instruction that a finding of the sanitizer is about."""

    access: str  # the kind of access; empty where the finding says it
    function: str | None  # the function, in C++ spelling
    offset: int | None  # bytes from the function's start
    file: str | None  # the source file; ``None`` without line information
    line: int | None  # the line, from 1


@dataclass(frozen=True, slots=True)
class SanitizerFinding:
    """A fault that compute-sanitizer found."""

    kind: str  # its kind, such as Invalid __global__ write
    severity: Literal["error", "warning"]  # the severity by the sanitizer
    message: str  # its first line
    kernel: str | None = None  # the kernel; ``None`` where the sanitizer does not name it
    # The instruction and its callers; of a race, all that take part.
    places: tuple[FindingLocation, ...] = ()
    block: Extent | None = None  # the thread's block
    thread: Extent | None = None  # the thread in its block
    address: int | None = None  # the address
    details: tuple[str, ...] = ()  # its other lines
