"""The options of compiling CUDA source. Plain frozen data."""

from __future__ import annotations

from typing import Literal

from cudarun.records import dataclass

Compiler = Literal["auto", "nvrtc", "nvcc"]


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """The choice of a compiler, and its options.

    Attributes:
        include: Include folders, ``-I``.
        defines: Macros, ``NAME`` or ``NAME=VALUE``, ``-D``.
        standard: The language standard: ``c++17``.
        options: Other options in the compiler's spelling.
        kernels: Kernels with their template arguments, to be instantiated: ``ns::scale<float, 4>``.
        compiler: ``auto`` is NVRTC, and nvcc for what NVRTC refuses.
        confined_to: The only folder whose headers can be included, besides CUDA's: ``--confine``.
    """

    include: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    standard: str | None = None
    options: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    compiler: Compiler = "auto"
    confined_to: str | None = None
