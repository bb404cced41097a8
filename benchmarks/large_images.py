"""The time and memory of ``cudarun load`` for a large file: a library with code for many targets.

Usage: ``python benchmarks/large_images.py FILE [--kernel NAME] [--arch TARGET] [--device LIST]
[--beside PROGRAM]``. Needs no GPU, unless ``--device`` names one.

Every command runs once, because a run takes seconds. The processor time is that of all processes
of a command. The memory is the largest sum of the proportional set sizes (PSS, proc(5)) of all its
processes at one moment, sampled 50 times a second, and the largest resident set of one process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from timing import cudarun_command

INTERVAL = 0.02  # seconds
MIB = 1 << 20


class Peak:
    """The memory of a process and its descendants, sampled in a thread."""

    def __init__(self, pid: int) -> None:
        self.total = self.largest = 0
        self._pid = pid
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def end(self) -> None:
        """Stop sampling."""
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(INTERVAL):
            sizes = [memory(pid) for pid in family(self._pid)]
            self.total = max(self.total, sum(pss for pss, _ in sizes))
            self.largest = max([self.largest, *(rss for _, rss in sizes)])


def family(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    found = [pid]
    for each in found:
        with suppress(OSError):
            for task in Path(f"/proc/{each}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def memory(pid: int) -> tuple[int, int]:
    """Return the proportional and the resident set size of a process in bytes."""
    sizes = {"Pss": 0, "Rss": 0}
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name in sizes:
                sizes[name] = int(rest.split()[0]) * 1024
    return sizes["Pss"], sizes["Rss"]


def measure(command: Sequence[str]) -> tuple[str, str]:
    """Run a command; return its figures as a line, and its last line on stderr."""
    before = os.times()
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    peak = Peak(process.pid)
    _, errors = process.communicate()
    seconds = time.perf_counter() - start
    peak.end()
    after = os.times()
    processor = sum(after[2:4]) - sum(before[2:4])
    figures = (
        f"{seconds:7.2f} s  {processor:7.2f} s  {peak.total / MIB:7.0f} MiB"
        f"  {peak.largest / MIB:7.0f} MiB  {process.returncode:4d}"
    )
    return figures, errors.decode(errors="replace").strip().rpartition("\n")[2]


def main() -> int:
    """Run the commands and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--kernel", help="also measure load --offline -k NAME")
    parser.add_argument(
        "--arch", help="also measure load --offline --arch TARGET, with -v and --json"
    )
    parser.add_argument("--device", help="also measure load -d LIST")
    parser.add_argument("--beside", metavar="PROGRAM", help="another cudarun to compare with")
    options = parser.parse_args()
    cases = [["--offline"]]
    if options.kernel:
        cases.append(["--offline", "-k", options.kernel])
    if options.arch:
        cases += [["--offline", "--arch", options.arch, *more] for more in ([], ["-v"], ["--json"])]
    if options.device:
        cases.append(["-d", options.device])
    print(f"{options.file}: {options.file.stat().st_size / MIB:.0f} MiB, {os.cpu_count()} cores")
    print(
        f"{'cudarun load':40}  {'wall':>9}  {'processor':>9}  {'memory':>11}  {'largest':>11}  exit"
    )
    programs = [cudarun_command(), *([[options.beside]] if options.beside else [])]
    for case in cases:
        for program in programs:
            figures, error = measure([*program, "load", os.fspath(options.file), *case])
            name = (
                " ".join(case) if program is programs[0] else f"{options.beside} {' '.join(case)}"
            )
            print(f"{name:40}  {figures}  {error[:80]}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
