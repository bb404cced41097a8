"""The options of reading an image, with the compiler of CUDA source and its options."""

from __future__ import annotations

from cudarun.base.options import OptionGroup, OptionScope
from cudarun.commands.declaration import F, option, options_of
from cudarun.commands.numbers import size
from cudarun.commands.options import stack
from cudarun.session.image.compilation import CompileOptions

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
