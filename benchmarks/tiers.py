"""The default engine of `cpu`: the time of whole commands, compared with the interpreter's.

Usage: ``python benchmarks/tiers.py [--seconds S] [--jobs N] [--before FOLDER] [NAME…]``. Needs
llvmlite, no GPU.

Every command of ``samples/README.md`` and every launch of the specs of ``tests/programs`` runs with
``--cpu-engine interpret``, with ``auto`` and an empty cache of machine code (*cold*), and with
``auto`` and the cache that earlier runs have filled (*warm*). Each round runs all three, and gives
the ratios of their wall times; a figure is the median of the ratios. Commands above a limit are
measured again with more rounds; then the second figure counts. ``--before FOLDER`` compares the
start-up of commands that launch nothing with another tree, which has ``cudarun`` and ``samples``.
"""

from __future__ import annotations

import argparse
import compileall
import math
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from timing import ROOT, Failed

sys.path.insert(0, os.fspath(ROOT))
from tests.support.samples_readme import samples

LIMITS = {"cold": 1.1, "warm": 1.05}
FILLING = 2  # runs that fill the cache of a command
LEAST, MOST = 3, 41  # rounds
FIRST_PART = 0.6  # of the time: for all commands, and the rest for those above a limit
WORST = 10  # lines shown
_MOST_SECONDS = 120  # of a command
_NO_LAUNCH = {
    "--help": "--help",
    "--version": "--version",
    "devices": "devices -d cpu",
    "load": "load samples/saxpy.ptx -d cpu",
    "link": "link samples/saxpy.ptx -d cpu --force -o {folder}/linked.ptx",
    "ctx": "ctx show -d cpu",
    "dry run": "launch samples/hello.ptx -d cpu --block 8 1 1 --dry-run",
}


@dataclass(frozen=True)
class Run:
    """A way to run a command.

    Attributes:
        tree: The folder of the package ``cudarun``.
        engine: The engine of `cpu`.
        cache: The folder of caches; an empty one if there is no name.
    """

    tree: Path = ROOT
    engine: str = "auto"
    cache: str = ""


@dataclass
class Case:
    """A command and its measurements.

    Attributes:
        name: A name of it.
        words: The words after ``cudarun``.
        code: The expected exit code.
        baseline: What the others are compared with.
        others: Further ways to run it, by name.
        seconds: The wall times of the baseline, by round.
        ratios: The ratios to the baseline's wall time by name, by round.
        first: The medians of an earlier measurement, by name.
    """

    name: str
    words: Sequence[str]
    code: int
    baseline: Run
    others: Mapping[str, Run]
    seconds: list[float] = field(default_factory=list)
    ratios: dict[str, list[float]] = field(default_factory=dict)
    first: Mapping[str, float] = field(default_factory=dict)

    def measure(self) -> None:
        """Measure a round; the order alternates.

        Raises:
            Failed: An exit code is not the expected one.
        """
        runs = {"": self.baseline, **self.others}
        order = [*runs]
        if len(self.seconds) % 2:
            order.reverse()
        times = {name: wall_time(self.words, self.code, runs[name]) for name in order}
        self.seconds.append(times[""])
        for name in self.others:
            self.ratios.setdefault(name, []).append(times[name] / times[""])

    def figure(self, name: str) -> float:
        """Return the median of the ratios of a way to run it."""
        return median(self.ratios[name])

    def is_slow(self) -> bool:
        """Return whether a figure is above its limit."""
        return any(self.figure(name) > LIMITS[name] for name in self.others)

    def begin_again(self) -> None:
        """Forget the rounds, except their medians."""
        self.first = {name: self.figure(name) for name in self.others}
        self.seconds, self.ratios = [], {}


def launches(caches: Path) -> Iterator[Case]:
    """Yield the commands that launch; their caches are in a folder."""
    words = {each.name: (each.arguments, each.exit_on_cpu) for each in samples()}
    for path in sorted((ROOT / "tests/programs").glob("*.toml")):
        for case in tomllib.loads(path.read_text()).get("launch", ()):
            one = ("--filter", f"name == '{case['name']}'", "-d", "cpu", "--timeout", "600")
            words[f"{path.stem}: {case['name']}"] = ("launch", "--spec", os.fspath(path), *one), 0
    for number, (name, (arguments, code)) in enumerate(words.items()):
        cache = os.fspath(caches / str(number))
        others = {"cold": Run(), "warm": Run(cache=cache)}
        yield Case(name, arguments, code, Run(engine="interpret", cache=cache), others)


def starts(before: Path, folder: str) -> Iterator[Case]:
    """Yield the commands that launch nothing; their caches and files are in a folder."""
    for name, words in _NO_LAUNCH.items():
        arguments = [word.format(folder=folder) for word in words.split()]
        yield Case(name, arguments, 0, Run(before, cache=folder), {"now": Run(cache=folder)})


def wall_time(words: Sequence[str], code: int, run: Run) -> float:
    """Run a command; return the seconds that it takes.

    Raises:
        Failed: It ends with another exit code.
    """
    places = [os.fspath(run.tree), *filter(None, [os.environ.get("PYTHONPATH")])]
    with tempfile.TemporaryDirectory() as empty:
        variables = {
            "PYTHONPATH": os.pathsep.join(places),
            "CUDARUN_CPU_ENGINE": run.engine,
            "XDG_CACHE_HOME": run.cache or empty,
        }
        start = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, "-m", "cudarun", *words],
            cwd=run.tree,
            env={**os.environ, **variables},
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
        raise Failed(f"exit code {found} instead of {code} with {run.engine}")
    return seconds


class Pool:
    """Threads whose commands have cores of their own.

    Args:
        jobs: The number of threads, which share the cores of this process.
    """

    def __init__(self, jobs: int) -> None:
        cores = sorted(os.sched_getaffinity(0))
        each = len(cores) // jobs
        parts: queue.SimpleQueue[list[int]] = queue.SimpleQueue()
        for job in range(jobs):
            parts.put(cores[job * each : (job + 1) * each])
        # the processes of a thread inherit its cores
        self._threads = ThreadPoolExecutor(
            jobs, initializer=lambda: os.sched_setaffinity(0, parts.get())
        )

    def do(self, cases: Sequence[Case], work: Callable[[Case], object]) -> list[Case]:
        """Do something with all cases, the longest first; return those that did not fail."""

        def attempt(case: Case) -> Case | None:
            try:
                work(case)
            except Failed as problem:
                print(f"{case.name}: left out: {problem}", flush=True)
                return None
            return case

        ordered = sorted(cases, key=lambda case: -median(case.seconds or [math.inf]))
        return [case for case in self._threads.map(attempt, ordered) if case is not None]

    def rounds(self, cases: Sequence[Case], end: float) -> list[Case]:
        """Measure rounds until a time; return the cases that did not fail."""
        cases, longest, done = [*cases], 0.0, 0
        while cases and done < MOST and (done < LEAST or time.perf_counter() + longest < end):
            start = time.perf_counter()
            cases = self.do(cases, Case.measure)
            longest = max(longest, time.perf_counter() - start)
            done += 1
        return cases


def fill(case: Case) -> None:
    """Fill the cache of a command."""
    for _ in range(FILLING):
        wall_time(case.words, case.code, case.others["warm"])


def show(cases: Sequence[Case]) -> None:
    """Print the medians, the slowest commands and those above a limit."""
    for name, limit in LIMITS.items():
        ordered = sorted(cases, key=lambda case: -case.figure(name))
        above = sum(case.figure(name) > limit for case in ordered)
        print(
            f"\n{name}: {median(case.figure(name) for case in cases):.3f} × in the median of "
            f"{len(cases)} commands; {above} above {limit} ×; the slowest:"
        )
        for case in ordered[: max(WORST, above)]:
            again = f", at first {case.first[name]:.2f}" if case.first else ""
            print(
                f"  {case.figure(name):5.2f} ×  {median(case.seconds):6.2f} s  {case.name}"
                f" ({len(case.seconds)} rounds{again})"
            )


def show_starts(cases: Sequence[Case]) -> None:
    """Print the times of commands that launch nothing."""
    print(f"\n{'start-up':<12}{'before, ms':>12}{'ratio':>8}{'rounds':>8}")
    for case in sorted(cases, key=lambda case: case.name):
        then = 1000 * median(case.seconds)
        print(f"{case.name:<12}{then:>12.0f}{case.figure('now'):>8.3f}{len(case.seconds):>8}")


def main() -> int:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--seconds", type=float, default=600, help="time of all measurements; default: 600")
    add("--jobs", type=int, default=1, help="commands at the same time; default: 1")
    add("--before", type=Path, metavar="FOLDER", help="another tree, to compare the start-up with")
    add("name", nargs="*", help="launches to run; default: all")
    options = parser.parse_args()
    start = time.perf_counter()
    if not 1 <= options.jobs <= len(os.sched_getaffinity(0)):
        parser.error("--jobs: expected a number from 1 to the number of cores")
    if find_spec("llvmlite") is None:
        parser.error("llvmlite is not installed: pip install 'cudarun[fast]'")
    if options.before is not None and not (options.before / "cudarun").is_dir():
        parser.error(f"--before: {options.before} has no folder cudarun")
    pool = Pool(options.jobs)
    compileall.compile_dir(ROOT / "cudarun", quiet=1)
    with tempfile.TemporaryDirectory() as caches:
        if options.before is not None:
            before = options.before.resolve()
            compileall.compile_dir(before / "cudarun", quiet=1)
            cases = pool.do([*starts(before, caches)], Case.measure)
            for case in cases:
                case.begin_again()
            show_starts(pool.rounds(cases, start + 0.1 * options.seconds))
        cases = [*launches(Path(caches))]
        unknown = {*options.name} - {case.name for case in cases}
        if unknown:
            parser.error(f"unknown: {', '.join(sorted(unknown))}")
        cases = [case for case in cases if case.name in options.name or not options.name]
        cases = pool.rounds(pool.do(cases, fill), start + FIRST_PART * options.seconds)
        slow = [case for case in cases if case.is_slow()]
        for case in slow:
            case.begin_again()
        failed = {*map(id, slow)} - {*map(id, pool.rounds(slow, start + options.seconds))}
        cases = [case for case in cases if id(case) not in failed]
        if cases:
            show(cases)
        print(f"\n{time.perf_counter() - start:.0f} s with {options.jobs} jobs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
