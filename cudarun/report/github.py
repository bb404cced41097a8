"""Annotations and the job summary of GitHub Actions, beside the tables.

An annotation is a line on stdout, ``::error file=F,line=L,title=T::MESSAGE`` (GitHub's manual,
"Workflow commands"). Text of others could contain such lines: its commands are escaped, and output
of kernels is captured and printed with a prefix before each line. The summary is appended to the
file that ``GITHUB_STEP_SUMMARY`` names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from cudarun.base.errors import ExitCode
from cudarun.base.files import append_text
from cudarun.base.terminal import visible, without_commands
from cudarun.report.annotations import Annotation, of_report
from cudarun.report.markdown import table_lines
from cudarun.report.table import TableRenderer
from cudarun.report.terminal import note_workflow

if TYPE_CHECKING:
    from cudarun.model.launch import LaunchReport
    from cudarun.model.report import Report
    from cudarun.model.spec import SpecReport
    from cudarun.report.renderer import TableStyle


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
        for annotation in dict.fromkeys(map(workflow_command, of_report(report))):
            click.echo(annotation)
        path = os.environ.get("GITHUB_STEP_SUMMARY")
        if path and report.tag == "launch":
            append_text(path, _launch_summary(report))
        elif path and report.tag == "launch-spec":
            append_text(path, _spec_summary(report))


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


def commands_at_places(report: Report) -> tuple[str, ...]:
    """Return the workflow commands of a report about files that exist."""
    found = (each for each in of_report(report) if each.file and os.path.isfile(each.file))
    return tuple(dict.fromkeys(map(workflow_command, found)))


def workflow_command(annotation: Annotation) -> str:
    """Return an annotation as a workflow command."""
    file = None if annotation.file is None else in_repository(annotation.file)
    properties = ",".join(
        f"{name}={_data(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in (("file", file), ("line", annotation.line), ("title", annotation.title))
        if value is not None
    )
    return f"::{annotation.level} {properties}::{_data(annotation.message)}"


def in_repository(file: str) -> str:
    """Return a path from the root of the repository, which annotations refer to."""
    root = os.environ.get("GITHUB_WORKSPACE")
    path = os.path.abspath(file)
    if root and path.startswith(os.path.join(os.path.abspath(root), "")):
        return os.path.relpath(path, root)
    return file


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
