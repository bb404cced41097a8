"""Results of checks: PASS or FAIL, the first mismatches, the largest errors."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from cudarun.model.check_lines import failure_lines, nan_note
from cudarun.model.checks import CheckResult


def passed() -> Text:
    """Return the word that begins the line of something that passed."""
    return Text("PASS ", style="green")


def failed() -> Text:
    """Return the word that begins the line of something that failed."""
    return Text("FAIL ", style="red bold")


def show_check(check: CheckResult, out: Console, claim: str = "") -> None:
    """Print a check, and below a failed one its mismatches.

    Args:
        check: The result.
        out: Where to write.
        claim: A text after its expression, `` as on cpu``.
    """
    line = _verdict(check) + Text(check.expression + claim)
    remarks = [f"rtol {check.rtol:g}, atol {check.atol:g}"] if check.rtol or check.atol else []
    if check.evaluated and not check.elements:
        remarks.append("0 elements")
    if remarks:
        line.append(f"  ({', '.join(remarks)})", style="dim")
    out.print(line, soft_wrap=True)
    for text in failure_lines(check):
        out.print(Text(f"  {text}"), soft_wrap=True)
    note = nan_note(check)
    if note is not None:
        out.print(Text("  note ", style="yellow") + Text(note), soft_wrap=True)


def _verdict(check: CheckResult) -> Text:
    if not check.evaluated:
        return Text("not evaluated ", style="yellow")
    return passed() if check.passed else failed()
