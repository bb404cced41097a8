"""The report of ``launch --spec``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar, Literal, TypeAlias

from cudarun.base.errors import CudarunError, ExitCode, worst
from cudarun.base.records import dataclass
from cudarun.model.launch import LaunchResult

Verdict = Literal["passed", "failed", "skipped"]
MatrixValue: TypeAlias = bool | int | float | str  # a value in the matrix of a case


@dataclass(frozen=True, slots=True)
class CaseReport:
    """A case on a device."""

    tag: ClassVar[Literal["case"]] = "case"

    name: str  # the name of the case
    line: int  # its first line in the spec file
    device: str  # the device, as for ``--device``
    verdict: Verdict  # the result
    reason: str | None = None  # why it failed or was skipped; ``None`` where it passed
    exit_code: ExitCode = ExitCode.OK  # its part in the exit code of the process
    seconds: float = 0.0  # the time of the case; 0 where it did not run
    seed: int | None = None  # the seed of random initializers; ``None`` where there are none
    result: LaunchResult | None = None  # the launch; ``None`` where it did not come back
    error: CudarunError | None = None  # the error; a case that expects one passes with it
    output: str = ""  # what the kernel printed
    # Its values of the matrix, by name.
    matrix: Mapping[str, MatrixValue] = field(default_factory=dict)
    # The command line that runs the case again; ``None`` if the spec is a pipe.
    command: str | None = None
    candidate: str | None = None  # the image of ``--candidate``; ``None`` without

    @property
    def label(self) -> str:
        """The name of the case, after that of its candidate."""
        return case_label(self.candidate, self.name)


def case_label(candidate: str | None, name: str) -> str:
    """Return the name of a case in messages, which is unique in a run."""
    return name if candidate is None else f"{candidate}: {name}"


@dataclass(frozen=True, slots=True)
class CandidateReport:
    """The cases of a candidate."""

    tag: ClassVar[Literal["candidate"]] = "candidate"

    candidate: str  # the image of ``--candidate``
    verdict: Verdict  # the result: passed if a case passed and none failed
    passed: int  # the number of passed cases
    failed: int  # the number of failed cases
    skipped: int  # the number of skipped cases
    failures: tuple[str, ...]  # the names of the failed cases
    reason: str | None  # why the first one failed; ``None`` where none did
    # How many times faster than the baseline: the geometric mean of the passed cases that are
    # compared; ``None`` if none is.
    ratio: float | None
    compared: int  # the number of these cases


Statistic: TypeAlias = Literal["min", "median"]  # the time by which cases are compared


@dataclass(frozen=True, slots=True)
class BestCase:
    """The fastest of the passed cases on a device."""

    device: str  # the device, as for ``--device``
    candidate: str | None  # the image of ``--candidate``; ``None`` without
    name: str  # the name of the case
    statistic: Statistic  # the time by which the cases are compared
    milliseconds: float  # that time
    cases: int  # the number of compared cases


@dataclass(frozen=True, slots=True)
class SpecReport:
    """The cases of a spec file."""

    tag: ClassVar[Literal["launch-spec"]] = "launch-spec"

    spec: str  # the spec file
    passed: int  # the number of passed cases
    failed: int  # the number of failed cases
    skipped: int  # the number of skipped cases
    seconds: float  # the time of all cases
    # All cases, in the order of the candidates, of the file, then of the devices; none in the last
    # line of ``--format`` jsonl.
    cases: tuple[CaseReport, ...]
    candidates: tuple[CandidateReport, ...] = ()  # the result of each candidate
    best: tuple[BestCase, ...] = ()  # the fastest passed case on each device, with ``--best``

    @property
    def error(self) -> CudarunError | None:
        """The worst error of the failed cases; an expected one is none."""
        return worst(case.error for case in self.cases if case.verdict == "failed")

    @property
    def exit_code(self) -> ExitCode:
        """The largest code of all cases."""
        return max((case.exit_code for case in self.cases), default=ExitCode.OK)


@dataclass(frozen=True, slots=True)
class ListedCase:
    """A case of a spec, before it runs."""

    name: str  # the name of the case
    line: int  # its first line in the spec file
    image: str  # the image, as in the spec
    kernel: str | None  # the kernel; ``None`` where only the loaded image has its name
    arguments: tuple[str, ...]  # the arguments of the launch
    devices: tuple[str, ...]  # the devices, as for ``--device``
    matrix: Mapping[str, MatrixValue]  # its values of the matrix, by name
    skip: str | None  # the reason to skip the case; ``None`` where it runs
    command: str | None  # the command line that runs the case; ``None`` if the spec is a pipe


@dataclass(frozen=True, slots=True)
class SpecListing:
    """The selected cases of a spec file."""

    tag: ClassVar[Literal["launch-spec-list"]] = "launch-spec-list"

    spec: str  # the spec file
    cases: tuple[ListedCase, ...]  # the cases, in the order of the file

    exit_code: ClassVar[ExitCode] = ExitCode.OK
