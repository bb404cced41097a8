"""The breakpoints of an editor: requests that each replace all of one kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from itertools import takewhile
from pathlib import PurePath

from cudarun.base.errors import CudarunError, RequestError
from cudarun.debugger import questions
from cudarun.debugger.dap_connection import Request
from cudarun.debugger.dap_variables import DapVariables
from cudarun.debugger.debugger import Debugger
from cudarun.model.debug import Breakpoint, CodePlace

_PTX = "ptx"  # the file of breakpoints in the PTX


class DapBreakpoints:
    """The breakpoints of an editor."""

    def __init__(self, debugger: Debugger, variables: DapVariables) -> None:
        self._debugger = debugger  # has the breakpoints
        self._variables = variables
        self._watched: dict[str, Breakpoint] = {}  # for the thread for which they were asked
        self._points: dict[str, list[int]] = {}  # breakpoints by the request that has set them

    def _replace(self, kind: str, wanted: Iterable[Callable[[], Breakpoint]]) -> object:
        """Set the breakpoints of one kind instead of those before."""
        for number in self._points.pop(kind, ()):
            with suppress(RequestError):  # one that was reached, and was to stop once
                self._debugger.delete(number)
        found: list[dict[str, object]] = []
        for add in wanted:
            try:
                point = add()
            except CudarunError as error:
                found.append({"verified": False, "message": str(error)})
                continue
            self._points.setdefault(kind, []).append(point.number)
            place = next(iter(point.places), None)
            line = {} if place is None else {"line": line_of(place, is_ptx=kind == _PTX)}
            found.append({"id": point.number, "verified": True, **line})
        return {"breakpoints": found}

    def set_lines(self, arguments: Request) -> object:
        """Set the breakpoints of a source file, or of the PTX."""
        source = arguments["source"]
        is_ptx = bool(source.get("sourceReference"))
        path = _PTX if is_ptx else source["path"]

        def add(wanted: Request) -> Breakpoint:
            file = path if path == _PTX else self._file(path)
            return self._add(f"{file}:{wanted['line']}", wanted)

        wanted = arguments.get("breakpoints", ())
        return self._replace(path, [partial(add, each) for each in wanted])

    def _add(self, location: str, wanted: Request) -> Breakpoint:
        """Add a breakpoint with the condition, the number of hits and the message of a request."""
        hits, message = wanted.get("hitCondition") or "1", wanted.get("logMessage") or ""
        if not hits.strip().isdecimal():
            raise RequestError(f"the hit condition {hits!r} is not a number")
        ignore = max(0, int(hits) - 1)
        condition = wanted.get("condition") or ""
        return self._debugger.add_breakpoint(location, condition, ignore=ignore, message=message)

    def _file(self, path: str) -> str:
        """Return the source file of the image that is a file of the editor.

        The image may have been compiled in another folder: the longest common end decides.
        """
        backwards = PurePath(path).parts[::-1]

        def common(file: str) -> int:
            """Return the number of parts that the ends of both paths have in common."""
            pairs = zip(backwards, PurePath(file).parts[::-1], strict=False)
            return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

        known = self._debugger.ask(questions.known_locations)
        found = max(known, key=common, default=path)
        return found if common(found) else path

    def set_functions(self, arguments: Request) -> object:
        """Set the breakpoints of functions."""
        wanted = [partial(self._add, each["name"], each) for each in arguments["breakpoints"]]
        return self._replace("function", wanted)

    def set_instructions(self, arguments: Request) -> object:
        """Set the breakpoints of instructions."""
        wanted = []
        for each in arguments["breakpoints"]:
            line = instruction_line(each["instructionReference"]) + each.get("offset", 0)
            wanted.append(partial(self._add, f"ptx:{line}", each))
        return self._replace("instruction", wanted)

    def set_exceptions(self, arguments: Request) -> object:
        """Set the catchpoints."""
        wanted = [partial(self._debugger.catch, each) for each in arguments["filters"]]
        return self._replace("exception", wanted)

    def data_info(self, arguments: Request) -> object:
        """Return the watchpoint that an expression can have, or a variable of a container."""
        name, container = arguments["name"], arguments.get("variablesReference")
        try:
            expression = self._variables.expression(container, name) if container else name
            self._watched[expression] = self._debugger.watched(expression)
        except CudarunError as error:
            return {"dataId": None, "description": str(error)}
        return {"dataId": expression, "description": expression, "accessTypes": ["write"]}

    def set_data(self, arguments: Request) -> object:
        """Set the watchpoints."""
        names = [each["dataId"] for each in arguments["breakpoints"]]
        watched = (self._watched.get(name, name) for name in names)
        return self._replace("data", [partial(self._debugger.watch, each) for each in watched])


def line_of(place: CodePlace, *, is_ptx: bool = False) -> int:
    """Return the line of a place: of the PTX where it has none in a source."""
    return place.ptx_line if is_ptx or place.line is None else place.line


def instruction_line(reference: str) -> int:
    """Return the line of the PTX that is the address of an instruction.

    Raises:
        RequestError: It is not an address.
    """
    try:
        return int(reference, 16)
    except ValueError:
        raise RequestError(f"{reference} is not the address of an instruction") from None
