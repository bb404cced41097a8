"""The doctor's findings as people read them."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cudarun.report.doctor_types import DoctorReport

_MARKS = {"well": ("ok", "green"), "note": ("note", "yellow"), "wrong": ("WRONG", "red bold")}


def show_doctor(report: DoctorReport, out: Console, *, quiet: bool) -> None:
    """A row for each thing looked at, and below it what to do; ``quiet``: not of what is well."""
    rows = Table(box=None, pad_edge=False, show_header=False)
    rows.add_column(no_wrap=True)
    rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    for finding in report.findings:
        if quiet and finding.state == "well":
            continue
        mark, style = _MARKS[finding.state]
        rows.add_row(Text(mark, style=style), Text(finding.subject), Text(finding.says))
        if finding.remedy:
            rows.add_row("", "", Text.assemble(("mend: ", "cyan bold"), finding.remedy))
    out.print(rows)
