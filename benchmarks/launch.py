"""A launch on a GPU, whole process: ``cudarun`` beside the same work in C, cuda.core and CuPy.

Usage: ``python benchmarks/launch.py [--repeat N] [--elements N] [--image FILE] [--all]
[--beside PROGRAM]``

Every case reads the image, allocates two buffers, copies x and y to the device, launches saxpy,
waits, copies y back and compares all of it. Beyond that, cudarun starts a worker process, parses
and checks the arguments, surrounds the buffers with guard zones and verifies them. The driver's
compute cache is warm for all of them: the PTX is compiled in the warm-up round.

With ``--all`` it is done on every GPU: by the C program in one process, by cudarun with a worker
for each GPU and, beside that, with one worker for all of them.

Every case sees the GPUs that this process sees; ``CUDA_VISIBLE_DEVICES=0`` before the command
gives the figures of a machine with one. Exit status 3 where there is no GPU or no C compiler.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from c_program import compile_c_program
from timing import ROOT, Failed, cudarun_command, interleaved, show

HERE = Path(__file__).resolve().parent
BASELINE = "C, libcuda"


def gpus() -> int:
    """How many GPUs the driver shows, asked in a child: cuInit here would not tell later ones."""
    count = (
        "import ctypes, sys; cuda = ctypes.CDLL('libcuda.so.1'); n = ctypes.c_int();"
        "sys.exit(cuda.cuInit(0) or cuda.cuDeviceGetCount(ctypes.byref(n)) or print(n.value))"
    )
    done = subprocess.run([sys.executable, "-c", count], capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 else 0


def cases(program: Path, image: str, elements: int, beside: Sequence[str]) -> dict[str, list[str]]:
    """Return the command of every case on one GPU that can run here, by name.

    Args:
        program: The C program.
        image: The kernel file.
        elements: How many.
        beside: Other cudaruns, such as that of the commit before.
    """
    work = [image, str(elements)]
    found = {
        BASELINE: [os.fspath(program), *work],
        "cudarun launch": launch(cudarun_command(), image, elements, "-d", "0"),
    }
    for other in beside:
        found[f"{other} launch"] = launch([other], image, elements, "-d", "0")
    for package, name, script in [
        ("cuda.core", "cuda.core script", "saxpy_cuda_core.py"),
        ("cupy", "CuPy script", "saxpy_cupy.py"),
    ]:
        if _installed(package):
            found[name] = [sys.executable, os.fspath(HERE / script), *work]
        else:
            print(f"not compared: {package} is not installed")
    return found


def cases_on_all(program: Path, image: str, elements: int, count: int) -> dict[str, list[str]]:
    """The command of every case on all GPUs, by name."""
    return {
        BASELINE: [os.fspath(program), image, str(elements), str(count)],
        "cudarun -d all": launch(cudarun_command(), image, elements, "-d", "all"),
        "cudarun -d all --together": launch(
            cudarun_command(), image, elements, "-d", "all", "--together"
        ),
    }


def launch(cudarun: Sequence[str], image: str, elements: int, *where: str) -> list[str]:
    """Return the command of a launch by cudarun."""
    return [
        *cudarun,
        *("launch", image, *where, "--threads", str(elements), "--block", "256"),
        *("a=f32:2", "x=f32[n]:iota", "y=f32[n]:ones", f"n=i32:{elements}"),
        *("--check", "y == a*x + 1"),
    ]


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # the parent package is missing
        return False


def main() -> int:
    """Time the cases side by side and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=11, help="rounds counted; default: 11")
    parser.add_argument("--elements", type=int, default=1 << 20, help="default: 2^20")
    parser.add_argument(
        "--image",
        type=Path,
        default=ROOT / "samples" / "saxpy.ptx",
        help="default: samples/saxpy.ptx; or a cubin of saxpy.cu",
    )
    parser.add_argument("--all", action="store_true", help="on every GPU, not on the first")
    parser.add_argument(
        "--beside", action="append", default=[], metavar="PROGRAM",
        help="another cudarun to compare with, such as that of the commit before; repeatable",
    )  # fmt: skip
    options = parser.parse_args()

    visible = gpus()
    if visible == 0:
        print("launch: no GPU that the driver can use; nothing measured", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory(prefix="cudarun-benchmark-") as folder:
        program = Path(folder) / "saxpy_driver"
        if not compile_c_program("saxpy_driver.c", program):
            print("launch: neither cc nor nvcc could build saxpy_driver.c", file=sys.stderr)
            return 3
        work = program, os.path.abspath(options.image), options.elements
        try:
            times = interleaved(
                cases_on_all(*work, visible) if options.all else cases(*work, options.beside),
                options.repeat,
                warmup=2,
            )
        except Failed as failed:
            print(failed, file=sys.stderr)
            return 1
    print(
        f"{options.image.name} over {options.elements} elements, {visible} GPU(s) visible, "
        f"medians of {options.repeat} interleaved runs"
    )
    show(times, BASELINE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
