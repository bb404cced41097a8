"""A large file to the GPU and back to a file: ``cudarun launch`` beside the obvious code on CuPy.

Usage: ``python benchmarks/data.py FOLDER [--gib 4] [--repeat 5] [--device 0]``

Writes ``in.npy`` into the folder, which should be in memory (``/dev/shm``) or fit the page cache.
Each case is a process of its own, in interleaved rounds: it reads the file, launches saxpy over it
and either ends there or writes the result. Beside the times stands the most memory that a process
of the case had resident. The results are compared with what they should be, once, at the end.

With ``--device cpu``, or without CuPy, there is nothing to compare with; it shows that all works.
Exit status 1 where a result is wrong.
"""

from __future__ import annotations

import argparse
import compileall
import importlib.util
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from timing import ROOT, cudarun_command

HERE = Path(__file__).resolve().parent
IMAGE = ROOT / "samples" / "saxpy.ptx"
CHUNK = 1 << 20  # items written or compared at a time: this process must stay small
PAIRS = [("cudarun, in", "CuPy, in"), ("cudarun, in and out", "CuPy, in and out")]


def expected(first: int, count: int) -> np.ndarray:
    """What ``x`` holds from an index on; ``2*x`` is exact."""
    return (np.arange(first, first + count) % 100_003).astype(np.float32)


def write_input(path: Path, items: int) -> None:
    """A ``.npy`` file, part by part."""
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (items,)}
        np.lib.format.write_array_header_1_0(file, header)
        for first in range(0, items, CHUNK):
            expected(first, min(CHUNK, items - first)).tofile(file)


def is_right(path: Path, items: int) -> bool:
    """Whether a file holds ``2*x``."""
    found = np.load(path, mmap_mode="r")
    return found.shape == (items,) and all(
        np.array_equal(found[first : first + CHUNK], 2 * expected(first, min(CHUNK, items - first)))
        for first in range(0, items, CHUNK)
    )


def cases(folder: Path, items: int, device: str) -> dict[str, tuple[list[str], Path | None]]:
    """Each case's command, and what it writes."""
    source, ours, theirs = (folder / name for name in ("in.npy", "cudarun.npy", "cupy.npy"))
    launch = [
        *cudarun_command(), "launch", os.fspath(IMAGE), "-d", device, "--threads", str(items),
        "--block", "256", "a=f32:2", f"x=@{source}", "y=f32[n]:zeros", f"n=i32:{items}",
    ]  # fmt: skip
    found: dict[str, tuple[list[str], Path | None]] = {
        "cudarun, in": (launch, None),
        "cudarun, in and out": ([*launch, "--save", f"y={ours}"], ours),
    }
    if device != "cpu" and importlib.util.find_spec("cupy") is not None:
        script = [sys.executable, os.fspath(HERE / "data_cupy.py")]
        script += [os.fspath(IMAGE), os.fspath(source)]
        found["CuPy, in"] = (script, None)
        found["CuPy, in and out"] = ([*script, os.fspath(theirs)], theirs)
    return found


def run(command: Sequence[str]) -> tuple[float, int]:
    """Seconds, and the most bytes resident in any one process of the command (wait4(2))."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}\n{said.decode()}")
    return seconds, usage.ru_maxrss << 10


def main() -> int:
    """Time the cases side by side and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the files are written, and removed again")
    parser.add_argument("--gib", type=float, default=4, help="size of the file; default: 4")
    parser.add_argument("--repeat", type=int, default=5, help="rounds counted; default: 5")
    parser.add_argument("--device", default="0", help="default: 0; cpu is for small sizes")
    options = parser.parse_args()
    items = int(options.gib * (1 << 30)) // 4
    compileall.compile_dir(ROOT / "cudarun", quiet=1)
    write_input(options.folder / "in.npy", items)
    try:
        return measure(cases(options.folder, items, options.device), items, options.repeat)
    finally:
        for name in ("in.npy", "cudarun.npy", "cupy.npy"):
            (options.folder / name).unlink(missing_ok=True)


def measure(found: dict[str, tuple[list[str], Path | None]], items: int, repeat: int) -> int:
    """Run every case in turn, one round more than is counted, and print what came of it."""
    seconds: dict[str, list[float]] = {name: [] for name in found}
    resident: dict[str, int] = dict.fromkeys(found, 0)
    for turn in range(repeat + 1):
        for name, (command, output) in found.items():
            if output is not None:
                output.unlink(missing_ok=True)
            taken, memory = run(command)
            if turn:
                seconds[name].append(taken)
            resident[name] = max(resident[name], memory)

    print(f"a file of {items * 4} bytes, medians of {repeat}")
    print(f"{'':22} median     min     max   peak resident")
    medians = {name: statistics.median(taken) for name, taken in seconds.items()}
    for name, taken in seconds.items():
        print(
            f"{name:22} {medians[name]:5.2f} s {min(taken):5.2f} s {max(taken):5.2f} s"
            f"   {resident[name] >> 20:6} MiB"
        )
    for ours, theirs in PAIRS:
        if theirs in medians:
            print(f"{theirs} takes {medians[theirs] / medians[ours]:.2f} times as long as {ours}")
    outputs = [output for _, output in found.values() if output is not None]
    wrong = [str(path) for path in outputs if not is_right(path, items)]
    print(f"wrong: {', '.join(wrong)}" if wrong else "the results are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
