"""The engines of the emulated device: processor time of kernels interpreted and compiled.

Usage: ``python benchmarks/engines.py [--repeat N] [--target TARGET]… [--before CHECKOUT]
[--no-opencl] [--no-cores] [--detect NAMES] [--compile-times] [NAME…]``. Needs llvmlite, no GPU.

Each kernel is launched on both engines in turn, in one process and one thread, and its memory must
be equal after both; compiled for this processor (``native``), and in another process for any with
AVX2 (``x86-64-v3``). A figure is the processor time of ``cuLaunchKernel`` and
``cuCtxSynchronize``, the minimum over the turns, each of which counts the third of three launches.
Kernels that are interpreted for more than a second are interpreted once per process.

Oclgrind and PoCL run the same kernels in OpenCL C (``kernels.cl``) with the same data, each in a
process of its own (``opencl_kernels.py``), if they are installed (``apt-get install oclgrind
pocl-opencl-icd``); the figure is the processor time of all threads. PoCL checks no access. Oclgrind
runs once, and not the larger matrices. Ratios are those to the first target: above 1, compiled
kernels are faster. At the end, ``cores.py`` compares one and two threads.

``--before CHECKOUT`` also times the interpreter of another checkout, which may have no compiled
engine, in a process of its own. The ratios of compiled kernels are then to that interpreter.

``--detect NAMES`` launches with these detectors on both engines.

``--compile-times`` shows the first launch of each kernel in a fresh process instead: without
anything in the cache, and with the machine code there.
"""

from __future__ import annotations

import argparse
import json
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
from emulated_device import CHECKOUT, Device, NotCompiled
from emulator_cases import FULL, Case, agrees, engine_cases
from timing import Failed

HERE = Path(__file__).resolve().parent
ENGINES = ("interpret", "compile")
BEFORE = "before"
TARGETS = ["native", "x86-64-v3"]
WARMUP = 2
_LONG = 1000  # ms
OPENCL = {  # the library, and how often a kernel is launched
    "Oclgrind": (
        next(map(os.fspath, Path("/usr/lib/oclgrind").glob("liboclgrind-rt.so")), None),
        1,
    ),
    "PoCL": (find_library("OpenCL"), 0),
}
_MOST_SECONDS = 120  # of a case
_LARGE = ("_512", "_1024")  # ends of the names of cases that Oclgrind does not run
_SETTINGS = {"POCL_MAX_PTHREAD_COUNT": "1", "OCLGRIND_LOCAL_MEM_SIZE": str(1 << 17)}


Row = dict[str, float]
"""The times of a case by platform, and their ratios."""


def milliseconds(action: Callable[[], object]) -> float:
    """Return the processor time of a call."""
    start = time.process_time()
    action()
    return 1000 * (time.process_time() - start)


def measured(
    device: Device,
    case: Case,
    repeat: int,
    detect: Sequence[str] = (),
    engines: Sequence[str] = ENGINES,
) -> dict[str, float]:
    """Return the time of a case by engine; a kernel may not be compiled.

    Args:
        device: The device.
        case: The case.
        repeat: The number of turns.
        detect: The names of the detectors that observe each launch.
        engines: The engines to time; of a device with one engine, that one.

    Raises:
        Failed: The engines do not agree, or the answer is wrong.
    """
    device.observe(detect)
    launch = device.prepared(case)
    times: dict[str, list[float]] = {engine: [] for engine in engines}
    answers: dict[str, np.ndarray] = {}
    for turn in range(repeat):
        for engine in times.copy():
            if turn and engine == "interpret" and min(times[engine]) > _LONG:
                continue
            if len(engines) > 1:
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


def in_process(name: str, *options: str, **environment: str) -> str:
    """Return what this script prints for a case in a fresh process."""
    command = [sys.executable, __file__, *options, name]
    env = os.environ | environment
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if done.returncode != 0:
        raise Failed(f"{name}: {done.stderr[-2000:]}")
    return done.stdout


def show_compile_times(names: Iterable[str]) -> None:
    """Print a line for each case: the first launches with an empty cache, and with a full one."""
    print("first launch, ms        empty cache   machine code cached")
    with tempfile.TemporaryDirectory(prefix="cudarun-benchmark-") as cache:
        for name in names:
            cold, warm = (
                float(in_process(name, "--first", XDG_CACHE_HOME=cache)) for _ in range(2)
            )
            print(f"{name:<22} {cold:12.0f} {warm:21.1f}", flush=True)


def others(name: str, repeat: int) -> dict[str, float]:
    """Return the times of a case on OpenCL platforms that are installed, by name."""
    found = {}
    for platform, (library, count) in OPENCL.items():
        if library is None or (count and name.endswith(_LARGE)):
            continue
        script = [sys.executable, os.fspath(HERE / "opencl_kernels.py")]
        with suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                [*script, library, name, str(count or WARMUP + repeat)],
                capture_output=True,
                text=True,
                env=os.environ | _SETTINGS,
                timeout=_MOST_SECONDS,
                check=False,
            )
            if done.returncode == 0:
                found[platform] = float(done.stdout.splitlines()[-1])
    return found


def columns(
    ours: Mapping[str, Mapping[str, float]],
    theirs: Mapping[str, float],
    before: float | None = None,
) -> Row:
    """Return the times of a case, and the ratios, by the heads of the columns.

    Args:
        ours: The times of the engines by the target of the compiler.
        theirs: The times of other platforms.
        before: The time of the interpreter of another checkout.
    """
    interpreted = min(times["interpret"] for times in ours.values())
    row = {"interpret": interpreted}
    if before is not None:
        row |= {BEFORE: before, f"{BEFORE} ratio": before / interpreted}
    for target, times in ours.items():
        if "compile" in times:
            row[target] = times["compile"]
            row[f"{target} ratio"] = (before or times["interpret"]) / times["compile"]
    best = next(iter(ours.values())).get("compile")
    for platform, spent in theirs.items():
        row[platform] = spent
        if best is not None:
            row[f"{platform} ratio"] = spent / best
    return row


def line(head: str, row: Row, heads: Iterable[str]) -> str:
    """Return a line of the table."""
    cells = []
    for each in heads:
        ratio = f"{row[f'{each} ratio']:.1f}x" if f"{each} ratio" in row else ""
        value = f"{row[each]:.2f}" if each in row else ""
        cells.append(f"{value:>11}{ratio:>8}" if each != "interpret" else f"{value:>11}")
    return f"{head:20}{''.join(cells)}".rstrip()


def geometric_means(rows: Sequence[Row]) -> Row:
    """Return the geometric mean of each ratio."""
    found: dict[str, list[float]] = {}
    for row in rows:
        for head, value in row.items():
            if head.endswith(" ratio"):
                found.setdefault(head, []).append(math.log(value))
    return {head: math.exp(sum(logs) / len(logs)) for head, logs in found.items()}


def show_engines(names: Iterable[str], options: argparse.Namespace) -> None:
    """Print a line for each case, and the geometric means of the ratios."""
    heads = ["interpret", *([BEFORE] if options.before else []), *options.target]
    heads += [] if options.no_opencl else OPENCL
    print(f"processor time of a launch, ms; minimum of {options.repeat}")
    titles = [f"{head:>11}" if head == "interpret" else f"{head:>11}{'ratio':>8}" for head in heads]
    print(" " * 20 + "".join(titles))
    rows: list[Row] = []
    for name in names:
        words = ("--measure", "--repeat", str(options.repeat), "--detect", options.detect)
        ours = {
            target: json.loads(in_process(name, *words, CUDARUN_CPU_TARGET=target))
            for target in options.target
        }
        before = None
        if options.before:
            interpreter = in_process(name, *words, "--one-engine", **{CHECKOUT: options.before})
            before = json.loads(interpreter)["interpret"]
        theirs = {} if options.no_opencl else others(name, options.repeat)
        rows.append(columns(ours, theirs, before))
        print(line(name, rows[-1], heads), flush=True)
    print(line("geometric mean", geometric_means(rows), heads))
    for platform in OPENCL:
        ratios = [row[f"{platform} ratio"] for row in rows if f"{platform} ratio" in row]
        if ratios:
            faster = sum(ratio > 1 for ratio in ratios)
            print(f"compiled kernels are faster than {platform} in {faster} of {len(ratios)} cases")


def main() -> int:
    """Time every case and print a line for each; 1 when one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("--repeat", type=int, default=5, help="launches counted; default: %(default)s")
    add("--target", action="append", help=f"CUDARUN_CPU_TARGET; default: {', '.join(TARGETS)}")
    add("--before", metavar="CHECKOUT", help="time the interpreter of another checkout, too")
    add("--no-opencl", action="store_true", help="leave Oclgrind and PoCL out")
    add("--no-cores", action="store_true", help="leave the comparison of two threads out")
    add("--detect", metavar="NAMES", default="", help="launch with detectors")
    add("--compile-times", action="store_true", help="show first launches instead")
    add("--first", action="store_true", help=argparse.SUPPRESS)
    add("--measure", action="store_true", help=argparse.SUPPRESS)
    add("--one-engine", action="store_true", help=argparse.SUPPRESS)
    add("name", nargs="*", help="kernels to time; default: all")
    options = parser.parse_args()
    options.target = options.target or TARGETS
    cases = engine_cases(FULL)
    names = [name for name in cases if not options.name or name in options.name]
    try:
        if options.first:
            device = Device()
            device.select("compile")
            launch = device.prepared(cases[names[0]]())
            print(milliseconds(launch.run))
        elif options.measure:
            detect = options.detect.split(",") if options.detect else ()
            engines = ENGINES[:1] if options.one_engine else ENGINES
            case = cases[names[0]]()
            print(json.dumps(measured(Device(), case, options.repeat, detect, engines)))
        elif options.compile_times:
            show_compile_times(names)
        else:
            show_engines(names, options)
            if not options.no_cores:
                print(flush=True)
                cores = [sys.executable, os.fspath(HERE / "cores.py")]
                subprocess.run([*cores, "--threads", "1", "2"], check=True)
    except Failed as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
