"""The shape of the engines of an emulated device."""

from __future__ import annotations

from typing import Literal, TypedDict


class KernelEngineRecord(TypedDict):
    """The engine that executed a kernel on an emulated device.

    Attributes:
        kernel: The kernel.
        demangled: Its name in C++ spelling.
        engine: interpret or compile.
        reason: Why it was interpreted, or some of its blocks (also the option or variable that
            selects the interpreter), or why a compiled kernel can have other results than an
            interpreted one; null for any other compiled kernel.
    """

    kernel: str
    demangled: str
    engine: Literal["interpret", "compile"]
    reason: str | None
