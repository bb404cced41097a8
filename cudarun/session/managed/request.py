"""The request of ``cudarun managed``: frozen data, and the parser of its variables."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, TypeVar

from cudarun.arguments.grammar import parse_argument, parse_type
from cudarun.arguments.scalars import UntypedNumber
from cudarun.arguments.types import Type
from cudarun.arguments.values import AddressOf, Null, TensorMapValue, Value, has_type
from cudarun.base.errors import ArgumentSyntaxError
from cudarun.base.options import CaseForm, option_field
from cudarun.base.records import dataclass
from cudarun.session.image.image import Image
from cudarun.session.launch.request import Program

_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:::[A-Za-z_$][\w$]*)*")


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class VariableView:
    """``NAME``, ``NAME:TYPE`` or ``NAME=VALUE``: a variable, its type, and a value to write."""

    name: str  # the mangled or C++ name
    type: Type | None  # the type; ``None`` for that of the value or the image
    value: Value | None  # the value that the host writes before the launches
    text: str


@dataclass(frozen=True, slots=True)
class ManagedLaunch:
    """``--launch 'KERNEL ARGS…'``: the text and the parsed launch."""

    text: str
    program: Program


@dataclass(frozen=True, slots=True)
class ManagedRequest:
    """The request of an inspection of variables."""

    image: Image
    views: tuple[VariableView, ...] = ()  # the selected variables; all if empty
    launches: tuple[ManagedLaunch, ...] = option_field(
        "--launch 'KERNEL ARGS…'",
        "launches",
        form=CaseForm.TEXTS,
        help="Run a kernel on each device in turn, and show the values after each run; repeatable. "
        "For a .cu, 'f<int,4> ARGS…' instantiates a template.",
    )
    with_globals: bool = option_field(
        "--globals",
        "with_globals",
        help="Also show __device__ and __constant__ variables, with their address in each context.",
    )
    # ``None`` for as many as give at least two in total.
    contexts: int | None = option_field(
        "--contexts N",
        bounds=(1, 1 << 10),
        help="Number of contexts on each device.  [default: 2 with one device, else 1]",
    )
    # The kind of each device's first context, as in `ContextOptions`; others are new.
    context: Literal["primary", "new"] = "primary"


def parse_view(text: str) -> VariableView:
    """Parse ``NAME``, ``NAME:TYPE`` or ``NAME=VALUE``."""
    found = _NAME.match(text)
    if found is None:
        raise ArgumentSyntaxError("expected the name of a variable", text, 0)
    name, rest = found.group(), text[found.end() :]
    start = found.end() + 1

    def parsed(parse: Callable[[str], T]) -> T:
        """Parse the rest; an error's column is converted to the whole text's."""
        try:
            return parse(rest[1:])
        except ArgumentSyntaxError as error:
            column = start + error.column
            raise ArgumentSyntaxError(error.what, text, column, hint=error.hint) from None

    if not rest:
        return VariableView(name, None, None, text)
    if rest.startswith("="):
        value = parsed(parse_argument).value
        if isinstance(value, Null | AddressOf | TensorMapValue):
            raise ArgumentSyntaxError("an address cannot be written to a variable", text, start)
        if not (has_type(value) or isinstance(value, UntypedNumber)):
            raise ArgumentSyntaxError("expected a value with its type", text, start)
        return VariableView(name, None, value, text)
    if rest.startswith(":"):
        return VariableView(name, parsed(parse_type), None, text)
    raise ArgumentSyntaxError(
        "expected NAME, NAME:TYPE or NAME=VALUE", text, found.end(), hint="example: counter=i32:5"
    )
