"""A program of three kernels as a CUDA graph: ``cudarun launch --graph`` beside the same in C.

Usage: ``python benchmarks/program_graph.py [--rounds N] [--repeat N] [--elements N …]``

The kernels of ``program.cu`` fill a buffer, smooth it into another and scale that one. In turn, a C
program and cudarun capture their launches as a graph and time it by events, each in its own
process and under the same conditions: buffers overwritten and L2 cache flushed before each run, 100
runs enqueued at once. The table has the medians of the rounds and their ratio; with ``--launches``
also those of the same launches without a graph.

Exit status: 1 when the ratio of graphs is off by more than 3 %, 3 without a GPU or a C compiler.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from c_program import HERE, compile_c_program
from launch import gpus
from timing import ROOT, cudarun_command

TOLERANCE = 0.03
WARMUP = 10


def by_c(program: Path, image: Path, elements: int, repeat: int, *, graph: bool) -> float:
    """The median in milliseconds of the C program.

    Raises:
        subprocess.CalledProcessError: It failed, or a result is wrong.
    """
    command = [os.fspath(program), os.fspath(image), *map(str, (elements, WARMUP, repeat))]
    done = _run(command if graph else [*command, "--launches"])
    samples = [float(line) for line in done.split()]
    assert len(samples) == repeat
    return statistics.median(samples)


def by_cudarun(image: Path, elements: int, repeat: int, *, graph: bool) -> float:
    """The median in milliseconds, as cudarun has it.

    Raises:
        subprocess.CalledProcessError: The launch failed.
    """
    size = ("--threads", "n", "--block", "256")
    command = [
        *cudarun_command(), "launch", os.fspath(image), "-d", "0",
        "-k", "ramp", *size, "x=f32[n]", f"n=i32:{elements}",
        "--then", "-k", "smooth", *size, "x", "y=f32[n]", "n",
        "--then", "-k", "scale", *size, "y", "a=f32:0.25", "n",
        "--warmup", str(WARMUP), "--repeat", str(repeat), "--json",
    ]  # fmt: skip
    done = _run([*command, "--graph"] if graph else command)
    [outcome] = json.loads(done)["outcomes"]
    timing = outcome["result"]["timing"]
    assert len(timing["samples"]) == repeat
    return float(timing["median"])


def _run(command: list[str]) -> str:
    return subprocess.run(
        command, cwd=ROOT, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ).stdout


def main() -> int:
    """Time both programs side by side and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="default: 5")
    parser.add_argument("--repeat", type=int, default=500, help="runs per round; default: 500")
    parser.add_argument(
        "--elements", type=int, nargs="+", default=[1 << 16, 1 << 20, 1 << 24, 1 << 26],
        help="default: 2^16, 2^20, 2^24 and 2^26",
    )  # fmt: skip
    parser.add_argument("--image", type=Path, default=HERE / "program.ptx", help="or a cubin of it")
    parser.add_argument("--launches", action="store_true", help="also without a graph")
    options = parser.parse_args()

    if gpus() == 0:
        print("program_graph: no GPU that the driver can use; nothing measured", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory(prefix="cudarun-benchmark-") as folder:
        program = Path(folder) / "program_driver"
        if not compile_c_program("program_driver.c", program):
            print("program_graph: neither cc nor nvcc could build it", file=sys.stderr)
            return 3
        image = options.image.resolve()
        print(
            f"3 kernels of {image.name}, medians of {options.repeat} runs each, "
            f"medians of {options.rounds} rounds\n{'':28}          C    cudarun   ratio"
        )
        good = True
        for graph in (True, False) if options.launches else (True,):
            for elements in options.elements:
                work = image, elements, options.repeat
                ways = {
                    "C": partial(by_c, program, *work, graph=graph),
                    "cudarun": partial(by_cudarun, *work, graph=graph),
                }
                ratio = _compare(ways, options.rounds, elements, "graph" if graph else "launches")
                good &= not graph or abs(ratio - 1) <= TOLERANCE
    return 0 if good else 1


def _compare(ways: dict[str, Callable[[], float]], rounds: int, elements: int, name: str) -> float:
    """Time both ways alternately; print a line, and return cudarun's time per that of C."""
    times: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(rounds):
        for way, time in ways.items():
            times[way].append(time())
    c, cudarun = (statistics.median(times[way]) for way in ways)
    print(
        f"{name:8} {elements:>9} elements  {c * 1e3:8.2f} µs {cudarun * 1e3:8.2f} µs"
        f"  {cudarun / c:6.3f}",
        flush=True,
    )
    return cudarun / c


if __name__ == "__main__":
    sys.exit(main())
