"""The root of the command line: the lazy command table and the mapping of errors to exit codes."""

from __future__ import annotations

import importlib
import io
import os
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any

import click

from cudarun import __version__
from cudarun.base.errors import (
    CudarunError,
    ExitCode,
    InternalError,
    Interrupted,
    RequestError,
    of_system,
)
from cudarun.base.process import StdoutError
from cudarun.commands.help import COMPLETION_VARIABLE, CommandGroup, HelpContext, usage_hint

if TYPE_CHECKING:
    from cudarun.report.renderer import Renderer

# Each command's name and one-line help, so that `cudarun --help` imports no command.
COMMANDS = {
    "compare": "Compare the times of two JSON documents, and fail if a case is slower.",
    "completion": "Print the script of shell completion for bash, zsh or fish.",
    "ctx": "Inspect contexts, script driver calls, and check documented context behavior.",
    "debug": "Debug a kernel on the emulated device, forwards and backwards.",
    "devices": "List GPUs and emulated devices.",
    "exec": "Run a CUDA program on the emulated device, without a GPU.",
    "fleet": "Run a spec on every GPU of many machines, and compare the GPUs.",
    "judge": "Judge submissions in Python against the reference of a problem.",
    "link": "Link images into one, with the driver or nvJitLink.",
    "load": "Load images with all their kernels and show their contents.",
    "launch": "Launch a kernel with typed arguments and check the result.",
    "record": "Record a launch of any CUDA program, to replay it.",
    "serve": "Run the commands of many clients in processes that are started before.",
    "skill": "Print instructions for agents: how to use cudarun.",
    "managed": "Show __managed__ variables and compare them across host and devices.",
}


class _ReaderLeft(Exception):
    """The reader of the output pipe has exited, as with ``| head``."""


@contextmanager
def _reader_may_leave() -> Iterator[None]:
    """Translate a broken pipe, for which click would exit with 1."""
    try:
        yield
    except BrokenPipeError:
        raise _ReaderLeft from None


class _LazyGroup(CommandGroup):
    """A group that imports a command's module only when the command is used."""

    def make_context(
        self, info_name: str | None, args: list[str], *rest: Any, **extra: Any
    ) -> click.Context:
        with _reader_may_leave():
            return super().make_context(info_name, args, *rest, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _reader_may_leave():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"cudarun.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


def _refuse_server(ctx: click.Context, parameter: click.Parameter, path: str | None) -> None:
    if path is not None and not ctx.resilient_parsing:
        raise click.UsageError("put --server before all other options", ctx)


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from cudarun.session.devices.probes import version_lines

        click.echo("\n".join([f"cudarun {__version__}", *version_lines()]))
        ctx.exit()


@click.group(cls=_LazyGroup, context_settings={"max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the versions of cudarun, the CUDA bindings and the driver.",
)
@click.option(
    "--server",
    metavar="SOCKET",
    expose_value=False,
    callback=_refuse_server,
    help="Run the command in the server that listens at SOCKET, see 'cudarun serve'; the first "
    "option.  [default: CUDARUN_SERVER, else none]",
)
def cudarun() -> None:
    """Load, link and launch CUDA kernels from a terminal, on GPUs or on the emulated device cpu.

    \b
    Exit codes:
        0  all checks passed       4  image refused
        1  a check failed          5  launch or device failed
        2  invalid request         6  timed out
        3  no device               7  worker died, or internal error
      130  interrupted (Ctrl-C)
    """


def main(args: list[str] | None = None, *, begin: Callable[[], None] = lambda: None) -> int:
    """Run the command line, and return the exit code.

    Args:
        args: The arguments without the program name; by default the process's.
        begin: Called first; it may raise KeyboardInterrupt.
    """
    given = sys.argv[1:] if args is None else args

    def run(outer: click.Context) -> Any:
        begin()
        _check_environment()
        try:
            if not given or given[0] not in COMMANDS or COMPLETION_VARIABLE in os.environ:
                return cudarun.main(given, "cudarun", standalone_mode=False, parent=outer)
            command, group = _command_of(given[0], outer)  # without the group's own parser
            with (
                _reader_may_leave(),
                command.make_context(given[0], [*given[1:]], parent=group) as context,
            ):
                return command.invoke(context)
        except click.exceptions.Exit as end:
            return end.exit_code
        except SystemExit as end:  # click's completion; a process of a server goes on
            return end.code

    return _exit_code(run, given)


def call(
    words: Sequence[str], keywords: Callable[[], Mapping[str, Any]], renderer: Renderer
) -> int:
    """Run a command whose parameters are values, for the Python API; return the exit code.

    Args:
        words: The command, and the names of its options.
        keywords: Returns the values; see `cudarun.commands.keywords`.
    """
    from cudarun.commands.keywords import check_required, keyword_context

    def run(outer: click.Context) -> Any:
        _check_environment()
        command, group = _command_of(words[0], outer)
        with keyword_context(command, keywords(), group) as context:
            check_required(context)
            return command.invoke(context)

    return _exit_code(run, words, renderer)


def _command_of(name: str, outer: click.Context) -> tuple[click.Command, click.Context]:
    """Return a command of the table, and the context of the group that it is in."""
    group = HelpContext(cudarun, outer, "cudarun", **cudarun.context_settings)
    command = cudarun.get_command(group, name)
    assert command is not None, f"the table has {name}"
    return command, group


def keywords_of(command: str) -> Collection[str]:
    """Return the keywords of the values that `call` accepts for a command."""
    from cudarun.commands import keywords

    found = importlib.import_module(f"cudarun.commands.{command}")
    return keywords.keywords_of(found.command)


def _exit_code(
    run: Callable[[click.Context], Any], given: Sequence[str], renderer: Renderer | None = None
) -> int:
    """Run a command, show the error that ends it, and return the exit code.

    Args:
        run: Runs it in a context, and returns its exit code.
        renderer: The output format, in place of that of the options.
    """
    _make_output_writable()
    # This context outlives the command's own, so that errors are shown in the chosen colors.
    color = False if os.environ.get("NO_COLOR") else None
    outer = click.Context(cudarun, obj=renderer, color=color)
    end = partial(_end, args=given, renderer=renderer)
    with outer.scope(cleanup=False):
        try:
            code = run(outer)
            sys.stdout.flush()
            return int(code or ExitCode.OK)
        except (click.exceptions.Abort, KeyboardInterrupt):
            return end(Interrupted("interrupted"), shown=True)  # the terminal has shown ^C
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            return ExitCode.UNUSABLE_REQUEST
        except click.ClickException as error:
            return end(_translated(error, given))
        except CudarunError as error:
            return end(error)
        except (_ReaderLeft, BrokenPipeError):
            _discard_output()
            return ExitCode.OK
        except StdoutError as error:
            _discard_output()
            _show(RequestError(f"the output cannot be written: {error.strerror}"))
            return ExitCode.UNUSABLE_REQUEST
        except (OSError, MemoryError) as error:
            return end(of_system(error))
        except Exception as error:  # a bug in cudarun
            if COMPLETION_VARIABLE in os.environ:  # what cannot be completed is not
                return ExitCode.OK
            traceback.print_exc()
            return end(InternalError(error), shown=True)


def _end(
    error: CudarunError,
    args: Sequence[str],
    *,
    renderer: Renderer | None = None,
    shown: bool = False,
) -> int:
    """Show the error that ends the command; with ``--json`` also as a document.

    With ``--format github`` it is also an annotation, with ``sarif`` a document.

    Args:
        args: The command line; click may have failed to parse it.
        shown: The terminal already shows it.
    """
    options = [*takewhile(lambda word: word != "--", args)]
    formats = {value for word, value in pairwise(options) if word == "--format"}
    formats |= {each.partition("=")[2] for each in options if each.startswith("--format=")}
    if "github" in formats:
        from cudarun.report.terminal import note_workflow

        note_workflow()
    if not shown:
        _show(error)
    if renderer is not None:
        renderer.fail(_document_name(args), error)
        return error.exit_code
    if "github" in formats:
        from cudarun.report.annotations import of_error
        from cudarun.report.github import workflow_command

        for annotation in of_error(error):
            click.echo(workflow_command(annotation))
    if "sarif" in formats:
        from cudarun.report.annotations import of_error
        from cudarun.report.sarif import write_sarif

        write_sarif(of_error(error))
    if "--json" in options:
        from cudarun.report.json import error_text

        try:
            print(error_text(_document_name(args), error), flush=True)
        except OSError:
            _discard_output()
    return error.exit_code


def _check_environment() -> None:
    """Refuse a value that would silently be no choice; other variables are checked where used."""
    name = "CUDARUN_CACHE"
    if (value := os.environ.get(name, "")) not in ("", "on", "off"):
        raise RequestError(f"{name}={value}: expected on, off", hint=f"unset {name}")


def _document_name(args: Sequence[str]) -> str:
    """Return the command in a document's schema: ``launch``, ``ctx-run``; by default ``cudarun``.

    >>> _document_name(["ctx", "run", "--json", "create A"])
    'ctx-run'
    """
    words = [word for word in args if not word.startswith("-")]
    if not words or words[0] not in COMMANDS:
        return "cudarun"
    options = {word.partition("=")[0] for word in args}
    match words:
        case ["ctx", "show" | "run" | "verify" as subcommand, *_]:
            return f"ctx-{subcommand}"
        case ["launch", *_] if "--spec" in options:
            return "launch-spec-list" if "--list" in options else "launch-spec"
        case ["fleet", *_] if "--node" in options:
            return "fleet-node"
        case ["devices", *_] if "--doctor" in options:
            return "devices-doctor"
    return words[0]


def _show(error: CudarunError) -> None:
    from cudarun.report.errors import show_error  # most runs have no error

    show_error(error)


def _make_output_writable() -> None:
    """Make every character printable."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _discard_output() -> None:
    """Redirect the rest of stdout's buffer to nowhere: flushing it at exit would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _translated(error: click.ClickException, args: Sequence[str]) -> RequestError:
    """Convert click's errors to the form of all others."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = usage_hint(context) if context else None
    if isinstance(error, click.NoSuchOption):
        # Click's own text differs between versions.
        what = f"no such option '{error.option_name}'"
        return RequestError(what, hint=_suggested_option(error, args) or hint)
    message = error.format_message()  # an error about a value has only a text
    return RequestError(message[:1].lower() + message[1:].rstrip("."), hint=hint)


_OTHER_NAMES = {"--shared": "--smem", "--shared-mem": "--smem", "--dynamic-smem": "--smem"}
"""Options by what other programs call them."""


def _suggested_option(error: click.NoSuchOption, args: Sequence[str]) -> str | None:
    """Return a suggestion for an unknown option."""
    from cudarun.commands.numbers import negative_argument

    if hint := negative_argument(error.option_name, args):
        return hint
    is_of_all = isinstance(error.ctx and error.ctx.command, click.Group)
    if is_of_all and any(word in COMMANDS for word in args):
        return "put options after the command: cudarun COMMAND [OPTIONS] …"
    options = [each.opts[-1] for each in error.ctx.command.params] if error.ctx else []
    if (other := _OTHER_NAMES.get(error.option_name)) in options:
        return f"did you mean {other!r}?"
    names = error.possibilities or []
    if not names and len(error.option_name) == 2:  # other programs have it: -b
        names = [each for each in options if each.startswith(f"-{error.option_name}")]
        return f"did you mean {' or '.join(map(repr, names[:3]))}?" if names else None
    return f"did you mean {names[0]!r}?" if names else None
