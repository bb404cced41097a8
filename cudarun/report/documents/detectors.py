"""The reports of ``--detect``, ``--stats`` and ``--sanitize`` in JSON documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudarun.diagnostics.findings import SanitizerFinding
    from cudarun.report.detector_types import (
        DetectorReport,
        LaunchFinding,
        LaunchStatistics,
        MemoryAccess,
        Proof,
    )
    from cudarun.report.sanitizer_types import SanitizerReport
    from cudarun.report.schemas.detectors import (
        DetectorFindingRecord,
        MemoryAccessRecord,
        ProofRecord,
        SanitizerFindingRecord,
        SanitizerRecord,
        StatisticsRecord,
        WatchedRecord,
    )


def watched_record(watched: DetectorReport) -> WatchedRecord:
    """Return the findings and the counts of a launch."""
    statistics = watched.statistics
    return {
        "detect": [*watched.detect],
        "findings": finding_records(watched.findings),
        "statistics": None if statistics is None else statistics_record(statistics),
        "proof": None if watched.proof is None else _proof(watched.proof),
    }


def _proof(proof: Proof) -> ProofRecord:
    return {
        "operations": [
            {
                "kind": each.kind,
                "function": each.function,
                "ptx_line": each.ptx_line,
                "ptx": each.ptx,
                "source": each.source,
                "outcome": each.outcome,
                "race": None if each.race is None else finding_records([each.race])[0],
                "fault": each.fault,
            }
            for each in proof.operations
        ],
        "skipped": proof.skipped,
    }


def finding_records(findings: Sequence[LaunchFinding]) -> list[DetectorFindingRecord]:
    """Return what detectors found."""
    return [_finding(finding) for finding in findings]


def _finding(finding: LaunchFinding) -> DetectorFindingRecord:
    record: DetectorFindingRecord = {
        "kind": finding.kind,
        "kernel": finding.kernel,
        "space": finding.space,
        "memory": finding.memory,
        "offset": finding.offset,
        "element": finding.element,
        "address": finding.address,
        "nbytes": finding.nbytes,
        "places": [_place(place) for place in finding.places],
        "count": finding.count,
    }
    if finding.problem is not None:
        record["problem"] = finding.problem
    return record


def _place(place: MemoryAccess) -> MemoryAccessRecord:
    record: MemoryAccessRecord = {
        "access": place.access,
        "function": place.function,
        "ptx_line": place.ptx_line,
        "ptx": place.ptx,
        "source": place.source,
        "block": place.block,
        "thread": place.thread,
    }
    if place.lanes is not None:
        record["lanes"], record["members"] = place.lanes, place.members
    return record


def statistics_record(statistics: LaunchStatistics) -> StatisticsRecord:
    """Return what was counted."""
    return {
        "instructions": [
            {"kind": count.kind, "warps": count.warps, "threads": count.threads}
            for count in statistics.instructions
        ],
        "warp_instructions": statistics.warp_instructions,
        "thread_instructions": statistics.thread_instructions,
        "branches": statistics.branches,
        "divergent_branches": statistics.divergent_branches,
        "traffic": [
            {
                "space": traffic.space,
                "requests": traffic.requests,
                "read_bytes": traffic.read_bytes,
                "written_bytes": traffic.written_bytes,
                "atomic_bytes": traffic.atomic_bytes,
                "sectors": traffic.sectors,
            }
            for traffic in statistics.traffic
        ],
        "shared_accesses": statistics.shared_accesses,
        "bank_conflicts": statistics.bank_conflicts,
        "worst_conflicts": [
            {
                "ptx_line": conflicts.ptx_line,
                "ptx": conflicts.ptx,
                "source": conflicts.source,
                "accesses": conflicts.accesses,
                "conflicts": conflicts.conflicts,
            }
            for conflicts in statistics.worst_conflicts
        ],
    }


def sanitizer_record(report: SanitizerReport) -> SanitizerRecord:
    """Return what compute-sanitizer found."""
    return {
        "tool": report.tool,
        "findings": [_sanitizer_finding(finding) for finding in report.findings],
        "total": report.total,
    }


def _sanitizer_finding(finding: SanitizerFinding) -> SanitizerFindingRecord:
    return {
        "kind": finding.kind,
        "severity": finding.severity,
        "message": finding.message,
        "kernel": finding.kernel,
        "places": [
            {
                "access": place.access,
                "function": place.function,
                "offset": place.offset,
                "file": place.file,
                "line": place.line,
            }
            for place in finding.places
        ],
        "block": finding.block,
        "thread": finding.thread,
        "address": finding.address,
        "details": [*finding.details],
    }
