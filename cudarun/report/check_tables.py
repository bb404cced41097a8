"""Results of checks: the verdict, the first mismatches, the largest errors."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from cudarun.report.types import CheckResult, Mismatch


def show_check(check: CheckResult, out: Console, claim: str = "") -> None:
    """Print a check, and below a failed one its mismatches.

    Args:
        check: The result.
        out: Where to write.
        claim: A text after its expression, `` as on cpu``.
    """
    line = _verdict(check) + Text(check.expression + claim)
    if check.rtol or check.atol:
        line.append(f"  (rtol {check.rtol:g}, atol {check.atol:g})", style="dim")
    out.print(line, soft_wrap=True)
    if check.passed or not check.first:
        return
    mismatches = check.first if check.first[0].index else ()
    found = f"{check.mismatches} of {check.elements} {_how(check)}"
    if not mismatches:  # a scalar
        found = _wrong(check.first[0])
    out.print(Text("; ".join((f"  {found}", *_errors(check)))), soft_wrap=True)
    for mismatch in mismatches:
        index = ", ".join(map(str, mismatch.index))
        out.print(Text(f"  [{index}]: {_wrong(mismatch)}"), soft_wrap=True)
    if check.both_nan:
        which = "all" if check.both_nan >= check.mismatches else str(check.both_nan)
        note = f"{which} of them are NaN on both sides: --equal-nan lets NaN equal NaN"
        out.print(Text("  note ", style="yellow") + Text(note), soft_wrap=True)


def _verdict(check: CheckResult) -> Text:
    if not check.evaluated:
        return Text("not evaluated ", style="yellow")
    return Text("held ", style="green") if check.passed else Text("FAILED ", style="red bold")


def _how(check: CheckResult) -> str:
    operators = {mismatch.operator for mismatch in check.first}
    if operators == {"=="}:
        return "differ"
    return "are false" if operators == {""} else "do not hold"


def _wrong(mismatch: Mismatch) -> str:
    match mismatch.operator:
        case "":
            return mismatch.left
        case "==":
            return f"{mismatch.left} against {mismatch.right}"
        case operator:
            return f"not {mismatch.left} {operator} {mismatch.right}"


def _errors(check: CheckResult) -> list[str]:
    kinds = (("absolute", check.max_abs_error), ("relative", check.max_rel_error))
    most = "" if check.elements == 1 else "largest "
    return [f"{most}{kind} error {value:g}" for kind, value in kinds if value]
