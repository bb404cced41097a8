"""The report of ``exec``, on stderr: stdout is the program's."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from dataclasses import replace

import click
from rich.console import Console

from cudarun.base.terminal import one_line
from cudarun.model.exec import SIGNALED, ExecReport
from cudarun.report.console import FittingTable, console, print_line
from cudarun.report.detector_tables import show_findings, show_statistics, show_watched
from cudarun.report.renderer import TableStyle
from cudarun.report.terminal import shown

_SHOWN = 20  # kernels
_WIDTH = 120


def show_execution(report: ExecReport, _: Console, style: TableStyle) -> None:
    """Print the kernels, and what is wrong."""
    err = console(style.color, stderr=True)
    if report.kernels and not style.quiet:
        rows = FittingTable("launches", "ms", "kernel")
        for each in report.kernels[:_SHOWN]:
            rows.add_row(
                each.launches, f"{each.milliseconds:.3f}", shown(one_line(each.name), sys.stderr)
            )
        err.print(rows)
        if len(report.kernels) > _SHOWN:
            print_line(err, f"{len(report.kernels) - _SHOWN} more kernels; --json lists all")
    if not report.kernels and not report.exit_code and not style.quiet:
        print_line(err, "note: no kernel was launched")
    if report.detectors:
        first, *others = report.detectors
        detect = first.detect if report.is_complete else ()  # otherwise none of them has passed
        show_watched(replace(first, findings=report.findings, detect=detect), err, _names(report))
        for other in others:
            show_statistics(other.statistics, err)
    for line in _lines(report):
        click.echo(shown(line, sys.stderr), err=True)


def failure_text(report: ExecReport) -> str:
    """Return what is wrong, as text."""
    text = io.StringIO()
    out = Console(file=text, width=_WIDTH, highlight=False, soft_wrap=True)
    show_findings(report.findings, out, _names(report))
    lines = [*_lines(report), f"the program ended with {report.program_status}"]
    return text.getvalue() + "\n".join(lines)


def _names(report: ExecReport) -> dict[str, str]:
    return {each.demangled: one_line(each.name) for each in report.kernels}


def _lines(report: ExecReport) -> Iterator[str]:
    """Yield what is wrong beside findings."""
    for failed in report.unchecked:
        where = failed.function or f"{os.path.basename(failed.file)}+{failed.offset:#x}"
        times = f" ({failed.count} times)" if failed.count > 1 else ""
        yield one_line(f"ignored error: {failed.call} returned {failed.error} in {where}{times}")
    for call in report.unsupported:
        times = f" ({call.count} times)" if call.count > 1 else ""
        yield f"unsupported: {call.call}{times}: it returned an error"
    for problem in report.problems:
        yield one_line(f"error: {problem}")
    for defect in report.defects:
        yield f"internal error: {defect}: this is an error in cudarun, not in the program"
    if report.fault is not None:
        yield f"error: {report.fault}"
    if report.limit is not None:
        yield f"error: the program timed out after {report.limit:g} s (--timeout)"
    if report.running is not None:
        if report.limit is None and report.program_status not in SIGNALED:
            yield "note: the program did not wait for this kernel, which was stopped:"
        yield report.running
