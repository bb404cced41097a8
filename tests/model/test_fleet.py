"""The exit code of a fleet: a failure is not hidden by what was not measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cudarun.base.errors import ExitCode
from cudarun.base.machine import DeviceIdentity
from cudarun.model.fleet import VERDICTS, Consensus, FleetCase, FleetGpu, FleetHost, FleetReport

OK, WRONG, REQUEST, UNREACHABLE, REFUSED, FAULT, HANG = (ExitCode(code) for code in range(7))
IDENTITY = DeviceIdentity("0", 0, "GPU-1", "0000:01:00.0", "H200", None, (13, 0))


def case(code: ExitCode) -> FleetCase:
    return FleetCase("c", "failed" if code else "passed", None, code, 1, 1.0)


def gpu(*codes: ExitCode) -> FleetGpu:
    return FleetGpu(IDENTITY, tuple(map(case, codes)))


def report(*gpus: FleetGpu | None) -> FleetReport:
    """A report with a host per GPU; `None` is a host that was not measured."""
    hosts = [FleetHost("h", 1.0, () if each is None else (each,)) for each in gpus]
    return FleetReport("s.toml", None, 1.0, tuple(hosts), (), 0)


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ((OK, OK), OK),
        ((OK, None), UNREACHABLE),
        ((WRONG, None), WRONG),
        ((WRONG, REQUEST, None), WRONG),
        ((REQUEST, OK), REQUEST),
        ((WRONG, FAULT, None), FAULT),
        ((None, HANG, REFUSED), HANG),
    ],
)
def test_hosts(codes: tuple[ExitCode | None, ...], expected: ExitCode) -> None:
    gpus = [None if code is None else gpu(code) for code in codes]
    assert report(*gpus).exit_code is expected


def test_cases_of_a_gpu() -> None:
    found = gpu(WRONG, UNREACHABLE, OK)
    assert (found.exit_code, found.verdict) == (WRONG, "wrong answer")
    objected = replace(gpu(OK, REQUEST), objections=("c: y differs",))
    assert (objected.exit_code, objected.reason) == (WRONG, "c: y differs")


def test_a_disagreement_is_not_hidden() -> None:
    found = report(gpu(OK), None)
    differs = Consensus("H200", "c", "y", 0, ("h/0", "h/1"), True)
    assert replace(found, consensus=(differs,)).exit_code is WRONG


def test_every_code_of_a_case_has_a_verdict() -> None:
    assert {*ExitCode} - {*VERDICTS} == {ExitCode.INTERRUPTED}
