"""``cudarun launch --repeat`` beside ``triton.testing.do_bench``, on the same cubins in one run.

Usage: ``python benchmarks/do_bench.py [--rounds N] [--elements N] [--size N]``

Two kernels: saxpy over 2^26 elements and the tiled matrix product of 2048×2048, both from
``samples/``, compiled by the ptxas that Triton brings along. In turn, cudarun times each in its own
process, and Triton's do_bench in this one; the table has the medians and their ratio. Both write
256 MiB before each run to flush the L2 cache.

do_bench asks Triton's active driver for events and for the buffer that it clears. Usually PyTorch's
are those; here they come from cuda.bindings, so PyTorch is not needed. The code that times is
Triton's own. Exit status: 1 when a ratio is off by more than 3 %, 3 without a GPU or Triton.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timing import ROOT, cudarun_command

TOLERANCE = 0.03
FLUSH_BYTES = 256 << 20  # as triton's own driver says in get_empty_cache_for_benchmark
WARMUP, REPEAT = 100, 300


@dataclass(frozen=True)
class Case:
    """One kernel: how cudarun is told to launch it, and the same for the driver.

    ``arguments`` has, for each parameter, cudarun's text and either the bytes of a buffer or the
    value as ctypes has it.
    """

    name: str
    image: str
    kernel: str
    grid: tuple[int, int]
    block: tuple[int, int]
    arguments: tuple[tuple[str, Any], ...]


def cases(elements: int, size: int) -> list[Case]:
    """The two kernels."""
    matrix = size * size * 4
    return [
        Case(
            f"saxpy, {elements} elements",
            "saxpy",
            "saxpy",
            (-(-elements // 256), 1),
            (256, 1),
            (
                ("a=f32:2", ctypes.c_float(2)),
                ("x=f32[n]:rand", elements * 4),
                ("y=f32[n]:rand", elements * 4),
                (f"n=i32:{elements}", ctypes.c_int(elements)),
            ),
        ),
        Case(
            f"matmul_tiled, {size}×{size}",
            "matmul",
            "matmul_tiled",
            (-(-size // 16), -(-size // 16)),
            (16, 16),
            (
                ("a=f32[m,k]:rand", matrix),
                ("b=f32[k,n]:rand", matrix),
                ("c=f32[m,n]:zeros", matrix),
                *((f"{name}=i32:{size}", ctypes.c_int(size)) for name in "mnk"),
            ),
        ),
    ]


def by_cudarun(case: Case, cubin: Path) -> float:
    """The median in milliseconds, as cudarun has it.

    Raises:
        subprocess.CalledProcessError: The launch failed.
    """
    command = [
        *cudarun_command(), "launch", os.fspath(cubin), "-k", case.kernel, "-d", "0", "--json",
        "--grid", ",".join(map(str, case.grid)), "--block", ",".join(map(str, case.block)),
        "--warmup", str(WARMUP), "--repeat", str(REPEAT), *(text for text, _ in case.arguments),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    [outcome] = json.loads(done.stdout)["outcomes"]
    return float(outcome["result"]["timing"]["median"])


class Cuda:
    """The driver calls that do_bench and its kernels need, in device 0's primary context."""

    def __init__(self) -> None:
        from cuda.bindings import driver

        self._driver = driver
        self("cuInit", 0)
        self("cuCtxSetCurrent", self("cuDevicePrimaryCtxRetain", self("cuDeviceGet", 0)))

    def __call__(self, name: str, *args: Any) -> Any:
        """Make a call and return its values.

        Raises:
            OSError: It did not succeed.
        """
        result, *values = getattr(self._driver, name)(*args)
        if result != 0:
            raise OSError(f"{name}: {result.name}")
        return values[0] if len(values) == 1 else values

    def launcher(self, case: Case, cubin: Path) -> Callable[[], None]:
        """A function that launches the kernel once, on random data."""
        import numpy as np

        module = self("cuModuleLoadData", cubin.read_bytes())
        function = self("cuModuleGetFunction", module, case.kernel.encode())
        rng = np.random.default_rng(0)
        values: list[Any] = []
        for _, value in case.arguments:
            if isinstance(value, int):
                data = rng.random(value // 4, np.float32)
                address = int(self("cuMemAlloc", value))
                self("cuMemcpyHtoD", address, data.ctypes.data, value)
                value = ctypes.c_uint64(address)
            values.append(value)
        pointers = (ctypes.c_void_p * len(values))(*map(ctypes.addressof, values))

        def launch(_keep: Any = values) -> None:
            self("cuLaunchKernel", function, *case.grid, 1, *case.block, 1, 0, 0,
                 ctypes.addressof(pointers), 0)  # fmt: skip

        return launch


def install_driver(cuda: Cuda) -> None:
    """Make Triton take events and the buffer to clear from us."""
    from triton.runtime import driver

    class CudaEvent:
        def __init__(self, enable_timing: bool) -> None:
            self.event = cuda("cuEventCreate", 0)

        def record(self) -> None:
            cuda("cuEventRecord", self.event, 0)

        def elapsed_time(self, end: CudaEvent) -> float:
            return float(cuda("cuEventElapsedTime", self.event, end.event))

    class Interface:
        Event = CudaEvent

        @staticmethod
        def synchronize() -> None:
            cuda("cuCtxSynchronize")

    class Driver:
        def get_device_interface(self) -> type[Interface]:
            return Interface

        def get_empty_cache_for_benchmark(self) -> int:
            return int(cuda("cuMemAlloc", FLUSH_BYTES))

        def clear_cache(self, cache: int) -> None:
            cuda("cuMemsetD32Async", cache, 0, FLUSH_BYTES // 4, 0)

    driver.set_active(Driver())


def by_do_bench(launch: Callable[[], None]) -> float:
    """The median in milliseconds, as Triton has it."""
    from triton.testing import do_bench

    return float(do_bench(launch, return_mode="median"))


def compile_cubin(name: str, folder: Path, architecture: str) -> Path:
    """Compile a sample's PTX with Triton's ptxas."""
    import triton.backends.nvidia

    [ptxas] = [Path(p) / "bin" / "ptxas" for p in triton.backends.nvidia.__path__]
    cubin = folder / f"{name}.cubin"
    source = ROOT / "samples" / f"{name}.ptx"
    subprocess.run([ptxas, f"-arch={architecture}", source, "-o", cubin], check=True)
    return cubin


def main() -> int:
    """Time both ways side by side and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    parser.add_argument("--elements", type=int, default=1 << 26, help="of saxpy; default: 2^26")
    parser.add_argument("--size", type=int, default=2048, help="of the matrices; default: 2048")
    parser.add_argument("--arch", default="sm_90", help="default: sm_90")
    options = parser.parse_args()

    if importlib.util.find_spec("triton") is None:
        print("do_bench: Triton is not installed; nothing measured", file=sys.stderr)
        return 3
    try:
        cuda = Cuda()
    except (OSError, RuntimeError) as error:
        print(f"do_bench: no GPU that the driver can use: {error}", file=sys.stderr)
        return 3
    install_driver(cuda)

    good = True
    print(
        f"{'':32} {'cudarun':>12} {'do_bench':>12}   ratio   (medians of {options.rounds} rounds)"
    )
    with tempfile.TemporaryDirectory(prefix="cudarun-benchmark-") as folder:
        for case in cases(options.elements, options.size):
            cubin = compile_cubin(case.image, Path(folder), options.arch)
            launch = cuda.launcher(case, cubin)
            rounds = [(by_cudarun(case, cubin), by_do_bench(launch)) for _ in range(options.rounds)]
            ours, theirs = (statistics.median(times) for times in zip(*rounds, strict=True))
            good = good and abs(ours / theirs - 1) <= TOLERANCE
            print(f"{case.name:32} {ours:9.4f} ms {theirs:9.4f} ms  {ours / theirs:6.3f}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
