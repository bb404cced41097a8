"""The processor time of judged cases: of candidates of a spec, and of whole submissions.

Usage: ``python benchmarks/judged.py [--candidates N]``. Every case has a reference in numpy. The
time is that of all processes, so that other work on the machine matters little; the last column is
that of 10,000 cases on two cores.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

from timing import ROOT, cudarun_command

CASES = 10
SPEC = """
[defaults]
kernel = "center"
grid = "rows"
block = 64
args = [
    "x=f32[rows,columns]:rand", "y=f32[rows,columns]",
    "rows=i32:${rows}", "columns=i32:${columns}",
]
expect = ["y=reference.py:center"]
seed = "random"

[[launch]]
name = "${rows}x${columns}"
matrix = {rows = [1, 2, 3, 4, 5], columns = [50, 400]}
"""
REFERENCE = """
def center(x):
    return x - x.mean(axis=1, keepdims=True)
"""


def row(name: str, cases: int, command: Sequence[str], folder: str) -> None:
    """Run a command, and print the processor time of its cases."""
    before = os.times()
    words = [*cudarun_command(), *command]
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    spent = after.children_user + after.children_system
    spent -= before.children_user + before.children_system
    minutes = spent / cases * 10_000 / 2 / 60
    print(f"{name:34} {cases:6} {spent:9.1f} {1e3 * spent / cases:9.1f} {minutes:9.1f}", flush=True)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--candidates", type=int, default=100, help="default: 100")
    count = parser.parse_args().candidates
    print(f"{'':34} {'cases':>6} {'s':>9} {'ms each':>9} {'min/10000':>9}")
    images = sorted((ROOT / "samples/judge").glob("honest_*.ptx"))
    submission = ROOT / "samples/submissions/gpumode/honest/center.py"
    problem = str(ROOT / "samples/submissions/gpumode/center.py")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "cases.toml").write_text(SPEC)
        Path(folder, "reference.py").write_text(REFERENCE)
        words: list[str] = []
        for number, image in enumerate(islice(cycle(images), count)):
            # Each is another image, as those that are generated are.
            Path(folder, f"{number}.ptx").write_text(f"{image.read_text()}\n// {number}\n")
            words += ["--candidate", f"{number}.ptx"]
        spec = ["launch", "--spec", "cases.toml", "-d", "cpu", "--allow-python", *words]
        row("candidates of a spec", count * CASES, spec, folder)
        served = ["judge", "--problem", problem, "-d", "cpu"]
        submissions = max(1, count // 20)
        for runs in (4, 20):
            command = [*served, "--runs", str(runs), *[str(submission)] * submissions]
            row(f"submissions, {runs} runs of 2 cases", submissions * 2 * runs, command, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
