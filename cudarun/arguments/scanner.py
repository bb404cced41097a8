"""A scanner that reads text from left to right and reports errors with their column."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import TypeVar

from cudarun.base.errors import ArgumentSyntaxError

T = TypeVar("T")

MAX_NESTING = 50  # the levels of brackets in an expression
MAX_TEXT = 100_000
_SHORT = 1000

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
MEMBER = rf"(?:\.(?:{IDENTIFIER.pattern}|[0-9]+))"
DOTTED = rf"{IDENTIFIER.pattern}{MEMBER}*"
"""A name, also one within a struct or a list: ``s.p``, ``ptrs.0``."""
_TEMPLATE = r"(?:<[\w\s:,*-]*>)?"
SYMBOL = re.compile(rf"[A-Za-z_$%][\w$]*{_TEMPLATE}(?:::[A-Za-z_$][\w$]*{_TEMPLATE})*")
"""The name of a variable: that of a symbol, or its C++ name."""

_SPACE = re.compile(r"\s*")
_TOKEN = re.compile(r"[\w.]+|\S")
_REFERENCE = re.compile(r"\$\{?(\w+)|\{(\w+)\}")
"""What shells, Python and specs have in the place of a name."""


def cached(parse: Callable[[str], T]) -> Callable[[str], T]:
    """Keep what short texts parse to, which is immutable: a server gets the same ones again."""
    kept = lru_cache(1024)(parse)
    return wraps(parse)(lambda text: (kept if len(text) <= _SHORT else parse)(text))


class Scanner:
    """A text and the position up to which it is consumed.

    Raises:
        ArgumentSyntaxError: The text is longer than anything a person writes.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self._nesting = 0
        if len(text) > MAX_TEXT:
            raise ArgumentSyntaxError(
                f"text of {len(text)} characters exceeds the limit of {MAX_TEXT}",
                text[:60] + "…",
                60,
            )

    def skip_space(self) -> int:
        """Skip white space; return the column of what follows."""
        found = _SPACE.match(self.text, self.position)
        self.position = found.end() if found else self.position
        return self.position

    @property
    def at_end(self) -> bool:
        """Return whether only white space is left."""
        return self.skip_space() == len(self.text)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Consume white space and a match of the pattern, if there is one."""
        found = pattern.match(self.text, self.skip_space())
        if found:
            self.position = found.end()
        return found

    def looks_at(self, pattern: re.Pattern[str]) -> bool:
        """Return whether the pattern matches after white space; consume nothing."""
        return pattern.match(self.text, self.skip_space()) is not None

    def peek(self, literal: str) -> bool:
        """Return whether ``literal`` follows; consume nothing."""
        return self.text.startswith(literal, self.skip_space())

    def accept(self, literal: str) -> bool:
        """Consume ``literal`` if it follows."""
        if not self.peek(literal):
            return False
        self.position += len(literal)
        return True

    def expect(self, literal: str, where: str) -> None:
        """Consume ``literal``, which the grammar requires here."""
        if not self.accept(literal):
            raise self.error(f"expected {literal!r} {where}, found {self.found()}")

    def several(self, parse: Callable[[], T]) -> list[T]:
        """Parse values that commas separate, at least one."""
        found = [parse()]
        while self.accept(","):
            found.append(parse())
        return found

    def expect_end(self) -> None:
        """Require the end of the text."""
        if not self.at_end:
            raise self.error(f"unexpected {self.found()}")

    def found(self) -> str:
        """Describe the following text for a message."""
        token = _TOKEN.match(self.text, self.skip_space())
        return repr(token.group()) if token else "the end"

    def error(
        self, message: str, column: int | None = None, *, hint: str | None = None
    ) -> ArgumentSyntaxError:
        """Return an error about ``column``, by default about the following text."""
        where = self.skip_space() if column is None else column
        if hint is None and (found := _REFERENCE.match(self.text, where)):
            hint = name_hint(found[1] or found[2])
        return ArgumentSyntaxError(message, self.text, where, hint=hint)

    @contextmanager
    def nested(self, most: int = MAX_NESTING) -> Iterator[None]:
        """Enter one of at most ``most`` levels, which bounds the recursion."""
        if self._nesting >= most:
            raise self.error(f"nested more than {most} levels deep")
        self._nesting += 1
        try:
            yield
        finally:
            self._nesting -= 1


def name_hint(name: str) -> str:
    """Return the hint on a name that is written as in shells, Python or specs."""
    return f"write {name}; in a spec, a value of the matrix is ${{{name}}}"


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """Return a hint with the candidates most similar to ``word``, if any is similar."""
    import difflib

    near = difflib.get_close_matches(word, list(candidates), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(near)}?" if near else None


def counted(count: int, noun: str) -> str:
    """Return a number of things: ``1 value``, ``2 values``."""
    return f"{count} {noun}{'s' * (count != 1)}"
