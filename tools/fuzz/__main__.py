"""Run fuzzers: cases made from a seed, each of which must end with a documented exit code.

::

    python -m tools.fuzz                                  # 300 cases of each
    python -m tools.fuzz specs npy --count 20000 --seed 7
    python -m tools.fuzz expressions --seed 7 --first 1234 --count 1
    python -m tools.fuzz programs engines --cpu-engine compile
    python -m tools.fuzz services --count 20000 --seconds 300

No case may end with exit code 7, print a traceback or a warning, take 20 s of processor time or
1 GiB of memory. A failure is printed with its number, from which ``--first`` makes it again, and
its shortest reproducer. Exit status 1 when there was one.
"""

from __future__ import annotations

import argparse
import math
import os
import sys

from cudarun.emulator.engines import ENGINE_VARIABLE, MODES
from tools.fuzz import FUZZERS, load
from tools.fuzz.runner import run

_SHOWN = 10


def main() -> int:
    """Run the fuzzers that the command line names."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz", description=(__doc__ or "").partition("\n")[0]
    )
    add = parser.add_argument
    add("fuzzer", nargs="*", metavar="FUZZER", help=f"of {', '.join(FUZZERS)}; default: all")
    add("--count", type=int, default=300, help="cases of each; default: %(default)s")
    add("--seed", type=int, default=1, help="default: %(default)s")
    add("--first", type=int, default=0, help="the number of the first case; default: %(default)s")
    add("--seconds", type=float, default=math.inf, help="begin no case of a fuzzer after this time")
    add("--cpu-engine", choices=MODES, help="engine of the emulated device; programs are compared")
    given = parser.parse_args()
    if given.cpu_engine:
        os.environ[ENGINE_VARIABLE] = given.cpu_engine
    failed = False
    for name in given.fuzzer or FUZZERS:
        fuzzer = load(name)
        if reason := fuzzer.unavailable():
            print(f"{name:12} skipped: {reason}")
            continue
        result = run(fuzzer, given.count, given.seed, given.first, seconds=given.seconds)
        print(result.line, flush=True)
        kinds: dict[str, list[str]] = {}
        for failure in result.failures:
            numbers = kinds.setdefault(failure.kind, [])
            numbers.append(str(failure.number))
            if len(numbers) == 1 and len(kinds) <= _SHOWN:
                print(f"--- {name} --seed {given.seed} --first {failure.number} --count 1")
                print(f"{failure.problem.rstrip()}\n    {failure.reproducer}", flush=True)
        for kind, numbers in kinds.items():
            print(f"{len(numbers):6} × {kind}: case {', '.join(numbers)}")
        failed = failed or bool(result.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
