"""The operands of steps in a context script: names, numbers, flags, values.

`parser` determines which word is which operand. Here each word is parsed by its placeholder in
`Verb.usage`, with the names that the script has created so far.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from cudarun.arguments import values
from cudarun.arguments.addresses import buffers_in
from cudarun.arguments.buffer_resolution import BufferResolver
from cudarun.arguments.dimensions import evaluate_index, parse_extent, parse_size
from cudarun.arguments.expressions.parser import parse_expression
from cudarun.arguments.expressions.statements import Check, claimed_check, parse_check
from cudarun.arguments.expressions.syntax import Expression
from cudarun.arguments.frameworks import FilledArray, numba_parameters
from cudarun.arguments.grammar import parse_argument, parse_type
from cudarun.arguments.literals import Form, LiteralError, read
from cudarun.arguments.packing import BufferSpec, Pointee, Pointers, VariableElement, pack
from cudarun.arguments.scalars import Computed, Scalar, UntypedNumber
from cudarun.arguments.scanner import did_you_mean
from cudarun.arguments.types import StructType
from cudarun.arguments.values import walk
from cudarun.base.errors import ArgumentSyntaxError, RequestError
from cudarun.base.records import dataclass
from cudarun.session.contexts.script import Limit, Line, NameReference, Operands, Symbol, Token
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
    """The properties of a name: its kind, a primary context's device, and the type of memory."""

    kind: str
    dev: int = 0
    spec: BufferSpec | None = None


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

    def argument(self, token: Token) -> values.Argument:
        """Parse one ARG: that of ``launch``, or the name of memory, which is its address."""
        name, equals, value = token.text.rpartition("=")
        known = self.names.get(value)
        if known is not None and known.kind in _KINDS["B"]:
            address = Token(f"{name}{equals}&{value}", token.column)
            argument = self.written(address)
            return values.Argument(argument.name, argument.value, token.text)
        return self.written(token)

    def written(self, token: Token) -> values.Argument:
        """Parse an ARG in the grammar of ``launch``."""
        argument: values.Argument = self.based(token, lambda: parse_argument(token.text))
        for each in walk(argument.value):
            if isinstance(each, values.ObjectValue):
                raise self.error(f"{each.word}(…): scripts have no textures and surfaces", token)
            if isinstance(each, values.TensorMapValue):
                raise self.error("tensormap(…): scripts have no tensor maps", token)
        return argument

    def buffers(
        self, argument: values.Argument, integers: dict[str, int], token: Token
    ) -> Iterator[BufferSpec]:
        """Yield the buffers that an ARG of a launch allocates, and check the addresses in it."""
        resolver = BufferResolver(integers, Path())

        def packed() -> list[Pointers]:
            parts = numba_parameters([argument], Path())
            return [
                pack(part.value, part.name or "", partial(resolver.resolve, part)).pointers
                for part in parts
                if values.has_type(part.value)
            ]

        for pointers in self.based(token, packed):
            specs = list(buffers_in(pointers))
            yield from specs
            for each in (pointers, *(spec.pointers for spec in specs)):
                for _, pointee in each:
                    if isinstance(pointee, values.AddressOf):
                        self.old_name(Token(pointee.name, token.column), "B")

    def contents(self, token: Token) -> BufferSpec:
        """Parse a value to write: its type, shape and contents."""
        spec = self._spec(token)
        if spec.initial is None:
            raise self.error(f"{token.text} has no contents", token, hint=f"{token.text}:zeros")
        return spec

    def memory(self, token: Token) -> int | BufferSpec:
        """Parse a size in bytes, or memory with a type, and perhaps contents."""
        is_number = isinstance(self.written(token).value, UntypedNumber)
        return self.number(token) if is_number else self._spec(token)

    def _spec(self, token: Token) -> BufferSpec:
        argument = self.written(token)
        value = argument.value
        if isinstance(value, FilledArray):
            value = value.buffer
        if isinstance(value, UntypedNumber):
            raise self.error(f"{value} needs a type", token, hint=f"example: i32:{value}")
        others = (
            Computed
            | values.Descriptor
            | values.Reference
            | values.TensorMapValue
            | values.TensorExtent
        )
        if isinstance(value, others) or not values.has_type(value):
            raise self.error(f"{token.text!r} cannot be written", token)
        resolver = BufferResolver({}, Path())
        match value:
            case values.Buffer() | values.FileBuffer() as buffer:
                spec = self.based(token, lambda: resolver.buffer(argument, buffer, ""))
            case values.Bytes(data):
                scalars = tuple(Scalar(values.BYTE, byte) for byte in data)
                spec = BufferSpec("", values.BYTE, (len(data),), values.ListInitial(scalars))
            case element:
                resolve = partial(resolver.resolve, argument)
                packed = self.based(token, lambda: pack(element, "", resolve))
                initial = values.ListInitial((element,))
                spec = BufferSpec("", values.value_type(element), (), initial, packed.pointers)
        pointers = tuple((at, self._element(each, token)) for at, each in spec.pointers)
        return replace(spec, pointers=pointers)

    def _element(self, pointee: Pointee, token: Token) -> VariableElement:
        """Return the place of an address in contents."""
        if not isinstance(pointee, values.AddressOf):
            raise self.error(
                "contents refer to memory by name", token,
                hint="create a name with 'alloc B VALUE', and write &B",
            )  # fmt: skip
        self.old_name(Token(pointee.name, token.column), "B")
        index = 0 if pointee.index is None else evaluate_index(pointee.index, {})
        return VariableElement(pointee.name, index)

    def known(self, names: Iterable[str]) -> dict[str, BufferSpec]:
        """Return the types and shapes of memory with these names, as far as they are known."""
        found = {name: self.names[name].spec for name in names if name in self.names}
        return {
            name: replace(spec, initial=None, pointers=())
            for name, spec in found.items()
            if spec is not None
        }

    def expression(self, token: Token) -> Expression:
        """Parse an expression over memory."""
        return self._usable(self.based(token, lambda: parse_expression(token.text)), token)

    def check(self, token: Token) -> Check:
        """Parse a check over memory."""
        check: Check = self.based(token, lambda: claimed_check(parse_check(token.text)))
        self._usable(check.expression, token)
        return check

    def _usable(self, expression: Expression, token: Token) -> Expression:
        """Refuse names without a value, and values from before a launch."""
        if expression.old_names or expression.symbols:
            raise self.error("a script has no old(…) and symbol(…): read or name the value", token)
        usable = [
            name for name, each in self.names.items()
            if each.kind == "value" or (each.kind in _KINDS["B"] and each.spec is not None)
        ]  # fmt: skip
        for name in sorted(expression.names):
            known = self.names.get(name)
            if known is not None and known.kind in _KINDS["B"] and known.spec is None:
                raise self.error(
                    f"the type of {name} is unknown", token,
                    hint=f"write to it, or create it with a type: "
                    f"{'alloc' if known.kind == 'buffer' else 'global'} {name} … f32[4]",
                )  # fmt: skip
        self.based(token, lambda: expression.check_names(usable))
        return expression

    def based(self, token: Token, parse: Callable[[], T], skipped: int = 0) -> T:
        """Parse part of a token; an error's column is converted to the line's.

        Args:
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

    def type(self, token: Token) -> BufferSpec:
        """Parse a type without a value, perhaps with dimensions."""
        if not token.text.endswith("]"):
            return BufferSpec("", self.based(token, lambda: parse_type(token.text)), ())
        spec = self._spec(token)
        if spec.initial is not None:
            raise self.error("expected a type, found a value", token)
        return spec

    # --- the operands of comparisons ---

    def compared(self, token: Token, verb: Verb, operands: Operands) -> object:
        """Parse the operand of a comparison, of the kind of value that the verb returns."""
        known = self.names.get(token.text)
        match verb.gives:
            case "number":
                if known is None:
                    return self.number(token)
                if known.kind not in ("value", "buffer", "variable"):
                    raise self.error(f"{token.text} is a {known.kind}, not a number", token)
            case "word":
                return self.one_of(token, verb.words)
            case "words":
                return self.words(token)
            case "data":
                return self._compared_data(token, operands["as_type"])
            case "context" if token.text == "none":
                return None
            case "context" if known is None or known.kind != "value":
                if token.text != operands.get("name"):
                    self.old_name(token, "A")
        return NameReference(token.text)

    def _compared_data(self, token: Token, spec: BufferSpec) -> BufferSpec:
        """Parse a value of the type that is read; only structs repeat the type."""
        if spec.shape:
            text = f"{spec}:"
            return self.contents(Token(text + token.text, token.column - len(text)))
        prefix = "" if isinstance(spec.type, StructType) else f"{spec.type}:"
        value = self.based(
            token, lambda: parse_argument(prefix + token.text), skipped=len(prefix)
        ).value
        if (
            not isinstance(value, values.Element)
            or not values.has_type(value)
            or value.type.size != spec.type.size
        ):
            raise self.error(f"{token.text!r} is not a value of type {spec.type}", token)
        if isinstance(value, values.StructValue) and str(value.type) != str(spec.type):
            raise self.error(f"{token.text!r} is {value.type}, not {spec.type}", token)
        return replace(spec, initial=values.ListInitial((value,)))


# --- the placeholders of usage texts -------------------------------------------------------------

_Reads = Callable[[OperandReader, Token], object]


def _reference(placeholder: str) -> _Reads:
    return lambda reader, token: reader.old_name(token, placeholder)


@dataclass(frozen=True, slots=True)
class Operand:
    """A placeholder: the key of its value in `Step.operands`, a description, and its parser."""

    key: str
    described: str
    read: _Reads


OPERANDS: Mapping[str, Operand] = {
    "A": Operand("context", "a context", _reference("A")),
    "P": Operand("primary", "a primary context", _reference("P")),
    "A|none": Operand(
        "context",
        "a context or none",
        lambda reader, token: None if token.text == "none" else reader.old_name(token, "A"),
    ),
    "A|S|E": Operand("thing", "a context, stream or event", _reference("A|S|E")),
    "S|E": Operand("thing", "a stream or event", _reference("S|E")),
    "S": Operand("stream", "a stream", _reference("S")),
    "E": Operand("event", "an event", _reference("E")),
    "B": Operand("buffer", "a buffer", _reference("B")),
    "F": Operand("function", "a function", _reference("F")),
    "M": Operand("owner", "a module or library", _reference("M")),
    "L": Operand("owner", "a library", _reference("M")),
    "M.NAME": Operand("symbol", "M.NAME", OperandReader.symbol),
    "SIZE|VALUE": Operand("memory", "a size in bytes or a buffer", OperandReader.memory),
    "VALUE": Operand("value", "a value", OperandReader.contents),
    "EXPR": Operand("expression", "an expression", OperandReader.expression),
    "TYPE": Operand("as_type", "a type", OperandReader.type),
    "IMAGE": Operand("image", "an image", OperandReader.image),
    "LIMIT[=SIZE]": Operand("limit", "the name of a limit", OperandReader.limit),
    "PREFER": Operand(
        "prefer", "a cache preference", lambda reader, token: reader.one_of(token, CACHE_CONFIGS)
    ),
    "WORDS": Operand("flags", "flags", OperandReader.words),
    "ARG…": Operand("arguments", "an argument", OperandReader.argument),
}
"""The operands of verbs by their placeholder."""

OPTIONS: Mapping[str, _Reads] = {
    "N": OperandReader.number,
    "WORDS": OperandReader.words,
    # A grid or a block, as of ``launch``; zero is allowed, for the driver to refuse.
    "X,Y,Z": lambda reader, token: reader.based(token, lambda: parse_extent(token.text, least=0)),
    "BYTES": lambda reader, token: reader.based(token, lambda: parse_size(token.text)),
    "S": _reference("S"),
}
"""The parser of each option's value; the operand has the option's name."""
