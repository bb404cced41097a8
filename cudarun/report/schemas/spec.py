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
        candidate: The image of --candidate; null without.
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
    candidate: str | None


class CandidateRecord(TypedDict):
    """The cases of a candidate.

    Attributes:
        candidate: The image of --candidate.
        verdict: The result: passed if a case passed and none failed.
        passed: The number of passed cases.
        failed: The number of failed cases.
        skipped: The number of skipped cases.
        failures: The names of the failed cases.
        reason: Why the first one failed; null where none did.
        ratio: How many times faster than the baseline: the geometric mean of the passed cases that
            are compared; null if none is.
        compared: The number of these cases.
    """

    candidate: str
    verdict: Literal["passed", "failed", "skipped"]
    passed: int
    failed: int
    skipped: int
    failures: list[str]
    reason: str | None
    ratio: float | None
    compared: int


class BestCaseRecord(TypedDict):
    """The fastest of the passed cases on a device.

    Attributes:
        device: The device, as for --device.
        candidate: The image of --candidate; null without.
        name: The name of the case.
        statistic: The time by which the cases are compared.
        milliseconds: That time.
        cases: The number of compared cases.
    """

    device: str
    candidate: str | None
    name: str
    statistic: Literal["min", "median"]
    milliseconds: float
    cases: int


class CaseDocument(CaseRecord):
    """A line of ``launch --spec --format jsonl``: a case on a device.

    Attributes:
        schema: The schema of this document.
    """

    schema: Literal["cudarun/launch-case/1"]


class CandidateDocument(CandidateRecord):
    """A line of ``launch --spec --format jsonl``: a candidate.

    Attributes:
        schema: The schema of this document.
    """

    schema: Literal["cudarun/launch-candidate/1"]


class SpecDocument(Head):
    """The cases of a spec file.

    Attributes:
        schema: The schema of this document.
        spec: The spec file.
        passed: The number of passed cases.
        failed: The number of failed cases.
        skipped: The number of skipped cases.
        seconds: The time of all cases.
        cases: All cases, in the order of the candidates, of the file, then of the devices; none in
            the last line of --format jsonl.
        candidates: The result of each candidate.
        best: The fastest passed case on each device, with --best.
    """

    schema: Literal["cudarun/launch-spec/1"]
    spec: str
    passed: int
    failed: int
    skipped: int
    seconds: float
    cases: list[CaseRecord]
    candidates: list[CandidateRecord]
    best: list[BestCaseRecord]


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
