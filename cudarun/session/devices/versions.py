"""The versions of the bindings and the driver, for ``--version``, without initialization."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from cudarun.session.devices.probes import DriverLibrary, load_driver
from cudarun.session.workers.pool import call_in_worker


def version_lines() -> list[str]:
    """Return a line for the CUDA bindings and one for the driver."""
    return [f"cuda-bindings {_bindings()}", f"driver {_driver()}"]


def _bindings() -> str:
    """Return the version in the bindings' metadata folder (``NAME-VERSION.dist-info``).

    Importing importlib.metadata, which reads it, takes as long as the whole command line.
    """
    before, after = "cuda_bindings-", ".dist-info"
    for folder in sys.path:
        with suppress(OSError):  # some are archives, some do not exist
            for name in os.listdir(folder or os.curdir):
                if name.startswith(before) and name.endswith(after):
                    return name.removeprefix(before).removesuffix(after)
    return "not installed"


def _driver() -> str:
    """Query the driver's version in a worker: this process never loads the driver's library."""
    match call_in_worker(load_driver, timeout=10).value:
        case DriverLibrary(_, 0, (major, minor)):
            return f"CUDA {major}.{minor}"
        case str():
            return "not found"
        case _:
            return "not responding"
