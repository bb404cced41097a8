"""How CUDA source is to be compiled. Plain frozen data."""

from __future__ import annotations

from cudarun.records import dataclass


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """What NVRTC is told.

    Attributes:
        include: Folders of headers, ``-I``.
        defines: ``NAME`` or ``NAME=VALUE``, ``-D``.
        standard: ``c++17``.
        options: Any other, as NVRTC spells them.
        kernels: Kernels with their template arguments, to be instantiated: ``ns::scale<float, 4>``.
    """

    include: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    standard: str | None = None
    options: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
