"""The report of ``cudarun compare``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar, Literal

from cudarun.base.errors import ExitCode
from cudarun.base.records import dataclass

SpeedVerdict = Literal["faster", "slower", "no difference"]
"""The result of comparing the times of a case."""


@dataclass(frozen=True, slots=True)
class CaseTimings:
    """The times of a case in one document.

    Attributes:
        case: The case of a spec, or the kernel of a launch.
        device: The device, or the kind of GPU of a fleet.
        samples: Its times in milliseconds; of a fleet, the median of each GPU.
        work: The geometry and the buffers of the launch, as texts; empty for a fleet.
    """

    case: str
    device: str
    samples: tuple[float, ...]
    work: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ComparedCase:
    """A case in both documents; times in milliseconds.

    Attributes:
        case: The case of a spec, or the kernel of a launch.
        device: The device, or the kind of GPU of a fleet.
        old: The median of its old times.
        new: The median of its new times.
        runs: The number of old and new times.
        ratio: The new time divided by the old one: over 1 if it is slower.
        low: The lower bound of the 95 % interval of the ratio; ``None`` with too few times.
        high: The upper bound, likewise.
        p_value: The probability of a difference at least as large if there is none.
        verdict: The result, by the test and the threshold.
        differences: The differences of geometry and buffers.
    """

    case: str
    device: str
    old: float
    new: float
    runs: tuple[int, ...]
    ratio: float
    low: float | None
    high: float | None
    p_value: float
    verdict: SpeedVerdict
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MissingCase:
    """A case that is in one document only.

    Attributes:
        case: The case.
        file: The file that has it.
    """

    case: str
    file: str


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """The times of two documents.

    Attributes:
        old: The first file.
        new: The second file.
        threshold: The change of a time that counts, as a part of 1.
        cases: The cases in both files, in the order of the first.
        missing: The cases in one file only.
    """

    tag: ClassVar[Literal["compare"]] = "compare"

    old: str
    new: str
    threshold: float
    cases: tuple[ComparedCase, ...]
    missing: tuple[MissingCase, ...] = ()

    @property
    def exit_code(self) -> ExitCode:
        """That of a failed check if a case is slower."""
        slower = any(case.verdict == "slower" for case in self.cases)
        return ExitCode.CHECK_FAILED if slower else ExitCode.OK
