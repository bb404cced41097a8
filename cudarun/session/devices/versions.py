"""The versions behind us, for ``--version``: asked without initialising anything."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from cudarun.session.devices.probes import Library, load_driver
from cudarun.session.workers.pool import call_in_worker


def version_lines() -> list[str]:
    """A line for the CUDA bindings and one for the driver."""
    return [f"cuda-bindings {_bindings()}", f"driver {_driver()}"]


def _bindings() -> str:
    """As the folder says that is beside every installed package (``NAME-VERSION.dist-info``).

    To import importlib.metadata, which reads it, takes as long as all of the command line.
    """
    before, after = "cuda_bindings-", ".dist-info"
    for folder in sys.path:
        with suppress(OSError):  # some are archives, some are not there
            for name in os.listdir(folder or os.curdir):
                if name.startswith(before) and name.endswith(after):
                    return name.removeprefix(before).removesuffix(after)
    return "not installed"


def _driver() -> str:
    """Asked by a worker: the driver's library is never loaded in this process."""
    match call_in_worker(load_driver, timeout=10).value:
        case Library(_, 0, (major, minor)):
            return f"CUDA {major}.{minor}"
        case str():
            return "not found"
        case _:
            return "does not answer"
