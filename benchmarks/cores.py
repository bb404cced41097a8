"""The cores of the machine: the wall time of compiled kernels by the number of threads.

Usage: ``python benchmarks/cores.py [--threads N…] [--repeat N] [--processes] [NAME…]``. Needs
llvmlite and a machine without other load, no GPU.

A figure is the wall time of ``cuLaunchKernel`` and ``cuCtxSynchronize`` with machine code that has
been loaded, the minimum over turns in which all numbers of threads take part, and how many times as
fast as one thread that is. The processor time of all threads follows, as a multiple of one
thread's: what exceeds 1 are cores that slow each other, or work that several threads add.

``--processes`` shows the limit of the machine: as many processes run the same launch at the same
time, in one thread each. The figure is how many times as many launches they complete together.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from emulated_device import Device, PreparedLaunch
from emulator_cases import Case, Sizes, agrees, engine_cases
from timing import Failed

ELEMENTS = 1 << 24
SIDES = {
    "matmul_naive_1024": 512,
    "matmul_tiled_1024": 512,
    "saxpy": 512,
    "reduce": 512,
    "histogram": 512,
    "mandelbrot": 2048,
    "scan": 512,
    "mma_1024": 512,
    "attention": 1024,
}
"""The cases, and the size that gives them."""
_LEAST_SECONDS = 0.2  # of a turn


def case_of(name: str) -> Callable[[], Case]:
    """Return the function that makes a case."""
    return engine_cases(Sizes(ELEMENTS, SIDES[name]))[name]


def spent(action: Callable[[], object]) -> tuple[float, float]:
    """Return the wall time and the processor time of a call, the minimum of several short ones."""
    found = []
    end = time.perf_counter() + _LEAST_SECONDS
    while not found or time.perf_counter() < end:
        wall, processor = time.perf_counter(), time.process_time()
        action()
        found.append((time.perf_counter() - wall, time.process_time() - processor))
    return min(found)


def times(name: str, counts: Sequence[int], repeat: int) -> dict[int, tuple[float, float]]:
    """Return the wall time and the processor time of a case by the number of threads.

    Raises:
        Failed: The answer is wrong.
    """
    device, case = Device(), case_of(name)()
    launch = device.prepared(case)
    found: dict[int, list[tuple[float, float]]] = {count: [] for count in counts}
    for _ in range(repeat):
        for count in counts:
            device.select("compile", count)
            launch.reset()
            launch.run()
            if not agrees(case, launch.answer()):
                raise Failed(f"{name}: the answer is wrong in {count} threads")
            found[count].append(spent(launch.run))
    launch.free()
    return {count: min(each) for count, each in found.items()}


def together(name: str, count: int) -> float:
    """Return the seconds per launch of processes that run a case in one thread each."""
    context = multiprocessing.get_context("spawn")
    ready, answers = context.Barrier(count), context.SimpleQueue()
    others = [context.Process(target=_run, args=(name, ready, answers)) for _ in range(count)]
    for other in others:
        other.start()
    for other in others:
        other.join()
    if answers.empty():
        raise Failed(f"{name}: the processes failed")
    return sum(answers.get() for _ in others) / count


def _run(name: str, ready: Any, answers: Any) -> None:
    device = Device()
    device.select("compile")
    launch: PreparedLaunch = device.prepared(case_of(name)())
    launch.run()
    ready.wait()
    launches, start = 0, time.perf_counter()
    while not launches or time.perf_counter() - start < 2 * _LEAST_SECONDS:
        launch.run()
        launches += 1
    answers.put((time.perf_counter() - start) / launches)


def main() -> int:
    """Time every case and print its lines; 1 when one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    cores = len(os.sched_getaffinity(0))
    powers = [1 << n for n in range(cores.bit_length())]
    parser.add_argument("--threads", type=int, nargs="+", default=powers, help="numbers of threads")
    parser.add_argument("--repeat", type=int, default=3, help="turns; default: 3")
    parser.add_argument("--processes", action="store_true", help="run processes, too")
    parser.add_argument("name", nargs="*", help=f"kernels to time: {', '.join(SIDES)}")
    options = parser.parse_args()
    counts = sorted({1, *options.threads})
    print(f"{cores} cores; wall time in ms (times as fast, processor time as a multiple)")
    print(f"{'threads':20}{''.join(f'{count:>22}' for count in counts)}")
    try:
        for name in options.name or SIDES:
            found = times(name, counts, options.repeat)
            wall, processor = found[1]
            cells = [
                f"{1000 * w:.2f} ({wall / w:.2f}x, {p / processor:.2f})" for w, p in found.values()
            ]
            print(f"{name:20}{''.join(f'{cell:>22}' for cell in cells)}", flush=True)
            if options.processes:
                alone = together(name, 1)
                cells = [f"{count * alone / together(name, count):.2f}x" for count in counts]
                print(
                    f"{'  in processes':20}{''.join(f'{cell:>22}' for cell in cells)}", flush=True
                )
    except Failed as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
