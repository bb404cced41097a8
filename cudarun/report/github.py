"""Annotations and the job summary of GitHub Actions, beside the tables.

An annotation is a line on stdout, ``::error file=F,line=L,title=T::MESSAGE`` (GitHub's manual,
"Workflow commands"). Text of others could contain such lines: its commands are escaped, and output
of kernels is captured and printed with a prefix before each line. The summary is appended to the
file that ``GITHUB_STEP_SUMMARY`` names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

from cudarun.base.errors import CudarunError, ExitCode
from cudarun.base.files import append_text
from cudarun.base.records import dataclass
from cudarun.base.terminal import visible, without_commands
from cudarun.diagnostics.entries import Diagnosed
from cudarun.report.markdown import table_lines
from cudarun.report.table import TableRenderer
from cudarun.report.terminal import note_workflow

if TYPE_CHECKING:
    from typing import Literal

    from cudarun.diagnostics.entries import Diagnostic
    from cudarun.model.detectors import LaunchFinding
    from cudarun.model.launch import LaunchReport, LaunchResult
    from cudarun.model.report import Report
    from cudarun.model.spec import SpecReport
    from cudarun.report.renderer import TableStyle

_PLACE = re.compile(r"(?P<file>.+):(?P<line>\d+)")


@dataclass(frozen=True, slots=True)
class Annotation:
    """A message at a place in the repository."""

    level: Literal["error", "warning"]
    title: str
    message: str  # the message, of any number of lines
    file: str | None = None  # the file; ``None`` where it is unknown
    line: int | None = None  # its line, from 1; ``None`` where it is unknown

    def __str__(self) -> str:
        file = None if self.file is None else _in_repository(self.file)
        properties = ",".join(
            f"{name}={_data(str(value)).replace(':', '%3A').replace(',', '%2C')}"
            for name, value in (("file", file), ("line", self.line), ("title", self.title))
            if value is not None
        )
        return f"::{self.level} {properties}::{_data(self.message)}"


class GithubRenderer(TableRenderer):
    """Annotations after the tables."""

    owns_stdout = True
    streams = False

    def __init__(self, style: TableStyle) -> None:
        super().__init__(style)
        note_workflow()

    def progress(self, text: str) -> None:
        """Show nothing: a log is no terminal."""

    def end(self, report: Report) -> None:
        """Write the tables, the annotations, and the summary."""
        if report.tag == "launch":
            for outcome in report.outcomes:
                for line in (outcome.output or "").splitlines():
                    click.echo(without_commands(f"| {visible(line)}"))
        super().end(report)
        match report.tag:
            case "launch":
                found, summary = _of_launch(report), _launch_summary(report)
            case "launch-spec":
                found, summary = _of_spec(report), _spec_summary(report)
            case _:
                return
        for annotation in dict.fromkeys(map(str, found)):
            click.echo(annotation)
        if path := os.environ.get("GITHUB_STEP_SUMMARY"):
            append_text(path, summary)


def of_error(error: CudarunError) -> Iterator[Annotation]:
    """Yield the annotations of an error: at its places, or without one."""
    diagnostics = error.diagnostics if isinstance(error, Diagnosed) else ()
    serious = (each for each in diagnostics if each.is_serious and each.line is not None)
    found = [*map(_of_diagnostic, serious)]
    places: list[tuple[str | None, int | None]] = [*_places(error)]
    if not found and not places:
        places = [((*error.subject("place"), error.context.get("file"))[0], None)]
    yield from found
    for file, line in places:
        yield Annotation("error", error.kind, _error_text(error), file, line)


def _places(error: CudarunError) -> Iterator[tuple[str, int]]:
    """Yield the file and line of a mistake in a text, and of a fault in the source."""
    for match in map(_PLACE.fullmatch, error.subject("place")):
        if match is not None:
            yield match["file"], int(match["line"])
    for place in error.places:
        if place.file is not None and place.line is not None:
            yield place.file, place.line


def _of_launch(report: LaunchReport) -> Iterator[Annotation]:
    for outcome in report.outcomes:
        result, error = outcome.result, outcome.error
        title = f"{os.path.basename(report.image)} on {outcome.device}"
        if result is not None:
            yield from _of_result(result)
            if result.failures:
                failures = "\n".join(f"failed: {each}" for each in result.failures)
                yield Annotation("error", title, failures, report.image)
        if error is not None:
            yield from _of_findings(error.findings)
            yield from of_error(error)


def _of_spec(report: SpecReport) -> Iterator[Annotation]:
    from cudarun.report.spec_tables import failure_text  # rich would delay the start of the work

    for case in report.cases:
        if case.verdict == "failed":
            title = f"{case.label} on {case.device}"
            yield Annotation("error", title, failure_text(case), report.spec, case.line)
            # In the kernel's source, where that is known.
            if case.result is not None:
                yield from _of_result(case.result)
            if case.error is not None:
                yield from _of_findings(case.error.findings)
                yield from (each for each in of_error(case.error) if each.line is not None)
        elif case.result is not None:
            yield from _of_warnings(case.result)


def _of_result(result: LaunchResult) -> Iterator[Annotation]:
    yield from _of_findings(result.findings)
    yield from _of_warnings(result)


def _of_warnings(result: LaunchResult) -> Iterator[Annotation]:
    for warning in result.diagnostics:
        if warning.severity == "warning" and warning.line is not None:
            yield _of_diagnostic(warning)


def _of_findings(findings: Iterable[LaunchFinding]) -> Iterator[Annotation]:
    """Yield the findings of detectors at the last of their accesses that has a source line."""
    for finding in findings:
        lines = [f"data {finding.summary}" if finding.kind == "race" else finding.summary]
        for each in finding.places:
            lines.append(f"{each.access} at {each.source or f'PTX line {each.ptx_line}'}")
        matches = (_PLACE.fullmatch(each.source or "") for each in reversed(finding.places))
        if match := next(filter(None, matches), None):
            place = match["file"], int(match["line"])
            yield Annotation("error", finding.kernel, "\n".join(lines), *place)


def _of_diagnostic(diagnostic: Diagnostic) -> Annotation:
    level: Literal["error", "warning"] = "error" if diagnostic.is_serious else "warning"
    return Annotation(level, diagnostic.tool, diagnostic.message, diagnostic.file, diagnostic.line)


def _error_text(error: CudarunError) -> str:
    hint = f"\nhint: {error.hint}" if error.hint else ""
    log = f"\n{error.log}" if error.log else ""
    return f"{error}{log}{hint}"


# --- the summary ----------------------------------------------------------------------------------


def _spec_summary(report: SpecReport) -> str:
    counts = f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped"
    rows = [
        (case.verdict, case.label, case.device, f"{case.seconds:.1f} s", case.reason or "")
        for case in report.cases
    ]
    return _summary(report.spec, counts, ("result", "case", "device", "time", "reason"), rows)


def _launch_summary(report: LaunchReport) -> str:
    rows = []
    for outcome in report.outcomes:
        failures = outcome.result.failures if outcome.result is not None else ()
        reasons = [*failures, *([str(outcome.error)] if outcome.error else [])]
        kernel = outcome.result.demangled if outcome.result is not None else ""
        rows.append(("failed" if reasons else "passed", kernel, outcome.device, "; ".join(reasons)))
    state = "passed" if report.exit_code is ExitCode.OK else f"exit code {report.exit_code}"
    return _summary(report.image, state, ("result", "kernel", "device", "reason"), rows)


def _summary(
    title: str, state: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]
) -> str:
    lines = [f"### {_cell(title)}: {state}", "", *table_lines(columns, rows, _cell)]
    return "\n".join([*lines, "", ""])


def _cell(text: str) -> str:
    """Return a text as one cell: its first line, without marks of Markdown and HTML."""
    return re.sub(r"([\\`*_\[\]<>&|#~])", r"\\\1", visible(text.partition("\n")[0]))


# --- the notation ---------------------------------------------------------------------------------


def _in_repository(file: str) -> str:
    """Return a path from the root of the repository, which annotations refer to."""
    root = os.environ.get("GITHUB_WORKSPACE")
    path = os.path.abspath(file)
    if root and path.startswith(os.path.join(os.path.abspath(root), "")):
        return os.path.relpath(path, root)
    return file


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
