"""The document of ``launch --spec``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudarun.report.documents.errors import head, optional_error
from cudarun.report.documents.launch import result_record

if TYPE_CHECKING:
    from cudarun.report.schemas.spec import (
        CaseRecord,
        ListedCaseRecord,
        ListingDocument,
        SpecDocument,
    )
    from cudarun.report.spec_types import CaseReport, ListedCase, SpecListing, SpecReport


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
