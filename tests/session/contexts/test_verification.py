"""From what a script came to, to the verdict on a fact."""

from __future__ import annotations

from typing import Any

import pytest

from cudarun.base.errors import CudarunError, NoDevice, OutOfTime, WorkerDied
from cudarun.model.contexts import ScriptReport, StepReport, Verdict
from cudarun.session.contexts.verification import Fact, _fact_check, _FactCheck, _verdict
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import parse_devices


def step(verdict: Verdict, result: str = "CUDA_SUCCESS", code: int | None = 0) -> StepReport:
    return StepReport(
        1, 1, "main", "pop == A", "cuCtxPopCurrent", result, code, "B", "== A", verdict, 0.1, None,
        (), (),
    )  # fmt: skip


def report(*steps: StepReport, error: CudarunError | None = None) -> ScriptReport:
    return ScriptReport(None, ("cpu",), steps, error)


@pytest.mark.parametrize(
    ("found", "verdict", "reason"),
    [
        (report(step("ok"), step("passed")), "passed", None),
        (report(step("passed"), step("failed"), step("not supported")), "failed",
         "step 1, pop == A: expected == A, got CUDA_SUCCESS, B"),
        (report(step("error", "CUDA_ERROR_NOT_SUPPORTED", 801)), "not supported",
         "step 1, pop == A: CUDA_ERROR_NOT_SUPPORTED"),
        (report(step("not supported", "", None), step("error")), "not supported",
         "step 1, pop == A: "),
        (report(step("ok"), error=OutOfTime("too long").at(step="2 (sync)")), "failed",
         "step 2 (sync): too long"),
    ],
)  # fmt: skip
def test_verdicts(found: ScriptReport, verdict: str, reason: str | None) -> None:
    assert _verdict(found) == (verdict, reason)


def test_no_device_is_no_verdict() -> None:
    with pytest.raises(NoDevice):
        _verdict(report(error=NoDevice("none")))


class Ended:
    """A stage whose worker died at once."""

    def __enter__(self) -> Ended:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, script: Any) -> ScriptReport:
        return report(error=WorkerDied("killed by signal 11 (SIGSEGV)"))


@pytest.mark.parametrize(("may_crash", "verdict"), [(True, "passed"), (False, "failed")])
def test_a_crash_is_the_end_of_a_dead_handle_and_of_nothing_else(
    may_crash: bool, verdict: str
) -> None:
    fact = Fact("f", "A fact.", "create A == A", may_crash=may_crash)
    check = _FactCheck(fact, fact.parsed(), "0", Target(parse_devices("0")))
    outcome = check.outcome(Ended())  # type: ignore[arg-type]
    assert (outcome.verdict, "SIGSEGV" in str(outcome.reason)) == (verdict, True)


def test_the_second_device_is_the_next_of_the_same_driver() -> None:
    devices = parse_devices("0,cpu,1,2")
    zero, cpu, one, two = devices
    fact = Fact("f", "A fact of two devices.", "create A dev=1")
    target = Target(devices, together=True)
    for first, second in ((zero, one), (one, two), (two, zero)):
        found = _fact_check(fact, first, devices, target).target
        assert isinstance(found, Target)
        assert found.devices == (first, second)
    assert isinstance(_fact_check(fact, cpu, devices, target).target, str)
