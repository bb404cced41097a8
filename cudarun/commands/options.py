"""Option stacks that several commands share, and the types of their values."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING

import click

from cudarun.base.errors import RequestError
from cudarun.base.options import OptionGroup, OptionScope, option_fields
from cudarun.commands import completion
from cudarun.commands.declaration import F, Values, filled, option, options_of, value_name
from cudarun.commands.numbers import seconds, size
from cudarun.report.progress import status_line
from cudarun.report.terminal import pass_on, shows_controls
from cudarun.session.driver.contexts import FLAGS, LIMITS, ContextOptions, Target
from cudarun.session.driver.selection import parse_devices, profile_of
from cudarun.session.image.image import CompileOptions
from cudarun.session.load.request import JitOptions
from cudarun.session.workers.deadline import time_limit

if TYPE_CHECKING:
    from cudarun.base.profiles import Profile
    from cudarun.images.versions import Architecture
    from cudarun.session.workers.progress import ProgressDisplay

_ARCHITECTURE = re.compile(r"sm_\d{2,3}[af]?")  # nvJitLink crashes on shorter ones

# --- types of options: functions that click calls to convert a text -------------------------------


def _limit(setting: str) -> tuple[str, int]:
    name, equals, text = setting.partition("=")
    if name not in LIMITS or not equals:
        names = ", ".join(LIMITS)
        raise click.BadParameter(f"'{setting}' is not NAME=SIZE with NAME one of {names}")
    return name, size()(text)


def _flags(text: str) -> tuple[str, ...]:
    words = tuple(filter(None, text.split(",")))
    for word in words:
        if word not in FLAGS:
            raise click.BadParameter(f"'{word}' is not one of {', '.join(FLAGS)}")
    return words


def architecture(text: str) -> Architecture:
    """``sm_90`` or ``sm_90a``."""
    from cudarun.images.versions import parse_target

    target = parse_target(text) if _ARCHITECTURE.fullmatch(text) else None
    if target is None:
        raise click.BadParameter(f"'{text}' is not an architecture, such as sm_90 or sm_90a")
    return target


def gpus(text: str | tuple[()]) -> tuple[Profile, ...]:
    """``b200,rtx5090``: GPUs of the table of profiles, each once; none by default."""
    if isinstance(text, tuple):
        return ()
    names = (name.strip() for name in text.split(","))
    return tuple(dict.fromkeys(profile_of(name, "--for") for name in names))


device_option = partial(option, "-d", "--device DEVICE", "devices", type=parse_devices)
"""``--device`` of commands that work on one device."""

# --- stacks of options ---------------------------------------------------------------------------


def target_options(
    default: str, time_limit: str = "none", *, with_contexts: bool = True
) -> Callable[[F], F]:
    """Add the options of `target`, and those of the output.

    Args:
        default: The devices.
        time_limit: The default of ``--timeout``, for the help.
        with_contexts: Add the options of `ContextOptions`.
    """
    found = options_of(
        Target,
        devices={"default": default, "type": parse_devices, "shell_complete": completion.devices},
        timeout={"type": seconds, "default_text": time_limit},
        ctx_flags={"type": _flags, "default": "", "shell_complete": completion.words(*FLAGS)},
        limits={"type": _limit},
    )
    names = ("devices", "together", "timeout", "trace")
    contexts = map(value_name, option_fields(ContextOptions) if with_contexts else ())
    return stack(*(found[name] for name in (*names, *contexts)), output_options)


def output_options(function: F) -> F:
    """Add ``--json``, ``-v``, ``-q``, ``--raw-output`` and ``--color``."""
    of_run = partial(option, group=OptionGroup.OUTPUT, scope=OptionScope.RUN)
    return stack(
        of_run("--json", "as_json", is_flag=True, help="Print one JSON document on stdout."),
        options_of(Target)["verbose"],
        of_run("-q", "--quiet", is_flag=True, help="Print only requested output and failures."),
        of_run(
            "--raw-output",
            is_flag=True,
            expose_value=False,
            callback=_pass_on,
            help="Print control characters in kernel output, names and logs unchanged on a "
            "terminal, instead of escaping them as \\x1b.",
        ),
        of_run(
            "--color/--no-color",
            default=None,
            expose_value=False,
            callback=_set_color,
            help="Color the output.  [default: on a terminal, unless NO_COLOR is set]",
        ),
    )(function)


def _pass_on(_: click.Context, __: click.Parameter, wanted: bool) -> None:
    if wanted:
        pass_on()


def _set_color(ctx: click.Context, _: click.Parameter, color: bool | None) -> None:
    if color is not None:  # for the command's output, and for errors printed after it
        ctx.color = ctx.find_root().color = color


def target(values: Values, *, capture: bool, default_timeout: float | None = None) -> Target:
    """Build the target from the values of `target_options`.

    Args:
        default_timeout: The time limit without ``--timeout``.
    """
    timeout = values["timeout"]
    context = {} if "context_kind" in values else {"context": ContextOptions()}
    return filled(
        Target,
        values,
        **context,
        timeout=default_timeout if timeout is None else timeout or None,
        capture=capture,
        escape=not capture and shows_controls(sys.stdout),
    )


def reading(where: Target) -> AbstractContextManager[None]:
    """Limit the time of reading and parsing what the command line names."""
    return time_limit(where.timeout, "reading the request")


def progress_display(where: Target, *, quiet: bool = False) -> ProgressDisplay | None:
    """Return the progress display on a terminal's stderr, unless steps are logged there."""
    return None if quiet or where.trace or where.verbose else status_line()


def stack(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Combine decorators into one; the options keep this order in the help."""

    def decorate(function: F) -> F:
        for each in reversed(options):
            function = each(function)
        return function

    return decorate


def jit_options(function: F) -> F:
    """Add the JIT compiler's options; the decorated function passes its arguments to `jit`."""
    options = options_of(JitOptions, shared={"of_device": True}, target={"type": architecture})
    return stack(*options.values())(function)


def jit(values: Values, *, verbose: bool) -> JitOptions:
    """Build the JIT options from the values of `jit_options`."""
    if values["target"] is not None and values["threads_per_block"] is not None:
        raise RequestError(
            "the driver does not accept it together with --threads-per-block", option="--target"
        )
    return filled(JitOptions, values, verbose=verbose)


_COMPILING = {"group": OptionGroup.COMPILING, "scope": OptionScope.OVERRIDE}


def compile_options(function: F) -> F:
    """Add the options of compiling CUDA source, and ``--max-image``."""
    return stack(
        *options_of(CompileOptions, shared=_COMPILING).values(),
        option(
            "--max-image BYTES",
            **_COMPILING,
            type=size(1),
            help="Limit the size of an image, and of its code when decompressed; larger libraries "
            "are read part by part.  [default: 512Mi]",
        ),
    )(function)
