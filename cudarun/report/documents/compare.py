"""The document of ``compare``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudarun.report.documents.errors import head

if TYPE_CHECKING:
    from cudarun.report.compare_types import ComparisonReport
    from cudarun.report.schemas.compare import ComparisonDocument


def comparison_document(report: ComparisonReport) -> ComparisonDocument:
    """Return the document of ``compare``."""
    return {
        "schema": "cudarun/compare/1",
        **head(report.exit_code, report.error),
        "old": report.old,
        "new": report.new,
        "threshold": report.threshold,
        "cases": [
            {
                "case": case.case,
                "device": case.device,
                "old": case.old,
                "new": case.new,
                "runs": [*case.runs],
                "ratio": case.ratio,
                "low": case.low,
                "high": case.high,
                "p_value": case.p_value,
                "verdict": case.verdict,
                "differences": [*case.differences],
            }
            for case in report.cases
        ],
        "missing": [{"case": name, "file": file} for name, file in report.missing],
    }
