"""``cudarun ctx``: inspection of contexts, scripts of driver calls, and documented facts."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

import click

from cudarun.commands import completion
from cudarun.commands.command_group import CommandGroup
from cudarun.commands.declaration import option
from cudarun.commands.options import (
    context_options,
    device_options,
    output_options,
    progress_display,
    reading,
    target,
)
from cudarun.commands.output import chosen_renderer
from cudarun.commands.text_files import DASH, read_text
from cudarun.errors import RequestError
from cudarun.report.renderer import finish
from cudarun.session.contexts.verbs import CHAPTERS, Verb
from cudarun.session.image.image import STDIN, Image
from cudarun.writing import FileUse

if TYPE_CHECKING:
    from cudarun.session.contexts.script import Script


@click.group("ctx", cls=CommandGroup)
def command() -> None:
    """Show contexts, play with them, and verify what is said of them."""


# --- show ----------------------------------------------------------------------------------------


@command.command("show", short_help="Show each device's contexts, and what one costs.")
@device_options(default="0")
@context_options
@output_options
def show(quiet: bool, **values: Any) -> int:
    """Show each device's contexts: state, flags, limits, preferences, and what one costs.

    \b
    cudarun ctx show -d cpu
    cudarun ctx show -d all --context new --ctx-flags spin --limit stack=4Ki
    """
    from cudarun.session.contexts.overview import show_contexts

    renderer = chosen_renderer()
    where = target(values, capture=renderer.owns_stdout)
    return finish(show_contexts(where, progress_display(where, quiet=quiet)), renderer)


# --- run -----------------------------------------------------------------------------------------


def _step_help() -> str:
    """Return the table of steps for ``--help``."""
    lines = []
    for chapter, verbs in CHAPTERS.items():
        lines += ["\b", f"{chapter}:", *map(_verb_help, verbs), ""]
    return "\n".join(lines)


def _verb_help(verb: Verb) -> str:
    head = f"{verb.name} {verb.usage}".rstrip()
    return f"  {head:28} {verb.help}" if len(head) <= 28 else f"  {head}\n{'':31}{verb.help}"


@command.command(
    "run", epilog=_step_help(), short_help="Run a script of driver calls, drawing every stack."
)
@click.argument("script", required=False)
@option(
    "--script",
    "file",
    file=FileUse.INPUT,
    metavar="FILE",
    shell_complete=completion.files,
    help="Read the script from a file; - is stdin.",
)
@click.option("--times", is_flag=True, help="Show how long each call took.")
@device_options(default="0")
@output_options
def run(script: str | None, file: str | None, times: bool, quiet: bool, **values: Any) -> int:
    """Run a script of driver calls, and draw every thread's stack of contexts after each.

    Steps are separated by ; or line ends, # begins a comment. The chosen devices are dev=0, dev=1,
    …, all in one process. @t1 before a step runs it on the thread t1. A step may end with what it
    must come to: -> INVALID_CONTEXT (also A|B, failure, any), or == VALUE, != VALUE, >= VALUE,
    <= VALUE; "as NAME" names its value for later steps. IMAGE is a file, or builtin.

    Stacks are drawn with the current context first; † marks a context that is no more, floating
    are those on no stack. Exit code 1: a step did not come to what was expected; 5: a step failed
    that nobody expected to.

    \b
    cudarun ctx run 'create A; create B; pop == B; @t1 push B; current == A' -d cpu
    """
    renderer = chosen_renderer()
    where = target(values, capture=renderer.owns_stdout)
    with reading(where):
        parsed = _script(script, file)
        images = _images(parsed)
    from cudarun.session.contexts.parent import run_script

    renderer.begin(step.text for step in parsed.steps)
    return finish(run_script(parsed, where, images, renderer.add), renderer)


def _script(text: str | None, file: str | None) -> Script:
    """Read and parse the script.

    Raises:
        RequestError: There is no script, there are two, or the file cannot be read.
        ArgumentSyntaxError: The script does not parse.
    """
    from cudarun.session.contexts.parser import parse_script

    if (text is None) == (file is None):
        raise RequestError(
            "give a script, or --script FILE" + ("" if text is None else ", not both"),
            hint="cudarun ctx run --help shows the steps",
        )
    if file is None:
        if os.path.isfile(str(text)):
            raise RequestError(
                f"'{text}' is a file, not a script",
                hint=f"run it: cudarun ctx run --script {shlex.quote(str(text))}",
            )
        return parse_script(str(text))
    return parse_script(read_text(file, "--script"), STDIN if file == DASH else file)


def _images(script: Script) -> dict[str, Image]:
    from cudarun.commands.inputs import read_input

    return {path: read_input(path) for path in script.images}


# --- verify --------------------------------------------------------------------------------------


@command.command("verify", short_help="Hold each device's contexts to what is said of them.")
@click.argument("facts", nargs=-1, metavar="[FACT]...")
@click.option("--list", "listed", is_flag=True, help="List the facts and stop; needs no GPU.")
@device_options(default="0")
@output_options
def verify(facts: tuple[str, ...], listed: bool, quiet: bool, **values: Any) -> int:
    """Try facts about contexts on each device, every one in a process of its own.

    A fact is a sentence and a script of 'cudarun ctx run' that shows it; without a name all are
    tried. Each passes, fails or is not supported per device; the exit code is 1 when one fails.
    Facts about two devices are tried with --together: dev=1 is then the next of those chosen.

    \b
    cudarun ctx verify -d cpu
    cudarun ctx verify -d all --together
    cudarun ctx verify none-current -d cpu --json
    """
    from cudarun.session.contexts.verification import chosen_facts, listed_facts
    from cudarun.session.contexts.verification import verify as try_facts

    renderer = chosen_renderer()
    chosen = chosen_facts(facts)
    if listed:
        return finish(listed_facts(chosen), renderer)
    return finish(try_facts(chosen, target(values, capture=True), renderer.progress), renderer)
