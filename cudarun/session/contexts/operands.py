"""The operands of steps in a context script: names, numbers, flags, values.

`parser` determines which word is which operand. Here each word is parsed by its placeholder in
`Verb.usage`, with the names that the script has created so far.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from cudarun.arguments.dimensions import parse_extent, parse_size
from cudarun.arguments.grammar import parse_argument, parse_type
from cudarun.arguments.literals import Form, LiteralError, read
from cudarun.arguments.packing import element_bytes
from cudarun.arguments.scanner import did_you_mean
from cudarun.arguments.syntax import Expression
from cudarun.arguments.types import StructType, Type
from cudarun.arguments.values import (
    AddressOf,
    Argument,
    Buffer,
    Bytes,
    Element,
    FileBuffer,
    StructValue,
    UntypedNumber,
)
from cudarun.errors import ArgumentSyntaxError, RequestError
from cudarun.records import dataclass
from cudarun.session.contexts.lines import Line, Token
from cudarun.session.contexts.script import Limit, NameReference, Operands, Symbol
from cudarun.session.contexts.verbs import Verb
from cudarun.session.driver.contexts import CACHE_CONFIGS, FLAGS, LIMITS

T = TypeVar("T")

# The kinds of object that a letter of `Verb.usage` may name.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "A": ("context", "primary"),
    "P": ("primary",),
    "S": ("stream",),
    "E": ("event",),
    "B": ("buffer", "variable"),
    "F": ("function",),
    "M": ("module", "library"),
}


@dataclass(slots=True)
class NamedObject:
    """The properties of a name: its kind, a primary context's device, the value last written."""

    kind: str
    dev: int = 0
    type: Type | None = None


class OperandReader:
    """A parser of single words of a line; ``names`` are those created so far."""

    def __init__(self, line: Line, names: Mapping[str, NamedObject]) -> None:
        self.line = line
        self.names = names

    def error(self, message: str, token: Token, *, hint: str | None = None) -> ArgumentSyntaxError:
        """Return the error about a word."""
        return self.line.error(message, token.column, hint=hint)

    def old_name(self, token: Token, placeholder: str) -> str:
        """Parse the name of an existing object."""
        kinds = tuple(kind for letter in placeholder.split("|") for kind in _KINDS[letter])
        known = self.names.get(token.text)
        wanted = " or ".join(kind for kind in kinds if kind != "primary") or "primary context"
        if known is None:
            raise self.error(
                f"no {wanted} is named {token.text!r}",
                token,
                hint=did_you_mean(token.text, self.names),
            )
        if known.kind not in kinds:
            raise self.error(f"{token.text} is a {known.kind}, not a {wanted}", token)
        return token.text

    def argument(self, token: Token) -> Argument | NameReference:
        """Parse one ARG: the name of memory, or a value."""
        known = self.names.get(token.text)
        if known is not None and known.kind in _KINDS["B"]:
            return NameReference(token.text)
        return self.written(token)

    def written(self, token: Token) -> Argument:
        """Parse an ARG that is a value."""
        argument: Argument = self.based(token, lambda: parse_argument(token.text))
        if isinstance(argument.value, Buffer | FileBuffer | AddressOf):
            raise self.error(
                f"{token.text!r} is an address; a script refers to memory by name",
                token,
                hint="create a name with 'alloc B SIZE' or 'global B M.NAME'",
            )
        return argument

    def based(self, token: Token, parse: Callable[[], T], skipped: int = 0) -> T:
        """Parse part of a token; an error's column is converted to the line's.

        Args:
            token: The token.
            parse: The parser, called without arguments.
            skipped: The number of characters before the token's own in the parsed text.
        """
        try:
            return parse()
        except ArgumentSyntaxError as error:
            column = token.column + max(0, error.column - skipped)
            raise self.line.error(error.what, column, hint=error.hint) from None
        except RequestError as error:
            raise self.error(error.message, token, hint=error.hint) from None

    def number(self, token: Token) -> int:
        """Parse a nonnegative number: ``4096``, ``0x1000``, ``4Ki``."""
        try:
            literal = read(token.text)
        except LiteralError as error:
            raise self.error(str(error), token) from None
        if literal.form is not Form.INTEGER or literal.negative:
            raise self.error(f"{token.text!r} is not an integer", token)
        return literal.integer

    def extent(self, token: Token) -> tuple[Expression, ...]:
        """Parse a grid or a block, as of ``launch``; zero is allowed, for the driver to refuse."""
        return self.based(token, lambda: parse_extent(token.text, least=0))

    def size(self, token: Token) -> Expression:
        """Parse a size in bytes, as of ``launch``."""
        return self.based(token, lambda: parse_size(token.text))

    def words(self, token: Token) -> frozenset[str]:
        """Parse comma-separated context flags."""
        found = frozenset(token.text.split(","))
        for word in sorted(found):
            if word not in FLAGS:
                raise self.error(
                    f"unknown context flag {word!r}", token, hint=f"flags: {', '.join(FLAGS)}"
                )
        return found

    def limit(self, token: Token) -> Limit:
        """Parse ``NAME[=SIZE]``."""
        name, equals, size = token.text.partition("=")
        if name not in LIMITS:
            there = f"limits: {', '.join(LIMITS)}"
            raise self.error(f"unknown limit {name!r}", token, hint=there)
        if not equals:
            return Limit(name, None)
        return Limit(name, self.number(Token(size, token.column + len(name) + 1)))

    def prefer(self, token: Token) -> str:
        """Parse a cache preference."""
        return self.one_of(token, CACHE_CONFIGS)

    def one_of(self, token: Token, words: tuple[str, ...]) -> str:
        """Parse one of the given words."""
        if token.text not in words:
            raise self.error(f"{token.text!r} is not one of {', '.join(words)}", token)
        return token.text

    def image(self, token: Token) -> str:
        """Parse a path, quoted if it contains spaces, or `BUILTIN`."""
        path = token.text.strip('"')
        if not path:
            raise self.error("expected the path of an image", token)
        return path

    def symbol(self, token: Token) -> Symbol:
        """Parse ``M.NAME``."""
        owner, dot, name = token.text.partition(".")
        if not dot or not name:
            raise self.error(
                f"{token.text!r} is not of the form M.NAME (a module or library and a name in it)",
                token,
            )
        return Symbol(self.old_name(Token(owner, token.column), "M"), name)

    def value(self, token: Token) -> tuple[bytes, Type | None]:
        """Parse a value to write: its bytes, and its type if it has one."""
        value = self.written(token).value
        if isinstance(value, Bytes):
            return value.data, None
        if isinstance(value, UntypedNumber):
            raise self.error(f"{value} needs a type", token, hint=f"example: i32:{value}")
        if not isinstance(value, Element):
            raise self.error(f"{token.text!r} cannot be written", token)
        return element_bytes(value), value.type

    def type(self, token: Token) -> Type:
        """Parse a type without a value."""
        found: Type = self.based(token, lambda: parse_type(token.text))
        return found

    # --- the operands of comparisons ---

    def compared_context(
        self, token: Token, verb: Verb, operands: Operands
    ) -> NameReference | None:
        """Parse ``none``, a context, or a named value."""
        if token.text == "none":
            return None
        known = self.names.get(token.text)
        if known is not None and known.kind == "value":
            return NameReference(token.text)
        if token.text == operands.get("name"):
            return NameReference(token.text)
        return NameReference(self.old_name(token, "A"))

    def compared_number(self, token: Token, verb: Verb, operands: Operands) -> int | NameReference:
        """Parse a number, a named value, or the address of an object."""
        known = self.names.get(token.text)
        if known is None:
            return self.number(token)
        if known.kind not in ("value", "buffer", "variable"):
            raise self.error(f"{token.text} is a {known.kind}, not a number", token)
        return NameReference(token.text)

    def compared_word(self, token: Token, verb: Verb, operands: Operands) -> str:
        """Parse one of the verb's words."""
        return self.one_of(token, verb.words)

    def compared_words(self, token: Token, verb: Verb, operands: Operands) -> frozenset[str]:
        """Parse flags."""
        return self.words(token)

    def compared_data(self, token: Token, verb: Verb, operands: Operands) -> bytes:
        """Parse a value of the type that is read; only structs repeat the type."""
        type_: Type = operands["as_type"]
        prefix = "" if isinstance(type_, StructType) else f"{type_}:"
        value = self.based(
            token, lambda: parse_argument(prefix + token.text), skipped=len(prefix)
        ).value
        if not isinstance(value, Element) or value.type.size != type_.size:
            raise self.error(f"{token.text!r} is not a value of type {type_}", token)
        if isinstance(value, StructValue) and str(value.type) != str(type_):
            raise self.error(f"{token.text!r} is {value.type}, not {type_}", token)
        return element_bytes(value)


# --- the placeholders of usage texts -------------------------------------------------------------

_Reads = Callable[[OperandReader, Token], object]


def _reference(placeholder: str) -> _Reads:
    return lambda reader, token: reader.old_name(token, placeholder)


def _context_or_none(reader: OperandReader, token: Token) -> str | None:
    return None if token.text == "none" else reader.old_name(token, "A")


@dataclass(frozen=True, slots=True)
class Operand:
    """A placeholder: the key of its value in `Step.operands`, a description, and its parser."""

    key: str
    described: str
    read: _Reads


OPERANDS: Mapping[str, Operand] = {
    "A": Operand("context", "a context", _reference("A")),
    "P": Operand("primary", "a primary context", _reference("P")),
    "A|none": Operand("context", "a context or none", _context_or_none),
    "A|S|E": Operand("thing", "a context, stream or event", _reference("A|S|E")),
    "S|E": Operand("thing", "a stream or event", _reference("S|E")),
    "S": Operand("stream", "a stream", _reference("S")),
    "E": Operand("event", "an event", _reference("E")),
    "B": Operand("buffer", "a buffer", _reference("B")),
    "F": Operand("function", "a function", _reference("F")),
    "M": Operand("owner", "a module or library", _reference("M")),
    "L": Operand("owner", "a library", _reference("M")),
    "M.NAME": Operand("symbol", "M.NAME", OperandReader.symbol),
    "SIZE": Operand("size", "a size in bytes", OperandReader.number),
    "VALUE": Operand("value", "a value", OperandReader.value),
    "TYPE": Operand("as_type", "a type", OperandReader.type),
    "IMAGE": Operand("image", "an image", OperandReader.image),
    "LIMIT[=SIZE]": Operand("limit", "the name of a limit", OperandReader.limit),
    "PREFER": Operand("prefer", "a cache preference", OperandReader.prefer),
    "WORDS": Operand("flags", "flags", OperandReader.words),
    "ARG…": Operand("arguments", "an argument", OperandReader.argument),
}
"""The operands of verbs by their placeholder."""

OPTIONS: Mapping[str, _Reads] = {
    "N": OperandReader.number,
    "WORDS": OperandReader.words,
    "X,Y,Z": OperandReader.extent,
    "BYTES": OperandReader.size,
    "S": _reference("S"),
}
"""The parser of each option's value; the operand has the option's name."""

COMPARED: Mapping[str, Callable[[OperandReader, Token, Verb, Operands], object]] = {
    "context": OperandReader.compared_context,
    "number": OperandReader.compared_number,
    "word": OperandReader.compared_word,
    "words": OperandReader.compared_words,
    "data": OperandReader.compared_data,
}
"""The parser of a comparison's operand, by the kind of value that the verb returns."""
