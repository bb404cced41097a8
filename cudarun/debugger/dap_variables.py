"""The variables that an editor shows: scopes of frames, and what expands in them.

Their numbers are valid up to the next motion.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple, TypeVar

from cudarun.base.errors import CudarunError, RequestError
from cudarun.debugger import questions
from cudarun.debugger.dap_connection import Request
from cudarun.debugger.debugger import Debugger
from cudarun.model.debug import Thread, Triple, Value

_PLAIN = re.compile(r"[\w:]+(?:(?:\.|->)\w+|\[\w+\])*")
_Item = TypeVar("_Item")

Values = Callable[[], Iterable[Value]]
"""A function that returns values."""


class EditorFrame(NamedTuple):
    """A call of a thread of a warp."""

    block: Triple
    thread: Sequence[int]
    level: int


class _Expandable(NamedTuple):
    """A row that an editor can expand: ``list`` returns its values, in a frame."""

    frame: EditorFrame
    list: Values
    base: str  # an expression, which the name of each value follows


class DapVariables:
    """The frames and variables that an editor knows."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger  # evaluates them
        self._frames: list[EditorFrame] = []
        self._containers: list[_Expandable] = []

    def clear(self) -> None:
        """Forget all of them."""
        self._frames.clear()
        self._containers.clear()

    def add_frame(self, thread: Thread, level: int) -> int:
        """Return the number of a call of a thread."""
        self._frames.append(EditorFrame(thread.block, thread.thread, level))
        return len(self._frames)

    def enter(self, number: int) -> EditorFrame:
        """Select a frame, and its thread."""
        frame = numbered(self._frames, number, "frame")
        self._enter(frame)
        return frame

    def _enter(self, frame: EditorFrame) -> None:
        self._debugger.select(frame.block, frame.thread)
        self._debugger.select_frame(frame.level)

    def scopes(self, arguments: Request) -> object:
        """Return the scopes of a frame."""
        frame = numbered(self._frames, arguments["frameId"], "frame")
        thread, ask = ", ".join(map(str, frame.thread)), self._debugger.ask
        scopes: list[tuple[str, Values]] = [
            (f"Variables of thread ({thread})", partial(ask, questions.variables, "local")),
            ("Arguments of the launch", partial(ask, questions.variables, "argument")),
            ("Global variables", partial(ask, questions.variables, "common")),
            ("Lanes of the warp", self._lanes),
            ("Registers", partial(ask, questions.registers)),
        ]
        found = [
            {"name": name, "variablesReference": self._container(frame, list_), "expensive": n > 0}
            for n, (name, list_) in enumerate(scopes)
        ]
        return {"scopes": found}

    def _container(self, frame: EditorFrame, list_: Values, base: str = "") -> int:
        self._containers.append(_Expandable(frame, list_, base))
        return len(self._containers)

    def _lanes(self) -> Iterable[Value]:
        """Yield each variable as a row of its values across the lanes of the warp."""
        variables = self._debugger.ask(questions.variables, "local")
        names = [each.name for each in variables if not each.has_parts]
        for name in names or ["threadIdx.x"]:
            with suppress(CudarunError):  # it has no value here
                values = self._debugger.ask(questions.lanes, name).values
                same = f"{values[0]} in all lanes" if len({*values}) == 1 else None
                yield Value(name, "", same or " ".join(each or "–" for each in values))

    def expand(self, arguments: Request) -> object:
        """Return the variables of a scope, or the parts of a variable."""
        container = self._entered(arguments["variablesReference"])
        values = [
            {
                "name": _shown(value),
                "value": value.text,
                "type": value.type,
                "evaluateName": container.base + value.name,
                "variablesReference": self.reference(
                    container.frame, container.base + value.name, value
                ),
            }
            for value in container.list()
        ]
        return {"variables": values}

    def _entered(self, number: int) -> _Expandable:
        """Return a container, whose frame is selected."""
        container = numbered(self._containers, number, "variable")
        self._enter(container.frame)
        return container

    def expression(self, number: int, name: str) -> str:
        """Return the expression of a variable of a container; the frame of that is selected."""
        container = self._entered(number)
        names = (container.base + each.name for each in container.list() if _shown(each) == name)
        return next(names, name)

    def reference(self, frame: EditorFrame, expression: str, value: Value) -> int:
        """Return the number of the parts of a value in a frame; 0 without parts."""
        if not value.has_parts:
            return 0
        base = expression if _PLAIN.fullmatch(expression) else f"({expression})"
        parts = partial(self._debugger.ask, questions.parts, expression)
        return self._container(frame, parts, base)


def _shown(value: Value) -> str:
    """Return the name of a value as an editor shows it."""
    return value.name.lstrip(".->")


def numbered(known: Sequence[_Item], number: int, what: str) -> _Item:
    """Return the item that an editor has by its number, from 1."""
    if not 0 < number <= len(known):
        raise RequestError(f"no {what} {number}: the launch has moved since, or never had it")
    return known[number - 1]
