"""The options of compiling CUDA source. Plain frozen data."""

from __future__ import annotations

from typing import Literal

from cudarun.base.files import FileUse
from cudarun.base.options import CaseForm, option_field
from cudarun.base.records import dataclass

Compiler = Literal["auto", "nvrtc", "nvcc"]


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """The choice of a compiler, and its options.

    Attributes:
        kernels: Kernels with their template arguments, to be instantiated: ``ns::scale<float, 4>``.
        confined_to: The only folder whose headers can be included, besides CUDA's: ``--confine``.
    """

    compiler: Compiler = option_field(
        "--compiler",
        default="auto",
        choices=("auto", "nvrtc", "nvcc"),
        help="Compiler for a .cu; auto selects NVRTC, or nvcc for what NVRTC refuses, such as host "
        "code.",
    )
    include: tuple[str, ...] = option_field(
        "-I",
        "--include",
        default=(),
        form=CaseForm.PATHS,
        file=FileUse.INPUT,
        metavar="DIR",
        help="Add an include directory for a .cu; repeatable. CUDA's own headers are always found.",
    )
    defines: tuple[str, ...] = option_field(
        "-D",
        "--define",
        default=(),
        form=CaseForm.TEXTS,
        metavar="NAME[=VALUE]",
        help="Define a macro for a .cu; repeatable.",
    )
    standard: str | None = option_field(
        "--std", metavar="c++NN", help="C++ standard for a .cu.  [default: the compiler's]"
    )
    options: tuple[str, ...] = option_field(
        "--compile-option",
        "compiler_options",
        default=(),
        form=CaseForm.TEXTS,
        metavar="OPTION",
        help="Pass an option to the compiler for a .cu; repeatable.",
    )
    kernels: tuple[str, ...] = ()
    confined_to: str | None = None
