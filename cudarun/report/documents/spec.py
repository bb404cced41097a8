"""The document of ``launch --spec``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cudarun.report.documents.errors import head, optional_error
from cudarun.report.documents.launch import result_record

if TYPE_CHECKING:
    from cudarun.report.schemas.spec import (
        BestCaseRecord,
        CandidateDocument,
        CandidateRecord,
        CaseDocument,
        CaseRecord,
        ListedCaseRecord,
        ListingDocument,
        SpecDocument,
    )
    from cudarun.report.spec_types import (
        BestCase,
        CandidateReport,
        CaseReport,
        ListedCase,
        SpecListing,
        SpecReport,
    )


def spec_document(report: SpecReport) -> SpecDocument:
    """Return the document of ``launch --spec``."""
    return {
        "schema": "cudarun/launch-spec/1",
        **head(report.exit_code, report.error),
        "spec": report.spec,
        "passed": report.passed,
        "failed": report.failed,
        "skipped": report.skipped,
        "seconds": report.seconds,
        "cases": [_case(case) for case in report.cases],
        "candidates": [_candidate(each) for each in report.candidates],
        "best": [_best(each) for each in report.best],
    }


def totals_document(report: SpecReport) -> SpecDocument:
    """Return the document of ``launch --spec`` without the cases, which have lines of their own."""
    return {**spec_document(replace(report, cases=())), **head(report.exit_code, report.error)}


def case_document(case: CaseReport) -> CaseDocument:
    """Return the line of a case."""
    return {"schema": "cudarun/launch-case/1", **_case(case)}


def candidate_document(candidate: CandidateReport) -> CandidateDocument:
    """Return the line of a candidate."""
    return {"schema": "cudarun/launch-candidate/1", **_candidate(candidate)}


def _candidate(candidate: CandidateReport) -> CandidateRecord:
    return {
        "candidate": candidate.candidate,
        "verdict": candidate.verdict,
        "passed": candidate.passed,
        "failed": candidate.failed,
        "skipped": candidate.skipped,
        "failures": [*candidate.failures],
        "reason": candidate.reason,
        "ratio": candidate.ratio,
        "compared": candidate.compared,
    }


def _best(best: BestCase) -> BestCaseRecord:
    return {
        "device": best.device,
        "candidate": best.candidate,
        "name": best.name,
        "statistic": best.statistic,
        "milliseconds": best.milliseconds,
        "cases": best.cases,
    }


def _case(case: CaseReport) -> CaseRecord:
    return {
        "name": case.name,
        "line": case.line,
        "device": case.device,
        "verdict": case.verdict,
        "reason": case.reason,
        "exit_code": int(case.exit_code),
        "seconds": case.seconds,
        "seed": case.seed,
        "result": None if case.result is None else result_record(case.result),
        "error": optional_error(case.error),
        "output": case.output,
        "matrix": dict(case.matrix),
        "command": case.command,
        "candidate": case.candidate,
    }


def listing_document(report: SpecListing) -> ListingDocument:
    """Return the document of ``launch --spec --list``."""
    return {
        "schema": "cudarun/launch-spec-list/1",
        **head(report.exit_code, report.error),
        "spec": report.spec,
        "cases": [_listed(case) for case in report.cases],
    }


def _listed(case: ListedCase) -> ListedCaseRecord:
    return {
        "name": case.name,
        "line": case.line,
        "image": case.image,
        "kernel": case.kernel,
        "arguments": [*case.arguments],
        "devices": [*case.devices],
        "matrix": dict(case.matrix),
        "skip": case.skip,
        "command": case.command,
    }
