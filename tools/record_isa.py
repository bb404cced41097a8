"""What hardware gives for each instruction form, as golden data; or what the emulator gives.

::

    python -m tools.record_isa --driver cuda --write tests/golden/isa-h200   # on the GPU to record
    python -m tools.record_isa --driver cpu                                  # is every case taken?
    python -m tools.record_isa --driver cpu --against tests/golden/isa-h200  # where do we differ?
    python -m tools.record_isa --driver ptxas                                # what ptxas refuses

The cases and their inputs are made by ``tests/golden/isa``. Each chapter runs in a process of its
own, since a fault ends the process; the cases of a group that faults, and those after it, are tried
in ever smaller parts, each in a fresh process, until those that fault are found. They and the cases
that a compiler refuses are listed, and are not in the data: refused by hardware and taken here,
they are faults of our tables. Exit status 1 where a case faulted or a chapter failed; with
``--against`` or on ``cpu``, also where something was refused or differs.
"""

from __future__ import annotations

import argparse
import importlib
import multiprocessing
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.golden.isa import store
from tests.golden.isa.case import Case
from tests.golden.isa.enumeration import CHAPTERS, WANTED, cases
from tests.golden.isa.kernel import Group, Refused, Runner

DRIVERS = {"cpu": "cudarun.emulator.driver", "cuda": "cuda.bindings.driver"}
GROUP = 64  # cases in a module


class Assembler:
    """Stands for a driver where there is only ptxas: takes modules, runs nothing."""

    def name(self) -> str:
        """Which ptxas."""
        told = subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True)
        return told.stdout.splitlines()[-2]

    def close(self) -> None:
        """Nothing is held."""

    def run(self, group: Group) -> dict[str, list[Any]]:
        """Assemble; there are no results. Raises `Refused`."""
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as text:
            text.write(group.text)
            text.flush()
            target = group.cases[0].target
            architecture = "sm_90a" if target == "sm_90a" else "sm_90"  # target may be older
            command = ["ptxas", f"-arch={architecture}", "-O1", "-o", "/dev/null", text.name]
            told = subprocess.run(command, capture_output=True, text=True, check=False)
        if told.returncode:
            raise Refused("ptxas", told.stderr)
        return {case.name: [] for case in group.cases}


@dataclass
class Chapter:
    """What became of a chapter."""

    name: str
    device: str = ""
    results: dict[str, list[Any]] = field(default_factory=dict)
    refused: list[tuple[str, str]] = field(default_factory=list)
    faulted: list[tuple[str, str]] = field(default_factory=list)
    failed: str = ""
    seconds: float = 0.0


def run_chapter(driver: str, only: str, name: str) -> Chapter:
    """All cases of a chapter, in groups, without those that are refused or fault."""
    started = time.perf_counter()
    wanted = [case for case in cases(name) if only in case.name]
    found = run_all(driver, name, wanted)
    if found.failed:
        failed, found.failed = found.failed, ""
        seen = found.results.keys() | {refused for refused, _ in found.refused}
        left = [case for case in wanted if case.name not in seen]
        if not left:  # it was not a case that failed
            found.failed = failed
        for start in range(0, len(left), GROUP):
            find_faults(driver, left[start : start + GROUP], found)
    found.seconds = time.perf_counter() - started
    return found


def find_faults(driver: str, wanted: Sequence[Case], found: Chapter) -> None:
    """Run cases in a fresh process; where they fault, each half of them in one of its own."""
    fresh = multiprocessing.get_context("spawn")  # a fork would inherit the context that faulted
    try:
        with ProcessPoolExecutor(1, mp_context=fresh) as pool:
            part = pool.submit(run_all, driver, found.name, wanted).result()
    except BrokenExecutor as error:
        part = Chapter(found.name, failed=f"the process ended: {error}")
    if not part.failed:
        found.device = found.device or part.device
        found.results |= part.results
        found.refused += part.refused
    elif len(wanted) == 1:
        found.faulted.append((wanted[0].name, part.failed))
    else:
        half = len(wanted) // 2
        find_faults(driver, wanted[:half], found)
        find_faults(driver, wanted[half:], found)


def run_all(driver: str, name: str, wanted: Sequence[Case]) -> Chapter:
    """Cases of a chapter in this process, up to the first fault."""
    found = Chapter(name)
    try:
        runner: Any = Assembler()
        if driver != "ptxas":
            runner = Runner(importlib.import_module(DRIVERS[driver]))
        found.device = runner.name()
        for target in sorted({case.target for case in wanted}):
            same = [case for case in wanted if case.target == target]
            for start in range(0, len(same), GROUP):
                run_cases(runner, same[start : start + GROUP], found)
        runner.close()
    except RuntimeError as error:
        found.failed = str(error)
    return found


def run_cases(runner: Any, wanted: Sequence[Case], found: Chapter) -> None:
    """Run a group without what the compiler blames; if it blames nothing, halves are tried."""
    while wanted:
        group = Group(wanted)
        try:
            found.results |= runner.run(group)
            return
        except RuntimeError as error:
            first, last = wanted[0].name, wanted[-1].name
            raise RuntimeError(f"{error}, among the cases from '{first}' to '{last}'") from None
        except Refused as refusal:
            blamed = group.blamed(refusal.log)
            if not blamed and len(wanted) > 1:
                half = len(wanted) // 2
                run_cases(runner, wanted[:half], found)
                wanted = wanted[half:]
                continue
            blamed = blamed or list(wanted)
            for case in blamed:
                found.refused.append((case.name, why(group, case, refusal)))
            wanted = [case for case in wanted if case not in blamed]


def why(group: Group, case: Case, refusal: Refused) -> str:
    """The complaint about one case."""
    for line in refusal.log.splitlines():
        if case in group.blamed(line):
            return line.split(": ", 1)[-1].strip()
    return refusal.log.strip().splitlines()[0] if refusal.log.strip() else refusal.result


def main() -> int:
    """Run the chapters, write or compare, and say what happened."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--driver", choices=[*DRIVERS, "ptxas"], required=True)
    parser.add_argument("--write", type=Path, help="folder to write golden data to (cuda only)")
    parser.add_argument("--against", type=Path, help="folder of golden data to compare with")
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--most", type=int, default=30, help="lines for each kind of finding")
    parser.add_argument("chapters", nargs="*", help=f"all, or some of {' '.join(CHAPTERS)}")
    options = parser.parse_args()
    if options.write and options.driver != "cuda":
        parser.error("--write: golden data is what hardware gives; use --driver cuda")
    chapters = options.chapters or (*CHAPTERS, *([WANTED] if options.driver != "cpu" else ()))
    bad = 0
    with ProcessPoolExecutor(options.jobs, max_tasks_per_child=1) as pool:
        run = partial(run_chapter, options.driver, options.only)
        for chapter in pool.map(run, chapters):
            bad += report(chapter, options)
    return 1 if bad else 0


def report(chapter: Chapter, options: argparse.Namespace) -> int:
    """Say what became of a chapter, write it if wanted; how many findings are bad."""
    size = sum(array.nbytes for arrays in chapter.results.values() for array in arrays)
    print(
        f"{chapter.name}: {len(chapter.results)} cases, {len(chapter.refused)} refused, "
        f"{size / 1024:.0f} KiB, {chapter.seconds:.1f} s on {chapter.device}", flush=True
    )  # fmt: skip
    for name, reason in chapter.refused[: options.most]:
        print(f"  refused: {name}: {reason}")
    for name, reason in chapter.faulted:
        print(f"  FAULTED: {name}: {reason}")
    if chapter.failed:
        print(f"  FAILED: {chapter.failed}")
        return 1
    if options.write:
        options.write.mkdir(parents=True, exist_ok=True)
        kept = [case for case in cases(chapter.name) if case.name in chapter.results]
        path = options.write / f"{chapter.name}.xz"
        written = store.write(path, chapter.device, kept, chapter.results)
        print(f"  wrote {path}: {written / 1024:.0f} KiB")
    differing: list[str] = []
    if options.against:
        golden = store.read(options.against / f"{chapter.name}.xz")
        differing = list(store.differences(golden, chapter.results, options.most))
        print("\n".join(f"  {line}" for line in differing) or "  as recorded")
    strict = options.driver == "cpu"
    return len(differing) + len(chapter.faulted) + (len(chapter.refused) if strict else 0)


if __name__ == "__main__":
    sys.exit(main())
