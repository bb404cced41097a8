"""The document of ``compare``."""

from __future__ import annotations

from typing import Literal, TypedDict

from cudarun.report.schemas.errors import Head


class ComparedCaseRecord(TypedDict):
    """A case in both documents; times in milliseconds.

    Attributes:
        case: The case of a spec, or the kernel of a launch.
        device: The device, or the kind of GPU of a fleet.
        old: The median of its old times.
        new: The median of its new times.
        runs: The number of old and new times.
        ratio: The new time divided by the old one: over 1 if it is slower.
        low: The lower bound of the 95 % interval of the ratio; null with too few times.
        high: The upper bound, likewise.
        p_value: The probability of a difference at least as large if there is none.
        verdict: The result, by the test and the threshold.
        differences: The differences of geometry and buffers.
    """

    case: str
    device: str
    old: float
    new: float
    runs: list[int]
    ratio: float
    low: float | None
    high: float | None
    p_value: float
    verdict: Literal["faster", "slower", "no difference"]
    differences: list[str]


class MissingCaseRecord(TypedDict):
    """A case that is in one document only.

    Attributes:
        case: The case.
        file: The file that has it.
    """

    case: str
    file: str


class ComparisonDocument(Head):
    """The times of two documents.

    Attributes:
        schema: The schema of this document.
        old: The first file.
        new: The second file.
        threshold: The change of a time that counts, as a part of 1.
        cases: The cases in both files, in the order of the first.
        missing: The cases in one file only.
    """

    schema: Literal["cudarun/compare/1"]
    old: str
    new: str
    threshold: float
    cases: list[ComparedCaseRecord]
    missing: list[MissingCaseRecord]
