"""The default engine of `cpu`: the time of whole commands, compared with the interpreter's.

Usage: ``python benchmarks/tiers.py [--repeat N] [--jobs N] [--before FOLDER] [NAME…]``. Needs
llvmlite, no GPU.

Every command of ``samples/README.md`` and every case of the specs of ``tests/programs`` runs in
turn with ``--cpu-engine interpret``, with ``auto`` and an empty cache of machine code (*cold*), and
with ``auto`` and the cache that earlier runs have filled (*warm*). A figure is the median of the
wall times. Those whose ratio is above its limit are measured again with more turns; then the
second figure counts. ``--jobs`` divides the cores.

``--before FOLDER`` compares the start of commands that launch nothing with those of another tree.
"""

from __future__ import annotations

import argparse
import compileall
import os
import queue
import shlex
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from timing import ROOT, Failed

sys.path.insert(0, os.fspath(ROOT))
from tests.support.samples_readme import samples

FILLING = 2  # runs that fill the cache
VARIANTS = ("interpret", "cold", "warm")
LIMITS = {"cold": 1.1, "warm": 1.05}
AGAIN = 3  # times as many turns for those above a limit
WORST = 10  # lines shown
_MOST_SECONDS = 120
_NO_LAUNCH = {
    "--help": ["--help"],
    "--version": ["--version"],
    "devices": ["devices", "-d", "cpu"],
    "load": ["load", "samples/saxpy.ptx", "-d", "cpu"],
    "link": ["link", "samples/saxpy.ptx", "-o", os.devnull, "-d", "cpu"],
    "ctx": ["ctx", "show", "-d", "cpu"],
    "launch": shlex.split("launch samples/hello.ptx --block 8 1 1 -d cpu --dry-run"),
}

Times = Mapping[str, float]
"""The median of the wall times by variant, in seconds."""


def commands() -> Iterator[tuple[str, list[str], int]]:
    """Yield a name, the words and the exit code of each launch."""
    for sample in samples():
        yield sample.name, [*sample.on_device("cpu").arguments], sample.exit_on_cpu
    for path in sorted((ROOT / "tests/programs").glob("*.toml")):
        for case in tomllib.loads(path.read_text()).get("launch", ()):
            words = ["launch", "--spec", os.fspath(path), "--filter", f"name == '{case['name']}'"]
            yield f"{path.stem}: {case['name']}", [*words, "-d", "cpu", "--timeout", "600"], 0


def wall_time(words: Sequence[str], code: int, tree: Path = ROOT, **variables: str) -> float:
    """Run a command; return the seconds that it takes.

    Raises:
        Failed: It ends with another exit code.
    """
    start = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-m", "cudarun", *words],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": _path(tree), **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        limit = threading.Timer(_MOST_SECONDS, process.kill)
        limit.start()
        found = process.wait()  # with a time limit, it would look every 50 ms
        seconds = time.perf_counter() - start
        limit.cancel()
    if found != code:
        raise Failed(f"exit code {found}, not {code}: {variables}")
    return seconds


def _path(tree: Path) -> str:
    """Return where Python looks for modules: this tree's before those of the environment."""
    return os.pathsep.join(filter(None, [os.fspath(tree), os.environ.get("PYTHONPATH")]))


def measured(words: Sequence[str], code: int, repeat: int) -> Times:
    """Return the times of a launch.

    Raises:
        Failed: Its exit code is not the expected one, with any engine.
    """
    times: dict[str, list[float]] = {name: [] for name in VARIANTS}
    with tempfile.TemporaryDirectory() as warm:
        for _ in range(FILLING):
            wall_time(words, code, CUDARUN_CPU_ENGINE="auto", XDG_CACHE_HOME=warm)
        for _ in range(repeat):
            with tempfile.TemporaryDirectory() as cold:
                for name, cache in zip(VARIANTS, (warm, cold, warm), strict=True):
                    engine = "interpret" if name == "interpret" else "auto"
                    variables = {"CUDARUN_CPU_ENGINE": engine, "XDG_CACHE_HOME": cache}
                    times[name].append(wall_time(words, code, **variables))
    return {name: median(each) for name, each in times.items()}


def ratio(times: Times, variant: str) -> float:
    """Return the time of a variant relative to the interpreter's."""
    return times[variant] / times["interpret"]


def is_slow(times: Times) -> bool:
    """Return whether a variant is above its limit."""
    return any(ratio(times, variant) > limit for variant, limit in LIMITS.items())


def measured_at_once(
    launches: Sequence[tuple[str, list[str], int]], repeat: int, jobs: int
) -> dict[str, Times]:
    """Measure several launches at the same time, each on cores of its own."""
    cores = sorted(os.sched_getaffinity(0))
    each = len(cores) // jobs
    pairs: queue.SimpleQueue[list[int]] = queue.SimpleQueue()
    for job in range(jobs):
        pairs.put(cores[job * each : (job + 1) * each])

    def measure(launch: tuple[str, list[str], int]) -> tuple[str, Times | None]:
        name, words, code = launch
        try:
            times = measured(words, code, repeat)
        except Failed as problem:
            print(f"{name}: left out: {problem}", flush=True)
            return name, None
        shown = "  ".join(f"{variant} {ratio(times, variant):.2f}" for variant in LIMITS)
        print(f"{times['interpret']:6.2f} s  {shown}  {name}", flush=True)
        return name, times

    # the processes of a thread inherit its cores
    with ThreadPoolExecutor(jobs, initializer=lambda: os.sched_setaffinity(0, pairs.get())) as pool:
        found = dict(pool.map(measure, launches))
    return {name: times for name, times in found.items() if times is not None}


def show(every: Mapping[str, Times], again: Mapping[str, Times]) -> None:
    """Print the medians, the slowest launches, and those above a limit in both measurements."""
    final = {**every, **again}
    for variant, limit in LIMITS.items():
        ordered = sorted(final, key=lambda name: -ratio(final[name], variant))
        ratios = [ratio(final[name], variant) for name in ordered]
        above = sum(ratio > limit for ratio in ratios)
        print(f"\n{variant}: {median(ratios):.3f} × in the median of {len(ratios)}; "
              f"{above} above {limit} ×; the slowest:")  # fmt: skip
        for name in ordered[:WORST]:
            first = f", at first {ratio(every[name], variant):.2f}" if name in again else ""
            seconds = final[name]["interpret"]
            print(f"  {ratio(final[name], variant):5.2f} ×  {seconds:6.2f} s  {name}{first}")


def show_starts(before: Path, repeat: int) -> None:
    """Compare commands that launch nothing with those of another tree."""
    print(f"\n{'start, ms':<12}{'before':>8}{'now':>8}{'ratio':>8}")
    for tree in (before, ROOT):
        compileall.compile_dir(tree / "cudarun", quiet=1)
    for name, words in _NO_LAUNCH.items():
        times: dict[Path, list[float]] = {before: [], ROOT: []}
        with tempfile.TemporaryDirectory() as cache:
            for turn in range(repeat + 2):
                for tree, found in times.items():
                    seconds = wall_time(words, 0, tree, XDG_CACHE_HOME=cache)
                    if turn > 1:
                        found.append(seconds)
        then, now = (1000 * median(found) for found in times.values())
        print(f"{name:<12}{then:>8.0f}{now:>8.0f}{now / then:>8.2f}", flush=True)


def main() -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--repeat", type=int, default=5, help="turns counted; default: 5")
    add("--jobs", type=int, default=1, help="launches at the same time; default: 1")
    add("--before", type=Path, metavar="FOLDER", help="tree to compare starts with")
    add("name", nargs="*", help="launches to run; default: all")
    options = parser.parse_args()
    compileall.compile_dir(ROOT / "cudarun", quiet=1)
    launches = [each for each in commands() if not options.name or each[0] in options.name]
    every = measured_at_once(launches, options.repeat, options.jobs)
    slow = [each for each in launches if each[0] in every and is_slow(every[each[0]])]
    again = measured_at_once(slow, AGAIN * options.repeat, options.jobs)
    if every:
        show(every, again)
    if options.before is not None:
        show_starts(options.before.resolve(), 4 * options.repeat)
    return 0


if __name__ == "__main__":
    sys.exit(main())
