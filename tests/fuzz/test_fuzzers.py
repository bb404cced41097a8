"""Hostile cases for every parser; `python -m tools.fuzz` runs as many as one likes."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.interruptions import interruptions
from tests.support.processes import ROOT
from tools.fuzz import FUZZERS, load, programs, ptxas
from tools.fuzz.fuzzer import Fuzzer, Unexpected
from tools.fuzz.runner import MEMORY, run
from tools.fuzz.sources import Sources

CASES = {
    "sources": 100,
    "ptxas": 40,
    "signals": 30,
    "environment": 40,
    "programs": 150,
    "engines": 8,
    "spaces": 40,
    "services": 8,
}
"""The numbers of cases of some fuzzers."""

COUNT = 100
"""`.ci/run` makes 300 of the others, with this seed, and of most that are processes."""

SEED = 20


@pytest.mark.parametrize("name", FUZZERS)
def test_every_case_has_a_documented_exit_code(name: str) -> None:
    fuzzer = load(name)
    if reason := fuzzer.unavailable():
        pytest.skip(reason)
    count = CASES.get(name, COUNT)
    if fuzzer.is_process:  # in a process without the fork server of other tests
        command = [sys.executable, "-m", "tools.fuzz", name, f"--count={count}", f"--seed={SEED}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"{count} cases, 0 failures" in done.stdout
        return
    result = run(fuzzer, count, SEED, shorten=False)
    assert [(each.number, each.problem, each.reproducer) for each in result.failures] == []
    assert result.cases == count
    assert result.largest < MEMORY


class UnconfinedSources(Sources):
    """The same texts for a compiler that may open every file."""

    confines = False


@pytest.mark.skipif(Sources.unavailable() is not None, reason="needs NVRTC and Landlock")
def test_sources_would_open_files_outside() -> None:
    result = run(UnconfinedSources, 20, SEED, shorten=False)
    assert {each.problem for each in result.failures} == {"a file outside was opened"}


def test_signals_while_a_command_starts() -> None:
    moments = random.Random(SEED).sample(range(2, 70_000), 100)
    found, count = interruptions("calls", moments, "load", "--offline", "samples/saxpy.ptx")
    assert [each for each in found if not each.is_clean] == []
    assert len(found) == sum(moment <= count for moment in moments) > 40


# --- the fuzzers themselves ----------------------------------------------------------------------


class Numbers(Fuzzer[str]):
    """Fails in ways that its cases name."""

    name = "numbers"

    def case(self, chance: random.Random) -> str:
        return chance.choice(("fine", "refused", "internal", "raises", "dies", "eats"))

    def exit_code(self, case: str) -> int:
        match case:
            case "refused":
                return 2
            case "internal":
                return 7
            case "raises":
                raise ValueError(case)
            case "dies":
                os._exit(11)
            case "eats":
                np.ones(MEMORY // 8 + (1 << 20))
        return 0


def test_the_runner_reports_every_kind_of_failure() -> None:
    result = run(Numbers, 24, seed=1, shorten=False)
    assert result.cases == 24
    kinds = {(each.reproducer, re.sub(r"\d+ MiB", "MiB", each.kind)) for each in result.failures}
    assert kinds == {
        ("'internal'", "exit code 7"),
        ("'raises'", "ValueError: raises"),
        ("'dies'", "the process ended with status 11"),
        ("'eats'", "MiB of memory"),
    }
    again = run(Numbers, 24, seed=1, shorten=False)
    assert [e.number for e in again.failures] == [e.number for e in result.failures]


def test_no_case_begins_after_the_time() -> None:
    assert run(Numbers, 24, seed=1, shorten=False, seconds=0).cases == 0


class Letters(Fuzzer[str]):
    """Fails where a text has a ``b`` after an ``a``."""

    name = "letters"

    def case(self, chance: random.Random) -> str:
        return "".join(chance.choices("abcd", k=40))

    def exit_code(self, case: str) -> int:
        if "b" in case[case.find("a") :] and "a" in case:
            raise Unexpected("b after a")
        return 0


def test_the_shortest_reproducer_is_found(tmp_path: Path) -> None:
    letters = Letters(tmp_path)
    assert letters.reproducer("ccdabdcdbacdcab", "b after a") == "ab"


def test_a_wrong_result_of_a_program_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return left * right + left.dtype.type(1)

    wrong = [
        programs.Operation(each.opcode, each.target, each.sources, product)
        if each.opcode == "mul.lo.u32"
        else each
        for each in programs.OPERATIONS
    ]
    monkeypatch.setattr(programs, "OPERATIONS", wrong)
    result = run(programs.Programs, 40, SEED, shorten=False)
    assert any("expected 0x" in each.problem for each in result.failures)


@pytest.mark.parametrize(
    ("was", "now", "name"),
    [
        ("ld.param.u64", "ld.param.abs.u64", "a modifier that ptxas ignores"),
        ("mad.lo.s32", "mad.s32.lo", "modifiers in another order"),
    ],
)
def test_names_of_differences_from_ptxas(was: str, now: str, name: str) -> None:
    text = Path("samples/saxpy.ptx").read_text()
    assert ptxas.refused(text) == ""
    changed = text.replace(was, now, 1)
    assert changed != text
    why = ptxas.refused(changed)
    assert [each for each, holds in ptxas.ALLOWED.items() if holds(changed, why)] == [name]
