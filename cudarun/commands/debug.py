"""``cudarun debug``: a launch on the emulated device, forwards and backwards."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cudarun.base.errors import CudarunError, ExitCode, RequestError, WorkerDied
from cudarun.base.options import OptionGroup
from cudarun.base.records import dataclass
from cudarun.base.terminal import escaped
from cudarun.commands import launch
from cudarun.commands.declaration import Values, option
from cudarun.commands.options import target
from cudarun.commands.steps import LaunchCommand
from cudarun.report.terminal import shown
from cudarun.session.driver.selection import parse_devices

if TYPE_CHECKING:
    from cudarun.debugger.command_line import CommandLine
    from cudarun.debugger.debugger import Debugger
    from cudarun.debugger.history import History
    from cudarun.model.launch import LaunchReport
    from cudarun.session.driver.contexts import Target
    from cudarun.session.launch.request import Program

_LINE_OPTIONS = {"-G", "--device-debug", "-lineinfo", "--generate-line-info"}
PROMPT = "(debug) "

# What a debugged launch has no use for: it runs once, interpreted, and has no report.
_LEFT_OUT = frozenset(
    {
        *("sanitize", "dry_run", "filter_text", "listed", "fail_fast", "budget", "candidates"),
        *("best", "junit", "output_format", "confine", "write_spec", "together", "timeout"),
        *("trace", "devices", "engine", "cpu_threads", "repeat", "warmup", "input_sets", "hot"),
        *("nbytes", "flops", "profile", "graph", "seeds", "schedule", "schedules", "stateless"),
        *("reference", "prove", "stats", "gpus", "saves", "force", "as_json", "quiet"),
        "times_shown",
    }
)


class DebugCommand(LaunchCommand):
    """The command with the options of ``launch`` that apply to a single launch."""

    def __init__(self, name: str, params: list[click.Parameter], **facts: Any) -> None:
        shared = [
            each
            for each in launch.command.params
            if each.name not in _LEFT_OUT and not str(each.name).startswith("baseline")
        ]
        arguments = [each for each in shared if isinstance(each, click.Argument)]
        options = [each for each in shared if isinstance(each, click.Option)]
        super().__init__(name, params=[*arguments, *params, *options], **facts)


_own = partial(option, group=OptionGroup.FIRST)
commands_option = _own(
    "-x",
    "commands",
    multiple=True,
    metavar="COMMANDS",
    help="Execute commands first: a file with one in each line, or a text with ; between them. "
    "Without a terminal, then end. Repeatable.",
)
format_option = _own(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="Write the result of each command as text, or as a JSON object in a line.",
)


@click.command("debug", cls=DebugCommand)
@commands_option
@_own(
    "-d",
    "--device",
    "devices",
    type=parse_devices,
    default="cpu",
    metavar="DEVICE",
    help="The emulated device.",
)
@format_option
@_own(
    "--dap",
    is_flag=True,
    help="Serve an editor by the Debug Adapter Protocol on stdin and stdout. The editor's request "
    "has the other arguments.",
)
def command(commands: tuple[str, ...], form: str, dap: bool, **values: Any) -> int:
    """Debug a launch on the device cpu: stop, look, step, and go back.

    IMAGE, ARGs and options are those of launch. A breakpoint is a source line, a function or
    ptx:LINE, with a condition over the threads' registers and the launch's buffers. The commands
    reverse-step, reverse-continue and writer go back. 'help' lists all commands.

    \b
    cudarun debug saxpy.ptx --threads 1000 a=f32:2 'x=f32[n]:iota' 'y=f32[n]:ones' \\
        n=i32:1000 -x 'break saxpy if threadIdx.x == 17; continue; print x[17]; watch y[17]; c'
    """
    if dap:
        return _serve_editor()
    return _debug(values, Terminal(commands, form).talk, capture=form == "json")


def _serve_editor() -> int:
    """Debug the launch that an editor requests, and answer its requests."""
    from cudarun.debugger.dap_connection import DapConnection
    from cudarun.debugger.dap_session import DapSession
    from cudarun.report.debug_text import lines_of

    sent = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what others print is not a message
    editor = DapSession(DapConnection(sys.stdin.buffer, sent), lines_of)
    words = editor.arguments()
    if words is None:
        return ExitCode.OK
    try:
        os.chdir(editor.folder or ".")
        with command.make_context("debug", [*words]) as context:
            own = ("commands", "form", "dap")
            values = {name: each for name, each in context.params.items() if name not in own}
            return _debug(values, editor.run, capture=True)
    except click.exceptions.Exit:
        editor.fail("the arguments ask for help")
        return ExitCode.UNUSABLE_REQUEST
    except (click.ClickException, CudarunError, OSError) as error:
        editor.fail(
            error.format_message() if isinstance(error, click.ClickException) else str(error)
        )
        return ExitCode.UNUSABLE_REQUEST


def _debug(values: Values, talk: Callable[[Debugger], None], *, capture: bool) -> int:
    """Debug a launch; ``talk`` is the front end."""
    values = launch.command.make_context("launch", []).params | values  # with its defaults
    click.get_current_context().params = values
    if any(each.driver != "cpu" for each in values["devices"]) or len(values["devices"]) != 1:
        raise RequestError("only the emulated device can be debugged: cpu", option="--device")
    where = target(values, capture=capture)
    # Imported here: --help needs no workers.
    from cudarun.debugger.history import History
    from cudarun.debugger.job import DebugJob
    from cudarun.images.kinds import ImageKind, identify
    from cudarun.session.image.image import CompileOptions
    from cudarun.session.launch.parent import prefetch
    from cudarun.session.workers.devices import DeviceWorkers
    from cudarun.session.workers.pool import worker_pool
    from cudarun.session.workers.snapshots import Copies

    with worker_pool() as pool, Copies() as copies:
        workers = DeviceWorkers(pool, where, prefetch)
        program = _program(values, where)
        steps = []
        for step in program.steps:  # CUDA source is compiled by -G, unless its options differ
            given = step.image.compilation or CompileOptions()
            is_source = identify(step.image.data) is ImageKind.CUDA_SOURCE
            if is_source and _LINE_OPTIONS.isdisjoint(given.options):
                debugged = replace(given, options=(*given.options, "-G"))
                step = replace(step, image=replace(step.image, compilation=debugged))
            steps.append(step)
        program = replace(program, steps=tuple(steps))
        session = FrontEndSession(talk)

        def debug() -> None:
            root = copies.accept(workers.are_busy)
            if root is not None:
                images = [Path(step.image.origin).parent for step in program.steps]
                session.run(History(copies, root), partial(_report, program), images)

        [answer] = workers.run(DebugJob(program, copies.address), meanwhile=debug, last=True)
    if session.error is not None:
        raise session.error
    if session.debugger is None:
        answer.unwrap()
        return ExitCode.OK
    return session.debugger.last.exit_code or ExitCode.OK


def _program(values: Values, where: Target) -> Program:
    """Return the launch: of an image, of a recording, or of a case of a spec."""
    if values["spec"] is None:
        if values["image"] is None:
            raise click.UsageError("missing argument 'IMAGE'", click.get_current_context())
        return launch.request_of(values, where)
    from cudarun.commands.spec_file import read_spec

    names = [each for each in (values["image"], *values["arguments"]) if each is not None]
    cases = read_spec(values["spec"], names, where)
    if len(cases) != 1:
        labels = ", ".join(case.label for case in cases)
        raise RequestError(f"select one case: {labels}", option="--spec")
    request = cases[0].request
    if request is None:
        raise RequestError("the case has no launch", option="--spec")
    return request


def _lines(text: str) -> list[str]:
    """Return the commands of a file, or of a text with ``;`` between them."""
    path = Path(text)
    with suppress(OSError):
        if path.is_file():
            return path.read_text(errors="replace").splitlines()
    return text.split(";")


@dataclass(slots=True)
class FrontEndSession:
    """A session of a front end."""

    talk: Callable[[Debugger], None]  # the front end
    debugger: Debugger | None = None  # once a launch has begun
    error: CudarunError | None = None  # the error that ends the session

    def run(
        self,
        history: History,
        report: Callable[[Any], LaunchReport] | None = None,
        folders: Sequence[Path] = (),
    ) -> None:
        """Debug the launches of a history; arguments as of `Debugger`."""
        from cudarun.debugger.debugger import Debugger

        try:
            with _pausing(history):
                self.debugger = Debugger(history, report, folders)
                self.talk(self.debugger)
        except CudarunError as error:
            self.error = error
        finally:
            history.close()


def _report(program: Program, outcome: Any) -> LaunchReport:
    """Return the report of a launch that has ended."""
    from cudarun.model.launch import DeviceOutcome
    from cudarun.session.launch.parent import report

    error = outcome if isinstance(outcome, CudarunError) else None
    result = None if error is not None else outcome
    return report(program, [DeviceOutcome("cpu", result, error, "")])


class Terminal:
    """A front end: commands from the command line, and then from stdin.

    Args:
        commands: Files and texts of commands.
        form: The form of results: ``text`` or ``json``.
    """

    def __init__(self, commands: Iterable[str], form: str) -> None:
        self._commands = [*chain.from_iterable(map(_lines, commands))]
        self._is_text = form == "text"
        self._death: WorkerDied | None = None  # that of the launch, unless it has run again since

    def talk(self, debugger: Debugger) -> None:
        """Execute the commands."""
        from cudarun.debugger.command_line import CommandLine, Quit

        line = CommandLine(debugger)
        given = self._commands
        if self._is_text:
            debugger.show_output(lambda text: _write_lines(text.splitlines()))
        reads = sys.stdin.isatty() or not given
        if not given:
            self._write("", line.stopped(debugger.last))
        if reads and sys.stdin.isatty():
            click.echo("'help' lists the commands, 'quit' ends.")
        try:
            for text in filter(str.strip, given):
                self._run(line, text.strip(), echoes=self._is_text)
            if reads:
                for text in _typed(line):
                    self._run(line, text)
        except Quit:
            pass
        if self._death is not None:
            raise self._death

    def _run(self, line: CommandLine, text: str, *, echoes: bool = False) -> None:
        if echoes and text:
            click.echo(f"{PROMPT}{text}")
        try:
            result = line.execute(text)
        except CudarunError as error:
            self._death = error if isinstance(error, WorkerDied) else self._death
            self._write(text, error)
            return
        self._write(text, result)
        self._death = None if hasattr(result, "stop") else self._death
        report = line.debugger.report
        is_end = getattr(getattr(result, "stop", None), "reason", None) == "ended"
        if self._is_text and report is not None and is_end:
            from cudarun.report.renderer import TableStyle
            from cudarun.report.table import TableRenderer

            TableRenderer(TableStyle(quiet=True)).end(report)

    def _write(self, command: str, result: Any) -> None:
        """Write the result of a command for people, or as a JSON object in a line."""
        failed = isinstance(result, CudarunError)
        if not self._is_text:
            import json

            from cudarun.model.documents import plain

            found = {"error": plain(result)} if failed else {"result": plain(result)}
            kind = None if failed else type(result).__name__
            document = {"command": command, "kind": kind, **found}
            click.echo(escaped(json.dumps(document, ensure_ascii=False)))
        elif failed:
            _write_lines([f"error: {result}", *([f"hint: {result.hint}"] if result.hint else [])])
        elif command or result is not None:
            from cudarun.report.debug_text import lines_of

            _write_lines(lines_of(result))


def _typed(line: CommandLine) -> Iterator[str]:
    """Yield the lines of stdin until its end."""
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    with _history(line):
        while True:
            try:
                yield input(PROMPT)
            except EOFError:
                click.echo()
                return
            except KeyboardInterrupt:
                click.echo()


@contextmanager
def _history(line: CommandLine) -> Iterator[None]:
    """Complete lines, and keep them in a file, where Python has ``readline``."""
    try:
        import readline
    except ImportError:
        yield
        return
    from cudarun.base.cache import cache_folder

    folder = cache_folder("debug")
    path = Path(os.devnull) if folder is None else folder / "history"

    def complete(_: str, state: int) -> str | None:
        found = line.completions(readline.get_line_buffer())
        return found[state] if state < len(found) else None

    readline.set_completer(complete)
    readline.set_completer_delims(" \t([+*/<>=&|,-")
    readline.parse_and_bind("tab: complete")
    with suppress(OSError):
        readline.read_history_file(path)
    try:
        yield
    finally:
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            readline.write_history_file(path)


@contextmanager
def _pausing(history: History) -> Iterator[None]:
    """Stop the running launch at Ctrl-C."""

    def pause(number: int, frame: object) -> None:
        if not history.pause():
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, pause)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _write_lines(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(shown(line, sys.stdout))
