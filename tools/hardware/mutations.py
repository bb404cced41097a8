"""Mutants of PTX: what the emulated device takes, the GPU takes, and gives the same bits.

So many mutants that the emulated device takes are made of samples and instruction tests, and each
is loaded and launched on both. Every launch has a process of its own with a time limit: mutants
fault and hang. A mutant is emulated twice, the second time with registers and shared memory full of
random bits and buffers elsewhere: where that changes the result it has none, and is not compared.
Accesses that the manual gives no meaning are of two kinds: out of bounds, which a GPU need not see,
or in another state space than that of the address.

A check fails where a mutant is refused by the GPU alone, or gives other bits. Each mutant that did
not end alike is kept with both texts in ``mutants.txt``.
"""

from __future__ import annotations

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
from typing import Any

import numpy as np

from cudarun.emulator.decode.module import compile_module
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import parse
from tests.support.mutation_launches import Outcome, Work, run, works
from tests.support.processes import PYTHON_PATH, ROOT
from tests.support.ptx_mutations import Mutant, mutate
from tools.hardware.bench import Bench, Check, check

_SECONDS = 20
_SPACE = re.compile(
    r"(?:@!?%\w+\s+)?(?:ld|st|atom|red)\b[.\w:]*?\.(global|shared|const|local|param)\b"
)
_OWN_TIME = ("clock", "globaltimer", "smid", "warpid", "gridid", "envreg")  # differ by their nature
_WRONG = ("different", "refused by the GPU alone")
_DRIVERS = {"cpu": "cudarun.emulator.driver", "gpu": "cuda.bindings.driver"}


@dataclass(frozen=True)
class Case:
    """A mutant and its launch."""

    work: Work
    mutant: Mutant


def checks(bench: Bench) -> Iterator[Check]:
    """Compare so many mutants."""
    given = bench.options
    driver = "cpu" if bench.is_emulated else "gpu"
    chosen = list(cases(given.mutants, given.seed))
    with ThreadPoolExecutor(given.jobs) as threads:
        judged = threads.map(lambda case: verdict(case, driver, bench.ordinal), chosen)
        found = list(zip(chosen, judged, strict=True))
    odd = [(case, each) for case, each in found if each[0] not in ("equal", "fail alike")]
    bench.keep("mutants.txt", "".join(f"{_line(case, *each)}\n" for case, each in odd))
    for number, (case, each) in enumerate(found):
        line = _line(case, *each)
        yield check(f"mutant {number}", each[0] not in _WRONG, line)
    counts = Counter(word for _, (word, _, _) in found)
    yield check("mutants", found, ", ".join(f"{n} {word}" for word, n in counts.most_common()))


# --- in a process of its own ---------------------------------------------------------------------


def launch_alone(driver: str, ordinal: int, fill: str) -> None:
    """Run the case on standard input; what becomes of it goes to standard output."""
    case: Case = pickle.load(sys.stdin.buffer)
    if fill == "random":
        fill_with_noise()
    cuda = importlib.import_module(_DRIVERS[driver])
    cuda.cuInit(0)
    cuda.cuCtxCreate(None, 0, ordinal)
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
        for slot, array in zip(self.function.slots, self.registers, strict=True):
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
            code = compile_module(parse(mutant.text))
        except PtxError:
            continue
        if any(kernel.unimplemented for kernel in code.kernels.values()):
            continue
        taken += 1
        yield Case(work, mutant)


def outcome_of(case: Case, driver: str, ordinal: int = 0, fill: str = "zeros") -> Outcome:
    """What becomes of a case in a process of its own."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__, driver, str(ordinal), fill],
            cwd=ROOT,
            input=pickle.dumps(case),
            capture_output=True,
            timeout=_SECONDS,
            env=os.environ | {"PYTHONPATH": PYTHON_PATH},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(True, "out of time")
    if done.returncode or not done.stdout:
        return Outcome(True, f"the process ended: {done.stderr.decode()[-200:].strip()}")
    found: Outcome = pickle.loads(done.stdout)
    return found


def verdict(case: Case, driver: str, ordinal: int) -> tuple[str, Outcome, Outcome]:
    """What the two say in a word, ``equal``, ``different`` and so on, and what became of each."""
    here, there = outcome_of(case, "cpu"), outcome_of(case, driver, ordinal)
    word = "different"
    if not there.loaded:
        word = "refused by the GPU alone"
    elif here == there:
        word = "equal" if here.outputs else "fail alike"
    elif here != outcome_of(case, "cpu", fill="random") or any(
        name in case.mutant.text.partition(".entry")[2] for name in _OWN_TIME
    ):
        word = "without a result"
    elif here.result == "CUDA_ERROR_ILLEGAL_ADDRESS" or _spaces(case.mutant):
        word = "undefined"
    return word, here, there


def _spaces(mutant: Mutant) -> bool:
    """Whether an access is in another state space than it was."""
    was, now = (_SPACE.match(text) for text in (mutant.was, mutant.now))
    return was is not None and now is not None and was[1] != now[1]


def _line(case: Case, word: str, here: Outcome, there: Outcome) -> str:
    where = f"{case.work.path.relative_to(ROOT)}:{case.mutant.line}"
    said = f"cpu {here.result}, gpu {there.result}"
    change = f"{case.mutant.was}  ->  {case.mutant.now}"
    return f"{word}: {where} ({case.work.kernel}): {change}  [{said}]"


if __name__ == "__main__":
    launch_alone(sys.argv[1], int(sys.argv[2]), sys.argv[3])
