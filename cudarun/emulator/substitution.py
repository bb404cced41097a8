"""The emulated modules in place of those of ``cuda.bindings``, for the rest of the process.

`substitute` also prevents imports of packages that call the driver below these modules: they would
use a GPU, or fail without a word of the emulated device.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from cudarun.emulator.nvrtc import CompilerModule

# The names that the modules had before CUDA 12.8; the packages of CUDA 12 still have them.
_OLD_NAMES = {"cuda.cuda": "driver", "cuda.cudart": "runtime", "cuda.nvrtc": "nvrtc"}

# Packages and modules that do not call the driver through the substituted modules.
UNSUPPORTED = ("cuda.core", "cuda.bindings._v2.driver", "cuda.bindings._v2.runtime", "cupy")


class UnsupportedImports(MetaPathFinder):
    """Refuses to import `UNSUPPORTED` modules."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Find nothing; raise `ImportError` for an unsupported module."""
        if fullname in UNSUPPORTED:
            raise ImportError(
                f"python -m cudarun.emulator does not support {fullname}: it calls the driver "
                "itself, not through cuda.bindings.driver and cuda.bindings.runtime",
                name=fullname,
            )
        return None


def substitute() -> None:
    """Replace the driver and the runtime API, and NVRTC's cubins, for all later imports."""
    # The bindings' compiled modules import each other: all must exist before one is replaced.
    from cudarun.emulator import driver, runtime

    _replace("cuda.bindings.driver", driver)
    _replace("cuda.bindings.runtime", runtime)
    for name in ("cuda.bindings.nvrtc", "cuda.bindings._v2.nvrtc"):
        if _exists(name):
            _replace(name, CompilerModule(importlib.import_module(name)))
    for old, new in _OLD_NAMES.items():
        if _exists(old):
            _replace(old, sys.modules[f"cuda.bindings.{new}"])
    sys.meta_path.insert(0, UnsupportedImports())


def _exists(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # of its package
        return False


def _replace(name: str, module: ModuleType) -> None:
    package, _, attribute = name.rpartition(".")
    sys.modules[name] = module
    setattr(importlib.import_module(package), attribute, module)
