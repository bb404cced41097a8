"""The commands of the debugger: a line of text is a call of `Debugger`, and has its result."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from cudarun.arguments.scanner import did_you_mean
from cudarun.base.errors import RequestError
from cudarun.base.records import dataclass
from cudarun.debugger import questions
from cudarun.debugger.debugger import EVENTS, Debugger
from cudarun.debugger.history import Answer
from cudarun.model.debug import CommandHelp, Stop, StoppedAt

if TYPE_CHECKING:
    from cudarun.debugger.plans import Motion

    Run = Callable[[Debugger, str], object]

_CONDITION = re.compile(r"\s+if(?:\s+|$)")


class Quit(Exception):
    """The debugger is to end."""


@dataclass(frozen=True, slots=True)
class DebuggerCommand:
    """A command."""

    name: str
    short: str  # its short name; empty without one
    arguments: str
    text: str  # its description
    run: Run  # runs it with the text after its name
    # Returns the words that its arguments can begin with.
    completes: Callable[[Debugger], Sequence[str]] = lambda debugger: ()
    repeats: bool = False  # whether an empty line repeats it


def _call(method: Callable[..., object], what: str = "") -> Run:
    """Return a call with the rest of the line, which is ``what``, or without arguments."""

    def run(debugger: Debugger, text: str) -> object:
        if bool(text) != bool(what):
            raise RequestError(f"unexpected argument {text!r}" if text else f"missing {what}")
        return method(debugger, text) if what else method(debugger)

    return run


def _asking(question: Callable[..., Answer]) -> Callable[..., Answer]:
    return lambda debugger, *arguments: debugger.ask(question, *arguments)


def _break(debugger: Debugger, text: str, *, once: bool = False) -> object:
    location, *condition = _CONDITION.split(f" {text}", maxsplit=1)
    place = debugger.last.place
    if condition == [""]:
        raise RequestError("missing CONDITION")
    if not location.strip() and place is None:
        raise RequestError("missing LOCATION", hint="FILE:LINE, ptx:LINE or a function")
    here = f"ptx:{place.ptx_line}" if place is not None else ""
    return debugger.add_breakpoint(location.strip() or here, "".join(condition), once=once)


def _delete(debugger: Debugger, text: str) -> object:
    debugger.delete(_number(text) if text else None)
    return debugger.breakpoints


def _ignore(debugger: Debugger, text: str) -> object:
    number, _, count = text.partition(" ")
    return debugger.ignore(_number(number), _number(count.strip()))


def _log(debugger: Debugger, text: str) -> object:
    number, _, message = text.partition(" ")
    return debugger.log(_number(number), message.strip())


def _thread(debugger: Debugger, text: str) -> object:
    block, _, thread = text.rpartition(":")
    if not text:
        raise RequestError("missing THREAD", hint="17, 1,2,0 or BLOCK:THREAD, as in 3:17")
    return debugger.select(_numbers(block) if block else None, _numbers(thread))


def _memory(debugger: Debugger, text: str) -> object:
    where, _, what = text.rpartition(" ")
    if not where:
        raise RequestError("missing WHERE or TYPE", hint="part f32[8], or local:0 u32")
    return debugger.ask(questions.memory, where.strip(), what)


def _list(debugger: Debugger, text: str) -> object:
    if text not in ("", "ptx"):
        raise RequestError(f"unexpected argument {text!r}: expected ptx or nothing")
    return debugger.source(ptx=text == "ptx")


def _quit(debugger: Debugger, text: str) -> object:
    raise Quit


def _help(debugger: Debugger, text: str) -> object:
    commands = [command_of(text)] if text else COMMANDS
    return [CommandHelp(each.name, each.short, each.arguments, each.text) for each in commands]


def _number(text: str) -> int:
    if not text.isdecimal():
        raise RequestError(f"{text!r} is not a number" if text else "missing number")
    return int(text)


def _numbers(text: str) -> list[int]:
    return [_number(each.strip()) for each in text.strip(" ()").split(",")]


def _motion(name: str, short: str, text: str, motion: Motion | None = None) -> DebuggerCommand:
    """Return the command of a motion, which can be repeated: ``step 3``."""
    plain = name.removeprefix("reverse-")
    move = partial(Debugger.move, motion=motion or cast("Motion", plain), back=plain != name)
    if plain in ("continue", "finish"):
        return DebuggerCommand(name, short, "", text, _call(move), repeats=True)

    def run(debugger: Debugger, count: str) -> Stop:
        if count == "0":
            raise RequestError("the count must be at least 1")
        return move(debugger, count=_number(count) if count else 1)

    return DebuggerCommand(name, short, "[COUNT]", text, run, repeats=True)


_NAMES, _LOCATIONS = _asking(questions.known_names), _asking(questions.known_locations)
COMMANDS: tuple[DebuggerCommand, ...] = (
    DebuggerCommand("break", "b", "LOCATION [if CONDITION]",
        "Stop at FILE:LINE, LINE, ptx:LINE or a function.", _break, _LOCATIONS),
    DebuggerCommand("tbreak", "tb", "LOCATION [if CONDITION]", "Stop there once.",
        partial(_break, once=True), _LOCATIONS),
    DebuggerCommand("ignore", "ig", "NUMBER COUNT", "Pass a breakpoint COUNT times without a stop.",
        _ignore),
    DebuggerCommand("log", "lo", "NUMBER MESSAGE",
        "Print a message at a breakpoint in place of a stop, with values, as in 'i is {i}'.",
        _log),
    DebuggerCommand("watch", "w", "EXPRESSION",
        "Stop after a write of y[17], a shared or C++ variable, or a change of a register.",
        _call(Debugger.watch, "EXPRESSION"), _NAMES),
    DebuggerCommand("catch", "ca", "EVENT",
        "Stop at an event: fault, finding (with --detect), nan or launch.",
        _call(Debugger.catch, "EVENT"), lambda debugger: EVENTS),
    DebuggerCommand("breakpoints", "bl", "", "List the breakpoints.",
        lambda debugger, text: debugger.breakpoints),
    DebuggerCommand("delete", "d", "[NUMBER]", "Delete a breakpoint, or all.", _delete),
    _motion("continue", "c", "Run to the next stop."),
    DebuggerCommand("run", "r", "", "Run from the start to the next stop.",
        lambda debugger, text: (debugger.go_to(0), debugger.move())[1]),
    _motion("step", "s", "Run the thread to another line, into functions."),
    _motion("next", "n", "Run the thread to another line, over functions."),
    _motion("stepi", "si", "Run the thread to its next PTX instruction.", "instruction"),
    _motion("finish", "f", "Run until the function returns."),
    DebuggerCommand("until", "u", "[LOCATION]", "Run the thread to a location, or to a later line.",
        Debugger.until, _LOCATIONS, repeats=True),
    _motion("reverse-continue", "rc", "Go back to the last stop, or to the start."),
    _motion("reverse-step", "rs", "Go back to the line before, into functions."),
    _motion("reverse-next", "rn", "Go back to the line before, over functions."),
    _motion("reverse-stepi", "rsi", "Go back to the instruction before.", "instruction"),
    _motion("reverse-finish", "rf", "Go back to the call of the function."),
    DebuggerCommand("goto", "g", "POSITION", "Go to a position, forwards or back.",
        lambda debugger, text: debugger.go_to(_number(text))),
    DebuggerCommand("thread", "t", "[BLOCK:]THREAD", "Select a thread, as in 17 or 2,0,0:17,0,0.",
        _thread),
    DebuggerCommand("warp", "wa", "NUMBER", "Select a warp of the block.",
        lambda debugger, text: debugger.select_warp(_number(text))),
    DebuggerCommand("block", "bk", "BLOCK", "Select the first thread of a block.",
        lambda debugger, text: debugger.select(_numbers(text), [0])),
    DebuggerCommand("where", "bt", "", "Show the calls of the thread.",
        _call(_asking(questions.frames))),
    DebuggerCommand("frame", "fr", "[LEVEL]", "Select a call; 0 is the innermost.",
        lambda debugger, text: debugger.select_frame(_number(text or "0"))),
    DebuggerCommand("warps", "ws", "", "Show where the warps are, and what they wait for.",
        _call(_asking(questions.warps))),
    DebuggerCommand("print", "p", "EXPRESSION", "Print a value of the thread.",
        _call(_asking(questions.evaluate), "EXPRESSION"), _NAMES),
    DebuggerCommand("lanes", "x", "EXPRESSION", "Print a value across the lanes of the warp.",
        _call(_asking(questions.lanes), "EXPRESSION"), _NAMES),
    DebuggerCommand("memory", "m", "WHERE TYPE",
        "Print memory: a shared variable or [SPACE:]ADDRESS, as in part f32[8] or "
        "local:%rd1 u32.", _memory, _NAMES),
    DebuggerCommand("registers", "i", "[NAME]...", "Print registers of the thread.",
        lambda debugger, text: debugger.ask(questions.registers, text.split())),
    DebuggerCommand("names", "", "", "List the names that expressions can have.",
        lambda debugger, text: [*_NAMES(debugger)]),
    DebuggerCommand("list", "l", "[ptx]", "Show the source around the current line, or the PTX.",
        _list),
    DebuggerCommand("writer", "wr", "ELEMENT", "Show the last write of an element.",
        _call(Debugger.writer, "ELEMENT"), _NAMES),
    DebuggerCommand("origin", "o", "EXPRESSION", "Show where a NaN came from.",
        _call(Debugger.origin, "EXPRESSION"), _NAMES),
    DebuggerCommand("help", "h", "[COMMAND]", "Show the commands, or one.", _help,
        lambda debugger: [each.name for each in COMMANDS]),
    DebuggerCommand("quit", "q", "", "End the launch and the debugger.", _quit),
)  # fmt: skip
"""The commands; a name can be shortened to a part that no other command begins with."""

_OF_GDB = {
    "info": "breakpoints, names, registers, warps or where",
    **dict.fromkeys(("up", "down"), "frame"),
    "backtrace": "where",
    "clear": "delete",
}
"""Commands by the names that gdb has for them."""


def command_of(name: str) -> DebuggerCommand:
    """Return a command by its name, its short name or the start of its name.

    Raises:
        RequestError: There is none, or several.
    """
    for each in COMMANDS:
        if name in (each.name, each.short):
            return each
    found = [each for each in COMMANDS if each.name.startswith(name)]
    if len(found) == 1:
        return found[0]
    names = [each.name for each in found or COMMANDS]
    what = "ambiguous" if found else "unknown"
    near = f"use {_OF_GDB[name]}" if name in _OF_GDB else did_you_mean(name, names)
    raise RequestError(f"{what} command {name!r}", hint=near or f"expected {', '.join(names)}")


class CommandLine:
    """Executes the lines of a session."""

    def __init__(self, debugger: Debugger) -> None:
        self.debugger = debugger
        self._last = ""

    def execute(self, line: str) -> object:
        """Execute a line and return its result; ``None`` for an empty line or a comment.

        Raises:
            CudarunError: The command is not possible.
            Quit: The debugger is to end.
        """
        line = line.strip() or self._last
        if not line or line.startswith("#"):
            return None
        name, _, rest = line.partition(" ")
        command = command_of(name)
        self._last = line if command.repeats else ""
        result = command.run(self.debugger, rest.strip())
        return self.stopped(result) if isinstance(result, Stop) else result

    def stopped(self, stop: Stop) -> StoppedAt:
        """Return a stop with its line."""
        if stop.place is None:
            return StoppedAt(stop)
        try:
            listing = self.debugger.source(around=0)
        except RequestError:
            listing = self.debugger.source(ptx=True, around=0)
        return StoppedAt(stop, next(iter(listing.lines), None))

    def completions(self, text: str) -> list[str]:
        """Return the texts that can replace the last word of a line."""
        name, space, rest = text.lstrip().partition(" ")
        if not space:
            names = [each.name for each in COMMANDS]
            return [each for each in names if each.startswith(name)]
        try:
            words = command_of(name).completes(self.debugger)
        except RequestError:
            return []
        word = re.split(r"[\s([+*/<>=&|,-]", rest)[-1]
        return [each for each in words if each.startswith(word)]
