"""The results of checks and comparisons in documents."""

from __future__ import annotations

from typing import TypedDict

from cudarun.report.schemas.values import Number


class MismatchRecord(TypedDict):
    """An element that is not as expected.

    Attributes:
        index: Its index; empty for a scalar.
        got: The value, as text; null for an element of a buffer that was never written.
        expected: The value that it is compared with, likewise; true without an operator.
        operator: The comparison that fails; empty where the value alone should be true.
    """

    index: list[int]
    got: str | None
    expected: str | None
    operator: str


class CheckRecord(TypedDict):
    """The result of a ``--check``, or of a comparison with the reference device.

    Attributes:
        expression: The expression as given; of a comparison, the buffer.
        passed: Whether the check passed.
        elements: The number of compared elements.
        mismatches: The number of mismatches among them.
        max_abs_error: The largest absolute error |got - expected|; null where there is none.
        max_rel_error: The largest relative error |got - expected| / |expected|; null where there is
            none.
        rtol: The relative tolerance; 0 for integers.
        atol: The absolute tolerance; 0 for integers.
        first: The first mismatches, by index.
        worst: The mismatch of == that exceeds its tolerance most; null where none has an error.
        location: The place of all mismatches where they cluster, as text; null where they do not.
        both_nan: The number of mismatches that are NaN on both sides.
        long_sum: The sum whose rounding explains all mismatches, and the tolerance for it, as text;
            null where there is none.
        is_empty: Whether it selects no elements of buffers that have some, and so fails.
        evaluated: Whether there is a result; where there is none, an error says why.
        step: The step after which it was evaluated; null after the last one.
    """

    expression: str
    passed: bool
    elements: int
    mismatches: int
    max_abs_error: Number | None
    max_rel_error: Number | None
    rtol: Number
    atol: Number
    first: list[MismatchRecord]
    worst: MismatchRecord | None
    location: str | None
    both_nan: int
    long_sum: str | None
    is_empty: bool
    evaluated: bool
    step: int | None
