"""The options of compiling CUDA source. Plain frozen data."""

from __future__ import annotations

from cudarun.records import dataclass


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """The options of NVRTC.

    Attributes:
        include: Include folders, ``-I``.
        defines: Macros, ``NAME`` or ``NAME=VALUE``, ``-D``.
        standard: The language standard: ``c++17``.
        options: Other options in NVRTC's spelling.
        kernels: Kernels with their template arguments, to be instantiated: ``ns::scale<float, 4>``.
    """

    include: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    standard: str | None = None
    options: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
