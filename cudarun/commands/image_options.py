"""The options of images: of compiling CUDA source, and of the JIT compiler."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from cudarun.base.errors import RequestError
from cudarun.base.options import OptionGroup, OptionScope
from cudarun.commands.declaration import F, Values, filled, option, options_of
from cudarun.commands.numbers import size
from cudarun.commands.options import stack
from cudarun.session.image.image import CompileOptions
from cudarun.session.load.request import JitOptions

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
    """Add the JIT compiler's options; the decorated function passes its arguments to `jit`."""
    options = options_of(JitOptions, shared={"of_device": True}, target={"type": architecture})
    return stack(*options.values())(function)


def jit(values: Values, *, verbose: bool) -> JitOptions:
    """Build the JIT options from the values of `jit_options`.

    Raises:
        RequestError: Two options contradict each other.
    """
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
            "--max-image",
            **_COMPILING,
            type=size(1),
            metavar="BYTES",
            help="Limit the size of an image, and of its code when decompressed; larger libraries "
            "are read part by part.  [default: 512Mi]",
        ),
    )(function)
