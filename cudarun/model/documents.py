"""Reports as JSON documents, whose fields are those of the report's dataclasses.

The metadata of `cudarun.base.records` says where a document differs from the fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import islice
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any

from cudarun.base import machine
from cudarun.base.errors import CudarunError
from cudarun.base.records import document_fields

if TYPE_CHECKING:
    from cudarun.model.detectors import LaunchFinding
    from cudarun.model.report import Report
    from cudarun.model.spec import CandidateReport, CaseReport

_SCHEMAS = {"launch-plan": "launch", "load-offline": "load"}
"""The commands of the reports whose tag is another."""
_MOST_LINES = 4
"""The source lines of the findings of a short case."""


def document(report: Report) -> dict[str, Any]:
    """Return the document of a report; cases of candidates, of which there are many, are short."""
    command = _SCHEMAS.get(report.tag, report.tag)
    error = getattr(report, "error", None)
    head = _head(command, report.exit_code, error)
    if report.tag == "launch-spec" and report.candidates:
        rest = _fields(dataclasses.replace(report, cases=()))
        return head | rest | {"cases": [*map(_short_case, report.cases)]}
    return head | _fields(report)


def error_document(command: str, error: CudarunError) -> dict[str, Any]:
    """Return the document of a command that ended in an error before there was a report."""
    return _head(command, error.exit_code, error)


def line_document(part: CaseReport | CandidateReport) -> dict[str, Any]:
    """Return the line of ``--format jsonl`` of a case or a candidate."""
    fields = _short_case(part) if part.tag == "case" else _fields(part)
    return {"schema": f"cudarun/launch-{part.tag}/1", **fields}


def _short_case(case: CaseReport) -> dict[str, Any]:
    """Return a case without details, nulls, empty lists, notes and passed checks.

    Of a failed check it has the first mismatch, and of the findings the first ones at a few source
    lines. The result of a case of a candidate is left out
    where it passed and was not timed.
    """
    result = case.result
    if result is not None:
        is_known = case.candidate is not None and case.verdict == "passed"
        failed = (each for each in result.checks if not each.passed)
        short = dataclasses.replace(
            result,
            checks=tuple(dataclasses.replace(each, first=each.first[:1]) for each in failed),
            diagnostics=tuple(each for each in result.diagnostics if each.severity != "note"),
        )
        if short.watched is not None:
            watched = dataclasses.replace(short.watched, findings=_few(short.watched.findings))
            short = dataclasses.replace(short, watched=watched)
        is_left_out = is_known and result.timing is None
        case = dataclasses.replace(case, result=None if is_left_out else short)
    return _fields(case, short=True)


def _few(findings: Iterable[LaunchFinding]) -> tuple[LaunchFinding, ...]:
    """Return the first finding at each source line, of at most `_MOST_LINES` of them."""
    first: dict[tuple[str | int, ...], LaunchFinding] = {}
    for each in findings:
        first.setdefault(tuple(place.source or place.ptx_line for place in each.places), each)
    return tuple(islice(first.values(), _MOST_LINES))


def _head(command: str, exit_code: int, error: CudarunError | None) -> dict[str, Any]:
    return {
        "schema": f"cudarun/{command}/1",
        "exit_code": int(exit_code),
        "error": plain(error),
        "machine": plain(machine.Machine(machine.host(), machine.devices())),
    }


def plain(value: object, *, short: bool = False) -> Any:
    """Return a value as JSON has it: NaN and the infinities are texts, sequences are lists.

    Args:
        short: Leave out details, nulls and empty lists of records.

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
            return [plain(each, short=short) for each in value]
        case CudarunError():
            from cudarun.model.errors import described  # most reports have no error

            return _fields(described(value), short=short)
        case _ if dataclasses.is_dataclass(value):
            return _fields(value, short=short)
        case Mapping():
            return {str(key): plain(each) for key, each in value.items()}
    raise TypeError(f"{type(value).__name__} cannot be converted to JSON")


def _fields(record: object, *, short: bool = False) -> dict[str, Any]:
    kind: Any = type(record)
    found = {}
    for name, field, beside, is_detail in _names(kind):
        value = getattr(record, field)
        is_omitted = beside is not None and getattr(record, beside) is None
        if short and (is_detail or value is None or value in ((), {})):
            is_omitted = True
        if not is_omitted:
            found[name] = plain(value, short=short)
    return found


@cache
def _names(kind: object) -> list[tuple[str, str, str | None, bool]]:
    """Return the fields of a record in its documents: name, field, beside what, if a detail."""
    return [
        (name, each.name, each.metadata.get("beside"), "detail" in each.metadata)
        for name, each in document_fields(kind)
    ]
