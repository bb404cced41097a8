"""The versions behind us, for ``--version``: asked without initialising anything."""

from __future__ import annotations

import ctypes
from importlib.metadata import PackageNotFoundError, version


def version_lines() -> list[str]:
    """A line for the CUDA bindings and one for the driver."""
    return [f"cuda-bindings {_bindings()}", f"driver {_driver()}"]


def _bindings() -> str:
    try:
        return version("cuda-bindings")
    except PackageNotFoundError:
        return "not installed"


def _driver() -> str:
    """``cuDriverGetVersion``, which needs no cuInit and so is safe outside a worker."""
    try:
        libcuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "not found"
    number = ctypes.c_int()
    if libcuda.cuDriverGetVersion(ctypes.byref(number)) != 0:
        return "does not answer"
    return f"CUDA {number.value // 1000}.{number.value % 1000 // 10}"
