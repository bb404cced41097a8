"""The results of checks and comparisons."""

from __future__ import annotations

from dataclasses import field

from cudarun.base.records import Number, dataclass


@dataclass(frozen=True, slots=True)
class Mismatch:
    """An element that is not as expected.

    Attributes:
        index: Its index; empty for a scalar.
        got: The value, as text; ``None`` for an element of a buffer that was never written.
        expected: The value that it is compared with, likewise; ``true`` without an
            operator.
        operator: The comparison that fails; empty where the value alone should be true.
    """

    index: tuple[int, ...]
    got: str | None
    expected: str | None
    operator: str = "=="


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a ``--check``, or of a comparison with the reference device.

    Attributes:
        expression: The expression as given; of a comparison, the buffer.
        passed: Whether the check passed.
        elements: The number of compared elements.
        mismatches: The number of mismatches among them.
        max_abs_error: The largest absolute error |got - expected|; ``None`` where there is none.
        max_rel_error: The largest relative error |got - expected| / |expected|; ``None`` where
            there is none.
        rtol: The relative tolerance; 0 for integers.
        atol: The absolute tolerance; 0 for integers.
        first: The first mismatches, by index.
        worst: The mismatch of ``==`` that exceeds its tolerance most; ``None`` where none has an
            error.
        location: The place of all mismatches where they cluster, as text; ``None`` where they do
            not.
        both_nan: The number of mismatches that are NaN on both sides.
        long_sum: The sum whose rounding explains all mismatches, and the tolerance for it, as text;
            ``None`` where there is none.
        is_empty: Whether it selects no elements of buffers that have some, and so fails.
        evaluated: Whether there is a result; where there is none, an error says why.
        step: The step after which it was evaluated; ``None`` after the last one.
    """

    expression: str
    passed: bool
    elements: int
    mismatches: int
    max_abs_error: Number | None
    max_rel_error: Number | None
    rtol: Number
    atol: Number
    first: tuple[Mismatch, ...] = field(default=())
    worst: Mismatch | None = None
    location: str | None = None
    both_nan: int = 0
    long_sum: str | None = None
    is_empty: bool = False
    evaluated: bool = True
    step: int | None = None


@dataclass(frozen=True, slots=True)
class ReferenceResult:
    """The comparison with the device of ``--reference``.

    Attributes:
        device: The reference device.
        comparisons: One for each buffer, or for each member of its structs; left is the device.
        is_itself: Whether the device was compared with itself.
    """

    device: str
    comparisons: tuple[CheckResult, ...]
    is_itself: bool = False
