"""The lexer of ``cudarun ctx run`` scripts: steps of tokens with their positions.

Steps are separated by ``;`` or line ends, ``#`` starts a comment; quotes and brackets keep a token
together.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudarun.base.errors import ArgumentSyntaxError
from cudarun.base.records import dataclass

_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a line, with its column from 0."""

    text: str
    column: int


@dataclass(slots=True)
class Line:
    """A line of a script, with its position for messages."""

    text: str
    number: int
    origin: str | None
    alone: bool

    def error(self, message: str, column: int, *, hint: str | None = None) -> ArgumentSyntaxError:
        """Return the error about a column of the line."""
        where = "" if self.alone else f"line {self.number}: "
        error = ArgumentSyntaxError(f"{where}{message}", self.text, column, hint=hint)
        error.at(file=self.origin)
        return error

    def steps(self) -> Iterator[list[Token]]:
        """Yield the tokens of each step in the line."""
        if "\0" in self.text:  # no path or name can contain it
            raise self.error("a NUL character", self.text.index("\0"))
        step: list[Token] = []
        position = 0
        while position < len(self.text):
            character = self.text[position]
            if character == "#":
                break
            if character == ";":
                yield step
                step = []
            elif not character.isspace():
                end = self._token_end(position)
                step.append(Token(self.text[position:end], position))
                position = end
                continue
            position += 1
        yield step

    def _token_end(self, start: int) -> int:
        """Return the end of a token: white space or ``;`` outside quotes and brackets."""
        opened: list[int] = []
        position = start
        while position < len(self.text):
            character = self.text[position]
            if character == '"':
                position = self.text.find('"', position + 1)
                if position < 0:
                    raise self.error("unclosed quote", start)
            elif character in _OPENING:
                opened.append(position)
            elif character in _CLOSING and opened:
                opened.pop()
            elif not opened and (character.isspace() or character == ";"):
                return position
            position += 1
        if opened:
            raise self.error("unclosed bracket", opened[0])
        return position
