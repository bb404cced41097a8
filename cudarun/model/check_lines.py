"""The text of a check's result, for the terminal and for JUnit."""

from __future__ import annotations

from collections.abc import Iterator

from cudarun.model.checks import CheckResult, Mismatch

NEVER_WRITTEN = "(never written)"


def failure_lines(check: CheckResult) -> Iterator[str]:
    """Yield what is wrong with a failed check: how many elements, where they lie, the first ones.

    Args:
        check: The result; without lines if it passed or could not be evaluated.
    """
    if check.is_empty:
        yield "the selection is empty"
    if check.passed or not check.first:
        return
    if not check.first[0].index:  # a scalar
        yield "; ".join((_wrong(check.first[0]), *_errors(check)))
    else:
        yield from _element_lines(check)
    if check.long_sum is not None:
        yield f"this can be the rounding of a sum of {check.long_sum}"


def _element_lines(check: CheckResult) -> Iterator[str]:
    found = f"{check.mismatches} of {check.elements} elements {_how(check)}"
    if check.location is not None:
        found += f", {check.location}"
    yield "; ".join((found, *_errors(check)))
    worst = check.worst if check.mismatches > 1 else None
    for mismatch in check.first:
        mark = "  (worst)" if mismatch == worst else ""
        yield f"{_index(mismatch)}: {_wrong(mismatch)}{mark}"
    if worst is not None and worst not in check.first:
        yield f"{_index(worst)}: {_wrong(worst)}  (worst)"


def nan_note(check: CheckResult) -> str | None:
    """Return a note on mismatches that are NaN on both sides; ``None`` where there are none."""
    if not check.both_nan:
        return None
    which = "all" if check.both_nan >= check.mismatches else str(check.both_nan)
    return f"{which} of them are NaN on both sides: --equal-nan compares NaN as equal"


def _index(mismatch: Mismatch) -> str:
    return f"[{', '.join(map(str, mismatch.index))}]"


def _how(check: CheckResult) -> str:
    return "mismatched" if {each.operator for each in check.first} == {"=="} else "failed"


def _wrong(mismatch: Mismatch) -> str:
    got = NEVER_WRITTEN if mismatch.got is None else mismatch.got
    expected = NEVER_WRITTEN if mismatch.expected is None else mismatch.expected
    operator = "" if mismatch.operator in ("", "==") else f"{mismatch.operator} "
    return f"got {got}, expected {operator}{expected}"


def _errors(check: CheckResult) -> list[str]:
    kinds = (("absolute", check.max_abs_error), ("relative", check.max_rel_error))
    most = "" if check.elements == 1 else "largest "
    return [f"{most}{kind} error {value:g}" for kind, value in kinds if value]
