"""Options of every command that takes CUDA source: how NVRTC is to compile it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from cudarun.commands.options import stack

if TYPE_CHECKING:
    from collections.abc import Callable

    from cudarun.session.compile.request import CompileOptions

F = TypeVar("F", bound="Callable[..., Any]")


def compile_options(function: F) -> F:
    """``-I``, ``-D``, ``--std``, ``--compile-option``, for CUDA source."""
    return stack(
        click.option(
            "-I",
            "--include",
            multiple=True,
            metavar="DIR",
            help="Headers of a .cu, repeatable; CUDA's own are found.",
        ),
        click.option(
            "-D",
            "--define",
            "defines",
            multiple=True,
            metavar="NAME[=VALUE]",
            help="Define a macro for a .cu; repeatable.",
        ),
        click.option("--std", "standard", metavar="c++NN", help="The C++ standard of a .cu."),
        click.option(
            "--compile-option",
            "compiler_options",
            multiple=True,
            metavar="OPTION",
            help="Pass an option to NVRTC, for a .cu; repeatable.",
        ),
    )(function)


def compilation(values: dict[str, Any]) -> CompileOptions:
    """Take the values of `compile_options` out of a command's arguments."""
    from cudarun.session.compile.request import CompileOptions

    return CompileOptions(
        include=values.pop("include"),
        defines=values.pop("defines"),
        standard=values.pop("standard"),
        options=values.pop("compiler_options"),
    )
