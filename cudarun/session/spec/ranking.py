"""Candidates and cases of a run compared with each other: results, and the fastest case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # of the parent: reports are imported when there are results
    from cudarun.model.spec import BestCase, CandidateReport, CaseReport, Statistic


class Ranking:
    """The times of the passed cases of a run: of each candidate, and the fastest on each device.

    Args:
        statistic: The time by which cases are compared; ``None`` to look for no fastest case.
    """

    def __init__(self, statistic: Statistic | None) -> None:
        self._statistic = statistic
        self._ratios: dict[str | None, list[float]] = {}
        self._counts: dict[str, int] = {}
        self._fastest: dict[str, tuple[float, CaseReport]] = {}

    def add(self, case: CaseReport) -> None:
        """Add a case, if it passed."""
        if case.verdict != "passed" or case.result is None:
            return
        baseline, timing = case.result.baseline, case.result.timing
        if baseline is not None and baseline.speed is not None:
            self._ratios.setdefault(case.candidate, []).append(baseline.speed.ratio)
        if self._statistic is None or timing is None:
            return
        milliseconds = timing.minimum if self._statistic == "min" else timing.median
        self._counts[case.device] = self._counts.get(case.device, 0) + 1
        before = self._fastest.get(case.device)
        if before is None or milliseconds < before[0]:
            self._fastest[case.device] = milliseconds, case

    def candidates(self, cases: Iterable[CaseReport]) -> tuple[CandidateReport, ...]:
        """Return the result of each candidate, in the order of the cases.

        It has the mean of how many times faster than the baseline its passed cases are.
        """
        from statistics import geometric_mean

        from cudarun.model.spec import CandidateReport

        grouped: dict[str, list[CaseReport]] = {}
        for case in cases:
            if case.candidate is not None:
                grouped.setdefault(case.candidate, []).append(case)
        reports: list[CandidateReport] = []
        for candidate, own in grouped.items():
            verdicts = [case.verdict for case in own]
            failed = [case for case in own if case.verdict == "failed"]
            passed = verdicts.count("passed")
            ratios = self._ratios.get(candidate, [])
            reports.append(
                CandidateReport(
                    candidate=candidate,
                    verdict="failed" if failed else "passed" if passed else "skipped",
                    passed=passed,
                    failed=len(failed),
                    skipped=verdicts.count("skipped"),
                    failures=tuple(dict.fromkeys(case.name for case in failed)),
                    reason=failed[0].reason if failed else None,
                    ratio=geometric_mean(ratios) if ratios else None,
                    compared=len(ratios),
                )
            )
        return tuple(reports)

    def fastest(self, devices: Sequence[str]) -> tuple[BestCase, ...]:
        """Return the fastest case of each of the devices that has one, if these are looked for."""
        from cudarun.model.spec import BestCase

        return tuple(
            BestCase(
                device=device,
                candidate=case.candidate,
                name=case.name,
                statistic=self._statistic,
                milliseconds=milliseconds,
                cases=self._counts[device],
            )
            for device in devices
            if device in self._fastest and self._statistic is not None
            for milliseconds, case in [self._fastest[device]]
        )
