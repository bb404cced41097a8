"""Mutants of PTX on a GPU: what the emulated device takes, the GPU takes, and gives the same bits.

``python3 tools/hardware_mutations.py [--count 300] [--seed 1] [--jobs 8]`` on a machine with a GPU.

So many mutants that the emulated device takes are made of samples and instruction tests, and each
is loaded and launched on both. Every launch has a process of its own with a time limit: mutants
fault and hang. A mutant is emulated twice, the second time with registers and shared memory full of
random bits and buffers elsewhere: where that changes the result it has none, and is not compared.
Results of ``.approx`` instructions are listed apart: they need not have the same bits; so are
accesses that the manual gives no meaning: out of bounds, which a GPU need not see, or in another
state space than that of the address.

Prints a summary; writes each difference with both texts to ``$OUT/mutations.txt`` where there is an
``$OUT``. Exit status 1 where a mutant is refused by the GPU alone, or gives other bits.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pickle
import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cudarun.emulator.program import compile_module
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import parse
from tests.support.mutation_launches import ROOT, Outcome, Work, run, works
from tests.support.ptx_mutations import Mutant, mutate

_SECONDS = 20
_APPROXIMATE = re.compile(r"\.approx|^(?:@!?%\w+\s+)?(?:sin|cos|lg2|ex2|tanh|rcp|rsqrt)\b")
_SPACE = re.compile(
    r"(?:@!?%\w+\s+)?(?:ld|st|atom|red)\b[.\w:]*?\.(global|shared|const|local|param)\b"
)
_OWN_TIME = ("clock", "globaltimer", "smid", "warpid", "gridid", "envreg")  # differ by their nature
_DRIVERS = {"cpu": "cudarun.emulator.driver", "gpu": "cuda.bindings.driver"}


@dataclass(frozen=True)
class Case:
    """A mutant and its launch."""

    work: Work
    mutant: Mutant


# --- in a process of its own ---------------------------------------------------------------------


def launch_alone(driver: str, fill: str) -> None:
    """Run the case on standard input; what becomes of it goes to standard output."""
    case: Case = pickle.load(sys.stdin.buffer)
    if fill == "random":
        fill_with_noise()
    cuda = importlib.import_module(_DRIVERS[driver])
    cuda.cuInit(0)
    cuda.cuCtxCreate(None, 0, 0)
    if fill == "random":
        cuda.cuMemAlloc(1 << 20)  # addresses are no result either
    outcome = run(cuda, case.mutant.text, case.work)
    sys.stdout.buffer.write(pickle.dumps(outcome))
    sys.stdout.flush()
    os._exit(0)  # after a fault there is nothing to tidy up


def fill_with_noise() -> None:
    """Let the emulated device begin with registers and shared memory that hold anything."""
    from cudarun.emulator.machine.batch import Batch
    from cudarun.emulator.machine.frame import Frame

    noise = np.random.default_rng(7)
    make_frame, begin = Frame.__init__, Batch.begin

    def frame(self: Any, *arguments: Any) -> None:
        make_frame(self, *arguments)
        for slot, array in zip(self.function.slots, self.home, strict=True):
            if slot.role.name == "REGISTER" and array.flags.writeable and array.dtype != np.bool_:
                array.view(np.uint8)[...] = noise.integers(0, 256, array.view(np.uint8).shape)

    def place(self: Any, *arguments: Any) -> None:
        begin(self, *arguments)
        shared = self.section("shared").bytes
        shared[:] = noise.integers(0, 256, len(shared))

    Frame.__init__, Batch.begin = frame, place  # type: ignore[method-assign]


# --- the whole -----------------------------------------------------------------------------------


def cases(count: int, seed: int) -> Iterator[Case]:
    """Mutants that the emulated device takes."""
    chance = random.Random(seed)
    all_works = works()
    taken = 0
    while taken < count:
        work = chance.choice(all_works)
        mutant = mutate(work.path.read_text(), chance.randrange(1 << 30))
        try:
            compile_module(parse(mutant.text))
        except PtxError:
            continue
        taken += 1
        yield Case(work, mutant)


def outcome_of(case: Case, driver: str, fill: str = "zeros") -> Outcome:
    """What becomes of a case in a process of its own."""
    command = [sys.executable, __file__, "--alone", driver, fill]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    try:
        done = subprocess.run(
            command,
            input=pickle.dumps(case),
            capture_output=True,
            timeout=_SECONDS,
            env=os.environ | {"PYTHONPATH": path},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(True, "out of time")
    if done.returncode or not done.stdout:
        return Outcome(True, f"the process ended: {done.stderr.decode()[-200:].strip()}")
    found: Outcome = pickle.loads(done.stdout)
    return found


def verdict(case: Case) -> tuple[str, Outcome, Outcome]:
    """What the two say in a word, ``equal``, ``different`` and so on, and what became of each."""
    here, there = outcome_of(case, "cpu"), outcome_of(case, "gpu")
    word = "different"
    if not there.loaded:
        word = "refused by the GPU alone"
    elif here == there:
        word = "equal" if here.outputs else "fail alike"
    elif here != outcome_of(case, "cpu", "random") or any(
        name in case.mutant.text.partition(".entry")[2] for name in _OWN_TIME
    ):
        word = "without a result"
    elif here.result == there.result and _APPROXIMATE.search(case.mutant.now):
        word = "approximate"
    elif here.result == "CUDA_ERROR_ILLEGAL_ADDRESS" or _spaces(case.mutant):
        word = "undefined"
    return word, here, there


def _spaces(mutant: Mutant) -> bool:
    """Whether an access is in another state space than it was."""
    was, now = (_SPACE.match(text) for text in (mutant.was, mutant.now))
    return was is not None and now is not None and was[1] != now[1]


def main() -> int:
    """Compare, and say what was found."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--count", type=int, default=300)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=8)
    options.add_argument("--alone", nargs=2, metavar=("DRIVER", "FILL"), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.alone:
        launch_alone(*given.alone)
    chosen = list(cases(given.count, given.seed))
    with ThreadPoolExecutor(given.jobs) as threads:
        found = list(zip(chosen, threads.map(verdict, chosen), strict=True))
    counts = Counter(word for _, (word, _, _) in found)
    wrong = [item for item in found if item[1][0] in ("different", "refused by the GPU alone")]
    report = [_line(*item) for item in found if item[1][0] not in ("equal", "fail alike")]
    if "OUT" in os.environ:
        Path(os.environ["OUT"], "mutations.txt").write_text("\n".join(report) + "\n")
    for item in wrong[:60]:
        print(_line(*item))
    print(f"{given.count} mutants: {', '.join(f'{n} {word}' for word, n in counts.most_common())}")
    return int(bool(wrong))


def _line(case: Case, found: tuple[str, Outcome, Outcome]) -> str:
    word, here, there = found
    where = f"{case.work.path.relative_to(ROOT)}:{case.mutant.line}"
    said = f"cpu {here.result}, gpu {there.result}"
    change = f"{case.mutant.was}  ->  {case.mutant.now}"
    return f"{word}: {where} ({case.work.kernel}): {change}  [{said}]"


if __name__ == "__main__":
    sys.exit(main())
