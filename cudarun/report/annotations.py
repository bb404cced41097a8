"""Annotations: failures at places in the repository, for GitHub, SARIF and short answers."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from cudarun.base.errors import CudarunError
from cudarun.base.records import dataclass
from cudarun.diagnostics.entries import Diagnosed, Diagnostic

if TYPE_CHECKING:
    from cudarun.model.detectors import LaunchFinding
    from cudarun.model.launch import LaunchResult
    from cudarun.model.report import Report

CHECK = "Check"  # the rule of failed checks
_PLACE = re.compile(r"(?P<file>.+):(?P<line>\d+)")


@dataclass(frozen=True, slots=True)
class Annotation:
    """A message at a place in the repository."""

    level: Literal["error", "warning"]
    rule: str  # the class of an error, the kind of a finding, or `CHECK`
    title: str
    message: str  # of any number of lines
    file: str | None = None  # ``None`` where it is unknown
    line: int | None = None  # from 1; ``None`` where it is unknown


def of_error(error: CudarunError) -> Iterator[Annotation]:
    """Yield the annotations of an error: at its places, or without one."""
    diagnostics = error.diagnostics if isinstance(error, Diagnosed) else ()
    serious = (each for each in diagnostics if each.is_serious and each.line is not None)
    found = [*map(_of_diagnostic, serious)]
    places: list[tuple[str | None, int | None]] = [*_places(error)]
    if not found and not places:
        places = [((*error.subject("place"), error.context.get("file"))[0], None)]
    yield from found
    log = f"\n{error.log}" if error.log else ""
    hint = f"\nhint: {error.hint}" if error.hint else ""
    for file, line in places:
        yield Annotation("error", error.kind, error.kind, f"{error}{log}{hint}", file, line)


def _places(error: CudarunError) -> Iterator[tuple[str, int]]:
    """Yield the file and line of a mistake in a text, and of a fault in the source."""
    for match in map(_PLACE.fullmatch, error.subject("place")):
        if match is not None:
            yield match["file"], int(match["line"])
    for place in error.places:
        if place.file is not None and place.line:  # 0 in code without a source line
            yield place.file, place.line


def of_report(report: Report) -> Iterator[Annotation]:
    """Yield the annotations of a launch or a spec; other reports have none."""
    if report.tag == "launch-spec":
        from cudarun.report.spec_tables import (
            failure_text,  # rich would delay the start of the work
        )

        for case in report.cases:
            if case.verdict == "failed":
                title = f"{case.label} on {case.device}"
                yield Annotation("error", CHECK, title, failure_text(case), report.spec, case.line)
                # In the kernel's source, where that is known.
                if case.result is not None:
                    yield from of_result(case.result)
                if case.error is not None:
                    yield from _of_findings(case.error.findings)
                    yield from (each for each in of_error(case.error) if each.line is not None)
            elif case.result is not None:
                yield from _of_warnings(case.result)
    elif report.tag == "launch":
        for outcome in report.outcomes:
            result, error = outcome.result, outcome.error
            title = f"{os.path.basename(report.image)} on {outcome.device}"
            if result is not None:
                yield from of_result(result)
                if result.failures:
                    failures = "\n".join(f"failed: {each}" for each in result.failures)
                    yield Annotation("error", CHECK, title, failures, report.image)
            if error is not None:
                yield from _of_findings(error.findings)
                yield from of_error(error)


def of_result(result: LaunchResult) -> Iterator[Annotation]:
    """Yield the annotations of a launch that came back, in the source of its kernel."""
    yield from _of_findings(result.findings)
    yield from _of_warnings(result)


def _of_warnings(result: LaunchResult) -> Iterator[Annotation]:
    for warning in result.diagnostics:
        if warning.severity == "warning" and warning.line is not None:
            yield _of_diagnostic(warning)


def _of_findings(findings: Iterable[LaunchFinding]) -> Iterator[Annotation]:
    """Yield the findings of detectors at the last of their accesses that has a source line."""
    for finding in findings:
        head = f"data {finding.summary}" if finding.kind == "race" else finding.summary
        lines = [head, *(each.summary for each in finding.places)]
        matches = (_PLACE.fullmatch(each.source or "") for each in reversed(finding.places))
        if match := next((each for each in matches if each and int(each["line"])), None):
            place = match["file"], int(match["line"])
            yield Annotation("error", finding.kind, finding.kernel, "\n".join(lines), *place)


def _of_diagnostic(diagnostic: Diagnostic) -> Annotation:
    level: Literal["error", "warning"] = "error" if diagnostic.is_serious else "warning"
    tool, file, line = diagnostic.tool, diagnostic.file, diagnostic.line
    return Annotation(level, tool, tool, diagnostic.message, file, line)
