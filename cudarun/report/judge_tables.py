"""The report of ``judge`` as text."""

from __future__ import annotations

from rich.console import Console

from cudarun.base.terminal import one_line
from cudarun.model.judge import JudgeReport
from cudarun.report.console import print_line
from cudarun.report.renderer import TableStyle

_STYLES = {"passed": "green", "failed": "red"}


def show_judgement(report: JudgeReport, out: Console, style: TableStyle) -> None:
    """Print a line for each submission, and the rule that it breaks."""
    for each in report.submissions:
        if each.rule is None and style.quiet:
            continue
        verdict = f"{each.verdict:7} ", _STYLES[each.verdict]
        runs = sum(case.runs for case in each.cases)
        launches = sum(kernel.launches for kernel in each.kernels)
        texts = [f"{len(each.cases)} cases, {runs} runs, {launches} launches"]
        for case in each.cases:
            if case.milliseconds is not None and case.reference_milliseconds is not None:
                ratio = case.reference_milliseconds / case.milliseconds
                texts.append(
                    f"{case.name}: {case.milliseconds:.3f} ms, {ratio:.3g} × the reference"
                )
        about = "; ".join(texts)
        print_line(out, verdict, (each.submission, "bold"), f"  {about}")
        if each.rule is not None:
            where = f" in {each.case}" if each.case is not None else ""
            first, *others = (each.message or "").splitlines() or [""]
            print_line(out, f"  {each.rule}{where}: {one_line(first)}")
            for line in others:
                print_line(out, f"  | {one_line(line)}")
    for note in dict.fromkeys(note for each in report.submissions for note in each.notes):
        print_line(out, f"note {note}")
    passed = sum(each.rule is None for each in report.submissions)
    print_line(
        out, f"{passed} passed, {len(report.submissions) - passed} failed; seed {report.seed}"
    )
