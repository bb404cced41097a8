"""The results of checks and comparisons, and their text for the terminal and for JUnit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from cudarun.base.records import Number, dataclass


@dataclass(frozen=True, slots=True)
class Mismatch:
    """An element that is not as expected."""

    index: tuple[int, ...]  # its index; empty for a scalar
    # The value, as text; ``None`` for an element of a buffer that was never written.
    got: str | None
    # The value that it is compared with, likewise; ``true`` without an operator.
    expected: str | None
    operator: str = "=="  # the comparison that fails; empty where the value alone should be true


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a ``--check``, an ``--assert``, or a comparison with another launch."""

    expression: str  # the expression as given; of a comparison, the buffer
    passed: bool  # whether the check passed
    elements: int  # the number of compared elements
    mismatches: int  # the number of mismatches among them
    # The largest absolute error |got - expected|; ``None`` where there is none.
    max_abs_error: Number | None
    # The largest relative error |got - expected| / |expected|; ``None`` where there is none.
    max_rel_error: Number | None
    rtol: Number  # the relative tolerance; 0 for integers
    atol: Number  # the absolute tolerance; 0 for integers
    first: tuple[Mismatch, ...] = field(default=())  # the first mismatches, by index
    # The mismatch of ``==`` that exceeds its tolerance most; ``None`` where none has an error.
    worst: Mismatch | None = None
    # The place of all mismatches where they cluster, as text; ``None`` where they do not.
    location: str | None = None
    both_nan: int = 0  # the number of mismatches that are NaN on both sides
    # The sum whose rounding explains all mismatches, and the tolerance for it, as text; ``None``
    # where there is none.
    long_sum: str | None = None
    is_empty: bool = False  # whether it selects no elements of buffers that have some, and so fails
    evaluated: bool = True  # whether there is a result; where there is none, an error says why
    step: int | None = None  # the step after which it was evaluated; ``None`` after the last one


def not_evaluated(expression: str) -> CheckResult:
    """Return the result of a check that could not be evaluated."""
    return CheckResult(expression, False, 0, 0, None, None, 0.0, 0.0, evaluated=False)


@dataclass(frozen=True, slots=True)
class ReferenceResult:
    """The comparison with the device of ``--reference``."""

    device: str  # the reference device
    # One for each buffer, or for each member of its structs; left is the device.
    comparisons: tuple[CheckResult, ...]
    is_itself: bool = False  # whether the device was compared with itself


# --- text ----------------------------------------------------------------------------------------


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
        how = "mismatched" if {each.operator for each in check.first} == {"=="} else "failed"
        where = "" if check.location is None else f", {check.location}"
        found = f"{check.mismatches} of {check.elements} elements {how}{where}"
        yield "; ".join((found, *_errors(check)))
        worst = check.worst if check.mismatches > 1 else None
        for mismatch in check.first:
            mark = "  (worst)" if mismatch == worst else ""
            yield f"{_index(mismatch)}: {_wrong(mismatch)}{mark}"
        if worst is not None and worst not in check.first:
            yield f"{_index(worst)}: {_wrong(worst)}  (worst)"
    if check.long_sum is not None:
        yield f"this can be the rounding of a sum of {check.long_sum}"


def nan_note(check: CheckResult) -> str | None:
    """Return a note on mismatches that are NaN on both sides; ``None`` where there are none."""
    if not check.both_nan:
        return None
    which = "all" if check.both_nan >= check.mismatches else str(check.both_nan)
    return f"{which} of them are NaN on both sides: --equal-nan compares NaN as equal"


def _index(mismatch: Mismatch) -> str:
    return f"[{', '.join(map(str, mismatch.index))}]"


def _wrong(mismatch: Mismatch) -> str:
    got = NEVER_WRITTEN if mismatch.got is None else mismatch.got
    expected = NEVER_WRITTEN if mismatch.expected is None else mismatch.expected
    operator = "" if mismatch.operator in ("", "==") else f"{mismatch.operator} "
    return f"got {got}, expected {operator}{expected}"


def _errors(check: CheckResult) -> list[str]:
    kinds = (("absolute", check.max_abs_error), ("relative", check.max_rel_error))
    most = "" if check.elements == 1 else "largest "
    return [f"{most}{kind} error {value:g}" for kind, value in kinds if value]
