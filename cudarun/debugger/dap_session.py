"""A debugger for editors: the requests of the Debug Adapter Protocol over a `Debugger`.

A thread of the protocol is a warp; its selected lane has the variables, and a scope has all lanes.
References to frames and variables are valid up to the next motion.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cudarun.base.errors import CudarunError, RequestError
from cudarun.debugger.command_line import CommandLine, Quit, command_of
from cudarun.debugger.dap_connection import DapConnection, Request
from cudarun.debugger.debugger import EVENTS, Debugger
from cudarun.model.debug import Breakpoint, CodePlace, Stop, StoppedAt, Triple, Value, Warp

_CAPABILITIES = (
    "supportsConfigurationDoneRequest", "supportsConditionalBreakpoints", "supportsStepBack",
    "supportsFunctionBreakpoints", "supportsDataBreakpoints", "supportsInstructionBreakpoints",
    "supportsEvaluateForHovers", "supportsDisassembleRequest", "supportsSteppingGranularity",
    "supportsRestartRequest", "supportsTerminateRequest", "supportsExceptionInfoRequest",
    "supportsCompletionsRequest",
)  # fmt: skip
_LABELS = {"fault": "Faults", "finding": "Findings of detectors (--detect)", "nan": "New NaNs"}
_REASONS = {
    "start": "entry", "breakpoint": "breakpoint", "watchpoint": "data breakpoint", "pause": "pause",
    "fault": "exception", "finding": "exception", "nan": "exception",
}  # fmt: skip
_PTX_SOURCE = 1  # the reference of the text that has no file
_MOST_WARPS = 256
_ELEMENT = re.compile(r"\s*\w+\[.+\]\s*")
_PLAIN = re.compile(r"[\w:]+(?:(?:\.|->)\w+|\[\w+\])*")
_WARP = 32
_PATIENCE = 0.005  # seconds


Values = Callable[[], Iterable[tuple[str, Value]]]
"""A function that returns values, each after the expression that evaluates to it."""


class _Frame(NamedTuple):
    """A call of a thread of a warp."""

    block: Triple
    thread: Sequence[int]
    level: int


class _Expandable(NamedTuple):
    """A row that an editor can expand: ``list`` returns its values, in a frame."""

    frame: _Frame
    list: Values


class Disconnected(Exception):
    """The editor has ended the session."""


class DapSession:
    """A session with an editor."""

    def __init__(
        self, connection: DapConnection, render: Callable[[object], Iterable[str]]
    ) -> None:
        self._connection = connection  # the connection with the editor
        self._render = render  # returns the lines of the result of a command
        self._debugger: Debugger
        self._launch: Request = {}
        self._points: dict[str, list[int]] = {}  # breakpoints by the request that has set them
        self._frames: list[_Frame] = []
        self._containers: list[_Expandable] = []
        self._warps: list[tuple[Triple, int]] = []  # the warp of each thread, whose number it gets
        self._has_begun = self._is_running = self._wants_pause = False

    # --- the launch ------------------------------------------------------------------------------

    def arguments(self) -> Sequence[str] | None:
        """Return the command line of the request ``launch``; ``None`` if the editor ends before."""
        while True:
            request = self._connection.next()
            if request["command"] == "initialize":
                filters = [{"filter": each, "label": _LABELS[each], "default": each == "fault"}
                           for each in EVENTS]  # fmt: skip
                capabilities = dict.fromkeys(_CAPABILITIES, True)
                body = {**capabilities, "exceptionBreakpointFilters": filters}
                self._connection.respond(request, body)
            elif request["command"] == "launch":
                self._launch = request
                given = request.get("arguments", {})
                program = [given["program"]] if given.get("program") else []
                return [*program, *given.get("args", ())]
            elif request["command"] in ("disconnect", "terminate"):
                self._connection.respond(request)
                return None
            else:
                self._connection.refuse(request, "the launch has not begun")

    @property
    def folder(self) -> str | None:
        """The folder in which the launch is to run."""
        folder: str | None = self._launch.get("arguments", {}).get("cwd")
        return folder

    def fail(self, error: str) -> None:
        """Report that the launch cannot begin, or go on."""
        if self._has_begun:
            self._connection.event("output", category="stderr", output=f"error: {error}\n")
        else:
            self._connection.refuse(self._launch, error)
        self._connection.event("terminated")

    def run(self, debugger: Debugger) -> None:
        """Answer requests until the editor ends the session."""
        self._debugger, self._has_begun = debugger, True
        self._connection.on_request = self._arrived
        self._connection.respond(self._launch)
        self._connection.event("initialized")
        with suppress(Disconnected):
            while True:
                self._handle(self._connection.next())

    def _handle(self, request: Request) -> None:
        command = request["command"]
        handler = self._HANDLERS.get(command)
        if handler is None:
            self._connection.refuse(request, f"{command} is not supported")
            return
        try:
            body = handler(self, request.get("arguments") or {})
        except CudarunError as error:
            hint = f" ({error.hint})" if error.hint else ""
            self._connection.refuse(request, f"{error}{hint}")
            return
        motion = body if callable(body) else None
        self._connection.respond(request, None if motion else body)
        if motion is not None:
            self._move(motion)
        if command in ("disconnect", "terminate"):
            if command == "terminate":
                self._connection.event("terminated")
            raise Disconnected

    # --- motion ----------------------------------------------------------------------------------

    def _arrived(self, request: Request) -> None:
        """Interrupt the launch for a request; called by the thread that reads.

        The launch may be about to run when the request arrives: then it is paused later.
        """
        while self._connection.has_request:
            if self._is_running:
                self._debugger.pause()
            time.sleep(_PATIENCE)

    def _move(self, motion: Callable[[], Stop]) -> None:
        """Run the launch, answer the requests that interrupt it, and report its stop."""
        self._wants_pause = False
        while True:
            self._is_running = True
            try:
                stop = motion()
            except CudarunError as error:
                self._connection.event("output", category="stderr", output=f"error: {error}\n")
                stop = self._debugger.last
            finally:
                self._is_running = False
            if stop.reason != "pause":
                break
            while self._connection.has_request:
                self._handle(self._connection.next())
            if self._wants_pause:
                break
            motion = self._debugger.resume
        self._stopped(stop)

    def _stopped(self, stop: Stop) -> None:
        self._frames.clear()
        self._containers.clear()
        if stop.output:
            self._connection.event("output", category="stdout", output=stop.output)
        if stop.reason == "ended":
            self._connection.event("exited", exitCode=stop.exit_code or 0)
            self._connection.event("terminated")
            return
        if stop.text:
            self._connection.event("output", category="stderr", output=f"{stop.text}\n")
        body: dict[str, object] = {"reason": _REASONS.get(stop.reason, "step")}
        if stop.change is not None:
            body["description"] = f"{stop.change.name}: {stop.change.before} → {stop.change.after}"
        if stop.breakpoint is not None:
            body["hitBreakpointIds"] = [stop.breakpoint]
        if stop.text:
            body["text"] = stop.text.splitlines()[0]
        thread = self._number(stop.thread.block, self._warp_of(stop.thread.thread)) \
            if stop.thread else 1  # fmt: skip
        self._connection.event("stopped", **body, threadId=thread, allThreadsStopped=True)

    def _begin(self, arguments: Request) -> object:
        if self._launch.get("arguments", {}).get("stopOnEntry"):
            return lambda: self._debugger.last
        return self._debugger.resume

    def _motion(self, arguments: Request, line: str, instruction: str) -> object:
        """Return the motion of a warp by lines, or by instructions of the PTX."""
        self._enter_warp(arguments["threadId"])
        is_instruction = arguments.get("granularity") == "instruction"
        return getattr(self._debugger, instruction if is_instruction else line)

    def _resumed(self, arguments: Request, name: str) -> object:
        return getattr(self._debugger, name)

    def _restart(self, arguments: Request) -> object:
        self._debugger.go_to(0)
        return self._debugger.resume

    def _pause(self, arguments: Request) -> object:
        self._wants_pause = True
        return None

    # --- breakpoints -----------------------------------------------------------------------------

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
            line = {} if place is None else {"line": self._line(place, is_ptx=kind == "ptx")}
            found.append({"id": point.number, "verified": True, **line})
        return {"breakpoints": found}

    def _set_lines(self, arguments: Request) -> object:
        source = arguments["source"]
        is_ptx = bool(source.get("sourceReference"))
        path = "ptx" if is_ptx else source["path"]
        return self._replace(path, [
            partial(self._at_line, path, each["line"], each.get("condition") or "")
            for each in arguments.get("breakpoints", ())
        ])  # fmt: skip

    def _at_line(self, path: str, line: int, condition: str) -> Breakpoint:
        try:
            return self._debugger.add_breakpoint(f"{path}:{line}", condition)
        except RequestError:  # the image was compiled in another folder
            return self._debugger.add_breakpoint(f"{Path(path).name}:{line}", condition)

    def _set_functions(self, arguments: Request) -> object:
        return self._replace("function", [
            partial(self._debugger.add_breakpoint, each["name"], each.get("condition") or "")
            for each in arguments["breakpoints"]
        ])  # fmt: skip

    def _set_instructions(self, arguments: Request) -> object:
        lines = [int(each["instructionReference"], 16) + each.get("offset", 0)
                 for each in arguments["breakpoints"]]  # fmt: skip
        return self._replace("instruction", [
            partial(self._debugger.add_breakpoint, f"ptx:{line}") for line in lines
        ])  # fmt: skip

    def _set_exceptions(self, arguments: Request) -> object:
        return self._replace("exception", [
            partial(self._debugger.catch, each) for each in arguments["filters"]
        ])  # fmt: skip

    def _data_info(self, arguments: Request) -> object:
        name = arguments["name"]
        if not _ELEMENT.fullmatch(name):
            return {"dataId": None, "description": "only an element can be watched: y[17]"}
        return {"dataId": name, "description": name, "accessTypes": ["write"]}

    def _set_data(self, arguments: Request) -> object:
        return self._replace("data", [
            partial(self._debugger.watch, each["dataId"]) for each in arguments["breakpoints"]
        ])  # fmt: skip

    # --- threads and frames ----------------------------------------------------------------------

    def _number(self, block: Triple, warp: int) -> int:
        """Return the number of a warp, the same in the whole session."""
        if (block, warp) not in self._warps:
            self._warps.append((block, warp))
        return self._warps.index((block, warp)) + 1

    def _threads(self, arguments: Request) -> object:
        found: list[Warp] = []
        thread = self._debugger.last.thread
        with suppress(RequestError):  # none is running
            found = [*self._debugger.warps()]
        found.sort(key=lambda each: thread is None or each.block != thread.block)
        del found[_MOST_WARPS:]
        named = [{"id": self._number(each.block, each.warp), "name": _name(each)} for each in found]
        return {"threads": named or [{"id": 1, "name": "no thread is running"}]}

    def _enter_warp(self, number: int) -> None:
        """Select a thread of a warp, unless the selected one is in it."""
        if not 0 < number <= len(self._warps):
            return
        block, warp = self._warps[number - 1]
        thread = self._debugger.last.thread
        if thread is None or (thread.block, self._warp_of(thread.thread)) == (block, warp):
            return
        for found in self._debugger.warps():
            if (found.block, found.warp) == (block, warp):
                lane = next(each.lanes[0] for each in found.groups if each.state != "exited")
                self._debugger.select_linear(_WARP * warp + lane, block)
                return
        raise RequestError(f"warp {warp} of block {block} is not running")

    def _warp_of(self, thread: Sequence[int]) -> int:
        return self._debugger.linear(thread) // _WARP

    def _stack(self, arguments: Request) -> object:
        self._enter_warp(arguments["threadId"])
        thread = self._debugger.last.thread
        if thread is None:
            return {"stackFrames": [], "totalFrames": 0}
        found = []
        for each in self._debugger.frames():
            self._frames.append(_Frame(thread.block, thread.thread, each.level))
            place = each.place
            found.append({
                "id": len(self._frames),
                "name": place.function,
                "source": self._source_of(place),
                "line": self._line(place),
                "column": 1,
                "instructionPointerReference": hex(place.ptx_line),
            })  # fmt: skip
        return {"stackFrames": found, "totalFrames": len(found)}

    def _line(self, place: CodePlace, *, is_ptx: bool = False) -> int:
        return place.ptx_line if is_ptx or place.line is None else place.line

    def _source_of(self, place: CodePlace) -> dict[str, object]:
        if place.file is None or place.line is None:
            return {"name": "kernel.ptx", "sourceReference": _PTX_SOURCE}
        path = self._debugger.source_path(place.file)
        return {"name": Path(place.file).name, "path": str(path or place.file)}

    def _enter(self, frame: _Frame) -> None:
        self._debugger.select(frame.block, frame.thread)
        self._debugger.select_frame(frame.level)

    # --- variables -------------------------------------------------------------------------------

    def _scopes(self, arguments: Request) -> object:
        frame = self._frames[arguments["frameId"] - 1]
        thread = ", ".join(map(str, frame.thread))
        scopes: list[tuple[str, Values]] = [
            (f"Variables of thread ({thread})", partial(self._scope, "local")),
            ("Arguments of the launch", partial(self._scope, "argument")),
            ("Global variables", partial(self._scope, "common")),
            ("Lanes of the warp", self._lanes),
            ("Registers", self._registers),
        ]
        found = [
            {"name": name, "variablesReference": self._container(frame, list_), "expensive": n > 0}
            for n, (name, list_) in enumerate(scopes)
        ]
        return {"scopes": found}

    def _container(self, frame: _Frame, list_: Values) -> int:
        self._containers.append(_Expandable(frame, list_))
        return len(self._containers)

    def _scope(self, which: str) -> Iterable[tuple[str, Value]]:
        return [(each.name, each) for each in self._debugger.variables(which)]

    def _registers(self) -> Iterable[tuple[str, Value]]:
        return [(each.name, each) for each in self._debugger.registers()]

    def _lanes(self) -> Iterable[tuple[str, Value]]:
        """Yield each variable as a row of its values across the lanes of the warp."""
        variables = self._debugger.variables("local")
        names = [each.name for each in variables if not each.has_parts]
        for name in names or ["threadIdx.x"]:
            with suppress(CudarunError):  # it has no value here
                values = self._debugger.lanes(name).values
                same = f"{values[0]} in all lanes" if len({*values}) == 1 else None
                yield name, Value(name, "", same or " ".join(each or "–" for each in values))

    def _parts(self, expression: str) -> Iterable[tuple[str, Value]]:
        base = expression if _PLAIN.fullmatch(expression) else f"({expression})"
        return [(f"{base}{each.name}", each) for each in self._debugger.parts(expression)]

    def _variables(self, arguments: Request) -> object:
        container = self._containers[arguments["variablesReference"] - 1]
        self._enter(container.frame)
        values = [
            {
                "name": value.name.lstrip(".->"),
                "value": value.text,
                "type": value.type,
                "evaluateName": expression,
                "variablesReference": self._reference(container.frame, expression, value),
            }
            for expression, value in container.list()
        ]
        return {"variables": values}

    def _reference(self, frame: _Frame, expression: str, value: Value) -> int:
        if not value.has_parts:
            return 0
        return self._container(frame, partial(self._parts, expression))

    def _evaluate(self, arguments: Request) -> object:
        text = arguments["expression"]
        frame = self._frames[arguments["frameId"] - 1] if arguments.get("frameId") else None
        if frame is not None:
            self._enter(frame)
        try:
            value = self._debugger.evaluate(text)
        except CudarunError as error:
            if arguments.get("context") != "repl":
                raise
            return self._command(text, error)
        reference = 0 if frame is None else self._reference(frame, text, value)
        return {"result": value.text, "type": value.type, "variablesReference": reference}

    def _command(self, text: str, error: CudarunError) -> object:
        """Run a command of the terminal, if a text is one and not an expression."""
        try:
            command_of(text.partition(" ")[0])
        except RequestError:
            raise error from None
        self._is_running = True
        try:
            result = CommandLine(self._debugger).execute(text)
        except Quit:
            raise RequestError("end the session in the editor") from None
        finally:
            self._is_running = False
        if isinstance(result, StoppedAt):
            self._stopped(result.stop)
        return {"result": "\n".join(self._render(result)), "variablesReference": 0}

    def _completions(self, arguments: Request) -> object:
        text = arguments["text"][: arguments["column"] - 1]
        names = [*CommandLine(self._debugger).completions(text), *self._debugger.names()]
        word = re.split(r"[^\w.%]", text)[-1]
        found = dict.fromkeys(each for each in names if each.startswith(word))
        start = len(text) - len(word)
        return {"targets": [{"label": each, "start": start, "length": len(word)} for each in found]}

    def _exception(self, arguments: Request) -> object:
        stop = self._debugger.last
        return {"exceptionId": stop.reason, "description": stop.text, "breakMode": "always"}

    # --- texts -----------------------------------------------------------------------------------

    def _source(self, arguments: Request) -> object:
        return {"content": self._debugger.ptx(), "mimeType": "text/x-ptx"}

    def _disassemble(self, arguments: Request) -> object:
        """Return lines of the PTX: the address of each is its number."""
        lines = self._debugger.ptx().splitlines()
        first = int(arguments["memoryReference"], 16) + arguments.get("offset", 0)
        first += arguments.get("instructionOffset", 0)
        source = {"name": "kernel.ptx", "sourceReference": _PTX_SOURCE}
        found: list[dict[str, object]] = []
        for number in range(first, first + arguments["instructionCount"]):
            is_line = 0 < number <= len(lines)
            text = lines[number - 1].strip() if is_line else ""
            found.append({"address": hex(max(number, 0)), "instruction": text})
            if is_line:
                found[-1] |= {"location": source, "line": number}
        return {"instructions": found}

    def _nothing(self, arguments: Request) -> object:
        """Return an empty answer: what the request asks for happens elsewhere."""
        return None

    _HANDLERS: Mapping[str, Callable[[DapSession, Request], object]] = {
        "configurationDone": _begin,
        "setBreakpoints": _set_lines,
        "setFunctionBreakpoints": _set_functions,
        "setInstructionBreakpoints": _set_instructions,
        "setExceptionBreakpoints": _set_exceptions,
        "dataBreakpointInfo": _data_info,
        "setDataBreakpoints": _set_data,
        "threads": _threads,
        "stackTrace": _stack,
        "scopes": _scopes,
        "variables": _variables,
        "evaluate": _evaluate,
        "completions": _completions,
        "exceptionInfo": _exception,
        "continue": partial(_resumed, name="resume"),
        "reverseContinue": partial(_resumed, name="reverse_resume"),
        "next": partial(_motion, line="next", instruction="step_instruction"),
        "stepIn": partial(_motion, line="step", instruction="step_instruction"),
        "stepOut": partial(_motion, line="finish", instruction="finish"),
        "stepBack": partial(_motion, line="reverse_next", instruction="reverse_step_instruction"),
        "restart": _restart,
        "pause": _pause,
        "disassemble": _disassemble,
        "source": _source,
        "terminate": _nothing,
        "disconnect": _nothing,
    }


def _name(warp: Warp) -> str:
    """Return the text of a warp: its block, and what its threads do if they do not run."""
    states = dict.fromkeys(each.state for each in warp.groups if each.state != "exited")
    waits = "" if [*states] == ["runs"] else f": {', '.join(states)}"
    block = ", ".join(map(str, warp.block))
    return f"block ({block}), warp {warp.warp}{waits}"
