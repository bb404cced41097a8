"""Tasks for workers that test whether a library loads and starts; each tests one thing.

They load NVIDIA's libraries, which may crash or hang, so `doctor` and ``--version`` run them
separately.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cudarun.base.bindings import Version
from cudarun.base.records import dataclass
from cudarun.session.workers.pool import call_in_worker

if TYPE_CHECKING:
    from cudarun.session.driver.drivers import Compiler


@dataclass(frozen=True, slots=True)
class DriverLibrary:
    """The loaded driver library: its file, and the result of ``cuDriverGetVersion``."""

    path: str
    result: int
    version: Version


def load_driver(_: None) -> DriverLibrary | str:
    """Load libcuda and query its version without initialization; or return the loader's error."""
    import ctypes

    try:
        libcuda = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return str(error)
    number = ctypes.c_int()
    result = libcuda.cuDriverGetVersion(ctypes.byref(number))
    maps = Path("/proc/self/maps").read_text(errors="replace").splitlines()
    paths = [line.split()[-1] for line in maps if "libcuda.so" in line]
    path = paths[0] if paths else "libcuda.so.1"
    return DriverLibrary(path, int(result), (number.value // 1000, number.value % 1000 // 10))


def start_driver(_: None) -> list[tuple[str, str, int, str]]:
    """Initialize the driver and create a context on each device.

    Returns:
        What was tried, the name and the number of its result, and the meaning of success.
    """
    from cudarun.session.driver.calls import Driver
    from cudarun.session.driver.devices import name_of
    from cudarun.session.driver.drivers import choose_driver

    driver = Driver(choose_driver("cuda"))
    result, *_rest = driver.attempt("cuInit", 0)
    count = driver.cuDeviceGetCount() if result == 0 else 0
    found = [("cuInit", result.name, int(result), f"{count} devices")]
    for index in range(count):
        device = driver.cuDeviceGet(index)
        made, *_rest = driver.attempt("cuDevicePrimaryCtxRetain", device)
        well = f"{name_of(driver, device)}: a context was created"
        found.append((f"GPU {index}", made.name, int(made), well))
    return found


def start_emulator(_: None) -> int:
    """Return the number of emulated devices."""
    from cudarun.session.driver.calls import Driver
    from cudarun.session.driver.drivers import choose_driver

    driver = Driver(choose_driver("cpu"))
    driver.cuInit(0)
    return int(driver.cuDeviceGetCount())


def load_compiler(_: None) -> Compiler:
    """Return the compiler of emulated kernels."""
    from cudarun.session.driver.drivers import choose_driver

    load = choose_driver("cpu").traits.compiler
    assert load is not None, "the emulated device has one"
    return load()


def load_nvrtc(_: None) -> Version:
    """Return the version of NVRTC."""
    from cudarun.session.compile.nvrtc import nvrtc_version

    return nvrtc_version()


def load_nvjitlink(_: None) -> Version:
    """Return the version of nvJitLink."""
    from cudarun.session.link.nvjitlink import nvjitlink_version

    return nvjitlink_version()


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
