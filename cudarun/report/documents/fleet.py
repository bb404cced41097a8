"""The documents of ``fleet``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudarun.report.documents.errors import head, identity_record

if TYPE_CHECKING:
    from cudarun.report.fleet_types import (
        FleetCase,
        FleetGpu,
        FleetHost,
        FleetReport,
        NodeReport,
    )
    from cudarun.report.schemas.fleet import (
        FleetCaseRecord,
        FleetDocument,
        FleetGpuRecord,
        FleetHostRecord,
        NodeDocument,
    )


def node_document(report: NodeReport) -> NodeDocument:
    """Return the document of ``fleet --node``."""
    return {
        "schema": "cudarun/fleet-node/1",
        **head(report.exit_code, report.error),
        "version": report.version,
        "seconds": report.seconds,
        "gpus": [
            {"identity": identity_record(gpu.identity), "cases": [*map(_case, gpu.cases)]}
            for gpu in report.gpus
        ],
    }


def fleet_document(report: FleetReport) -> FleetDocument:
    """Return the document of ``fleet``."""
    return {
        "schema": "cudarun/fleet/1",
        **head(report.exit_code, report.error),
        "spec": report.spec,
        "seed": report.seed,
        "seconds": report.seconds,
        "hosts": [*map(_host, report.hosts)],
        "counts": {str(verdict): count for verdict, count in report.counts.items()},
        "consensus": [
            {
                "kind": each.kind,
                "case": each.case,
                "buffer": each.buffer,
                "agreeing": each.agreeing,
                "dissenting": [*each.dissenting],
                "is_deterministic": each.is_deterministic,
            }
            for each in report.consensus
        ],
        "compared": report.compared,
        "sick": [*report.sick],
        "kept": report.kept,
    }


def _host(host: FleetHost) -> FleetHostRecord:
    return {
        "host": host.host,
        "seconds": host.seconds,
        "gpus": [*map(_gpu, host.gpus)],
        "problem": host.problem,
    }


def _gpu(gpu: FleetGpu) -> FleetGpuRecord:
    return {
        "identity": identity_record(gpu.identity),
        "verdict": gpu.verdict,
        "reason": gpu.reason,
        "exit_code": int(gpu.exit_code),
        "cases": [*map(_case, gpu.cases)],
        "objections": [*gpu.objections],
        "slow": [*gpu.slow],
    }


def _case(case: FleetCase) -> FleetCaseRecord:
    return {
        "name": case.name,
        "verdict": case.verdict,
        "reason": case.reason,
        "exit_code": int(case.exit_code),
        "runs": case.runs,
        "milliseconds": case.milliseconds,
        "digests": {**case.digests},
        "changes": [
            {"buffer": each.buffer, "run": each.run, "digests": [*each.digests]}
            for each in case.changes
        ],
    }
