"""The default engine of the emulated device: the time of whole commands, compared with `interpret`.

Usage: ``python benchmarks/tiers.py [--repeat N] [NAME…]``. Needs llvmlite, no GPU.

Every launch of ``samples/README.md`` that passes without a time limit, and every spec of
``tests/programs``, runs with ``--cpu-engine interpret``, with ``auto`` and an empty cache of
machine code (``cold``), and with ``auto`` and the cache that three such runs have filled
(``warm``), in turn. A figure is the median of the wall times, and of the processor times of all
processes. Commands have several kernels, so they show what a user waits for.
"""

from __future__ import annotations

import argparse
import compileall
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from timing import ROOT, Failed, cudarun_command

FILLING = 3  # runs that fill the cache
VARIANTS = ("interpret", "cold", "warm")
_MOST_SECONDS = 120


def samples() -> Iterator[tuple[str, list[str]]]:
    """Yield a name and the words of each launch on the emulated device."""
    text = (ROOT / "samples/README.md").read_text()
    for number, found in enumerate(re.finditer(r"^\$ (cudarun launch (?:.*\\\n)*.*)$", text, re.M)):
        words = shlex.split(found[1].replace("\\\n", ""))[1:]
        if "cpu" in words and "--timeout" not in words and not {"|", ">", "&&"} & {*words}:
            yield f"{Path(words[1]).stem}-{number}", words


def programs() -> Iterator[tuple[str, list[str]]]:
    """Yield a name and the words of each spec of the programs."""
    for path in sorted((ROOT / "tests/programs").glob("*.toml")):
        yield path.stem, ["launch", "--spec", os.fspath(path), "-d", "cpu", "--timeout", "600"]


def run(words: Sequence[str], engine: str, cache: str) -> tuple[int, float, float]:
    """Run a command; return its status, its wall time and the processor time of its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(
        [*cudarun_command(), *words],
        cwd=ROOT,
        env={**os.environ, "CUDARUN_CPU_ENGINE": engine, "XDG_CACHE_HOME": cache},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=_MOST_SECONDS,
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.returncode, wall, used


def measured(words: Sequence[str], repeat: int) -> dict[str, tuple[float, float]]:
    """Return the median wall and processor times of a command by variant.

    Raises:
        Failed: It does not pass, or its status depends on the engine.
    """
    status, *_ = run(words, "interpret", "/nonexistent")
    if status:
        raise Failed(f"status {status}")
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in VARIANTS}
    with tempfile.TemporaryDirectory() as warm:
        for _ in range(FILLING):
            run(words, "auto", warm)
        for _ in range(repeat):
            with tempfile.TemporaryDirectory() as cold:
                for name, cache in zip(VARIANTS, (warm, cold, warm), strict=True):
                    engine = "interpret" if name == "interpret" else "auto"
                    status, wall, used = run(words, engine, cache)
                    if status:
                        raise Failed(f"status {status} with {name}")
                    times[name].append((wall, used))
    return {
        name: (median(wall for wall, _ in each), median(used for _, used in each))
        for name, each in times.items()
    }


def row(name: str, times: Mapping[str, tuple[float, float]]) -> str:
    """Return a line of the table: seconds, and ratios to the interpreter's."""
    wall, used = times["interpret"]
    ratios = "".join(
        f"{times[variant][0] / wall:>9.2f}{times[variant][1] / used:>9.2f}"
        for variant in VARIANTS[1:]
    )
    return f"{name:<24}{wall:>9.2f}{used:>9.2f}{ratios}"


def main() -> int:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5, help="rounds counted; default: 5")
    parser.add_argument("name", nargs="*", help="launches and specs to run; default: all")
    options = parser.parse_args()
    compileall.compile_dir(ROOT / "cudarun", quiet=1)
    commands = dict([*samples(), *programs()])
    unknown = {*options.name} - {*commands}
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(commands)}")
    print(f"{'':<24}{'interpret, s':>18}{'cold':>18}{'warm':>18}")
    print(f"{'':<24}" + "".join(f"{'wall':>9}{'cpu':>9}" for _ in VARIANTS))
    every: dict[str, list[float]] = {name: [] for name in VARIANTS[1:]}
    for name in options.name or commands:
        try:
            times = measured(commands[name], options.repeat)
        except (Failed, subprocess.TimeoutExpired) as problem:
            print(f"{name:<24}  left out: {problem}", flush=True)
            continue
        print(row(name, times), flush=True)
        for variant, ratios in every.items():
            ratios.append(times[variant][0] / times["interpret"][0])
    for variant, ratios in every.items():
        if ratios:
            print(f"{variant}: {median(ratios):.3f} × in the median, at most {max(ratios):.2f} ×")
    return 0


if __name__ == "__main__":
    sys.exit(main())
