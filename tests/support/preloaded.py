"""Import the modules that commands and their workers use; the tests fork processes after this.

A launch makes what is made when it is first needed: methods of dataclasses, tables of instructions.
In each of thousands of processes this would take as long as the rest of its command.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import pkgutil

import cudarun
from cudarun.base import records
from cudarun.session.workers import deadline
from tests.support.processes import ROOT

_OTHERS = (
    *("click", "cuda.bindings.driver", "ml_dtypes", "numpy.random", "rich.console", "rich.table"),
    *("cuda.bindings.nvrtc", "difflib", "numpy.ctypeslib"),
    *("cudarun.cli", "cudarun.emulator.driver", "cudarun.emulator.machine.effects"),
)
_PACKAGES = (
    *("arguments", "commands", "diagnostics", "emulator.decode", "emulator.detectors", "images"),
    *("report", "session"),
)


def _modules() -> list[str]:
    found = [*_OTHERS]
    for package in _PACKAGES:
        name = f"{cudarun.__name__}.{package}"
        paths = importlib.import_module(name).__path__
        found += [each.name for each in pkgutil.walk_packages(paths, f"{name}.")]
    return found


def _complete_dataclasses() -> None:
    """Compile every ``__init__`` that waits for the first object of its class."""
    for kind in gc.get_objects():
        own = vars(kind).get("__init__") if isinstance(kind, type) else None
        if getattr(own, "__module__", "") == records.__name__ and own.__name__ == "first":
            kind.__init__ = records._compiled(kind)


def _launch() -> None:
    """Launch a kernel with the emulated driver, of which nothing stays."""
    from cudarun.emulator import driver
    from cudarun.emulator.host.process import process

    driver.cuInit(0)
    driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0)[1])
    image = (ROOT / "samples" / "saxpy.ptx").read_bytes() + b"\0"
    library = driver.cuLibraryLoadData(image, [], [], 0, [], [], 0)[1]
    function = driver.cuKernelGetFunction(driver.cuLibraryGetKernel(library, b"saxpy")[1])[1]
    memory = driver.cuMemAlloc(400)[1]
    arguments = (2.0, memory, memory, 100), (ctypes.c_float, None, None, ctypes.c_int)
    driver.cuLaunchKernel(function, *(4, 1, 1), *(32, 1, 1), 0, 0, arguments, 0)
    assert driver.cuCtxSynchronize() == (driver.CUresult.CUDA_SUCCESS,)
    process.reset()


for _name in [each for each in os.environ if each.startswith("CUDARUN_")]:
    del os.environ[_name]  # of the test that is the first; each process has its own
for _name in _modules():
    importlib.import_module(_name)
deadline._LONG = float("inf")  # a busy machine may need so long, and tests compare stderr
_complete_dataclasses()
_launch()
gc.freeze()  # the processes share these objects' pages until they change them
