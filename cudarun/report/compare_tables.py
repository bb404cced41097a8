"""The table of ``compare``."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from cudarun.model.compare import ComparedCase, ComparisonReport
from cudarun.report.console import FittingTable, print_line
from cudarun.report.renderer import TableStyle
from cudarun.report.timing_tables import duration

_STYLES = {"faster": "green", "slower": "red bold", "no difference": "dim"}
COLUMNS = ("case", "device", "old", "new", "new/old", "95 % interval", "runs", "result")


def show_comparison(report: ComparisonReport, out: Console, style: TableStyle) -> None:
    """Print a row for each case, cases in one file only, and the totals."""
    chosen = [case for case in report.cases if case.verdict == "slower" or not style.quiet]
    if chosen:
        rows = FittingTable(*COLUMNS)
        for case in chosen:
            *texts, verdict = cells(case)
            rows.add_row(*texts, Text(verdict, style=_STYLES[case.verdict]))
        out.print(rows)
    for line in (*notes(report), totals(report)):
        print_line(out, line)


def cells(case: ComparedCase) -> Sequence[str]:
    """Return the cells of a case, in the order of `COLUMNS`."""
    runs = " and ".join(map(str, dict.fromkeys(case.runs)))
    interval = "too few runs"
    if case.low is not None and case.high is not None:
        interval = f"{case.low:.3f} to {case.high:.3f}"
    times = duration(case.old), duration(case.new)
    return case.case, case.device, *times, f"{case.ratio:.3f}", interval, runs, case.verdict


def notes(report: ComparisonReport) -> list[str]:
    """Return a line for each case of different work, and for each that is in one file only."""
    different = [
        f"note: {case.case} is not the same launch: {', '.join(case.differences)}"
        for case in report.cases
        if case.differences
    ]
    return different + [f"only in {each.file}: {each.case}" for each in report.missing]


def totals(report: ComparisonReport) -> str:
    """Return the number of cases by result."""
    verdicts = [case.verdict for case in report.cases]
    slower, faster = verdicts.count("slower"), verdicts.count("faster")
    rest = len(verdicts) - slower - faster
    return (
        f"{slower} slower, {faster} faster, {rest} without a difference "
        f"(threshold {100 * report.threshold:g} %)"
    )
