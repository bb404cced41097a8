"""Run chapters of what only a GPU can show, and report what came of them.

::

    python -m tools.hardware                            # all chapters, on GPU 0
    python -m tools.hardware launch images --device 1
    python -m tools.hardware reliability --only trap assert
    python -m tools.hardware contexts spec --device all
    python -m tools.hardware --list
    python -m tools.hardware samples --device cpu       # no GPU at hand: does the chapter work?

Stdout has a line for each chapter and the failures. The folder ``--out`` gets ``report.json``, with
every check; a log of each chapter; and a folder for each, with what it keeps. Exit status 1 when a
check failed, or there is no such device.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
from pathlib import Path

from tools.hardware import report
from tools.hardware.bench import Bench, Options, check, guarded
from tools.hardware.report import Chapter

CHAPTERS = (
    "conformance", "bindings", "samples", "programs", "launch", "images", "contexts", "spec",
    "reliability", "driver-log", "sanitize", "record", "data", "accepted-ptx", "approximations",
    "mutations", "fuzz", "soak",
)  # fmt: skip


def main() -> int:
    """Run what the command line asks for; see the module's docstring for the exit status."""
    given = parsed()
    if given.list:
        for name in CHAPTERS:
            module = importlib.import_module(module_of(name))
            print(f"{name:14} {(module.__doc__ or '').partition(chr(10))[0]}")
        return 0
    options = Options(
        device=given.device, architecture=given.arch, only=tuple(given.only), fuzz=given.fuzz,
        libraries=given.libraries, mutants=given.mutants, programs=given.programs,
        seed=given.seed, jobs=given.jobs,
        gib=given.gib, launches=given.launches, scratch=given.scratch,
    )  # fmt: skip
    out: Path = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    chapters = run(options, out, given.chapter or list(CHAPTERS), given.commit)
    print("\n" + "\n".join(chapter.line for chapter in chapters))
    total = Chapter("all", sum(chapter.seconds for chapter in chapters))
    total.checks = [each for chapter in chapters for each in chapter.checks]
    print(f"{total.line}\n{out / 'report.json'}")
    return 1 if total.failures or not total.count("passed") else 0


def module_of(name: str) -> str:
    """Return the module of a chapter."""
    return f"tools.hardware.{name.replace('-', '_')}"


def parsed() -> argparse.Namespace:
    """Return the command line in its parts."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.hardware", description=(__doc__ or "").partition("\n")[0]
    )
    defaults, add = Options(), parser.add_argument
    out = Path(os.environ.get("OUT", "hardware-report"))
    add("chapter", nargs="*", metavar="CHAPTER", help=f"of {', '.join(CHAPTERS)}; default: all")
    add("--list", action="store_true", help="list the chapters")
    add("--out", type=Path, default=out, help="default: $OUT, or ./hardware-report")
    add("--device", help="as for cudarun -d; default: 0, and all for contexts and spec")
    add("--only", nargs="+", default=(), metavar="TEXT",
        help="checks with this in their name, in chapters that can choose")  # fmt: skip
    add("--commit", help="of cudarun, where this is no checkout of git")
    add("--arch", default=defaults.architecture, help="of cubins made here; default: %(default)s")
    add("--fuzz", type=int, default=defaults.fuzz, help="damaged images; default: %(default)s")
    add("--libraries", type=int, default=defaults.libraries,
        help="cubins out of NVIDIA's libraries; default: %(default)s")  # fmt: skip
    add("--mutants", type=int, default=defaults.mutants, help="default: %(default)s")
    add(
        "--seed",
        type=int,
        default=defaults.seed,
        help="of mutants and programs; default: %(default)s",
    )
    add("--programs", type=int, default=defaults.programs, help="random; default: %(default)s")
    add("--jobs", type=int, default=defaults.jobs, help="mutants at once; default: %(default)s")
    add("--gib", type=float, help="the largest buffer; default: 5, on the emulated device 0.02")
    add("--launches", type=int, default=defaults.launches, help="to soak; default: %(default)s")
    add("--scratch", type=Path, help="for large files; default: /dev/shm where there is room")
    given = parser.parse_args()
    for name in given.chapter:
        if name not in CHAPTERS:
            parser.error(f"no chapter {name}: choose from {', '.join(CHAPTERS)}")
    return given


def run(options: Options, out: Path, names: list[str], commit: str | None) -> list[Chapter]:
    """Run chapters one after the other; the report is written after each."""
    start = report.now()
    try:
        facts = report.surroundings(Bench(options, out, out))
    except (ValueError, KeyError) as error:
        chapter = Chapter("devices", checks=[check("devices", False, str(error))])
        report.write(out / "report.json", report.document(start, commit, {}, [chapter]))
        print("\n".join(report.shown(chapter)))
        return [chapter]
    found = ", ".join(each["name"] for each in facts["devices"])
    print(f"{found}; driver {facts['driver']}, bindings {facts['packages']['cuda-bindings']}")
    chapters = []
    for name in names:
        chapter = Chapter(name)
        chapters.append(chapter)
        kept = out / name
        kept.mkdir(exist_ok=True)
        with (
            tempfile.TemporaryDirectory(prefix="cudarun-hardware-") as work,
            (out / f"{name}.log").open("w") as log,
        ):
            module = importlib.import_module(module_of(name))
            bench = Bench(options, Path(work), kept)
            chapter.run(guarded(name, module.checks(bench)), log)
        print("\n".join([chapter.line, *report.shown(chapter)]), flush=True)
        report.write(out / "report.json", report.document(start, commit, facts, chapters))
    return chapters


if __name__ == "__main__":
    sys.exit(main())
