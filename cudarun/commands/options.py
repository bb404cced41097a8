"""Option stacks that several commands share, and the types that turn their text into values."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cudarun.session.contexts import CACHE_CONFIGS, FLAGS, LIMITS
from cudarun.session.selection import parse_devices
from cudarun.session.targets import ContextOptions, Target

if TYPE_CHECKING:  # requests are imported when there is one to make
    from cudarun.session.requests import Extent

F = TypeVar("F", bound=Callable[..., Any])

_SUFFIXES = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "K": 10**3, "M": 10**6, "G": 10**9}


# --- types of options: functions from the text to the value, which click calls -------------------


def whole_number(text: str | int) -> int:
    """``4096``, ``0x1000``, ``4Ki`` or ``1M`` as an int."""
    if isinstance(text, int):
        return text
    digits, factor = text.strip(), 1
    for suffix, value in _SUFFIXES.items():
        if digits.endswith(suffix):
            digits, factor = digits.removesuffix(suffix), value
            break
    try:
        number = int(digits, 0) * factor
    except ValueError:
        raise click.BadParameter(f"'{text}' is not a whole number") from None
    if number < 0:
        raise click.BadParameter(f"{text} is negative")
    return number


def extent(text: str) -> Extent:
    """``X[,Y[,Z]]`` as three positive numbers; those left out are 1."""
    numbers = [whole_number(item) for item in text.split(",")]
    if len(numbers) > 3:
        raise click.BadParameter(f"'{text}' has {len(numbers)} dimensions; there are three")
    if 0 in numbers:
        raise click.BadParameter(f"'{text}': no dimension can be 0")
    x, y, z = (*numbers, 1, 1)[:3]
    return (x, y, z)


def _limit(text: str) -> tuple[str, int]:
    name, equals, size = text.partition("=")
    if name not in LIMITS or not equals:
        names = ", ".join(LIMITS)
        raise click.BadParameter(f"'{text}' is not NAME=SIZE with a NAME of {names}")
    return name, whole_number(size)


def _flags(text: str) -> tuple[str, ...]:
    words = tuple(filter(None, text.split(",")))
    for word in words:
        if word not in FLAGS:
            raise click.BadParameter(f"'{word}' is none of {', '.join(FLAGS)}")
    return words


# --- stacks of options ---------------------------------------------------------------------------


def device_options(default: str) -> Callable[[F], F]:
    """``-d``, ``--together``, ``--timeout``, ``--trace``: a function of them gets a `Target`."""
    return stack(
        click.option(
            "-d",
            "--device",
            "devices",
            type=parse_devices,
            metavar="LIST",
            envvar="CUDARUN_DEVICE",
            default=default,
            show_default=True,
            show_envvar=True,
            help="0 · 0,2 · all · a GPU UUID or its start · a PCI bus id · cpu · cpu:1 · cpu:all.",
        ),
        click.option(
            "--together",
            is_flag=True,
            help="One worker for all devices; the image is loaded once, before any context exists.",
        ),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="Kill the worker after this long and end with exit code 6.",
        ),
        click.option(
            "--trace", is_flag=True, help="Show each driver call on stderr as it returns."
        ),
    )


def context_options(function: F) -> F:
    """``--context``, ``--ctx-flags``, ``--limit``, ``--cache-config``."""
    return stack(
        click.option(
            "--context",
            "context_kind",
            type=click.Choice(["primary", "new"]),
            default="primary",
            show_default=True,
            help="The device's primary context, or one made for this run.",
        ),
        click.option(
            "--ctx-flags",
            type=_flags,
            metavar="WORDS",
            default="",
            help=f"Context flags, joined by commas: {' '.join(FLAGS)}.",
        ),
        click.option(
            "--limit",
            "limits",
            type=_limit,
            metavar="NAME=SIZE",
            multiple=True,
            help=f"A context limit, repeatable: {' '.join(LIMITS)}.",
        ),
        click.option(
            "--cache-config",
            type=click.Choice(CACHE_CONFIGS),
            help="Prefer shared memory or L1 for all kernels of the context.",
        ),
    )(function)


def output_options(function: F) -> F:
    """``--json``, ``-q``, ``--color``."""
    return stack(
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout."),
        click.option("-q", "--quiet", is_flag=True, help="Print only what was asked for."),
        click.option(
            "--color/--no-color",
            default=None,
            expose_value=False,
            callback=_set_color,
            help="Colour the output; by default on a terminal where NO_COLOR is not set.",
        ),
    )(function)


def target(values: dict[str, Any], *, capture: bool) -> Target:
    """Take the values of `device_options` and `context_options` out of a command's arguments."""
    return Target(
        devices=values.pop("devices"),
        context=context_values(values),
        together=values.pop("together"),
        timeout=values.pop("timeout"),
        trace=values.pop("trace"),
        capture=capture,
    )


def context_values(values: dict[str, Any]) -> ContextOptions:
    """Take the values of `context_options` out of a command's arguments."""
    return ContextOptions(
        kind=values.pop("context_kind"),
        flags=values.pop("ctx_flags"),
        limits=values.pop("limits"),
        cache_config=values.pop("cache_config"),
    )


def stack(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """One decorator of many, which stand in the help in this order."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def _set_color(ctx: click.Context, _: click.Parameter, color: bool | None) -> None:
    if color is not None:  # for the command's own output, and for errors shown after it
        ctx.color = ctx.find_root().color = color
