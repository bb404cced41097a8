"""The example judge of ``samples/judge``: honest candidates pass, and each cheat is caught."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

import pytest

from tests.support.forked_processes import run_command
from tests.support.processes import ROOT
from tools.generate_judge_table import GUIDE, Judged, judged, rewritten

CAUGHT_BY = {
    "accumulates": "fresh inputs",
    "aliasing": "in place",
    "cached": "after other launches",
    "fault": "short row",
    "hang": "short row",
    "hard_coded": "fresh inputs",
    "hides_nan": "infinities",
    "one_size": "short row",
    "overrun": "short row",
    "race": "detectors",
    "shrinks": "long rows",
    "tolerance": "fresh inputs",
    "uninitialized": "short row",
    "writes_input": "fresh inputs",
    "zeros": "fresh inputs",
}
CAUGHT_BY_THE_NAIVE_JUDGE = {"zeros"}


@pytest.fixture(scope="module")
def candidates() -> list[Judged]:
    return judged()


def test_honest_candidates_pass(candidates: list[Judged]) -> None:
    honest = [each for each in candidates if each.is_honest]
    assert len(honest) == 5
    assert {(each.naive, each.result) for each in honest} == {("passed", "passed")}


def test_each_cheat_is_caught_by_the_case_for_it(candidates: list[Judged]) -> None:
    cheats = {each.name: each for each in candidates if not each.is_honest}
    assert {name: each.failures[0] for name, each in cheats.items()} == CAUGHT_BY


def test_a_naive_judge_passes_most_cheats(candidates: list[Judged]) -> None:
    cheats = [each for each in candidates if not each.is_honest]
    caught = {each.name for each in cheats if each.naive == "failed"}
    assert caught == CAUGHT_BY_THE_NAIVE_JUDGE


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("cached", "y as before other launches"),
        ("hard_coded", "y == expected; 3 of 3 runs"),
        ("race", "race in variable sums"),
        ("uninitialized", "y == expected"),
        ("writes_input", "x == old(x); 3 of 3 runs"),
    ],
)
def test_the_reason_is_the_cheat(candidates: list[Judged], name: str, reason: str) -> None:
    [found] = [each for each in candidates if each.name == name]
    assert found.reason == reason


def test_the_guide_shows_these_results(candidates: list[Judged]) -> None:
    page = GUIDE.read_text()
    assert rewritten(page, candidates) == page, "run python -m tools.generate_judge_table"


def answers(style: str, names: Iterable[str]) -> str:
    """Return what the judge prints about candidates."""
    words = ["launch", "--spec", "judge.toml", "-d", "cpu", "--timeout", "5", "--format", style]
    for name in names:
        words += ["--candidate", f"{name}.ptx"]
    _, printed, _ = run_command(words, ROOT / "samples/judge", os.environ)
    return printed.decode()


def test_answers_about_every_case_are_short() -> None:
    names = sorted(path.stem for path in (ROOT / "samples/judge").glob("*.ptx"))
    *lines, _ = answers("jsonl", names).splitlines()
    cases = [line for line in lines if "case" in json.loads(line)["schema"]]
    assert len(cases) == 20 * 8
    assert max(len(line.encode()) for line in lines) < 4000
    failures = answers("brief", CAUGHT_BY).split("\nFAIL ")
    assert len(failures) > 15
    assert max(len(each.encode()) for each in failures) < 1000
