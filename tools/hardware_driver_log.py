"""What the driver's own log (``cuLogs*``, CUDA 12.9) says of calls that fail, and who finds it.

::

    python3 tools/hardware_driver_log.py         # on GPU 0, a few seconds

Each failure is made in a process of its own; what the log then holds is read with the bindings, and
straight from ``libcuda.so.1``: bindings 13.3 do not find the functions, for they ask for them as of
CUDA 12.8. Then ``launch`` is to show the same words. Exit status 1 where it does not.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
IMAGE = ROOT / "tests" / "data" / "faults" / "faults.ptx"
BYTES = 25600


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


def one(name: str) -> None:
    """Make one failure in this process and print what the logs say."""
    from cuda.bindings import driver

    driver.cuInit(0)
    driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0)[1])
    print(f"== {name}: {FAILURES[name](driver)!r}")
    buffer = bytearray(BYTES)
    try:
        found = driver.cuLogsDumpToMemory(None, buffer, BYTES, 0)
        print(f"bindings {found!r}: {buffer.split(bytes(1))[0].decode()}")
    except RuntimeError as error:
        print(f"bindings: {error}")
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


def main() -> int:
    """Each failure in its process; then what ``launch`` shows of one."""
    if len(sys.argv) > 1:
        one(sys.argv[1])
        return 0
    for name in FAILURES:
        done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True)
        print("\n".join(done.stdout.splitlines()[:12]))
        print("\n".join(done.stderr.splitlines()[-2:]))
    command = [sys.executable, "-m", "cudarun", "launch", os.fspath(IMAGE), "-k", "good"]
    command += ["--block", "2048", "out=i32[64]", "n=i32:64"]
    environment = {**os.environ, "PYTHONPATH": os.fspath(ROOT)}
    shown = subprocess.run(command, env=environment, capture_output=True, text=True).stderr
    print(f"== cudarun launch --block 2048\n{shown}")
    return 0 if "  | " in shown and "cudaVersion" not in shown else 1


if __name__ == "__main__":
    sys.exit(main())
