"""Reports as JSON documents, whose fields are those of the report's dataclasses.

The metadata of `cudarun.base.records` says where a document differs from the fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from cudarun.base import machine
from cudarun.base.errors import CudarunError
from cudarun.base.records import document_fields

if TYPE_CHECKING:
    from cudarun.model.report import Report
    from cudarun.model.spec import CandidateReport, CaseReport

_SCHEMAS = {"launch-plan": "launch", "load-offline": "load"}
"""The commands of the reports whose tag is another."""


def document(report: Report) -> dict[str, Any]:
    """Return the document of a report."""
    command = _SCHEMAS.get(report.tag, report.tag)
    error = getattr(report, "error", None)
    return {**_head(command, report.exit_code, error), **_fields(report)}


def error_document(command: str, error: CudarunError) -> dict[str, Any]:
    """Return the document of a command that ended in an error before there was a report."""
    return _head(command, error.exit_code, error)


def line_document(part: CaseReport | CandidateReport) -> dict[str, Any]:
    """Return the line of ``--format jsonl`` of a case or a candidate."""
    return {"schema": f"cudarun/launch-{part.tag}/1", **_fields(part)}


def _head(command: str, exit_code: int, error: CudarunError | None) -> dict[str, Any]:
    return {
        "schema": f"cudarun/{command}/1",
        "exit_code": int(exit_code),
        "error": plain(error),
        "machine": plain(machine.Machine(machine.host(), machine.devices())),
    }


def plain(value: object) -> Any:
    """Return a value as JSON has it: NaN and the infinities are texts, sequences are lists.

    Raises:
        TypeError: JSON has no such value.
    """
    match value:
        case None | bool() | str():
            return value
        case int():
            return int(value)
        case float():
            if isfinite(value):
                return value
            return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case list() | tuple():
            return [plain(each) for each in value]
        case CudarunError():
            from cudarun.model.errors import described  # most reports have no error

            return _fields(described(value))
        case _ if dataclasses.is_dataclass(value):
            return _fields(value)
        case Mapping():
            return {str(key): plain(each) for key, each in value.items()}
    raise TypeError(f"{type(value).__name__} cannot be converted to JSON")


def _fields(record: Any) -> dict[str, Any]:
    kind: Any = type(record)
    return {
        name: plain(getattr(record, field))
        for name, field, beside in _names(kind)
        if beside is None or getattr(record, beside) is not None
    }


@cache
def _names(kind: Any) -> list[tuple[str, str, str | None]]:
    """Return the fields of a record in its documents: name, field, and what it is beside."""
    found = document_fields(kind)
    return [(name, each.name, each.metadata.get("beside")) for name, each in found]
