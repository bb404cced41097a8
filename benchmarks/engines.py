"""The engines of the emulated device: processor time of kernels interpreted and compiled.

Usage: ``python benchmarks/engines.py [--repeat N] [--no-opencl] [--detect NAMES] [--compile-times]
[NAME…]``.
Needs llvmlite, no GPU. ``CUDARUN_CPU_TARGET=x86-64-v3`` compiles for AVX2.

Each kernel is launched on both engines in turn, in one process and one thread, and its memory must
be equal after both. A figure is the processor time of ``cuLaunchKernel`` and ``cuCtxSynchronize``,
the minimum over the turns, each of which counts the third of three launches. Kernels that are
interpreted for more than a second are launched once per turn. Oclgrind and PoCL run the same
kernels in OpenCL C (``kernels.cl``) with the same data, each in a process of its own
(``opencl_kernels.py``), if they are installed (``apt-get install oclgrind pocl-opencl-icd``). PoCL
checks no access.

``--detect NAMES`` launches with these detectors on both engines.

``--compile-times`` shows the first launch of each kernel in a fresh process instead: without
anything in the cache, and with the machine code there.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from ctypes.util import find_library
from pathlib import Path

import numpy as np
from emulated_device import Device, NotCompiled
from emulator_cases import FULL, Case, agrees, engine_cases
from timing import Failed

HERE = Path(__file__).resolve().parent
ENGINES = ("interpret", "compile")
WARMUP = 2
_LONG = 1000  # ms
OPENCL = {  # the library, and how often a kernel is launched
    "Oclgrind": (
        next(map(os.fspath, Path("/usr/lib/oclgrind").glob("liboclgrind-rt.so")), None),
        1,
    ),
    "PoCL": (find_library("OpenCL"), 0),
}
_MOST_SECONDS = 60  # of a case


def milliseconds(action: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    start = time.process_time()
    action()
    return 1000 * (time.process_time() - start)


def measured(
    device: Device, case: Case, repeat: int, detect: Sequence[str] = ()
) -> dict[str, float]:
    """Return the time of a case by engine; a kernel may not be compiled.

    Args:
        device: The device.
        case: The case.
        repeat: The number of turns.
        detect: The names of the detectors that observe each launch.

    Raises:
        Failed: The engines do not agree, or the answer is wrong.
    """
    device.observe(detect)
    launch = device.prepared(case)
    times: dict[str, list[float]] = {engine: [] for engine in ENGINES}
    answers: dict[str, np.ndarray] = {}
    for _ in range(repeat):
        for engine in times.copy():
            device.select(engine)
            launch.reset()
            try:
                spent = milliseconds(launch.run)
            except NotCompiled:
                del times[engine]
                continue
            answers[engine] = launch.answer()
            if engine == "compile" or spent < _LONG:
                launch.run()
                spent = milliseconds(launch.run)
            times[engine].append(spent)
    launch.free()
    if len({answer.tobytes() for answer in answers.values()}) > 1:
        raise Failed(f"{case.name}: the engines do not agree")
    if not agrees(case, answers["interpret"]):
        raise Failed(f"{case.name}: the answer is wrong")
    return {engine: min(spent) for engine, spent in times.items()}


def first_launch(name: str, cache: str) -> float:
    """Return the time of a first launch of a case in a fresh process."""
    environment = os.environ | {"XDG_CACHE_HOME": cache}
    command = [sys.executable, __file__, "--first", name]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise Failed(f"{name}: {done.stderr[-2000:]}")
    return float(done.stdout)


def show_compile_times(names: Iterable[str]) -> None:
    """Print a line for each case: the first launches with an empty cache, and with a full one."""
    print("first launch, ms        empty cache   machine code cached")
    with tempfile.TemporaryDirectory(prefix="cudarun-benchmark-") as cache:
        for name in names:
            cold, warm = (first_launch(name, cache) for _ in range(2))
            print(f"{name:<22} {cold:12.0f} {warm:21.1f}", flush=True)


def others(name: str, repeat: int) -> dict[str, float]:
    """Return the times of a case on OpenCL platforms that are installed, by name."""
    kernel = name.rstrip("_0123456789")
    if f"kernel void {kernel}(" not in (HERE / "kernels.cl").read_text():
        return {}
    found = {}
    for platform, (library, count) in OPENCL.items():
        if library is None:
            continue
        script = [sys.executable, os.fspath(HERE / "opencl_kernels.py")]
        with suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                [*script, library, name, str(count or WARMUP + repeat)],
                capture_output=True,
                text=True,
                env=os.environ | {"POCL_MAX_PTHREAD_COUNT": "1"},
                timeout=_MOST_SECONDS,
                check=False,
            )
            if done.returncode == 0:
                found[platform] = float(done.stdout.splitlines()[-1])
    return found


def row(name: str, ours: Mapping[str, float], theirs: Mapping[str, float]) -> str:
    """Return a line of the table."""
    times = [f"{ours[engine]:.2f}" if engine in ours else "-" for engine in ENGINES]
    times.append(f"{ours['interpret'] / ours['compile']:.1f}" if "compile" in ours else "")
    times += [f"{theirs[each]:.2f}" if each in theirs else "" for each in OPENCL]
    return f"{name:22}{''.join(f'{each:>12}' for each in times)}".rstrip()


def main() -> int:
    """Time every case and print a line for each; 1 when one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=5, help="launches counted; default: 5")
    parser.add_argument("--no-opencl", action="store_true", help="leave Oclgrind and PoCL out")
    parser.add_argument("--detect", metavar="NAMES", help="launch with detectors")
    parser.add_argument("--compile-times", action="store_true", help="show first launches instead")
    parser.add_argument("--first", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("name", nargs="*", help="kernels to time; default: all")
    options = parser.parse_args()
    cases = engine_cases(FULL)
    names = [name for name in cases if not options.name or name in options.name]
    try:
        if options.first:
            device = Device()
            device.select("compile")
            launch = device.prepared(cases[names[0]]())
            print(milliseconds(launch.run))
        elif options.compile_times:
            show_compile_times(names)
        else:
            show_engines({name: cases[name] for name in names}, options)
    except Failed as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


def show_engines(cases: Mapping[str, Callable[[], Case]], options: argparse.Namespace) -> None:
    """Print a line for each case, and the geometric mean of the ratios."""
    print(f"processor time of a launch, ms; minimum of {options.repeat}")
    print(" " * 22 + "".join(f"{each:>12}" for each in (*ENGINES, "ratio", *OPENCL)))
    device, ratios = Device(), []
    detect = options.detect.split(",") if options.detect else []
    for name, make in cases.items():
        ours = measured(device, make(), options.repeat, detect)
        theirs = {} if options.no_opencl else others(name, options.repeat)
        print(row(name, ours, theirs), flush=True)
        if "compile" in ours:
            ratios.append(ours["interpret"] / ours["compile"])
    mean = math.exp(sum(map(math.log, ratios)) / max(len(ratios), 1))
    print(f"{'geometric mean':46}{mean:12.1f}")


if __name__ == "__main__":
    sys.exit(main())
