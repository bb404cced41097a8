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
    """The times of a case in one document."""

    case: str  # the case of a spec, or the kernel of a launch
    device: str  # the device, or the kind of GPU of a fleet
    samples: tuple[float, ...]  # its times in milliseconds; of a fleet, the median of each GPU
    # The geometry and the buffers of the launch, as texts; empty for a fleet.
    work: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ComparedCase:
    """A case in both documents; times in milliseconds."""

    case: str  # the case of a spec, or the kernel of a launch
    device: str  # the device, or the kind of GPU of a fleet
    old: float  # the median of its old times
    new: float  # the median of its new times
    runs: tuple[int, ...]  # the number of old and new times
    ratio: float  # the new time divided by the old one: over 1 if it is slower
    # The lower bound of the 95 % interval of the ratio; ``None`` with too few times.
    low: float | None
    high: float | None  # the upper bound, likewise
    p_value: float  # the probability of a difference at least as large if there is none
    verdict: SpeedVerdict  # the result, by the test and the threshold
    differences: tuple[str, ...] = ()  # the differences of geometry and buffers


@dataclass(frozen=True, slots=True)
class MissingCase:
    """A case that is in one document only."""

    case: str  # the case
    file: str  # the file that has it


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """The times of two documents."""

    tag: ClassVar[Literal["compare"]] = "compare"

    old: str  # the first file
    new: str  # the second file
    threshold: float  # the change of a time that counts, as a part of 1
    cases: tuple[ComparedCase, ...]  # the cases in both files, in the order of the first
    missing: tuple[MissingCase, ...] = ()  # the cases in one file only

    @property
    def exit_code(self) -> ExitCode:
        """That of a failed check if a case is slower."""
        slower = any(case.verdict == "slower" for case in self.cases)
        return ExitCode.CHECK_FAILED if slower else ExitCode.OK
