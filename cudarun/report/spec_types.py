"""``cudarun launch --spec``: what became of many launches, as plain data."""

from __future__ import annotations

from typing import ClassVar, Literal

from cudarun.errors import CudarunError, ExitCode, worst
from cudarun.records import dataclass
from cudarun.report.types import LaunchResult

Verdict = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class CaseReport:
    """One case on one device.

    Attributes:
        name: The case's.
        line: Of the spec, where it begins.
        device: What ``--device`` calls it.
        verdict: Whether what should happen did.
        reason: Why it failed or was skipped; ``None`` where it passed.
        exit_code: What it counts for in the exit code of the whole: 0 unless it failed.
        seconds: From handing it to the worker to its answer; 0 where it did not run.
        seed: What random initialisers started from; ``None`` where there was none.
        result: The launch that came back.
        error: Why there is none; a case that expects an error passes with it.
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
    """All cases on all devices, in the order of the spec and then of the devices."""

    tag: ClassVar[Literal["launch-spec"]] = "launch-spec"

    spec: str
    passed: int
    failed: int
    skipped: int
    seconds: float
    cases: tuple[CaseReport, ...]

    @property
    def error(self) -> CudarunError | None:
        """The worst of the cases that failed; one that a case expects is none."""
        return worst(case.error for case in self.cases if case.verdict == "failed")

    @property
    def exit_code(self) -> ExitCode:
        """The largest code of all cases."""
        return max((case.exit_code for case in self.cases), default=ExitCode.OK)
