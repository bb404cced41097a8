"""A cursor over the tokens of a text, with the operations of a recursive-descent parser."""

from __future__ import annotations

from cudarun.ptx.errors import PtxDiagnostic, PtxError, Severity
from cudarun.ptx.lexer import PtxToken, TokenKind, check_characters, scan
from cudarun.ptx.lines import Lines
from cudarun.ptx.tree import Position


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
