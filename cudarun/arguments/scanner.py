"""Reading text from left to right, with the column at hand when something is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from cudarun.errors import ArgumentSyntaxError

MAX_NESTING = 50
MAX_TEXT = 100_000

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPACE = re.compile(r"\s*")
_TOKEN = re.compile(r"[\w.]+|\S")


class Scanner:
    """A text and the position up to which it has been read.

    Raises:
        ArgumentSyntaxError: The text is longer than anything a person writes.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self._nesting = 0
        if len(text) > MAX_TEXT:
            raise ArgumentSyntaxError(
                f"text of {len(text)} characters; at most {MAX_TEXT} are read", text[:60] + "…", 60
            )

    def skip_space(self) -> int:
        """Pass white space; give the column of what follows."""
        found = _SPACE.match(self.text, self.position)
        self.position = found.end() if found else self.position
        return self.position

    @property
    def at_end(self) -> bool:
        """Whether nothing but white space is left."""
        return self.skip_space() == len(self.text)

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Take what the pattern matches after white space, if it does."""
        found = pattern.match(self.text, self.skip_space())
        if found:
            self.position = found.end()
        return found

    def looks_at(self, pattern: re.Pattern[str]) -> bool:
        """Whether the pattern matches after white space; takes nothing."""
        return pattern.match(self.text, self.skip_space()) is not None

    def peek(self, literal: str) -> bool:
        """Whether ``literal`` follows; takes nothing."""
        return self.text.startswith(literal, self.skip_space())

    def accept(self, literal: str) -> bool:
        """Take ``literal`` if it follows."""
        if not self.peek(literal):
            return False
        self.position += len(literal)
        return True

    def expect(self, literal: str, where: str) -> None:
        """Take ``literal``, which the grammar demands here."""
        if not self.accept(literal):
            raise self.error(f"expected {literal!r} {where}, found {self.found()}")

    def expect_end(self) -> None:
        """Demand that nothing is left."""
        if not self.at_end:
            raise self.error(f"unexpected {self.found()}")

    def found(self) -> str:
        """What follows, as a message names it."""
        token = _TOKEN.match(self.text, self.skip_space())
        return repr(token.group()) if token else "the end"

    def error(
        self, message: str, column: int | None = None, *, hint: str | None = None
    ) -> ArgumentSyntaxError:
        """The error to raise about ``column``, by default about what follows."""
        where = self.skip_space() if column is None else column
        return ArgumentSyntaxError(message, self.text, where, hint=hint)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """One level of brackets deeper; bounded, so that no text can exhaust the stack."""
        if self._nesting == MAX_NESTING:
            raise self.error(f"nested more than {MAX_NESTING} levels deep")
        self._nesting += 1
        try:
            yield
        finally:
            self._nesting -= 1


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """A hint that names the candidates nearest to ``word``, if any is near."""
    import difflib

    near = difflib.get_close_matches(word, list(candidates), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(near)}?" if near else None
