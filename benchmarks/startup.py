"""How long ``cudarun`` takes to say anything, beside a Python that only imports click.

Usage: ``python benchmarks/startup.py [--repeat N] [--beside PROGRAM]``. Needs no GPU.
"""

from __future__ import annotations

import argparse
import statistics
import sys

from timing import Failed, cudarun_command, interleaved, show

BASELINE = "python -c 'import click'"


def main() -> int:
    """Time the commands side by side and print the table; 1 when one of them fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeat", type=int, default=21, help="rounds counted; default: 21")
    parser.add_argument(
        "--beside", action="append", default=[], metavar="PROGRAM",
        help="another cudarun to compare with, such as that of the commit before; repeatable",
    )  # fmt: skip
    options = parser.parse_args()

    ours = cudarun_command()
    cases = {
        "python -c pass": [sys.executable, "-c", "pass"],
        BASELINE: [sys.executable, "-c", "import click"],
    }
    for line in ("--help", "launch --help", "--version", "devices -d cpu"):
        cases[f"cudarun {line}"] = [*ours, *line.split()]
        for other in options.beside:
            cases[f"{other} {line}"] = [other, *line.split()]
    try:
        times = interleaved(cases, options.repeat, warmup=2)
    except Failed as failed:
        print(failed, file=sys.stderr)
        return 1
    print(f"{' '.join(ours)}, medians of {options.repeat} interleaved runs")
    show(times, BASELINE)
    ratio = statistics.median(times["cudarun --help"]) / statistics.median(times[BASELINE])
    print(f"cudarun --help takes {ratio:.2f} x as long as {BASELINE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
