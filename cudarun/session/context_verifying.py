"""``cudarun ctx verify``: every fact on every device, each in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from cudarun.arguments.scanner import did_you_mean
from cudarun.errors import NoDevice, RequestError
from cudarun.report.ctx_types import (
    FactOnDevice,
    FactReport,
    FactVerdict,
    ScriptReport,
    StepReport,
    VerifyReport,
)
from cudarun.session.context_facts import FACTS, Fact
from cudarun.session.context_running import run_script
from cudarun.session.context_script import Script
from cudarun.session.fleet import label_of, one_by_one
from cudarun.session.requests import Target
from cudarun.session.selection import Selector

_TWO_DEVICES = "it takes two devices of one driver: --together, as in -d 0,1 --together"
_NOT_SUPPORTED = 801  # CUDA_ERROR_NOT_SUPPORTED

Watch = Callable[[str], object]
"""Called before each fact with what is being tried, and with nothing when all is done."""


def chosen_facts(names: Sequence[str]) -> tuple[Fact, ...]:
    """The facts of these names, in the order of `FACTS`; all of them where none is named.

    Raises:
        RequestError: There is none of a name.
    """
    known = {fact.name: fact for fact in FACTS}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or "'cudarun ctx verify --list' shows them"
            raise RequestError(f"there is no fact '{name}'", hint=hint)
    return tuple(fact for fact in FACTS if not names or fact.name in names)


def verify(facts: Sequence[Fact], target: Target, watch: Watch = lambda what: None) -> VerifyReport:
    """Try facts on each device.

    Args:
        facts: What to try.
        target: The devices; with ``together`` a fact about two of them gets the next one too.
            ``timeout`` is for each fact on each device.
        watch: Told of the progress.

    Raises:
        NoDevice: No driver, no device, or not the one asked for.
    """
    devices = [selector for (selector,) in one_by_one(target)]
    reports = []
    for index, fact in enumerate(facts):
        watch(f"{index + 1}/{len(facts)} {fact.name}")
        script = fact.script()
        reports.append(
            _report(fact, *(_try(script, device, devices, target) for device in devices))
        )
    watch("")
    return VerifyReport(tuple(label_of([device]) for device in devices), tuple(reports))


def untried(facts: Sequence[Fact]) -> VerifyReport:
    """The facts themselves, on no device."""
    return VerifyReport((), tuple(map(_report, facts)))


def _report(fact: Fact, *outcomes: FactOnDevice) -> FactReport:
    return FactReport(fact.name, fact.sentence, fact.note, fact.lines, outcomes)


def _try(
    script: Script, device: Selector, devices: Sequence[Selector], target: Target
) -> FactOnDevice:
    """One fact on one device, which is its ``dev=0``."""
    label = label_of([device])
    chosen = [device]
    if script.devices > 1:
        other = _next(device, devices) if target.together else None
        if other is None:
            return FactOnDevice(label, "not supported", _TWO_DEVICES, ())
        chosen.append(other)
    report = run_script(script, replace(target, devices=tuple(chosen), capture=True), {})
    verdict, reason = _judged(report)
    return FactOnDevice(label, verdict, reason, report.steps)


def _next(device: Selector, devices: Sequence[Selector]) -> Selector | None:
    """The device after this one, of the same driver, the first again after the last."""
    same = [other for other in devices if other.driver == device.driver]
    other = same[(same.index(device) + 1) % len(same)]
    return None if other == device else other


def _judged(report: ScriptReport) -> tuple[FactVerdict, str | None]:
    """The verdict on a script that has run: its first step that is not as it should be says it.

    Raises:
        NoDevice: The script met none.
    """
    for step in report.steps:
        if step.verdict == "not supported" or (step.exit_code and step.code == _NOT_SUPPORTED):
            return "not supported", step.reason or f"step {step.number}, {step.text}: {step.result}"
        if step.exit_code:
            return "broken", _complaint(step)
    if isinstance(report.error, NoDevice):
        raise report.error
    if report.error is not None:
        step_text = report.error.context.get("step", "")
        return "broken", f"step {step_text}: {report.error}"
    return "held", None


def _complaint(step: StepReport) -> str:
    """What was expected of a step, and what came."""
    came = step.result or step.reason
    if step.value is not None:
        came = f"{came}, {step.value}"
    wanted = step.expected or "success"
    return f"step {step.number}, {step.text}: expected {wanted}, came {came}"
