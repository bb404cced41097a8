"""The documents of ``launch --spec``."""

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
        matrix: Its values of the matrix, by name.
        command: The command line that runs the case again; null if the spec is a pipe.
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
    matrix: dict[str, bool | int | float | str]
    command: str | None


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


class ListedCaseRecord(TypedDict):
    """A case of a spec, before it runs.

    Attributes:
        name: The name of the case.
        line: Its first line in the spec file.
        image: The image, as in the spec.
        kernel: The kernel; null where only the loaded image has its name.
        arguments: The arguments of the launch.
        devices: The devices, as for --device.
        matrix: Its values of the matrix, by name.
        skip: The reason to skip the case; null where it runs.
        command: The command line that runs the case; null if the spec is a pipe.
    """

    name: str
    line: int
    image: str
    kernel: str | None
    arguments: list[str]
    devices: list[str]
    matrix: dict[str, bool | int | float | str]
    skip: str | None
    command: str | None


class ListingDocument(Head):
    """The selected cases of a spec file.

    Attributes:
        schema: The schema of this document.
        spec: The spec file.
        cases: The cases, in the order of the file.
    """

    schema: Literal["cudarun/launch-spec-list/1"]
    spec: str
    cases: list[ListedCaseRecord]
