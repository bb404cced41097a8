"""The JIT compiler's options, for commands that load and link images."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from cudarun.commands.declaration import F, Values, option
from cudarun.commands.numbers import INT_MAX, whole
from cudarun.commands.options import stack
from cudarun.errors import RequestError
from cudarun.session.load.request import CACHE_MODES, FALLBACKS, JitOptions

if TYPE_CHECKING:
    from cudarun.images.versions import Architecture


_ARCHITECTURE = re.compile(r"sm_\d{2,3}[af]?")  # nvJitLink crashes on shorter ones


def architecture(text: str) -> Architecture:
    """``sm_90`` or ``sm_90a``."""
    from cudarun.images.versions import parse_target

    target = parse_target(text) if _ARCHITECTURE.fullmatch(text) else None
    if target is None:
        raise click.BadParameter(
            f"'{text}' is not an architecture, as for instance sm_90 or sm_90a"
        )
    return target


def jit_options(function: F) -> F:
    """Add the JIT compiler's options: ``-O``, ``--max-registers``, ``--lineinfo``, ``-g``, ….

    The decorated function passes its arguments to `jit`.
    """
    return stack(
        option(
            "-O",
            "--optimize",
            "optimization",
            of_device=True,
            type=whole(0, 4),
            metavar="LEVEL",
            help="Optimise PTX so far, 0 to 4.  [default: 4]",
        ),
        option(
            "--max-registers",
            of_device=True,
            type=whole(1, INT_MAX),
            metavar="N",
            help="Most registers of a thread, where PTX is compiled.",
        ),
        option(
            "--threads-per-block",
            of_device=True,
            type=whole(1, INT_MAX),
            metavar="N",
            help="Compile PTX so that blocks can have as many threads.",
        ),
        option(
            "--lineinfo",
            "line_info",
            of_device=True,
            is_flag=True,
            help="Keep the lines of the source.",
        ),
        option("-g", "--debug", of_device=True, is_flag=True, help="Compile PTX for a debugger."),
        option(
            "--target",
            of_device=True,
            type=architecture,
            metavar="ARCH",
            help="Compile PTX for this architecture, not for the device's own.",
        ),
        option(
            "--cache-mode",
            of_device=True,
            type=click.Choice([*CACHE_MODES]),
            help="Where global loads are cached.",
        ),
        option(
            "--fallback",
            of_device=True,
            type=click.Choice([*FALLBACKS]),
            help="What to take where no machine code fits exactly.",
        ),
        option(
            "--position-independent",
            of_device=True,
            is_flag=True,
            help="Compile PTX to code that can be anywhere.",
        ),
    )(function)


def jit(values: Values, *, verbose: bool) -> JitOptions:
    """Build the JIT options from the values of `jit_options`.

    Raises:
        RequestError: Two options contradict each other.
    """
    if values["target"] is not None and values["threads_per_block"] is not None:
        raise RequestError(
            "the driver does not accept it together with --threads-per-block", option="--target"
        )
    return JitOptions(
        optimization=values.pop("optimization"),
        max_registers=values.pop("max_registers"),
        threads_per_block=values.pop("threads_per_block"),
        line_info=values.pop("line_info"),
        debug=values.pop("debug"),
        target=values.pop("target"),
        cache_mode=values.pop("cache_mode"),
        fallback=values.pop("fallback"),
        position_independent=values.pop("position_independent"),
        verbose=verbose,
    )
