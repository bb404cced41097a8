"""The report of ``launch --spec``."""

from __future__ import annotations

from typing import ClassVar, Literal

from cudarun.errors import CudarunError, ExitCode, worst
from cudarun.records import dataclass
from cudarun.report.types import LaunchResult

Verdict = Literal["passed", "failed", "skipped"]


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


@dataclass(frozen=True, slots=True)
class SpecReport:
    """The cases of a spec file.

    Attributes:
        spec: The spec file.
        passed: The number of passed cases.
        failed: The number of failed cases.
        skipped: The number of skipped cases.
        seconds: The time of all cases.
        cases: All cases, in the order of the file, then of the devices.
    """

    tag: ClassVar[Literal["launch-spec"]] = "launch-spec"

    spec: str
    passed: int
    failed: int
    skipped: int
    seconds: float
    cases: tuple[CaseReport, ...]

    @property
    def error(self) -> CudarunError | None:
        """The worst error of the failed cases; an expected one is none."""
        return worst(case.error for case in self.cases if case.verdict == "failed")

    @property
    def exit_code(self) -> ExitCode:
        """The largest code of all cases."""
        return max((case.exit_code for case in self.cases), default=ExitCode.OK)
