"""The parser of ``cudarun ctx run`` scripts.

A script is parsed completely before any driver call: verbs, operands, types, names and the kinds of
objects. A name may be used after its object is destroyed, which can be the point of a script. An
unknown name is refused, and a step that must fail creates none.
`cudarun.session.contexts.operands` parses single words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

from cudarun.arguments.literals import Form, read
from cudarun.arguments.packing import BufferSpec
from cudarun.arguments.scalars import Scalar, UntypedNumber
from cudarun.arguments.scanner import did_you_mean
from cudarun.arguments.values import Argument, Value
from cudarun.base.errors import ArgumentSyntaxError
from cudarun.session.contexts.operands import OPERANDS, OPTIONS, NamedObject, OperandReader
from cudarun.session.contexts.script import (
    ANY,
    FAILURE,
    MAIN,
    Expectation,
    Line,
    Operands,
    Script,
    Step,
    Token,
)
from cudarun.session.contexts.verbs import BUILTIN, VERBS, Verb

_NAME = re.compile(r"[A-Za-z_]\w*")
_CLAUSES = ("as", "->", "==", "!=", ">=", "<=")
_Given: TypeAlias = dict[str, Any]  # the operands of a step so far
_RESERVED = {"none", ANY, FAILURE, BUILTIN, "as"}


def parse_script(text: str, origin: str | None = None) -> Script:
    """Parse a whole script; the `ArgumentSyntaxError` has the line and the column."""
    lines = text.splitlines()
    names: dict[str, NamedObject] = {}
    steps: list[Step] = []
    for number, line_text in enumerate(lines, 1):
        line = Line(line_text, number, origin, alone=len(lines) == 1 and origin is None)
        for tokens in line.steps():
            if tokens:
                steps.append(_StepParser(line, tokens, names).step(len(steps) + 1))
    if not steps:
        raise Line(text, 1, origin, alone=True).error("the script has no steps", 0)
    return Script(text, origin, tuple(steps))


class _StepParser:
    """A parser of one step; ``names`` are those created so far, to which this step's are added."""

    def __init__(self, line: Line, tokens: list[Token], names: dict[str, NamedObject]) -> None:
        self.line = line
        self.reader = OperandReader(line, names)
        self.names = names
        self.tokens = tokens
        self.position = 0
        self.variable_type: BufferSpec | None = None
        self.made: dict[str, BufferSpec] = {}  # by the ARGs of a launch
        last = tokens[-1]
        self.end = last.column + len(last.text)

    def step(self, number: int) -> Step:
        """Parse the step and record its names."""
        text = self.text_since(self.tokens[0])
        thread = self.thread()
        verb_token = self.take("a step")
        verb = VERBS.get(verb_token.text)
        if verb is None:
            hint = did_you_mean(verb_token.text, VERBS)
            raise self.error(f"unknown step {verb_token.text!r}", verb_token, hint=hint)
        operands = self.operands(verb)
        label = self.label(verb)
        expected = self.expectation(verb, operands)
        if self.position < len(self.tokens):
            extra = self.tokens[self.position]
            usage = f"usage: {verb.name} {verb.usage}".rstrip()
            raise self.error(f"unexpected {extra.text!r}", extra, hint=usage)
        if expected is None or expected.admits("SUCCESS"):
            self.declare(verb, operands, label)
        return Step(number, self.line.number, thread, verb.name, text, operands, label, expected)

    # --- tokens ---

    def error(
        self, message: str, token: Token | None, *, hint: str | None = None
    ) -> ArgumentSyntaxError:
        """Return the error about a token, or about the end of the step."""
        return self.line.error(message, self.end if token is None else token.column, hint=hint)

    def peek(self) -> Token | None:
        """Return the next token; ``None`` at the end of the step."""
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def take(self, what: str) -> Token:
        """Consume the next token, which is required."""
        token = self.peek()
        if token is None or (token.text in _CLAUSES and what != "a clause"):
            raise self.error(f"expected {what}", token)
        self.position += 1
        return token

    def operand_follows(self) -> bool:
        """Return whether another operand follows, rather than a clause or the end."""
        token = self.peek()
        return token is not None and token.text not in _CLAUSES

    def text_since(self, first: Token) -> str:
        """Return the step's text from a token on."""
        return self.line.text[first.column : self.end]

    def thread(self) -> str:
        """Parse ``@t1`` before the verb."""
        token = self.peek()
        if token is None or not token.text.startswith("@"):
            return MAIN
        self.position += 1
        name = token.text[1:]
        if not _NAME.fullmatch(name):
            raise self.error(f"{token.text!r} is not a thread name", token, hint="example: @t1 pop")
        return name

    # --- operands ---

    def operands(self, verb: Verb) -> _Given:
        """Parse all operands, by the names in `OPERANDS` and `OPTIONS`."""
        positional, options = _shape(verb.usage)
        given: _Given = {}
        for index, (placeholder, optional) in enumerate(positional):
            self.options(options, given)
            operand = OPERANDS[placeholder]
            if index == 0 and verb.makes is not None:
                given["name"] = self.new_name(verb)
            elif placeholder == "ARG…":
                given[operand.key] = self.arguments(options, given)
            elif placeholder == "EXPR":
                given |= self.expression(verb)
            elif not optional or self.operand_follows():
                given[operand.key] = operand.read(self.reader, self.take(operand.described))
        self.options(options, given)
        self.complete(verb, given)
        return given

    def options(self, options: Mapping[str, str], given: _Given) -> None:
        """Parse every ``key=…`` that follows."""
        while (token := self.peek()) is not None:
            key, equals, text = token.text.partition("=")
            if not equals or key not in options or token.text in _CLAUSES:
                return
            if key in given:
                raise self.error(f"{key}= is given more than once", token)
            self.position += 1
            value = Token(text, token.column + len(key) + 1)
            given[key] = OPTIONS[options[key]](self.reader, value)

    def complete(self, verb: Verb, given: _Given) -> None:
        """Derive values that depend on several operands."""
        if "primary" in given:
            if "dev" in given:
                raise self.error("specify the context's name or dev=, not both", None)
            given["dev"] = self.names[given.pop("primary")].dev
        if verb.makes == "primary" and given["name"] in self.names:
            known_dev = self.names[given["name"]].dev
            if given.setdefault("dev", known_dev) != known_dev:
                raise self.error(f"{given['name']} is the primary context of dev={known_dev}", None)
        if verb.makes == "variable":
            self.variable_type = given.pop("as_type", None)
        value = given.get("memory", given.get("value"))
        if isinstance(value, BufferSpec) and value.pointers:
            given["known"] = self.reader.known(self.names)
        if verb.name == "read" and "as_type" not in given:
            known = self.names[given["buffer"]].spec
            if known is None:
                raise self.error(
                    f"the type of {given['buffer']} is unknown: the script did not write to it",
                    None,
                    hint=f"specify the type: read {given['buffer']} i32",
                )
            given["as_type"] = replace(known, initial=None, pointers=())

    def new_name(self, verb: Verb) -> str:
        """Parse a name that this step creates."""
        token = self.take(f"a name for the {verb.makes}")
        name = token.text
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise self.error(
                f"{name!r} is not a valid name",
                token,
                hint="use a letter followed by letters or digits",
            )
        known = self.names.get(name)
        if known is not None and not (verb.makes == known.kind == "primary"):
            raise self.error(f"{name} is already the name of a {known.kind}", token)
        return name

    def arguments(self, options: Mapping[str, str], given: _Given) -> tuple[Argument, ...]:
        """Parse the ARGs of a launch, which may be mixed with options; they may create names."""
        found: list[tuple[Argument, Token]] = []
        while self.operand_follows():
            token = self.take("an argument")
            found.append((self.reader.argument(token), token))
            self.options(options, given)
        integers = {
            argument.name: number
            for argument, _ in found
            if argument.name and (number := _integer(argument.value)) is not None
        }
        self.made = {}
        for argument, token in found:
            for spec in self.reader.buffers(argument, integers, token):
                if not spec.name:
                    raise self.error(
                        f"{token.text} has no name", token, hint=f"name it: x={token.text}"
                    )
                if spec.name in self.names or spec.name in self.made:
                    raise self.error(f"the name {spec.name} is already in use", token)
                self.made[spec.name] = spec
        if found:
            given["known"] = self.reader.known(self.names)
        return tuple(argument for argument, _ in found)

    def expression(self, verb: Verb) -> _Given:
        """Parse the expression of a check or a print, up to ``->`` or the end of the step."""
        first = self.peek()
        if first is None:
            raise self.error("expected an expression", None)
        end = self.end
        for token in self.tokens[self.position :]:
            if token.text == "->":
                end = token.column
                break
            self.position += 1
        whole = Token(self.line.text[first.column : end].rstrip(), first.column)
        if verb.name == "check":
            check = self.reader.check(whole)
            return {"check": check, "known": self.reader.known(check.expression.names)}
        expression = self.reader.expression(whole)
        return {"expression": expression, "known": self.reader.known(expression.names)}

    # --- clauses ---

    def label(self, verb: Verb) -> str | None:
        """Parse ``as NAME``."""
        token = self.peek()
        if token is None or token.text != "as":
            return None
        if verb.gives not in ("context", "number"):
            raise self.error(f"'{verb.name}' returns no value to name", token)
        self.position += 1
        name = self.take("a name for the value")
        if not _NAME.fullmatch(name.text) or name.text in _RESERVED or name.text in self.names:
            raise self.error(f"{name.text!r} is not a valid name for the value", name)
        return name.text

    def expectation(self, verb: Verb, operands: Operands) -> Expectation | None:
        """Parse ``-> RESULT`` or a comparison."""
        first = self.peek()
        if first is None and verb.name == "check":
            return Expectation("true", operator="==", operand=True)
        if first is None or first.text == "as" or first.text not in _CLAUSES:
            return None
        self.take("a clause")
        if first.text == "->":
            results = self.results()
            return Expectation(self.text_since(first), results)
        operand = self.compared(verb, first, operands)
        return Expectation(self.text_since(first), operator=first.text, operand=operand)

    def results(self) -> tuple[str, ...]:
        """Parse ``RESULT|RESULT…`` after the arrow."""
        token = self.take("a result after '->', such as INVALID_CONTEXT")
        column, found = token.column, []
        for word in token.text.split("|"):
            name = word.removeprefix("CUDA_ERROR_").removeprefix("CUDA_")
            if name not in result_names() and name not in (ANY, FAILURE):
                raise self.line.error(
                    f"{word!r} is not a driver result",
                    column,
                    hint=did_you_mean(name, [*result_names(), ANY, FAILURE]),
                )
            found.append(name)
            column += len(word) + 1
        return tuple(found)

    def compared(self, verb: Verb, operator: Token, operands: Operands) -> object:
        """Parse the operand of a comparison, of the kind of value that the verb returns."""
        if verb.gives is None:
            raise self.error(f"'{verb.name}' returns no value to compare", operator)
        ordered = verb.gives in ("number", "words")
        if operator.text in (">=", "<=") and not ordered:
            raise self.error(
                f"values of '{verb.name}' can only be compared with == and !=", operator
            )
        return self.reader.compared(self.take("a value to compare with"), verb, operands)

    # --- names ---

    def declare(self, verb: Verb, operands: Operands, label: str | None) -> None:
        """Record the names that the step creates."""
        if verb.name == "new-process":
            self.names.clear()
        if verb.makes is not None:
            spec = operands.get("memory", self.variable_type)
            spec = None if isinstance(spec, int) else spec
            self.names[operands["name"]] = NamedObject(verb.makes, operands.get("dev", 0), spec)
        if verb.name == "write":
            self.names[operands["buffer"]].spec = operands["value"]
        self.names |= {name: NamedObject("buffer", spec=spec) for name, spec in self.made.items()}
        if label is not None:
            self.names[label] = NamedObject("value")


def _integer(value: Value) -> int | None:
    """Return the number of an argument, if it is an integer."""
    if isinstance(value, UntypedNumber):
        literal = read(value.text)
        return literal.integer if literal.form is Form.INTEGER else None
    if isinstance(value, Scalar) and value.type.is_integer:
        return int(value.value)
    return None


@cache
def result_names() -> frozenset[str]:
    """Return the names of ``CUresult`` without their prefixes."""
    from cuda.bindings.driver import CUresult  # only a script that expects a failure needs it

    names = (str(result.name) for result in CUresult)
    return frozenset(name.removeprefix("CUDA_ERROR_").removeprefix("CUDA_") for name in names)


@cache
def _shape(usage: str) -> tuple[tuple[tuple[str, bool], ...], Mapping[str, str]]:
    """Split a usage text into positional placeholders, each optional or not, and options."""
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
