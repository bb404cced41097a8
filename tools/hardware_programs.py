"""Run the programs of ``tests/programs`` on a GPU and on the emulated device; compare every buffer.

::

    python tools/hardware_programs.py                      # exit status 0 when nothing differs
    python tools/hardware_programs.py --record "$OUT"      # and keep what the GPU computed
    python tools/hardware_programs.py scan sort --device 1

On the GPU every program runs twice. All buffers must be the same bytes on both devices and in both
runs but for those that ``tests/programs/inexact.toml`` names. ``--record FOLDER`` writes
``FOLDER/recorded/``, to be committed as ``tests/programs/recorded/``, where tests without a GPU
find it.
A line for each chapter, what differs, a sum. Exit status 1 when anything failed or differs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from tests.support import programs
from tests.support.programs import CHAPTERS, Outcome, difference

EMULATED = "cpu"


def outcomes(chapter: str, device: str) -> list[Outcome]:
    """Run a chapter in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="cudarun-programs-") as folder:
        return programs.run(chapter, device, Path(folder))


def differences(these: list[Outcome], those: list[Outcome]) -> list[str]:
    """Where two devices, or two runs, do not agree."""
    found = []
    for one, other in zip(these, those, strict=True):
        if "skipped" in (one.verdict, other.verdict):
            continue
        if one.printed != other.printed:
            found.append(f"{one.name}: printed {one.printed!r} and {other.printed!r}")
        for name, wanted in one.buffers.items():
            got = other.buffers.get(name, b"")
            differs = difference(one.name, name, one.types.get(name, ""), got, wanted)
            if differs is not None:
                found.append(f"{one.name}: {differs}")
    return found


def failures(those: list[Outcome], device: str) -> list[str]:
    """The cases that failed."""
    return [f"{each.name} on {device}: {each.reason}" for each in those if each.verdict == "failed"]


def chapter_faults(chapter: str, device: str, emulated: Future[list[Outcome]]) -> list[str]:
    """Run a chapter on the GPU, twice; all that is wrong with it."""
    first, second = outcomes(chapter, device), outcomes(chapter, device)
    here = emulated.result()
    found = failures(first, device) + failures(here, EMULATED)
    found += [f"two runs: {line}" for line in differences(first, second)]
    found += [f"emulated: {line}" for line in differences(first, here)]
    skipped = [each.name for each in first if each.verdict == "skipped"]
    print(
        f"{'ok    ' if not found else 'FAILED'}  {chapter:<12} {len(first)} programs, "
        f"{sum(len(each.buffers) for each in first)} buffers"
        + (f", skipped: {', '.join(skipped)}" if skipped else ""),
        flush=True,
    )
    for line in found:
        print(f"        {line}")
    if not failures(first, device):
        programs.record(chapter, first)
    return found


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="0", help="as for cudarun -d; default: 0")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="keep what the GPU computed")
    parser.add_argument("chapter", nargs="*", help=f"of {', '.join(CHAPTERS)}; default: all")
    options = parser.parse_args()
    start = time.perf_counter()
    chapters = options.chapter or CHAPTERS
    faults: list[str] = []
    workers = ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 1))
    with tempfile.TemporaryDirectory() as unwanted, workers:
        programs.RECORDED = (options.record or Path(unwanted)) / "recorded"
        programs.RECORDED.mkdir(parents=True, exist_ok=True)
        emulated = {chapter: workers.submit(outcomes, chapter, EMULATED) for chapter in chapters}
        for chapter in chapters:
            faults += chapter_faults(chapter, options.device, emulated[chapter])
    count = sum(len(programs.cases(chapter)) for chapter in chapters)
    print(
        f"{count} programs in {len(chapters)} chapters, {len(faults)} things wrong, "
        f"{time.perf_counter() - start:.0f} s"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
