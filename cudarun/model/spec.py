"""The report of ``launch --spec``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar, Literal, TypeAlias

from cudarun.base.errors import CudarunError, ExitCode, worst
from cudarun.base.records import dataclass
from cudarun.model.launch import LaunchResult

Verdict = Literal["passed", "failed", "skipped"]
MatrixValue: TypeAlias = bool | int | float | str
"""A value in the matrix of a case."""


@dataclass(frozen=True, slots=True)
class CaseReport:
    """A case on a device.

    Attributes:
        name: The name of the case.
        line: Its first line in the spec file.
        device: The device, as for ``--device``.
        verdict: The result.
        reason: Why it failed or was skipped; ``None`` where it passed.
        exit_code: Its part in the exit code of the process.
        seconds: The time of the case; 0 where it did not run.
        seed: The seed of random initializers; ``None`` where there are none.
        result: The launch; ``None`` where it did not come back.
        error: The error; a case that expects one passes with it.
        output: What the kernel printed.
        matrix: Its values of the matrix, by name.
        command: The command line that runs the case again; ``None`` if the spec is a pipe.
        candidate: The image of ``--candidate``; ``None`` without.
    """

    tag: ClassVar[Literal["case"]] = "case"

    name: str
    line: int
    device: str
    verdict: Verdict
    reason: str | None = None
    exit_code: ExitCode = ExitCode.OK
    seconds: float = 0.0
    seed: int | None = None
    result: LaunchResult | None = None
    error: CudarunError | None = None
    output: str = ""
    matrix: Mapping[str, MatrixValue] = field(default_factory=dict)
    command: str | None = None
    candidate: str | None = None

    @property
    def label(self) -> str:
        """The name of the case, after that of its candidate."""
        return case_label(self.candidate, self.name)


def case_label(candidate: str | None, name: str) -> str:
    """Return the name of a case in messages, which is unique in a run."""
    return name if candidate is None else f"{candidate}: {name}"


@dataclass(frozen=True, slots=True)
class CandidateReport:
    """The cases of a candidate.

    Attributes:
        candidate: The image of ``--candidate``.
        verdict: The result: passed if a case passed and none failed.
        passed: The number of passed cases.
        failed: The number of failed cases.
        skipped: The number of skipped cases.
        failures: The names of the failed cases.
        reason: Why the first one failed; ``None`` where none did.
        ratio: How many times faster than the baseline: the geometric mean of the passed cases that
            are compared; ``None`` if none is.
        compared: The number of these cases.
    """

    tag: ClassVar[Literal["candidate"]] = "candidate"

    candidate: str
    verdict: Verdict
    passed: int
    failed: int
    skipped: int
    failures: tuple[str, ...]
    reason: str | None
    ratio: float | None
    compared: int


Statistic: TypeAlias = Literal["min", "median"]
"""The time by which cases are compared."""


@dataclass(frozen=True, slots=True)
class BestCase:
    """The fastest of the passed cases on a device.

    Attributes:
        device: The device, as for ``--device``.
        candidate: The image of ``--candidate``; ``None`` without.
        name: The name of the case.
        statistic: The time by which the cases are compared.
        milliseconds: That time.
        cases: The number of compared cases.
    """

    device: str
    candidate: str | None
    name: str
    statistic: Statistic
    milliseconds: float
    cases: int


@dataclass(frozen=True, slots=True)
class SpecReport:
    """The cases of a spec file.

    Attributes:
        spec: The spec file.
        passed: The number of passed cases.
        failed: The number of failed cases.
        skipped: The number of skipped cases.
        seconds: The time of all cases.
        cases: All cases, in the order of the candidates, of the file, then of the devices; none in
            the last line of ``--format`` jsonl.
        candidates: The result of each candidate.
        best: The fastest passed case on each device, with ``--best``.
    """

    tag: ClassVar[Literal["launch-spec"]] = "launch-spec"

    spec: str
    passed: int
    failed: int
    skipped: int
    seconds: float
    cases: tuple[CaseReport, ...]
    candidates: tuple[CandidateReport, ...] = ()
    best: tuple[BestCase, ...] = ()

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
    """A case of a spec, before it runs.

    Attributes:
        name: The name of the case.
        line: Its first line in the spec file.
        image: The image, as in the spec.
        kernel: The kernel; ``None`` where only the loaded image has its name.
        arguments: The arguments of the launch.
        devices: The devices, as for ``--device``.
        matrix: Its values of the matrix, by name.
        skip: The reason to skip the case; ``None`` where it runs.
        command: The command line that runs the case; ``None`` if the spec is a pipe.
    """

    name: str
    line: int
    image: str
    kernel: str | None
    arguments: tuple[str, ...]
    devices: tuple[str, ...]
    matrix: Mapping[str, MatrixValue]
    skip: str | None
    command: str | None


@dataclass(frozen=True, slots=True)
class SpecListing:
    """The selected cases of a spec file.

    Attributes:
        spec: The spec file.
        cases: The cases, in the order of the file.
    """

    tag: ClassVar[Literal["launch-spec-list"]] = "launch-spec-list"

    spec: str
    cases: tuple[ListedCase, ...]

    exit_code: ClassVar[ExitCode] = ExitCode.OK
