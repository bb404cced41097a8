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

from cudarun.base.errors import CudarunError, InternalError, RequestError
from cudarun.debugger import questions
from cudarun.debugger.command_line import CommandLine, Quit, command_of
from cudarun.debugger.dap_breakpoints import DapBreakpoints, instruction_line, line_of
from cudarun.debugger.dap_connection import DapConnection, Request
from cudarun.debugger.dap_variables import DapVariables, numbered
from cudarun.debugger.debugger import EVENTS, Debugger
from cudarun.debugger.plans import Motion
from cudarun.debugger.stopped_state import StoppedState
from cudarun.model.debug import Stop, StoppedAt, Triple, Warp

_CAPABILITIES = (
    "supportsConfigurationDoneRequest", "supportsConditionalBreakpoints", "supportsStepBack",
    "supportsFunctionBreakpoints", "supportsDataBreakpoints", "supportsInstructionBreakpoints",
    "supportsEvaluateForHovers", "supportsDisassembleRequest", "supportsSteppingGranularity",
    "supportsRestartRequest", "supportsTerminateRequest", "supportsExceptionInfoRequest",
    "supportsCompletionsRequest", "supportsHitConditionalBreakpoints", "supportsLogPoints",
)  # fmt: skip
_LABELS = {
    "fault": "Faults", "finding": "Findings of detectors (--detect)", "nan": "New NaNs",
    "launch": "Starts of launches",
}  # fmt: skip
_REASONS = {
    "start": "entry", "breakpoint": "breakpoint", "watchpoint": "data breakpoint", "pause": "pause",
    "fault": "exception", "finding": "exception", "nan": "exception",
}  # fmt: skip
_PTX_SOURCE = 1  # the reference of the text that has no file
_MOST_WARPS = 256
_WARP = 32
_PATIENCE = 0.005  # seconds


Run = Callable[[], Stop]
"""A function that runs the launch up to a stop."""


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
        self._launch = Request()
        self._breakpoints: DapBreakpoints
        self._variables: DapVariables
        self._warps: list[tuple[Triple, int]] = []  # the warp of each thread, whose number it gets
        self._has_begun = self._is_running = False
        self._wants_pause = self._has_stopped = False  # what a request did to a running launch

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
                given = self._launch_arguments
                program = [given["program"]] if given.get("program") else []
                words = given.get("args") or []
                if isinstance(words, list) and all(isinstance(each, str) for each in words):
                    return [*program, *words]
                self._connection.refuse(request, "args is not a list of strings")
            elif request["command"] in ("disconnect", "terminate"):
                self._connection.respond(request)
                return None
            else:
                self._connection.refuse(request, "the launch has not begun")

    @property
    def folder(self) -> str | None:
        """The folder in which the launch is to run."""
        folder: str | None = self._launch_arguments.get("cwd")
        return folder

    @property
    def _launch_arguments(self) -> Request:
        return self._launch.get("arguments") or Request()

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
        self._variables = DapVariables(debugger)
        self._breakpoints = DapBreakpoints(debugger, self._variables)
        self._connection.on_request = self._arrived
        debugger.show_output(self._show)
        self._connection.respond(self._launch)
        self._connection.event("initialized")
        with suppress(Disconnected):
            while True:
                motion = self._handle(self._connection.next())
                if motion is not None:
                    self._move(motion)

    def _handle(self, request: Request) -> Run | None:
        """Answer a request; return the motion that it asks for."""
        command = request["command"]
        handler = self._HANDLERS.get(command)
        if handler is None:
            self._connection.refuse(request, f"{command} is not supported")
            return None
        try:
            body = handler(self, request.get("arguments") or Request())
        except Exception as raised:  # another request can succeed
            error = raised if isinstance(raised, CudarunError) else InternalError(raised)
            hint = f" ({error.hint})" if error.hint else ""
            self._connection.refuse(request, f"{error}{hint}")
            return None
        motion = body if callable(body) else None
        self._connection.respond(request, None if motion else body)
        if command in ("disconnect", "terminate"):
            if command == "terminate":
                self._connection.event("terminated")
            raise Disconnected
        return motion

    # --- motion ----------------------------------------------------------------------------------

    def _arrived(self, request: Request) -> None:
        """Interrupt the launch for a request; called by the thread that reads.

        The launch may be about to run when the request arrives: then it is paused later.
        """
        while self._connection.has_request:
            if self._is_running:
                self._debugger.pause()
            time.sleep(_PATIENCE)

    def _move(self, motion: Run) -> None:
        """Run the launch, answer the requests that interrupt it, and report its stop.

        A motion that interrupts it takes its place.
        """
        self._wants_pause = self._has_stopped = False
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
            motion = self._debugger.move
            while self._connection.has_request and not self._wants_pause:
                motion = self._handle(self._connection.next()) or motion
                if self._has_stopped:
                    return
            if self._wants_pause:
                break
        self._stopped(stop)

    def _show(self, output: str) -> None:
        self._connection.event("output", category="stdout", output=output)

    def _stopped(self, stop: Stop) -> None:
        self._variables.clear()
        if stop.output:
            self._show(stop.output)
        if stop.reason == "ended":
            self._connection.event("exited", exitCode=stop.exit_code or 0)
            self._connection.event("terminated")
            return
        if stop.text:
            self._connection.event("output", category="stderr", output=f"{stop.text}\n")
        body: dict[str, object] = {"reason": _REASONS.get(stop.reason, "step")}
        if stop.changes:
            changes = [f"{each.name}: {each.before} → {each.after}" for each in stop.changes]
            body["description"] = ", ".join(changes)
        if stop.breakpoints:
            body["hitBreakpointIds"] = stop.breakpoints
        if stop.text:
            body["text"] = stop.text.splitlines()[0]
        thread = self._number(stop.thread.block, self._warp_of(stop.thread.thread)) \
            if stop.thread else 1  # fmt: skip
        self._connection.event("stopped", **body, threadId=thread, allThreadsStopped=True)

    def _begin(self, arguments: Request) -> object:
        if self._launch_arguments.get("stopOnEntry"):
            return lambda: self._debugger.last
        return self._debugger.move

    def _motion(self, arguments: Request, by: Motion, *, back: bool = False) -> object:
        """Return the motion of a warp by lines, or by instructions of the PTX."""
        self._enter_warp(arguments["threadId"])
        if by != "finish" and arguments.get("granularity") == "instruction":
            by = "instruction"
        return partial(self._debugger.move, by, back=back)

    def _restart(self, arguments: Request) -> object:
        self._debugger.go_to(0)
        return self._debugger.move

    def _pause(self, arguments: Request) -> None:
        self._wants_pause = True

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
            found = [*self._debugger.ask(questions.warps)]
        found.sort(key=lambda each: thread is None or each.block != thread.block)
        del found[_MOST_WARPS:]
        named = [{"id": self._number(each.block, each.warp), "name": _name(each)} for each in found]
        return {"threads": named or [{"id": 1, "name": "no thread is running"}]}

    def _enter_warp(self, number: int) -> None:
        """Select a thread of a warp, unless the selected one is in it."""
        thread = self._debugger.last.thread
        if thread is None:
            return
        block, warp = numbered(self._warps, number, "thread")
        if (thread.block, self._warp_of(thread.thread)) != (block, warp):
            self._debugger.select_warp(warp, block)

    def _warp_of(self, thread: Sequence[int]) -> int:
        return self._debugger.ask(StoppedState.number, (), thread) // _WARP

    def _stack(self, arguments: Request) -> object:
        self._enter_warp(arguments["threadId"])
        thread = self._debugger.last.thread
        if thread is None:
            return {"stackFrames": [], "totalFrames": 0}
        found = []
        for each in self._debugger.ask(questions.frames):
            place = each.place
            source: dict[str, object] = {"name": "kernel.ptx", "sourceReference": _PTX_SOURCE}
            if place.file is not None and place.line is not None:
                path = str(self._debugger.source_path(place.file) or place.file)
                source = {"name": Path(path).name, "path": path}
            found.append({
                "id": self._variables.add_frame(thread, each.level),
                "name": place.function,
                "source": source,
                "line": line_of(place),
                "column": 1,
                "instructionPointerReference": hex(place.ptx_line),
            })  # fmt: skip
        return {"stackFrames": found, "totalFrames": len(found)}

    # --- expressions ---------------------------------------------------------------------------

    def _evaluate(self, arguments: Request) -> object:
        text = arguments["expression"]
        frame = None
        if arguments.get("frameId"):
            frame = self._variables.enter(arguments["frameId"])
        try:
            value = self._debugger.ask(questions.evaluate, text)
        except CudarunError as error:
            if arguments.get("context") != "repl":
                raise
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
                self._has_stopped = True
                self._stopped(result.stop)
            return {"result": "\n".join(self._render(result)), "variablesReference": 0}
        reference = 0 if frame is None else self._variables.reference(frame, text, value)
        return {"result": value.text, "type": value.type, "variablesReference": reference}

    def _completions(self, arguments: Request) -> object:
        text = arguments["text"][: arguments["column"] - 1]
        known = self._debugger.ask(questions.known_names)
        names = [*CommandLine(self._debugger).completions(text), *known]
        word = re.split(r"[^\w.%]", text)[-1]
        found = dict.fromkeys(each for each in names if each.startswith(word))
        start = len(text) - len(word)
        return {"targets": [{"label": each, "start": start, "length": len(word)} for each in found]}

    def _exception(self, arguments: Request) -> object:
        stop = self._debugger.last
        return {"exceptionId": stop.reason, "description": stop.text, "breakMode": "always"}

    def _disassemble(self, arguments: Request) -> object:
        """Return lines of the PTX: the address of each is its number."""
        lines = self._debugger.ptx().splitlines()
        first = instruction_line(arguments["memoryReference"]) + arguments.get("offset", 0)
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

    _HANDLERS: Mapping[str, Callable[[DapSession, Request], object]] = {
        "configurationDone": _begin,
        "setBreakpoints": lambda own, request: own._breakpoints.set_lines(request),
        "setFunctionBreakpoints": lambda own, request: own._breakpoints.set_functions(request),
        "setInstructionBreakpoints": lambda own, request: own._breakpoints.set_instructions(
            request
        ),
        "setExceptionBreakpoints": lambda own, request: own._breakpoints.set_exceptions(request),
        "dataBreakpointInfo": lambda own, request: own._breakpoints.data_info(request),
        "setDataBreakpoints": lambda own, request: own._breakpoints.set_data(request),
        "threads": _threads,
        "stackTrace": _stack,
        "scopes": lambda own, request: own._variables.scopes(request),
        "variables": lambda own, request: own._variables.expand(request),
        "evaluate": _evaluate,
        "completions": _completions,
        "exceptionInfo": _exception,
        "continue": lambda own, _: own._debugger.move,
        "reverseContinue": lambda own, _: partial(own._debugger.move, back=True),
        "next": partial(_motion, by="next"),
        "stepIn": partial(_motion, by="step"),
        "stepOut": partial(_motion, by="finish"),
        "stepBack": partial(_motion, by="next", back=True),
        "restart": _restart,
        "pause": _pause,
        "disassemble": _disassemble,
        "source": lambda own, _: {"content": own._debugger.ptx(), "mimeType": "text/x-ptx"},
        # What they ask for happens elsewhere.
        **dict.fromkeys(("terminate", "disconnect"), lambda own, _: None),
    }


def _name(warp: Warp) -> str:
    """Return the text of a warp: its block, and what its threads do if they do not run."""
    states = dict.fromkeys(each.state for each in warp.groups if each.state != "exited")
    waits = "" if [*states] == ["runs"] else f": {', '.join(states)}"
    block = ", ".join(map(str, warp.block))
    return f"block ({block}), warp {warp.warp}{waits}"
