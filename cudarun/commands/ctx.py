"""``cudarun ctx``: inspection of contexts, scripts of driver calls, and documented facts."""

from __future__ import annotations

import os
import shlex
from typing import Any

import click

from cudarun.base.errors import RequestError
from cudarun.base.files import FileUse
from cudarun.commands.declaration import option
from cudarun.commands.help import CommandGroup
from cudarun.commands.inputs import DASH, read_input, read_text
from cudarun.commands.options import progress_display, reading, target, target_options
from cudarun.commands.output import chosen_renderer
from cudarun.report.renderer import finish
from cudarun.session.contexts.verbs import CHAPTERS
from cudarun.session.image.image import STDIN


@click.group("ctx", cls=CommandGroup)
def command() -> None:
    """Inspect contexts, script driver calls, and check documented context behavior."""


# --- show ----------------------------------------------------------------------------------------


@command.command("show", short_help="Show each device's contexts and the cost of one.")
@target_options(default="0")
def show(quiet: bool, **values: Any) -> int:
    """Show each device's contexts: state, flags, limits, preferences, and the cost of one.

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
        lines += ["\b", f"{chapter}:"]
        for verb in verbs:
            head = f"{verb.name} {verb.usage}".rstrip()
            lines.append(f"  {head:28}" if len(head) <= 28 else f"  {head}\n{'':30}")
            lines[-1] += f" {verb.help}"
        lines.append("")
    return "\n".join(lines)


@command.command(
    "run",
    epilog=_step_help(),
    short_help="Run a script of driver calls and draw the context stacks.",
)
@click.argument("script", required=False)
@option(
    "--script FILE",
    "file",
    file=FileUse.INPUT,
    help="Read the script from a file; - is stdin.",
)
@click.option("--times", is_flag=True, help="Show the duration of each call.")
@target_options(default="0", with_contexts=False)
def run(script: str | None, file: str | None, times: bool, quiet: bool, **values: Any) -> int:
    """Run a script of driver calls, and draw every thread's context stack after each call.

    Separate steps with ; or line ends; # starts a comment. The selected devices are dev=0, dev=1,
    …, all in one process. @t1 before a step runs it on thread t1. A step can end with its expected
    result: -> INVALID_CONTEXT (also A|B, failure, any), or == VALUE, != VALUE, >= VALUE, <= VALUE.
    "as NAME" names the value of a step for later steps. IMAGE is a file, or builtin.

    Each stack starts with the current context; † marks a destroyed context, and floating contexts
    are on no stack. Exit code 1: a step did not have the expected result; 5: a step without an
    expected result failed.

    \b
    cudarun ctx run 'create A; create B; pop == B; @t1 push B; current == A' -d cpu
    """
    renderer = chosen_renderer()
    where = target(values, capture=renderer.owns_stdout)
    with reading(where):
        from cudarun.session.contexts.parser import parse_script

        if (script is None) == (file is None):
            raise RequestError(
                "pass either a script or --script FILE" + ("" if script is None else ", not both"),
                hint="see 'cudarun ctx run --help' for the steps",
            )
        if script is not None and os.path.isfile(script):
            raise RequestError(
                f"'{script}' is a file, not a script",
                hint=f"run it: cudarun ctx run --script {shlex.quote(script)}",
            )
        text, origin = script or "", None
        if file is not None:
            text, origin = read_text(file, "--script"), STDIN if file == DASH else file
        parsed = parse_script(text, origin)
        images = {path: read_input(path) for path in parsed.images}
    from cudarun.session.contexts.parent import run_script

    renderer.begin(step.text for step in parsed.steps)
    return finish(run_script(parsed, where, images, renderer.add), renderer)


# --- verify --------------------------------------------------------------------------------------


@command.command("verify", short_help="Check documented context behavior on each device.")
@click.argument("facts", nargs=-1, metavar="[FACT]...")
@click.option("--list", "listed", is_flag=True, help="List the facts and stop; requires no GPU.")
@target_options(default="0", with_contexts=False)
def verify(facts: tuple[str, ...], listed: bool, quiet: bool, **values: object) -> int:
    """Check documented facts about contexts on each device, each in its own process.

    A fact is a sentence with a script of 'cudarun ctx run' that demonstrates it. Without FACT, all
    facts are checked. A fact passes, fails or is unsupported on a device; exit code 1 if one
    fails. Facts about two devices require --together; dev=1 is then the next selected device.

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
