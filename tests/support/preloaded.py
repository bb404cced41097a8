"""Import the modules that commands and their workers use; the tests fork processes after this."""

from __future__ import annotations

import gc
import importlib
import pkgutil

import cudarun

_OTHERS = (
    *("click", "cuda.bindings.driver", "ml_dtypes", "numpy.random", "rich.console", "rich.table"),
    *("cudarun.cli", "cudarun.emulator.driver"),
)
_PACKAGES = (
    *("arguments", "commands", "diagnostics", "emulator.decode", "images", "report", "session"),
)


def _modules() -> list[str]:
    found = [*_OTHERS]
    for package in _PACKAGES:
        name = f"{cudarun.__name__}.{package}"
        paths = importlib.import_module(name).__path__
        found += [each.name for each in pkgutil.walk_packages(paths, f"{name}.")]
    return found


for _name in _modules():
    importlib.import_module(_name)
gc.freeze()  # the processes share these objects' pages until they change them
