"""What happened, as plain data: every rendering (table, JSON, JUnit) starts from these."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One element that differs: its index (empty for a scalar) and both values as text."""

    index: tuple[int, ...]
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one ``--check``.

    Attributes:
        expression: The text as given.
        held: Whether the check held.
        elements: How many elements were compared.
        mismatches: How many of them differ.
        max_abs_error: Largest ``|left - right|`` over all elements; ``None`` where there is none.
        max_rel_error: Largest ``|left - right| / |right|``; ``None`` where there is none.
        rtol: Relative tolerance used; 0 for integers.
        atol: Absolute tolerance used; 0 for integers.
        first: The first mismatches in index order.
    """

    expression: str
    held: bool
    elements: int
    mismatches: int
    max_abs_error: float | None
    max_rel_error: float | None
    rtol: float
    atol: float
    first: tuple[Mismatch, ...] = field(default=())
