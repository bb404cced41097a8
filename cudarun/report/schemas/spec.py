"""The document of ``launch --spec``."""

from __future__ import annotations

from typing import Literal, TypedDict

from cudarun.report.schemas.errors import ErrorRecord, Head
from cudarun.report.schemas.launch import LaunchResultRecord


class CaseRecord(TypedDict):
    """A case on a device.

    Attributes:
        name: The name of the case.
        line: Its first line in the spec file.
        device: The device, as for --device.
        verdict: The result.
        reason: Why it failed or was skipped; null where it passed.
        exit_code: Its part in the exit code of the process.
        seconds: The time of the case; 0 where it did not run.
        seed: The seed of random initializers; null where there are none.
        result: The launch; null where it did not come back.
        error: The error; a case that expects one passes with it.
        output: What the kernel printed.
    """

    name: str
    line: int
    device: str
    verdict: Literal["passed", "failed", "skipped"]
    reason: str | None
    exit_code: int
    seconds: float
    seed: int | None
    result: LaunchResultRecord | None
    error: ErrorRecord | None
    output: str


class SpecDocument(Head):
    """The cases of a spec file.

    Attributes:
        schema: The schema of this document.
        spec: The spec file.
        passed: The number of passed cases.
        failed: The number of failed cases.
        skipped: The number of skipped cases.
        seconds: The time of all cases.
        cases: All cases, in the order of the file, then of the devices.
    """

    schema: Literal["cudarun/launch-spec/1"]
    spec: str
    passed: int
    failed: int
    skipped: int
    seconds: float
    cases: list[CaseRecord]
