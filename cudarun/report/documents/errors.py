"""Errors and diagnostics in JSON documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from cudarun import machine
from cudarun.diagnostics.errors import Diagnosed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cudarun.diagnostics.entries import Diagnostic
    from cudarun.errors import CudarunError
    from cudarun.machine import DeviceIdentity
    from cudarun.ptx.errors import PtxError
    from cudarun.report.schemas.errors import (
        DiagnosticRecord,
        ErrorDocument,
        ErrorRecord,
        FaultPlaceRecord,
        Head,
        IdentityRecord,
        MachineRecord,
        PtxDiagnosticRecord,
    )

# The keys of `cudarun.errors.ErrorContext`.
_Place = Literal["file", "kernel", "argument", "device", "step"]
_PLACES: tuple[_Place, ...] = ("file", "kernel", "argument", "device", "step")


def error_document(schema: str, error: CudarunError) -> ErrorDocument:
    """Return the document of a command that ended in an error before there was a report."""
    return {
        "schema": schema,
        "exit_code": int(error.exit_code),
        "error": error_record(error),
        "machine": _machine(),
    }


def head(exit_code: int, error: CudarunError | None) -> Head:
    """Return the fields that every document has, beside its schema."""
    return {"exit_code": int(exit_code), "error": optional_error(error), "machine": _machine()}


def _machine() -> MachineRecord:
    return {
        "host": machine.host(),
        "devices": [*map(identity_record, machine.devices())],
    }


def identity_record(device: DeviceIdentity) -> IdentityRecord:
    """Return the identity of a device."""
    return {
        "label": device.label,
        "index": device.index,
        "uuid": device.uuid,
        "pci_bus_id": device.pci_bus_id,
        "name": device.name,
        "serial": device.serial,
        "driver_version": device.driver_version,
    }


def error_record(error: CudarunError) -> ErrorRecord:
    """Return the error; what is not known of it is left out."""
    record: ErrorRecord = {
        "kind": error.kind,
        "exit_code": int(error.exit_code),
        "message": error.message,
    }
    if error.cuda is not None:
        record["cuda"] = {"name": error.cuda[0], "number": error.cuda[1]}
    if error.hint is not None:
        record["hint"] = error.hint
    if error.log:
        record["log"] = error.log
        if places := _fault_places(error.log):
            record["places"] = places
    if error.warnings:
        record["warnings"] = diagnostic_records(error.warnings)
    if error.findings or error.statistics:
        from cudarun.report.documents.detectors import finding_records, statistics_record

        if error.findings:
            record["findings"] = finding_records(error.findings)
        if error.statistics:
            record["statistics"] = statistics_record(error.statistics)
    if error.engines:
        from cudarun.report.documents.engines import engine_records

        record["engines"] = engine_records(error.engines)
    for place in _PLACES:
        if place in error.context:
            record[place] = error.context[place]
    if isinstance(error, Diagnosed):
        record["diagnostics"] = diagnostic_records(error.diagnostics)
        if error.explanation:
            record["explanation"] = error.explanation
    elif error.kind == "PtxError":
        from cudarun.ptx.errors import PtxError  # which no other error needs

        assert isinstance(error, PtxError)
        record["diagnostics"] = _ptx_diagnostics(error)
    return record


def _fault_places(log: str) -> list[FaultPlaceRecord]:
    from dataclasses import asdict  # few errors have logs

    from cudarun.diagnostics.fault_reports import fault_places

    return [cast("FaultPlaceRecord", asdict(place)) for place in fault_places(log)]


def optional_error(error: CudarunError | None) -> ErrorRecord | None:
    """Return the error, if there is one."""
    return None if error is None else error_record(error)


def diagnostic_records(diagnostics: Sequence[Diagnostic]) -> list[DiagnosticRecord]:
    """Return diagnostics of compilers and linkers, and notes of our own."""
    return [
        {
            "tool": diagnostic.tool,
            "severity": diagnostic.severity,
            "message": diagnostic.message,
            "file": diagnostic.file,
            "line": diagnostic.line,
            "column": diagnostic.column,
            "width": diagnostic.width,
            "source": diagnostic.source,
        }
        for diagnostic in diagnostics
    ]


def _ptx_diagnostics(error: PtxError) -> list[PtxDiagnosticRecord]:
    return [
        {
            "line": diagnostic.position.line,
            "column": diagnostic.position.column,
            "severity": diagnostic.severity,
            "message": diagnostic.message,
        }
        for diagnostic in error.diagnostics
    ]
