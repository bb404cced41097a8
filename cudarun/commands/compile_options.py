"""The options of reading an image, with the compiler of CUDA source and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cudarun.commands.declaration import F, Values, option
from cudarun.commands.numbers import size
from cudarun.commands.options import stack
from cudarun.options import CaseForm, OptionGroup, OptionScope
from cudarun.writing import FileUse

if TYPE_CHECKING:
    from cudarun.session.image.compilation import CompileOptions


def compile_options(function: F) -> F:
    """Add the options of reading an image, and of compiling CUDA source.

    These are ``--compiler``, ``-I``, ``-D``, ``--std``, ``--compile-option`` and ``--max-image``.
    """
    return stack(
        option(
            "--compiler",
            group=OptionGroup.COMPILING,
            scope=OptionScope.OVERRIDE,
            form=CaseForm.VALUE,
            type=click.Choice(["auto", "nvrtc", "nvcc"]),
            default="auto",
            show_default=True,
            help="Compiler for a .cu; auto selects NVRTC, or nvcc for what NVRTC refuses, such as "
            "host code.",
        ),
        option(
            "-I",
            "--include",
            group=OptionGroup.COMPILING,
            scope=OptionScope.OVERRIDE,
            form=CaseForm.PATHS,
            file=FileUse.INPUT,
            multiple=True,
            metavar="DIR",
            help="Add an include directory for a .cu; repeatable. CUDA's own headers are always "
            "found.",
        ),
        option(
            "-D",
            "--define",
            "defines",
            group=OptionGroup.COMPILING,
            scope=OptionScope.OVERRIDE,
            form=CaseForm.TEXTS,
            multiple=True,
            metavar="NAME[=VALUE]",
            help="Define a macro for a .cu; repeatable.",
        ),
        option(
            "--std",
            "standard",
            group=OptionGroup.COMPILING,
            scope=OptionScope.OVERRIDE,
            form=CaseForm.VALUE,
            metavar="c++NN",
            help="C++ standard for a .cu.  [default: the compiler's]",
        ),
        option(
            "--compile-option",
            "compiler_options",
            group=OptionGroup.COMPILING,
            scope=OptionScope.OVERRIDE,
            form=CaseForm.TEXTS,
            multiple=True,
            metavar="OPTION",
            help="Pass an option to the compiler for a .cu; repeatable.",
        ),
        option(
            "--max-image",
            group=OptionGroup.COMPILING,
            scope=OptionScope.OVERRIDE,
            form=CaseForm.VALUE,
            type=size(1),
            metavar="BYTES",
            help="Limit the size of an image, and of its code when decompressed; larger libraries "
            "are read part by part.  [default: 512Mi]",
        ),
    )(function)


def compilation(values: Values) -> CompileOptions:
    """Take the values of `compile_options` out of a command's arguments."""
    from cudarun.session.image.compilation import CompileOptions

    return CompileOptions(
        include=values.pop("include"),
        defines=values.pop("defines"),
        standard=values.pop("standard"),
        options=values.pop("compiler_options"),
        compiler=values.pop("compiler"),
    )
