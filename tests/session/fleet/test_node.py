"""What the runs of a case amount to on a node."""

from __future__ import annotations

import pytest

from cudarun.base.errors import CheckFailed, CudarunError, DeviceFailed, ExitCode, InternalError
from cudarun.model.spec import CaseReport
from cudarun.session.fleet.node import _CaseRuns

WRONG, FAULT = CheckFailed("y differs"), DeviceFailed("fault")
BUG = InternalError(KeyError("bug"))


def failed(error: CudarunError) -> CaseReport:
    return CaseReport(
        "c", 1, "0", "failed", error.message, exit_code=error.exit_code, error=error
    )  # fmt: skip


@pytest.mark.parametrize(
    ("errors", "code", "reason"),
    [
        ([BUG], ExitCode.UNUSABLE_REQUEST, BUG.message),  # which measures no GPU
        ([WRONG, BUG], ExitCode.CHECK_FAILED, "y differs"),
        ([BUG, WRONG, BUG], ExitCode.CHECK_FAILED, "y differs"),
        ([WRONG, FAULT, WRONG], ExitCode.DEVICE_FAILED, "fault"),
    ],
)
def test_the_worst_run_that_measures(
    errors: list[CudarunError], code: ExitCode, reason: str
) -> None:
    runs = _CaseRuns()
    for error in errors:
        runs.add(failed(error))
    found = runs.case("c")
    assert (found.verdict, found.exit_code, found.reason) == ("failed", code, reason)
