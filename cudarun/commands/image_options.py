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
        raise click.BadParameter(f"'{text}' is not an architecture, such as sm_90 or sm_90a")
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
            help="JIT optimization level for PTX, 0–4.  [default: 4]",
        ),
        option(
            "--max-registers",
            of_device=True,
            type=whole(1, INT_MAX),
            metavar="N",
            help="Limit the registers per thread of compiled PTX to N.",
        ),
        option(
            "--threads-per-block",
            of_device=True,
            type=whole(1, INT_MAX),
            metavar="N",
            help="Compile PTX for at least N threads per block.",
        ),
        option(
            "--lineinfo",
            "line_info",
            of_device=True,
            is_flag=True,
            help="Compile PTX with line information.",
        ),
        option(
            "-g",
            "--debug",
            of_device=True,
            is_flag=True,
            help="Compile PTX with debug information.",
        ),
        option(
            "--target",
            of_device=True,
            type=architecture,
            metavar="ARCH",
            help="Compile PTX for this architecture instead of the device's own.",
        ),
        option(
            "--cache-mode",
            of_device=True,
            type=click.Choice([*CACHE_MODES]),
            help="Default cache modifier of global loads.",
        ),
        option(
            "--fallback",
            of_device=True,
            type=click.Choice([*FALLBACKS]),
            help="When no SASS matches exactly: prefer PTX or compatible SASS.",
        ),
        option(
            "--position-independent",
            of_device=True,
            is_flag=True,
            help="Compile PTX to position-independent code.",
        ),
    )(function)


def jit(values: Values, *, verbose: bool) -> JitOptions:
    """Build the JIT options from the values of `jit_options`.

    Raises:
        RequestError: Two options contradict each other.
    """
    if values["target"] is not None and values["threads_per_block"] is not None:
        raise RequestError(
            "the driver does not accept it together with --threads-per-block",
            option="--target",
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
