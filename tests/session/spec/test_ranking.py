"""The speed of a candidate: the geometric mean over its passed cases."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from cudarun.model.runs import BaselineResult, SpeedResult
from cudarun.model.spec import CaseReport, Verdict
from cudarun.session.spec.ranking import Ranking


def case(name: str, verdict: Verdict, ratio: float | None) -> CaseReport:
    speed = None if ratio is None else SpeedResult(ratio, ratio, ratio, 0.95, 0.01, True)
    result: Any = SimpleNamespace(timing=None, baseline=BaselineResult("naive", (), None, speed))
    return CaseReport(name, 1, "0", verdict, None, result=result, candidate="fast.cu")


def test_only_passed_and_compared_cases_count() -> None:
    cases = [
        case("a", "passed", 2.0),
        case("b", "passed", 8.0),
        case("c", "failed", 1000.0),
        case("d", "passed", None),
    ]
    ranking = Ranking(None)
    for each in cases:
        ranking.add(each)
    [report] = ranking.candidates(cases)
    assert report.ratio == pytest.approx(4.0)
    assert (report.compared, report.passed, report.failed) == (2, 3, 1)
