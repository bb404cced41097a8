"""The PTX lexer: PTX ISA manual, chapter 4, and the lexical part of chapter 6.

One regular expression matches all tokens. Dotted words (``.f32``, ``.shared::cluster``) are single
tokens, so ``add.rn.f32`` is three. Spaces, comments and form feeds separate tokens and are dropped.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

from cudarun.ptx.errors import PtxDiagnostic, PtxError, Severity
from cudarun.ptx.tree import Position


class TokenKind(Enum):
    """The kind of a token."""

    NAME = auto()  # opcode, register, symbol, label, or the sink _
    MODIFIER = auto()  # a dotted word: directive, type, state space, instruction modifier
    INTEGER = auto()
    FLOAT = auto()  # decimal: 1.5, .5, 1e-3
    FLOAT_BITS = auto()  # 0f3F800000, 0d3FF0000000000000
    STRING = auto()
    PUNCTUATION = auto()
    END = auto()  # of the text


class PtxToken(NamedTuple):
    """A token: its text as written and its offset in characters from the start of the text."""

    kind: TokenKind
    text: str
    offset: int


_TOKEN = re.compile(
    r"""
    (?: \s+ | //[^\n]* | /\*[\s\S]*?\*/ )*+
    (?:
        (?P<FLOAT_BITS>  (?: 0[fF][0-9a-fA-F]{8} | 0[dD][0-9a-fA-F]{16} ) (?![\w$]) )
      | (?P<FLOAT>       (?: \d++ (?: \.\d*(?:[eE][+-]?\d+)? | [eE][+-]?\d+ )
                           | \.\d+(?:[eE][+-]?\d+)? )
                         (?![\w$]) )
      | (?P<MODIFIER>    \.[\w$]+ (?: ::\w+ )* )
      | (?P<NAME>        [A-Za-z_$][\w$]* | %[\w$]+ )
      | (?P<INTEGER>     0[xX][0-9a-fA-F]+U? | 0[bB][01]+U? | 0[0-7]*U?
                         | [1-9]\d*U? )
      | (?P<STRING>      "[^"\n]*" )
      | (?P<END>         \Z )
      | (?P<UNFINISHED>  /\* )
      | (?P<PUNCTUATION> << | >> | <= | >= | == | != | && | \|\| | [-@!~+*/%&|^<>=?:,;()[\]{}] )
      | (?P<OTHER>       [\s\S] )
    )
    """,
    re.VERBOSE | re.ASCII,
)
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_KINDS = dict(TokenKind.__members__)


_STRING = r'"[^"\n]*"'
_COMMENT = r"//[^\n]* | /\*(?: [^*] | \*(?!/) )*+(?: \*/ | \Z )"  # the last one may have no end
_BRACE = re.compile(rf'(?: [^{{}}"/]+ | {_STRING} | {_COMMENT} | ["/] )*+ ([{{}}])', re.VERBOSE)


def check_characters(text: str) -> None:
    """Refuse characters outside ASCII, which ptxas does not accept even in a comment.

    Raises:
        PtxError: There is one.
    """
    if text.isascii():
        return
    foreign = _NON_ASCII.search(text)
    assert foreign is not None
    position = Lines(text).position(foreign.start())
    message = f"Unexpected non-ASCII character encountered on line {position.line}"
    raise PtxError([PtxDiagnostic(position, message, "fatal")])


def scan(text: str, offset: int) -> PtxToken:
    """Return the token at an offset, after spaces and comments.

    Raises:
        PtxError: At a character that begins no token, and in an unterminated comment.
    """
    match = _TOKEN.match(text, offset)
    assert match is not None  # one of the groups always matches
    return _token(text, match)


def _token(text: str, match: re.Match[str]) -> PtxToken:
    name = match.lastgroup
    assert name is not None
    kind = _KINDS.get(name)
    start, end = match.span(name)
    if kind is None:
        message = f"Parsing error near '{match['OTHER']}': syntax error"
        if name == "UNFINISHED":
            message = "Parsing error near '': unexpected EOF while scanning"
        raise PtxError([PtxDiagnostic(Lines(text).position(start), message, "fatal")])
    return PtxToken(kind, text[start:end], start)


def end_of_block(text: str, offset: int) -> int | None:
    """Return the offset after the brace that closes the one at ``offset``; ``None`` without one.

    What is between them is not read, except for comments and strings.
    """
    depth = 0
    # Matches, not a search, which would try every offset of a text without a closing brace.
    while (match := _BRACE.match(text, offset)) is not None:
        depth += 1 if match[1] == "{" else -1
        offset = match.end()
        if not depth:
            return offset
    return None


def tokenize(text: str) -> list[PtxToken]:
    """Return all tokens of ``text``, the last one an ``END``.

    Raises:
        PtxError: At a character that begins no token, in an unterminated comment, and at any
            character outside ASCII, which ptxas does not accept even in a comment.
    """
    check_characters(text)
    tokens = []
    for match in _TOKEN.finditer(text):
        tokens.append(_token(text, match))
        if tokens[-1].kind is TokenKind.END:
            break
    return tokens


class Cursor:
    """A cursor over the tokens of a text; ``token`` is the next one."""

    def __init__(self, text: str) -> None:
        check_characters(text)
        self.text = text
        self._lines = Lines(text)
        self._ahead: PtxToken | None = None  # the token after the next one, once it is known
        self.token = scan(text, 0)

    def seek(self, offset: int) -> None:
        """Continue with the token at an offset, or the first after it."""
        self._ahead = None
        self.token = scan(self.text, offset)

    def position(self) -> Position:
        """The position of the next token."""
        return self._lines.position(self.token.offset)

    def following(self) -> PtxToken:
        """The token after the next one."""
        if self._ahead is None:
            self._ahead = scan(self.text, self.token.offset + len(self.token.text))
        return self._ahead

    def advance(self) -> PtxToken:
        """Take the next token; the end of the text is never passed."""
        taken = self.token
        if self._ahead is not None:
            self.token, self._ahead = self._ahead, None
        elif taken.kind is not TokenKind.END:
            self.token = scan(self.text, taken.offset + len(taken.text))
        return taken

    def at(self, *texts: str) -> bool:
        """Return whether the next token is one of these."""
        return self.token.text in texts

    def accept(self, text: str) -> bool:
        """Take the next token if it is this one; return whether it was."""
        if self.token.text != text:
            return False
        self.advance()
        return True

    def expect(self, text: str) -> None:
        """Take the next token, which must be this one."""
        if not self.accept(text):
            raise self.syntax_error()

    def take(self, kind: TokenKind) -> str:
        """Take the next token, which must be of this kind; return its text."""
        if self.token.kind is not kind:
            raise self.syntax_error()
        return self.advance().text

    def syntax_error(self) -> PtxError:
        """Return the error that the next token is not allowed here."""
        return self.refusal(f"Parsing error near '{self.token.text}': syntax error")

    def refusal(
        self, message: str, at: PtxToken | None = None, severity: Severity = "fatal"
    ) -> PtxError:
        """Return the error that ends the parse, by default at the next token."""
        position = self._lines.position((at or self.token).offset)
        return PtxError([PtxDiagnostic(position, message, severity)])


# --- lines ---------------------------------------------------------------------------------------


class Lines:
    """The lines of a text, to convert an offset to a position.

    Offsets are looked up in ascending order at little cost: the search continues at the last one.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._offset = 0
        self._line = 1
        self._start = 0  # the offset of that line

    def position(self, offset: int) -> Position:
        """Return the line and column, both from 1, of the character at ``offset``."""
        if offset < self._start:
            self._offset, self._line, self._start = 0, 1, 0
        ended = self._text.count("\n", self._offset, offset)
        if ended:
            self._line += ended
            self._start = self._text.rfind("\n", self._offset, offset) + 1
        if offset > self._offset or ended:
            self._offset = offset
        return Position(self._line, offset - self._start + 1)


class SourceLines:
    """The lines of a text by number, without their ends.

    The text is not split: the next line is found from the last one that was asked for.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._first()

    def _first(self) -> None:
        self._number = 1
        self._start, self._end = 0, self._text.find("\n")  # of that line; -1 of the last one

    def __getitem__(self, number: int) -> str:
        """Return a line by its number, from 1; `IndexError` if the text has fewer lines."""
        if number < self._number:
            self._first()
        while self._number < number:
            if self._end < 0:
                raise IndexError(number)
            self._number, self._start = self._number + 1, self._end + 1
            self._end = self._text.find("\n", self._start)
        line = self._text[self._start : self._end if self._end >= 0 else None]
        return line.removesuffix("\r")
