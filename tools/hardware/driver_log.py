"""What the driver's own log (``cuLogs*``, CUDA 12.9) says of calls that fail, and who finds it.

Each failure is made in a process of its own; what the log then holds is read with the bindings, and
straight from ``libcuda.so.1``: bindings 13.3 do not find the functions, for they ask for them as of
CUDA 12.8. Then ``launch`` is to show the same words. What was read is kept as ``logs.txt``.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from tests.support.processes import ROOT
from tools.hardware.bench import Bench, Check, check

IMAGE = ROOT / "tests" / "data" / "faults" / "faults.ptx"
BYTES = 25600
DRIVERS = {"gpu": "cuda.bindings.driver", "cpu": "cudarun.emulator.driver"}


def _kernel(driver: Any, name: str) -> Any:
    _, module = driver.cuModuleLoadData(IMAGE.read_bytes() + b"\0")
    return driver.cuModuleGetFunction(module, name.encode())[1]


def _launch(driver: Any, name: str, threads: int, shared: int = 0) -> Any:
    _, buffer = driver.cuMemAlloc(4096)
    values = ((int(buffer), 64), (ctypes.c_void_p, ctypes.c_int))
    function = _kernel(driver, name)
    return driver.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, shared, 0, values, 0)[0]


def _faulting(name: str) -> Callable[[Any], Any]:
    def run(driver: Any) -> Any:
        _launch(driver, name, 32)
        return driver.cuCtxSynchronize()[0]

    return run


FAILURES: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda driver: 0,
    "cuMemAlloc of 0": lambda driver: driver.cuMemAlloc(0)[0],
    "cuMemAlloc of 1 PiB": lambda driver: driver.cuMemAlloc(1 << 50)[0],
    "a block of 2048": lambda driver: _launch(driver, "good", 2048),
    "60000 bytes shared": lambda driver: _launch(driver, "good", 32, 60000),
    "broken PTX": lambda driver: driver.cuModuleLoadData(
        b".version 8.0\n.target sm_75\nnonsense\0"
    )[0],
    "no such kernel": lambda driver: driver.cuModuleGetFunction(
        driver.cuModuleLoadData(IMAGE.read_bytes() + b"\0")[1], b"nobody"
    )[0],
    "kernel illegal_address": _faulting("illegal_address"),
    "kernel trap": _faulting("trap"),
    "kernel assertion": _faulting("assertion"),
}


def checks(bench: Bench) -> Iterator[Check]:
    """Make each failure in its process; then see what ``launch`` shows of one."""
    kind = "cpu" if bench.is_emulated else "gpu"
    told = []
    for name in FAILURES:
        done = bench.python("-m", __name__, kind, bench.ordinal, name)
        told.append(done.out + done.err)
        yield check(name, done.exit_code == 0, done.text, done.seconds)
    done = bench.cudarun("launch", IMAGE, "-k", "good", "--block", "2048", "out=i32[64]",
                         "n=i32:64", "-d", bench.device)  # fmt: skip
    bench.keep("logs.txt", "\n".join([*told, f"== cudarun launch --block 2048\n{done.err}"]))
    shown = done.err
    name = "launch shows the driver's words, and no others of the log"
    yield check(name, "  | " in shown and "cudaVersion" not in shown, shown, done.seconds)


def one(kind: str, ordinal: int, name: str) -> None:
    """Make one failure in this process and print what the logs say."""
    driver = importlib.import_module(DRIVERS[kind])
    driver.cuInit(0)
    driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(ordinal)[1])
    print(f"== {name}: {FAILURES[name](driver)!r}")
    buffer = bytearray(BYTES)
    try:
        found = driver.cuLogsDumpToMemory(None, buffer, BYTES, 0)
        print(f"bindings {found!r}: {buffer.split(bytes(1))[0].decode()}")
    except RuntimeError as error:
        print(f"bindings: {error}")
    if kind == "gpu":
        _ask_the_library(driver)


def _ask_the_library(driver: Any) -> None:
    cuda = ctypes.CDLL("libcuda.so.1")
    text, size = ctypes.create_string_buffer(BYTES), ctypes.c_size_t(BYTES)
    status = cuda.cuLogsDumpToMemory(None, text, ctypes.byref(size), 0)
    lines = text.value.decode().splitlines()
    noise = [line for line in lines if "cuGetProcAddress" in line or "cudaVersion arg" in line]
    print(f"libcuda {status}, {size.value} bytes, {len(noise)} lines of the bindings':")
    print("\n".join(line for line in lines if line not in noise))
    print("symbol versions (cuGetProcAddress):", end="")
    for version in (12080, 12090, 13000):
        answer = driver.cuGetProcAddress(b"cuLogsCurrent", version, 0)
        print(f" {version}: {[*map(str, answer)]}", end="")
    print()


if __name__ == "__main__":
    one(sys.argv[1], int(sys.argv[2]), sys.argv[3])
