"""Mutants of PTX: what ptxas refuses is refused here, and what is taken runs without our failing.

``mutants.txt`` has what ptxas said of each (`tools/record_mutants.py`). Whether those that both
take mean the same is for hardware to say: `tools/hardware/mutations.py`.
"""

import gc
import signal
from collections import defaultdict
from contextlib import contextmanager

import pytest

from cudarun.emulator import driver
from cudarun.emulator.decode.module import compile_module
from cudarun.emulator.host.process import process
from cudarun.ptx.errors import PtxError
from cudarun.ptx.parser import parse
from tests.support import mutation_launches
from tools.record_mutants import ROOT, TARGET

SECONDS = 2  # what a mutant may take; one that loops for ever does on hardware, too
TO_RUN = 3  # mutants of a kernel that are run


def recorded():
    found = defaultdict(list)
    for line in TARGET.read_text().splitlines():
        verdict, path, was, now = line.split("\t")
        found[path].append((verdict, was, now))
    return found


MUTANTS = recorded()
WORKS = {str(work.path.relative_to(ROOT)): work for work in mutation_launches.works()}


def mutated(path, was, now):
    lines = (ROOT / path).read_text().split("\n")
    places = [index for index, line in enumerate(lines) if line.strip().replace("\t", " ") == was]
    assert len(places) == 1, f"{path} has changed: run python -m tools.record_mutants"
    lines[places[0]] = now
    return "\n".join(lines)


def refused(text):
    """The complaints about a text or one of its kernels; none where all can run."""
    try:
        kernels = compile_module(parse(text)).kernels.values()
    except PtxError as error:
        return str(error)
    return "".join(str(place) for kernel in kernels for place in kernel.unimplemented)


@pytest.mark.parametrize("path", sorted(MUTANTS))
def test_what_ptxas_refuses_is_refused(path):
    taken = [
        f"{was}  ->  {now}"
        for verdict, was, now in MUTANTS[path]
        if not refused(mutated(path, was, now)) and verdict == "refuses"
    ]
    assert taken == []


def test_most_of_what_ptxas_takes_is_taken():
    """The rest is refused by name: modifiers that ptxas ignores, modifiers out of order."""
    verdicts = [
        refused(mutated(path, was, now))
        for path in sorted(MUTANTS)
        for verdict, was, now in MUTANTS[path]
        if verdict == "takes"
    ]
    assert len(verdicts) > 100
    assert verdicts.count("") > 0.85 * len(verdicts)


@contextmanager
def limit(seconds):
    def stop(signum, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    gc.disable()  # an exception in a callback of the collector would be lost, and reported
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except TimeoutError:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        gc.enable()
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("path", sorted(MUTANTS.keys() & WORKS.keys()))
def test_what_is_taken_ends_with_a_result(path, fresh_process):
    left = TO_RUN
    for verdict, was, now in MUTANTS[path]:
        text = mutated(path, was, now)
        if verdict != "takes" or refused(text) or not left:
            continue
        left -= 1
        process.reset()
        driver.cuInit(0)
        driver.cuCtxCreate(None, 0, 0)
        with limit(SECONDS):
            outcome = mutation_launches.run(driver, text, WORKS[path])
            assert outcome.loaded
