"""The end of a candidate before its last case: after a failure, or when its time has passed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudarun.base.errors import CudarunError, OutOfTime

if TYPE_CHECKING:
    from cudarun.model.spec import CaseReport
    from cudarun.session.spec.case import Case

_LEAST = 0.01  # the seconds of a case that begins when the budget has passed: it fails


class CandidateLimits:
    """The limits of each candidate; without candidates, of all cases."""

    def __init__(self, budget: float | None = None, *, fail_fast: bool = False) -> None:
        self._fail_fast = fail_fast  # a candidate ends at its first failing case
        self._budget = budget  # the seconds of all cases of a candidate; ``None``: unlimited
        self._used: dict[str | None, float] = {}
        self._ended: dict[str | None, str] = {}

    def add(self, report: CaseReport) -> None:
        """Take the report of a case."""
        name = report.candidate
        self._used[name] = self._used.get(name, 0.0) + report.seconds
        if report.verdict != "failed":
            return
        if self._budget is not None and self._used[name] >= self._budget:
            self._ended[name] = f"not run: {self._passed_budget(name)}"
        elif self._fail_fast:
            self._ended[name] = "not run: an earlier case failed (--fail-fast)"

    def reason(self, case: Case) -> str | None:
        """Return why a case is not run; ``None`` if it is."""
        return self._ended.get(case.candidate)

    def timeout(self, case: Case) -> float | None:
        """Return the time limit of a case in seconds: its own, or the rest of the budget."""
        if self._budget is None:
            return case.timeout
        left = max(self._budget - self._used.get(case.candidate, 0.0), _LEAST)
        return left if case.timeout is None else min(left, case.timeout)

    def explain(self, case: Case, error: CudarunError | None) -> None:
        """Name the budget in the error of a case that has exceeded it."""
        own = case.timeout
        limit = self.timeout(case)
        if isinstance(error, OutOfTime) and limit is not None and (own is None or limit < own):
            error.what, error.hint = self._passed_budget(case.candidate), "raise --budget"

    def _passed_budget(self, candidate: str | None) -> str:
        whose = "" if candidate is None else " of the candidate"
        return f"the time{whose} has passed: {self._budget:g} s (--budget)"
