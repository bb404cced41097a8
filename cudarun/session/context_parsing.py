"""The parser of scripts of ``cudarun ctx run``.

A script is parsed whole before any driver is touched: verbs, operands, types, names and what is
done to which kind of thing. A name may be used after what it names is gone, for that can be the
point of a script; one that was never made may not, and a step that must fail makes none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from cudarun.arguments.grammar import parse_argument, parse_type
from cudarun.arguments.literals import Form, LiteralError, read
from cudarun.arguments.packing import element_bytes
from cudarun.arguments.scanner import did_you_mean
from cudarun.arguments.types import StructType, Type
from cudarun.arguments.values import (
    Argument,
    BareNumber,
    Buffer,
    Bytes,
    Element,
    FileBuffer,
    StructValue,
    SymbolAddress,
)
from cudarun.errors import ArgumentSyntaxError
from cudarun.records import dataclass
from cudarun.session.context_lines import Line, Token
from cudarun.session.context_script import (
    ANY,
    FAILURE,
    MAIN,
    Expectation,
    Limit,
    Name,
    Script,
    Step,
    Symbol,
)
from cudarun.session.context_verbs import BUILTIN, VERBS, Verb
from cudarun.session.contexts import CACHE_CONFIGS, FLAGS, LIMITS

# What a letter of `Verb.usage` may name: kinds of thing.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "A": ("context", "primary"),
    "P": ("primary",),
    "S": ("stream",),
    "E": ("event",),
    "B": ("buffer", "variable"),
    "F": ("function",),
    "M": ("module", "library"),
}

_NAME = re.compile(r"[A-Za-z_]\w*")
_CLAUSES = ("as", "->", "==", "!=", ">=", "<=")
_RESERVED = {"none", ANY, FAILURE, BUILTIN, "as"}


def parse_script(text: str, origin: str | None = None) -> Script:
    """Parse a script whole.

    Raises:
        ArgumentSyntaxError: With the line and the column where it goes wrong.
    """
    lines = text.splitlines()
    names: dict[str, _Named] = {}
    steps: list[Step] = []
    for number, line_text in enumerate(lines, 1):
        line = Line(line_text, number, origin, alone=len(lines) == 1 and origin is None)
        for tokens in line.steps():
            if tokens:
                steps.append(_StepParser(line, tokens, names).step(len(steps) + 1))
    if not steps:
        raise Line(text, 1, origin, alone=True).error("a script without a step", 0)
    return Script(text, origin, tuple(steps))


@dataclass(slots=True)
class _Named:
    """What is known of a name: its kind, a primary context's device, what was last written."""

    kind: str
    dev: int = 0
    type: Type | None = None


class _StepParser:
    """Reads one step; ``names`` are those made so far, and this step's are added."""

    def __init__(self, line: Line, tokens: list[Token], names: dict[str, _Named]) -> None:
        self.line = line
        self.names = names
        self.tokens = tokens
        self.position = 0
        last = tokens[-1]
        self.end = last.column + len(last.text)

    def step(self, number: int) -> Step:
        """The step, and its names noted."""
        text = self.text_since(self.tokens[0])
        thread = self.thread()
        verb_token = self.take("a step")
        verb = VERBS.get(verb_token.text)
        if verb is None:
            hint = did_you_mean(verb_token.text, VERBS)
            raise self.error(f"there is no step {verb_token.text!r}", verb_token, hint=hint)
        operands = self.operands(verb)
        label = self.label(verb)
        expected = self.expectation(verb, operands)
        if self.position < len(self.tokens):
            extra = self.tokens[self.position]
            usage = f"it is used so: {verb.name} {verb.usage}".rstrip()
            raise self.error(f"unexpected {extra.text!r}", extra, hint=usage)
        if expected is None or expected.admits("SUCCESS"):
            self.declare(verb, operands, label)
        return Step(number, self.line.number, thread, verb.name, text, operands, label, expected)

    # --- tokens ---

    def error(
        self, message: str, token: Token | None, *, hint: str | None = None
    ) -> ArgumentSyntaxError:
        """The error about a token, or about the end of the step."""
        return self.line.error(message, self.end if token is None else token.column, hint=hint)

    def peek(self) -> Token | None:
        """The next token; ``None`` where the step ends."""
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def take(self, what: str) -> Token:
        """The next token, which must be there."""
        token = self.peek()
        if token is None or (token.text in _CLAUSES and what != "a clause"):
            raise self.error(f"expected {what}", token)
        self.position += 1
        return token

    def operand_follows(self) -> bool:
        """Whether another operand follows, rather than a clause or the end."""
        token = self.peek()
        return token is not None and token.text not in _CLAUSES

    def text_since(self, first: Token) -> str:
        """The step's text from a token on."""
        return self.line.text[first.column : self.end]

    def thread(self) -> str:
        """``@t1`` before the verb."""
        token = self.peek()
        if token is None or not token.text.startswith("@"):
            return MAIN
        self.position += 1
        name = token.text[1:]
        if not _NAME.fullmatch(name):
            raise self.error(f"{token.text!r} names no thread", token, hint="as in: @t1 pop")
        return name

    # --- operands ---

    def operands(self, verb: Verb) -> dict[str, Any]:
        """All operands, by the names that `_OPERANDS` and `_OPTIONS` give them."""
        positional, options = _shape(verb.usage)
        given: dict[str, Any] = {}
        for index, (placeholder, optional) in enumerate(positional):
            self.options(options, given)
            operand = _OPERANDS[placeholder]
            if index == 0 and verb.makes is not None:
                given["name"] = self.new_name(verb)
            elif placeholder == "ARG…":
                given[operand.key] = self.arguments(options, given)
            elif not optional or self.operand_follows():
                given[operand.key] = operand.read(self, self.take(operand.described))
        self.options(options, given)
        self.complete(verb, given)
        return given

    def options(self, options: Mapping[str, str], given: dict[str, Any]) -> None:
        """Take every ``key=…`` that comes next."""
        while (token := self.peek()) is not None:
            key, equals, text = token.text.partition("=")
            if not equals or key not in options or token.text in _CLAUSES:
                return
            if key in given:
                raise self.error(f"{key}= is given twice", token)
            self.position += 1
            value = Token(text, token.column + len(key) + 1)
            given[key] = _OPTIONS[options[key]](self, value)

    def complete(self, verb: Verb, given: dict[str, Any]) -> None:
        """What follows from the operands together."""
        if "primary" in given:
            if "dev" in given:
                raise self.error("give the context's name or dev=, not both", None)
            given["dev"] = self.names[given.pop("primary")].dev
        if verb.makes == "primary" and given["name"] in self.names:
            known_dev = self.names[given["name"]].dev
            if given.setdefault("dev", known_dev) != known_dev:
                raise self.error(f"{given['name']} is the primary context of dev={known_dev}", None)
        if verb.name == "write":
            given["data"], given["as_type"] = given.pop("value")
        if verb.name == "read" and "as_type" not in given:
            known = self.names[given["buffer"]].type
            if known is None:
                raise self.error(
                    f"nothing was written to {given['buffer']}, so its type is not known",
                    None,
                    hint=f"as in: read {given['buffer']} i32",
                )
            given["as_type"] = known

    def new_name(self, verb: Verb) -> str:
        """A name that this step makes."""
        token = self.take(f"a name for the {verb.makes}")
        name = token.text
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise self.error(f"{name!r} is no name", token, hint="a letter, then letters or digits")
        known = self.names.get(name)
        if known is not None and not (verb.makes == known.kind == "primary"):
            raise self.error(f"{name} names a {known.kind} already", token)
        return name

    def old_name(self, token: Token, placeholder: str) -> str:
        """The name of something made before."""
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

    def arguments(
        self, options: Mapping[str, str], given: dict[str, Any]
    ) -> tuple[Argument | Name, ...]:
        """The ARGs of a launch; options may stand among them."""
        found: list[Argument | Name] = []
        while self.operand_follows():
            token = self.take("an argument")
            known = self.names.get(token.text)
            if known is not None and known.kind in _KINDS["B"]:
                found.append(Name(token.text))
            else:
                found.append(self.argument(token))
            self.options(options, given)
        return tuple(found)

    def argument(self, token: Token) -> Argument:
        """One ARG that is a value."""
        argument: Argument = self.based(token, lambda: parse_argument(token.text))
        if isinstance(argument.value, Buffer | FileBuffer | SymbolAddress):
            raise self.error(
                f"{token.text!r} is an address: here memory has a name",
                token,
                hint="'alloc B SIZE' or 'global B M.NAME' makes one",
            )
        return argument

    def based(self, token: Token, parse: Callable[[], Any], skipped: int = 0) -> Any:
        """Parse part of a token, an error's column being turned into that of the line.

        Args:
            token: Where it stands.
            parse: The parser, called with no argument.
            skipped: Characters before the token's own in the text that is parsed.
        """
        try:
            return parse()
        except ArgumentSyntaxError as error:
            column = token.column + max(0, error.column - skipped)
            raise self.line.error(error.message, column, hint=error.hint) from None

    def number(self, token: Token) -> int:
        """``4096``, ``0x1000``, ``4Ki``: not negative."""
        try:
            literal = read(token.text)
        except LiteralError as error:
            raise self.error(str(error), token) from None
        if literal.form is not Form.INTEGER or literal.negative:
            raise self.error(f"{token.text!r} is not a whole number", token)
        return literal.integer

    def extent(self, token: Token) -> tuple[int, int, int]:
        """``X[,Y[,Z]]``; zero is allowed, for the driver to refuse."""
        numbers = [self.number(Token(text, token.column)) for text in token.text.split(",")]
        if len(numbers) > 3:
            raise self.error(f"{token.text!r} has {len(numbers)} dimensions", token)
        x, y, z = (*numbers, 1, 1)[:3]
        return (x, y, z)

    def words(self, token: Token) -> frozenset[str]:
        """Context flags, joined by commas."""
        found = frozenset(token.text.split(","))
        for word in sorted(found):
            if word not in FLAGS:
                raise self.error(
                    f"{word!r} is no flag of a context", token, hint=f"there are {', '.join(FLAGS)}"
                )
        return found

    def limit(self, token: Token) -> Limit:
        """``NAME[=SIZE]``."""
        name, equals, size = token.text.partition("=")
        if name not in LIMITS:
            there = f"there are {', '.join(LIMITS)}"
            raise self.error(f"there is no limit {name!r}", token, hint=there)
        if not equals:
            return Limit(name, None)
        return Limit(name, self.number(Token(size, token.column + len(name) + 1)))

    def prefer(self, token: Token) -> str:
        """A cache preference."""
        return self.one_of(token, CACHE_CONFIGS)

    def one_of(self, token: Token, words: tuple[str, ...]) -> str:
        """One of the words."""
        if token.text not in words:
            raise self.error(f"{token.text!r} is none of {', '.join(words)}", token)
        return token.text

    def image(self, token: Token) -> str:
        """A path, in quotes where it has spaces, or `BUILTIN`."""
        path = token.text.strip('"')
        if not path:
            raise self.error("expected the path of an image", token)
        return path

    def symbol(self, token: Token) -> Symbol:
        """``M.NAME``."""
        owner, dot, name = token.text.partition(".")
        if not dot or not name:
            raise self.error(
                f"{token.text!r} is not M.NAME: a module or library and what is in it", token
            )
        return Symbol(self.old_name(Token(owner, token.column), "M"), name)

    def value(self, token: Token) -> tuple[bytes, Type | None]:
        """A value to write: its bytes, and its type where it has one."""
        value = self.argument(token).value
        if isinstance(value, Bytes):
            return value.data, None
        if isinstance(value, BareNumber):
            raise self.error(f"{value} needs a type", token, hint=f"as in: i32:{value}")
        if not isinstance(value, Element):
            raise self.error(f"{token.text!r} is no value to write", token)
        return element_bytes(value), value.type

    def type(self, token: Token) -> Type:
        """A type on its own."""
        found: Type = self.based(token, lambda: parse_type(token.text))
        return found

    # --- clauses ---

    def label(self, verb: Verb) -> str | None:
        """``as NAME``."""
        token = self.peek()
        if token is None or token.text != "as":
            return None
        if verb.gives not in ("context", "number"):
            raise self.error(f"'{verb.name}' has no value to name", token)
        self.position += 1
        name = self.take("a name for the value")
        if not _NAME.fullmatch(name.text) or name.text in _RESERVED or name.text in self.names:
            raise self.error(f"{name.text!r} cannot name the value", name)
        return name.text

    def expectation(self, verb: Verb, operands: Mapping[str, Any]) -> Expectation | None:
        """``-> RESULT`` or a comparison."""
        first = self.peek()
        if first is None or first.text == "as" or first.text not in _CLAUSES:
            return None
        self.take("a clause")
        if first.text == "->":
            results = self.results()
            return Expectation(self.text_since(first), results)
        operand = self.compared(verb, first, operands)
        return Expectation(self.text_since(first), operator=first.text, operand=operand)

    def results(self) -> tuple[str, ...]:
        """``RESULT|RESULT…`` after the arrow."""
        token = self.take("a result after '->', such as INVALID_CONTEXT")
        column, found = token.column, []
        for word in token.text.split("|"):
            name = word.removeprefix("CUDA_ERROR_").removeprefix("CUDA_")
            if name not in result_names() and name not in (ANY, FAILURE):
                raise self.line.error(
                    f"{word!r} is no result of the driver",
                    column,
                    hint=did_you_mean(name, [*result_names(), ANY, FAILURE]),
                )
            found.append(name)
            column += len(word) + 1
        return tuple(found)

    def compared(self, verb: Verb, operator: Token, operands: Mapping[str, Any]) -> Any:
        """What a value is compared with, of the kind that the verb gives."""
        if verb.gives is None:
            raise self.error(f"'{verb.name}' has no value to compare", operator)
        ordered = verb.gives in ("number", "words")
        if operator.text in (">=", "<=") and not ordered:
            raise self.error(f"the value of '{verb.name}' is only equal or not", operator)
        token = self.take("a value to compare with")
        return _COMPARED[verb.gives](self, token, verb, operands)

    def compared_context(self, token: Token, verb: Verb, operands: Mapping[str, Any]) -> Any:
        """``none``, a context, or a value that was named."""
        if token.text == "none":
            return None
        known = self.names.get(token.text)
        if known is not None and known.kind == "value":
            return Name(token.text)
        if token.text == operands.get("name"):
            return Name(token.text)
        return Name(self.old_name(token, "A"))

    def compared_number(self, token: Token, verb: Verb, operands: Mapping[str, Any]) -> Any:
        """A number, a value that was named, or the address of something."""
        known = self.names.get(token.text)
        if known is None:
            return self.number(token)
        if known.kind not in ("value", "buffer", "variable"):
            raise self.error(f"{token.text} is a {known.kind}, which is no number", token)
        return Name(token.text)

    def compared_word(self, token: Token, verb: Verb, operands: Mapping[str, Any]) -> Any:
        """One of the verb's words."""
        return self.one_of(token, verb.words)

    def compared_words(self, token: Token, verb: Verb, operands: Mapping[str, Any]) -> Any:
        """Flags."""
        return self.words(token)

    def compared_data(self, token: Token, verb: Verb, operands: Mapping[str, Any]) -> bytes:
        """A value of the type that is read, its type left out unless it is a struct."""
        type_: Type = operands["as_type"]
        prefix = "" if isinstance(type_, StructType) else f"{type_}:"
        value = self.based(
            token, lambda: parse_argument(prefix + token.text), skipped=len(prefix)
        ).value
        if not isinstance(value, Element) or value.type.size != type_.size:
            raise self.error(f"{token.text!r} is no {type_}", token)
        if isinstance(value, StructValue) and str(value.type) != str(type_):
            raise self.error(f"{token.text!r} is {value.type}, not {type_}", token)
        return element_bytes(value)

    # --- names ---

    def declare(self, verb: Verb, operands: Mapping[str, Any], label: str | None) -> None:
        """Note what the step makes."""
        if verb.name == "new-process":
            self.names.clear()
        if verb.makes is not None:
            self.names[operands["name"]] = _Named(verb.makes, operands.get("dev", 0))
        if verb.name == "write":
            self.names[operands["buffer"]].type = operands["as_type"]
        if label is not None:
            self.names[label] = _Named("value")


@cache
def result_names() -> frozenset[str]:
    """The names of ``CUresult`` without their prefixes."""
    from cuda.bindings.driver import CUresult  # only a script that expects a failure wants it

    names = (str(result.name) for result in CUresult)
    return frozenset(name.removeprefix("CUDA_ERROR_").removeprefix("CUDA_") for name in names)


# --- how a usage text is read --------------------------------------------------------------------

_Reader = Callable[[_StepParser, Token], Any]


def _reference(placeholder: str) -> _Reader:
    return lambda parser, token: parser.old_name(token, placeholder)


def _context_or_none(parser: _StepParser, token: Token) -> str | None:
    return None if token.text == "none" else parser.old_name(token, "A")


@dataclass(frozen=True, slots=True)
class _Operand:
    """A placeholder: the key of its value in `Step.operands`, in words, and what reads it."""

    key: str
    described: str
    read: _Reader


_OPERANDS: Mapping[str, _Operand] = {
    "A": _Operand("context", "a context", _reference("A")),
    "P": _Operand("primary", "a primary context", _reference("P")),
    "A|none": _Operand("context", "a context or none", _context_or_none),
    "A|S|E": _Operand("thing", "a context, stream or event", _reference("A|S|E")),
    "S|E": _Operand("thing", "a stream or event", _reference("S|E")),
    "S": _Operand("stream", "a stream", _reference("S")),
    "E": _Operand("event", "an event", _reference("E")),
    "B": _Operand("buffer", "a buffer", _reference("B")),
    "F": _Operand("function", "a function", _reference("F")),
    "M": _Operand("owner", "a module or library", _reference("M")),
    "L": _Operand("owner", "a library", _reference("M")),
    "M.NAME": _Operand("symbol", "M.NAME", _StepParser.symbol),
    "SIZE": _Operand("size", "a size in bytes", _StepParser.number),
    "VALUE": _Operand("value", "a value", _StepParser.value),
    "TYPE": _Operand("as_type", "a type", _StepParser.type),
    "IMAGE": _Operand("image", "an image", _StepParser.image),
    "LIMIT[=SIZE]": _Operand("limit", "the name of a limit", _StepParser.limit),
    "PREFER": _Operand("prefer", "a cache preference", _StepParser.prefer),
    "WORDS": _Operand("flags", "flags", _StepParser.words),
    "ARG…": _Operand("arguments", "an argument", _StepParser.argument),
}

# The value of an option to what reads it; the operand's name is the option's own.
_OPTIONS: Mapping[str, _Reader] = {
    "N": _StepParser.number,
    "WORDS": _StepParser.words,
    "X,Y,Z": _StepParser.extent,
    "BYTES": _StepParser.number,
    "S": _reference("S"),
}

_COMPARED: Mapping[str, Callable[[_StepParser, Token, Verb, Mapping[str, Any]], Any]] = {
    "context": _StepParser.compared_context,
    "number": _StepParser.compared_number,
    "word": _StepParser.compared_word,
    "words": _StepParser.compared_words,
    "data": _StepParser.compared_data,
}


@cache
def _shape(usage: str) -> tuple[tuple[tuple[str, bool], ...], Mapping[str, str]]:
    """A usage text as positional placeholders, each optional or not, and options."""
    positional: list[tuple[str, bool]] = []
    options: dict[str, str] = {}
    for item in usage.split():
        optional = item.startswith("[")
        placeholder = item[1:-1] if optional else item
        key, equals, value = placeholder.partition("=")
        if optional and equals:
            options[key] = value
        else:
            positional.append((placeholder, optional))
    return tuple(positional), options
