"""A parsed script of ``cudarun ctx run``: steps with operands and expectations.

::

    create A; create B flags=spin      # steps, separated by ; or line ends; # begins a comment
    pop == B                           # a step that must succeed with this value
    @t1 pop -> INVALID_CONTEXT         # on the thread t1, and it must have this result
    limit stack as before              # the value gets a name for later steps

`cudarun.session.contexts.verbs` has the verbs, `cudarun.session.contexts.parser` reads the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from cudarun.base.errors import ArgumentSyntaxError
from cudarun.base.records import dataclass
from cudarun.session.contexts.verbs import BUILTIN

_OPENING, _CLOSING = "([{", ")]}"
Operands: TypeAlias = Mapping[str, Any]  # the operands of a step by name

MAIN = "main"  # the thread of steps without a thread

ANY, FAILURE = "any", "failure"  # the placeholders for a result: any result, and any but success


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


@dataclass(frozen=True, slots=True)
class NameReference:
    """A name in place of a value; the worker knows its value when the step runs."""

    text: str


@dataclass(frozen=True, slots=True)
class Limit:
    """``NAME[=SIZE]``; without a size the limit is only read."""

    name: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Symbol:
    """``L.name``: a kernel or a variable of a module or library."""

    owner: str
    name: str


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expected outcome of a step."""

    text: str  # as written: ``-> INVALID_CONTEXT``, ``== A``
    # Names of results without their prefix; `ANY` or `FAILURE` may be among them.
    results: tuple[str, ...] = ("SUCCESS",)
    operator: str = ""  # the comparison of the value with ``operand``; empty if none is expected
    operand: Any = None  # a `NameReference`, or a value of the step's kind; ``None`` is no context

    def admits(self, result: str) -> bool:
        """Return whether a result, given without its prefix, is expected."""
        if result in self.results or ANY in self.results:
            return True
        return FAILURE in self.results and result != "SUCCESS"


def short_name(result: str) -> str:
    """Return ``INVALID_CONTEXT`` for ``CUDA_ERROR_INVALID_CONTEXT``, ``SUCCESS`` for both APIs'."""
    if result == "cudaSuccess":
        return "SUCCESS"
    return result.removeprefix("CUDA_ERROR_").removeprefix("CUDA_")


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a script."""

    number: int  # the position in the script, from 1
    line: int  # the line, from 1
    thread: str
    verb: str  # the verb, a key of `VERBS`
    text: str
    operands: Operands  # the operands by the names in `_OPERANDS`
    label: str | None = None  # the name for its value, ``as NAME``
    expected: Expectation | None = None  # the expected outcome; ``None`` if none is given


@dataclass(frozen=True, slots=True)
class Script:
    """A parsed script."""

    text: str
    origin: str | None  # the file; ``None`` for a script on the command line
    steps: tuple[Step, ...]

    @property
    def devices(self) -> int:
        """The number of required devices: the highest ``dev=`` plus 1."""
        return 1 + max((step.operands.get("dev", 0) for step in self.steps), default=0)

    @property
    def images(self) -> tuple[str, ...]:
        """The files that the script loads, each once."""
        named = (step.operands["image"] for step in self.steps if "image" in step.operands)
        return tuple(dict.fromkeys(image for image in named if image != BUILTIN))
