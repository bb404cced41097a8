"""The CUDA bindings of CUDA 12.9 and of CUDA 13, and all differences that cudarun must handle.

Imports are deferred until they are needed: the bindings take 30 ms, and most of a command line is
parsed without them.
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuda.bindings.driver import CUjit_option

Version = tuple[int, int]

TOOLKIT = (
    "nvidia-cuda-cccl>=13.0",
    "nvidia-cuda-crt>=13.0",
    "nvidia-cuda-nvrtc>=13.0",
    "nvidia-cuda-runtime>=13.0",
    "nvidia-nvjitlink>=13.0",
)
"""The packages of the extra ``toolkit``. pip finds them from a checkout, too, unlike the extra."""

TOOLKIT12 = (
    "cuda-bindings<13",
    "nvidia-cuda-cccl-cu12>=12.9",
    "nvidia-cuda-nvcc-cu12>=12.9",
    "nvidia-cuda-nvrtc-cu12>=12.9",
    "nvidia-cuda-runtime-cu12>=12.9",
    "nvidia-nvjitlink-cu12>=12.9",
)
"""The packages of the extra ``toolkit12``."""

# The folder of the toolkit's headers, installed or from a Python package.
_HEADERS = re.compile(
    r"/(targets/[^/]+|(usr/local|opt)/cuda|cuda-[\d.]+|nvidia/cu(\d+|da_\w+))/include/"
)
# Members of CUjit_option since CUDA 13.
_NEWER_JIT_OPTIONS = ("CU_JIT_SPLIT_COMPILE", "CU_JIT_BINARY_LOADER_THREAD_COUNT")


def is_toolkit_header(file: str) -> bool:
    """Return whether a source file is a header of the toolkit, by its path in PTX."""
    return _HEADERS.search(file) is not None


def installed_version() -> Version:
    """Return the major and minor version of the bindings."""
    from cuda.bindings import __version__

    major, minor, *_rest = __version__.split(".")
    return int(major), int(minor)


def import_driver_types(*others: str) -> None:
    """Import ``cuda.bindings.driver`` for its types alone, without ``cuda.pathfinder``.

    The bindings import that package to find libcuda, which takes two thirds of their import; the
    emulated device needs no library. A function of it that is called all the same imports it then.

    Args:
        others: Further modules of the bindings to import so.
    """
    import sys
    from types import ModuleType

    name = "cuda.pathfinder"
    if name in sys.modules or "cuda.bindings.driver" in sys.modules:
        return

    def later(function: str) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            return getattr(importlib.import_module(name), function)(*args, **named)

        return call

    stand_in = ModuleType(name)
    stand_in.__getattr__ = later  # type: ignore[method-assign]
    sys.modules[name] = stand_in
    try:
        for each in ("driver", *others):
            importlib.import_module(f"cuda.bindings.{each}")
    finally:
        del sys.modules[name]


def is_missing_library(error: Exception) -> bool:
    """Return whether the bindings could not open a library: libcuda, NVRTC or nvJitLink.

    Up to 12.9.7 and 13.1 they raise a mere ``RuntimeError`` for libcuda.
    """
    return type(error).__name__ == "DynamicLibNotFoundError" or (
        type(error) is RuntimeError and str(error).startswith("Failed to dlopen ")
    )


def toolkit_installation(cuda: Version | None) -> str:
    """Return the command that installs NVRTC, nvJitLink and CUDA's headers.

    Args:
        cuda: The version of the bindings, or of an NVRTC; ``None`` for the newest.
    """
    packages = TOOLKIT12 if cuda is not None and cuda[0] == 12 else TOOLKIT
    return f"pip install {' '.join(map(repr, packages))}"


def newer_jit_options() -> tuple[CUjit_option, ...]:
    """Return the JIT compiler options added in CUDA 13; empty with older bindings."""
    from cuda.bindings.driver import CUjit_option

    members = CUjit_option.__members__
    return tuple(members[name] for name in _NEWER_JIT_OPTIONS if name in members)


def context_arguments(driver: object, flags: int, device: object) -> tuple[Any, ...]:
    """Return the arguments of ``cuCtxCreate``, whose first one since CUDA 13 is unused here.

    Only the bindings of CUDA 12 also have a ``_v4``; their plain function has no such argument.
    """
    if hasattr(driver, "cuCtxCreate_v4"):
        return flags, device
    return None, flags, device


def counting_call(driver: object, call: str) -> str | None:
    """Return the name of the CUDA 13.2 call that counts the parameters of a kernel.

    Args:
        driver: A driver with the functions of ``cuda.bindings.driver``.
        call: The call that describes a parameter: ``cuKernelGetParamInfo``, ``cuFuncGetParamInfo``.

    Returns:
        The name; ``None`` with older bindings.
    """
    counting = call.replace("Info", "Count")
    return counting if hasattr(driver, counting) else None
