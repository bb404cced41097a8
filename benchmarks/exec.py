"""Programs under ``cudarun exec``: a call, a copy, a launch and the start-up.

Usage: ``python benchmarks/exec.py [--repeat N]``. Needs a C compiler, no GPU.

A figure is a median of interleaved rounds. A round runs a program that makes some thousand calls,
and the same program without them; the difference of their processor times, of the program and its
server together, is that of the calls. An empty launch is compared with one of the emulated driver
in this process, measured likewise. The wall time of a call is what the program sees; on a busy
machine only the processor time says something.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from timing import ROOT, Failed, cudarun_command

COUNTS = {"call": 20_000, "launch": 3_000, "copy": 40}
COPIED = 64 << 20
INSIDE = """
import ctypes, sys
from cudarun.emulator import driver as cuda
count = int(sys.argv[1])
cuda.cuInit(0)
context = cuda.cuDevicePrimaryCtxRetain(0)[1]
cuda.cuCtxSetCurrent(context)
text = b".version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry empty() { ret; }\\n\\0"
module = cuda.cuModuleLoadData(text)[1]
kernel = cuda.cuModuleGetFunction(module, b"empty")[1]
cuda.cuMemAlloc(1 << 26)
for _ in range(count):
    cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0)
cuda.cuCtxSynchronize()
"""


def measured(command: Sequence[str]) -> tuple[float, float, str]:
    """Run a command; return its wall time, the processor time of all its processes, its output."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        started = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - start
        output.seek(0)
        text = output.read().decode()
    if started.returncode:
        raise Failed(f"{command} ended with {started.returncode}")
    return wall, usage.ru_utime + usage.ru_stime, text


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program"
        source = Path(__file__).with_name("exec_program.c")
        compiler = shutil.which("cc") or "cc"
        build = [compiler, "-O2", "-w", "-o", os.fspath(program), os.fspath(source), "-ldl"]
        subprocess.run(build, check=True)
        report(os.fspath(program), repeat)


def report(program: str, repeat: int) -> None:
    """Measure a program, in interleaved rounds."""
    served = [*cudarun_command(), "exec", "--", program]
    inside = [sys.executable, "-c", INSIDE]
    walls: dict[str, list[float]] = {}
    spent: dict[str, list[float]] = {}
    for turn in range(repeat + 1):  # the first one fills caches
        alone = measured([program, "nothing", "0"])
        nothing = measured([*served, "nothing", "0"])
        started = measured([*served, "call", "0"])
        idle = measured([*inside, "0"])
        rows = {"start-up": (started[0] - alone[0], started[1] - alone[1])}
        rows["start-up without a call"] = (nothing[0] - alone[0], nothing[1] - alone[1])
        for what, count in COUNTS.items():
            _, seconds, text = measured([*served, what, str(count)])
            rows[what] = (float(text), (seconds - started[1]) / count)
        count = COUNTS["launch"]
        wall, seconds, _ = measured([*inside, str(count)])
        rows["launch inside"] = ((wall - idle[0]) / count, (seconds - idle[1]) / count)
        for what, (wall, seconds) in rows.items() if turn else ():
            walls.setdefault(what, []).append(wall)
            spent.setdefault(what, []).append(seconds)
    for what in walls:
        wall, seconds = median(walls[what]), median(spent[what])
        scale, unit = (1e6, "us") if what in COUNTS or "inside" in what else (1, "s")
        print(
            f"{what:24} {wall * scale:10.2f} {unit} wall {seconds * scale:10.2f} {unit} processor"
        )
    pairs = zip(spent["launch"], spent["launch inside"], strict=True)
    print(f"launch: {median(one / other for one, other in pairs):.2f} x of one inside")
    print(f"copy: {COPIED / median(walls['copy']) / 1e9:.1f} GB/s")


if __name__ == "__main__":
    main()
