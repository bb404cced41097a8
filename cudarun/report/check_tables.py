"""Results of checks: PASS or FAIL, the first mismatches, the largest errors."""

from __future__ import annotations

from rich.console import Console

from cudarun.model.check_lines import failure_lines, nan_note
from cudarun.model.checks import CheckResult
from cudarun.report.console import FAILED, PASSED, Part, print_line


def show_check(check: CheckResult, out: Console, claim: str = "") -> None:
    """Print a check, and below a failed one its mismatches."""
    remarks = [f"rtol {check.rtol:g}, atol {check.atol:g}"] if check.rtol or check.atol else []
    if check.evaluated and not check.elements:
        remarks.append("0 elements")
    verdict: Part = PASSED if check.passed else FAILED
    if not check.evaluated:
        verdict = "not evaluated ", "yellow"
    shown = f"  ({', '.join(remarks)})" if remarks else ""
    print_line(out, verdict, check.expression + claim, (shown, "dim"))
    for text in failure_lines(check):
        print_line(out, f"  {text}")
    note = nan_note(check)
    if note is not None:
        print_line(out, ("  note ", "yellow"), note)
