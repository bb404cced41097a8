"""The request of ``cudarun managed``: frozen data, and the parser of its variables."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from cudarun.arguments.grammar import parse_argument, parse_type
from cudarun.arguments.types import Type
from cudarun.arguments.values import Null, SymbolAddress, Value
from cudarun.errors import ArgumentSyntaxError
from cudarun.records import dataclass
from cudarun.session.image.image import Image
from cudarun.session.launch.request import LaunchRequest

if TYPE_CHECKING:  # only a worker has one
    pass

_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:::[A-Za-z_$][\w$]*)*")


@dataclass(frozen=True, slots=True)
class View:
    """``NAME``, ``NAME:TYPE`` or ``NAME=VALUE``: a variable, how to read it, what to write to it.

    Attributes:
        name: Mangled or in C++ spelling.
        type: What it is read as; ``None`` leaves it to the value or the image.
        value: What the host writes before anything is launched.
        text: As written.
    """

    name: str
    type: Type | None
    value: Value | None
    text: str


@dataclass(frozen=True, slots=True)
class ManagedLaunch:
    """``--launch 'KERNEL ARGS…'``: the text, and the launch that it means."""

    text: str
    request: LaunchRequest


@dataclass(frozen=True, slots=True)
class ManagedRequest:
    """Everything ``cudarun managed`` was told.

    Attributes:
        image: The image.
        views: Which variables; all where none is named.
        launches: What to run on each device in turn.
        with_globals: Whether ``__device__`` and ``__constant__`` variables are shown too.
        contexts: How many contexts to look from on each device; ``None``: so many that there are
            two at least.
        context: What the first one of each device is, as in `ContextOptions`; others are new.
    """

    image: Image
    views: tuple[View, ...] = ()
    launches: tuple[ManagedLaunch, ...] = ()
    with_globals: bool = False
    contexts: int | None = None
    context: Literal["primary", "new"] = "primary"


def parse_view(text: str) -> View:
    """Parse ``NAME``, ``NAME:TYPE`` or ``NAME=VALUE``.

    Raises:
        ArgumentSyntaxError: With the column where it goes wrong.
    """
    found = _NAME.match(text)
    if found is None:
        raise ArgumentSyntaxError("expected the name of a variable", text, 0)
    name, rest = found.group(), text[found.end() :]
    start = found.end() + 1
    if not rest:
        return View(name, None, None, text)
    if rest.startswith("="):
        value = _based(text, start, lambda: parse_argument(text[start:])).value
        if isinstance(value, Null | SymbolAddress):
            raise ArgumentSyntaxError("an address cannot be written to a variable", text, start)
        return View(name, None, value, text)
    if rest.startswith(":"):
        return View(name, _based(text, start, lambda: parse_type(text[start:])), None, text)
    raise ArgumentSyntaxError(
        "expected NAME, NAME:TYPE or NAME=VALUE", text, found.end(), hint="as in: counter=i32:5"
    )


def _based(text: str, start: int, parse: Callable[[], Any]) -> Any:
    """Parse what begins at ``start``, an error's column being turned into that of the whole."""
    try:
        return parse()
    except ArgumentSyntaxError as error:
        raise ArgumentSyntaxError(error.what, text, start + error.column, hint=error.hint) from None
