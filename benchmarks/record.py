"""The overhead of ``cudarun record`` on other launches, and the size of a recording.

Usage: ``python benchmarks/record.py [--repeat N] [--launches N] [--mib N] [--stub] [-- COMMAND …]``

A C program launches a small kernel many times, with one and with eight threads: alone, while
another kernel is to be recorded, and under ``--list``. Then one launch that can reach ``--mib`` of
memory is recorded, replayed on the GPU, and shrunk. With a COMMAND, its wall time is compared, too.

With ``--stub`` the driver is that of the tests, whose launches cost nothing: the differences are
the processor time that the recorder adds to a launch.

Exit status 3 where there is no GPU or no C compiler.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from c_program import HERE
from timing import ROOT, cudarun_command, interleaved, show

sys.path.insert(0, str(ROOT))
from tests.support.stub_driver import build_stub


def _built(folder: Path) -> Path | None:
    program = folder / "launch_loop"
    command = ["cc", "-O2", HERE / "launch_loop.c", "-o", program, "-ldl", "-lpthread"]
    return program if subprocess.run(command).returncode == 0 else None


def _microseconds(command: Sequence[str], stub: Path | None) -> float:
    """Return the time of a launch; with a stub, its processor time."""
    environment = os.environ | ({"LD_LIBRARY_PATH": os.fspath(stub)} if stub else {})
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    wall, processor = done.stdout.splitlines()[0].split()
    return float(processor if stub else wall)


def launches(program: Path, count: int, repeat: int, stub: Path | None = None) -> None:
    """Print the microseconds of a launch in each way, interleaved."""
    record = [*cudarun_command(), "record", "-q"]
    for threads in (1, 8):
        loop = [os.fspath(program), str(count // threads), str(threads), "1"]
        cases = {
            "alone": loop,
            "record another kernel": [*record, "-k", "another", "--", *loop],
            "record --list": [*record, "--list", "--", *loop],
        }
        found: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(repeat):
            for name, command in cases.items():
                found[name].append(_microseconds(command, stub))
        base = statistics.median(found["alone"])
        for name, values in found.items():
            median = statistics.median(values)
            print(f"{threads} threads, {name:22} {median:9.4f} us  {median / base:6.3f}")


def sizes(program: Path, folder: Path, mib: int) -> None:
    """Print the seconds and sizes of a recording and of what is done with it."""
    big, small = folder / "big.cudarun", folder / "small.cudarun"
    loop = [os.fspath(program), "10", "1", str(mib)]
    steps = {
        "alone": loop,
        "record": [*cudarun_command(), "record", "-q", "-o", os.fspath(big), "--", *loop],
        "launch": [*cudarun_command(), "launch", "-q", os.fspath(big)],
        "record --shrink": [
            *(*cudarun_command(), "record", "-q", "--shrink", os.fspath(big)),
            *("-o", os.fspath(small)),
        ],
        "launch the small one": [*cudarun_command(), "launch", "-q", os.fspath(small)],
    }
    for name, command in steps.items():
        start = time.perf_counter()
        status = subprocess.run(command, stdout=subprocess.DEVNULL, cwd=ROOT).returncode
        print(f"{name:22} {time.perf_counter() - start:8.2f} s  exit status {status}")
    for path in (big, small):
        if path.exists():
            print(f"{path.name:22} {path.stat().st_size:12} bytes for {mib} MiB of memory")


def main() -> int:
    """Run it; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--launches", type=int, default=200_000)
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--stub", action="store_true")
    parser.add_argument("command", nargs="*", metavar="COMMAND")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        program = _built(Path(name))
        if given.stub and program is not None:
            launches(program, given.launches, given.repeat, build_stub(Path(name)))
            return 0
        if program is None or subprocess.run([program, "1", "1", "1"]).returncode:
            return 3
        launches(program, given.launches, given.repeat)
        sizes(program, Path(name), given.mib)
    if given.command:
        record = [*cudarun_command(), "record", "-q", "-k", "another", "--"]
        # Exit status 1: nothing is recorded.
        script = ["sh", "-c", '"$@"; [ $? = 1 ]', "sh", *record, *given.command]
        show(interleaved({"alone": given.command, "record": script}, given.repeat), "alone")
    return 0


if __name__ == "__main__":
    sys.exit(main())
