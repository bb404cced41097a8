"""The table of ``launch --spec``: a line per case as it ends, then notes and totals."""

from __future__ import annotations

from collections.abc import Sequence
from io import StringIO

from rich.console import Console
from rich.text import Text

from cudarun.base.terminal import one_line
from cudarun.model.spec import CaseReport, SpecListing, SpecReport, case_label
from cudarun.report.console import FittingTable, print_line, print_unfolded
from cudarun.report.detector_tables import show_findings, show_proof, show_statistics
from cudarun.report.launch_tables import show_asked, show_engines_of_case, show_failures
from cudarun.report.notes import remarks
from cudarun.report.renderer import LiveTable, TableStyle
from cudarun.report.terminal import fold_command
from cudarun.report.timing_tables import duration

_WIDTH = 200  # wide enough that no row of a table is folded
_NAMED = 3  # cases that the same remark is about
_STYLES = {"passed": "green", "failed": "red bold", "skipped": "yellow"}


class SpecTable(LiveTable):
    """The lines of cases, whose labels are not aligned; with ``quiet`` without notes."""

    def __init__(self, out: Console, labels: Sequence[str], style: TableStyle) -> None:
        super().__init__(out, labels, style)
        self._remarks: dict[tuple[str, str], list[str]] = {}  # and the cases that each is about

    def add(self, case: CaseReport) -> None:
        """Write a case, and its failures."""
        if self._style.quiet and case.verdict != "failed":
            return
        for remark in remarks(case):
            self._remarks.setdefault(remark, []).append(f"{case.label} on {case.device}")
        time = "" if case.verdict == "skipped" else f"  {duration(case.seconds * 1000)}"
        is_expected = case.verdict == "passed" and case.error is not None
        error = f"  as expected: {_first_line(str(case.error))}" if is_expected else ""
        print_line(
            self._out,
            (f"{case.verdict:7} ", _STYLES[case.verdict]),
            (f"{case.label} on {case.device}", "bold"),
            time,
            (error, "dim"),
            "" if case.reason is None else f"  {_first_line(case.reason)}",
        )
        if self._style.verbose and not self._style.quiet:
            show_engines_of_case(case, self._out)
        if not self._style.quiet and case.result is not None:
            show_asked(case.result, self._out)
            if case.result.watched is not None and case.result.watched.proof is not None:
                show_proof(case.result.watched.proof, self._out)
        if not self._style.quiet and (ended := case.result or case.error) is not None:
            show_statistics(ended.statistics, self._out)
        if case.verdict == "failed":
            show_failure(case, self._out)

    def end(self, report: SpecReport) -> None:
        """Write the notes, each once for all its cases, and the totals."""
        if not self._style.quiet:
            for (severity, words), cases in self._remarks.items():
                named = ", ".join(cases[:_NAMED])
                more = f" and {len(cases) - _NAMED} more" if len(cases) > _NAMED else ""
                which = f"  ({named}{more})", "dim"
                print_line(self._out, (f"{severity} ", "yellow"), words, which)
        for candidate in report.candidates:
            count = candidate.passed + candidate.failed
            about = f"  {candidate.passed} of {count} cases passed"
            if candidate.ratio is not None:
                about += f"; {candidate.ratio:.3g} × the speed of the baseline"
                if candidate.compared > 1:
                    about += f" (geometric mean of {candidate.compared} cases)"
            if candidate.reason is not None:
                about += f"; {candidate.failures[0]}: {_first_line(candidate.reason)}"
            verdict = f"{candidate.verdict:7} ", _STYLES[candidate.verdict]
            print_line(self._out, verdict, (candidate.candidate, "bold"), about)
        for best in report.best:
            label = case_label(best.candidate, best.name)
            time = f"{best.statistic} {duration(best.milliseconds)} of {best.cases} cases"
            print_line(self._out, f"fastest on {best.device}: {label}  {time}")
        counts = f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped"
        self._out.print(Text(f"{counts} in {report.seconds:.1f} s"))


def show_failure(case: CaseReport, out: Console) -> None:
    """Print what is known about a failed case below its first line, and how to run it again."""
    indented: list[str] = []
    if case.error is not None:
        indented += str(case.error).splitlines()[1:]
        where = ", ".join(f"{key} {value}" for key, value in case.error.context.items())
        indented += [f"in {where}"] if where else []
        indented += [f"| {line}" for line in (case.error.log or "").splitlines()]
        indented += [f"hint: {line}" for line in (case.error.hint or "").splitlines()]
    if case.seed is not None:
        indented.append(f"seed {case.seed}")
    for line in indented:
        print_line(out, f"  {line}")
    if case.error is not None:
        show_findings(case.error.findings, out)
    if case.result is not None:
        show_failures(case.result, out)
    if case.command is not None:
        command = one_line(case.command)
        lines = [f"  run again: {command}"]
        if out.is_terminal and len(lines[0]) > out.width:  # below its label, to be pasted
            lines = ["  run again:", *fold_command(command, out.width, "    ")]
        for line in lines:
            print_unfolded(out, Text(line))


def failure_text(case: CaseReport) -> str:
    """Return the text of a failed case in plain lines, as for a terminal of any width."""
    text = StringIO()
    show_failure(case, Console(file=text, color_system=None, width=_WIDTH, highlight=False))
    lines = [_first_line(case.reason or ""), *text.getvalue().splitlines()]
    return "\n".join(line.rstrip() for line in lines if line.strip())


def show_cases(listing: SpecListing, out: Console, style: TableStyle) -> None:
    """Print the cases of a spec: names alone with ``quiet``."""
    if style.quiet:
        for case in listing.cases:
            print_line(out, case.name)
        return
    rows = FittingTable("line", "case", "image", "kernel", "device")
    for case in listing.cases:
        cells = str(case.line), case.name, case.image, case.kernel or "", ",".join(case.devices)
        rows.add_row(*map(one_line, cells))
    out.print(rows)
    count = len(listing.cases)
    print_line(out, f"{count} case{'s' * (count != 1)} of {listing.spec}")


def _first_line(text: str) -> str:
    return text.partition("\n")[0]
