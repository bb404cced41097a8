"""``cudarun ctx verify``: every fact on every device, each in a separate process.

Facts are sentences about contexts with scripts that check them, in ``facts.toml``, which says where
they come from.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from cudarun.arguments.scanner import did_you_mean
from cudarun.base.errors import NoDevice, RequestError, WorkerDied
from cudarun.base.records import dataclass
from cudarun.model.contexts import FactOnDevice, FactReport, FactVerdict, ScriptReport, VerifyReport
from cudarun.session.contexts.parent import ScriptWorker
from cudarun.session.contexts.parser import parse_script
from cudarun.session.contexts.script import Script
from cudarun.session.driver.contexts import Target
from cudarun.session.driver.selection import Selector
from cudarun.session.workers.devices import label_of, one_by_one
from cudarun.session.workers.pool import WorkerPool

_TWO_DEVICES = "requires two devices of one driver: -d 0,1 --together"
_NOT_SUPPORTED = 801  # CUDA_ERROR_NOT_SUPPORTED


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact about contexts."""

    name: str
    sentence: str  # the documented behavior
    script: str  # the text of the script that checks it
    note: str | None = None  # differences between drivers or bindings
    # The script uses a destroyed handle, with which a driver may end the process.
    may_crash: bool = False

    def parsed(self) -> Script:
        """Parse the script."""
        return parse_script(self.script, f"fact {self.name}")


FACTS = tuple(
    Fact(name, **row)
    for name, row in tomllib.loads(
        Path(__file__).with_name("facts.toml").read_text("utf-8")
    ).items()
)


def chosen_facts(names: Sequence[str]) -> tuple[Fact, ...]:
    """Return the facts of these names, in the order of `FACTS`; all without names."""
    known = {fact.name: fact for fact in FACTS}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known) or "list them with 'cudarun ctx verify --list'"
            raise RequestError(f"unknown fact '{name}'", hint=hint)
    return tuple(fact for fact in FACTS if not names or fact.name in names)


def verify(
    facts: Sequence[Fact], target: Target, progress: Callable[[str], object]
) -> VerifyReport:
    """Check facts on each device; the next worker's driver initializes during each check.

    Args:
        target: The devices; with ``together`` a fact about two devices gets the next one too.
            ``timeout`` is for each fact on each device.
        progress: Called before each check with its description, and with an empty text at the end.
    """
    with WorkerPool() as pool:
        devices = [selector for (selector,) in one_by_one(pool, target)]
        checks = [
            _fact_check(fact, device, devices, target) for fact in facts for device in devices
        ]
        outcomes: list[FactOnDevice] = []
        worker = checks[0].begin(pool) if checks else None
        for number, check in enumerate(checks, start=1):
            progress(f"{number}/{len(checks)} {check.fact.name} on {check.device}")
            following = checks[number].begin(pool) if number < len(checks) else None
            outcomes.append(check.outcome(worker))
            worker = following
        progress("")
    return VerifyReport(
        tuple(label_of([device]) for device in devices),
        tuple(
            _report(fact, *outcomes[index * len(devices) : (index + 1) * len(devices)])
            for index, fact in enumerate(facts)
        ),
    )


def listed_facts(facts: Sequence[Fact]) -> VerifyReport:
    """Return the facts themselves, without a device."""
    return VerifyReport((), tuple(map(_report, facts)))


def _report(fact: Fact, *outcomes: FactOnDevice) -> FactReport:
    return FactReport(fact.name, fact.sentence, fact.note, fact.script, outcomes)


@dataclass(frozen=True, slots=True)
class _FactCheck:
    """A fact to check on a device; if it cannot be checked, ``target`` is the reason."""

    fact: Fact
    script: Script
    device: str
    target: Target | str

    def begin(self, pool: WorkerPool) -> ScriptWorker | None:
        """Start a worker, which initializes the driver immediately."""
        return None if isinstance(self.target, str) else ScriptWorker(pool, self.target, {})

    def outcome(self, worker: ScriptWorker | None) -> FactOnDevice:
        """Check the fact in the worker that `begin` started."""
        if worker is None:
            return FactOnDevice(self.device, "not supported", str(self.target), ())
        report = worker.run(self.script)
        if self.fact.may_crash and isinstance(report.error, WorkerDied):
            return FactOnDevice(self.device, "passed", f"{report.error}", report.steps)
        verdict, reason = _verdict(report)
        return FactOnDevice(self.device, verdict, reason, report.steps)


def _fact_check(
    fact: Fact, device: Selector, devices: Sequence[Selector], target: Target
) -> _FactCheck:
    """Prepare the check of a fact on one device, its ``dev=0``."""
    script, label = fact.parsed(), label_of([device])
    chosen = [device]
    if script.devices > 1:
        same = [other for other in devices if other.driver == device.driver]
        if not target.together or len(same) == 1:
            return _FactCheck(fact, script, label, _TWO_DEVICES)
        chosen.append(same[(same.index(device) + 1) % len(same)])
    return _FactCheck(fact, script, label, replace(target, devices=tuple(chosen), capture=True))


def _verdict(report: ScriptReport) -> tuple[FactVerdict, str | None]:
    """Return the verdict on a script that has run, from its first unexpected step."""
    for step in report.steps:
        if step.verdict == "not supported" or (step.exit_code and step.code == _NOT_SUPPORTED):
            return "not supported", step.reason or f"step {step.number}, {step.text}: {step.result}"
        if step.exit_code:
            got = step.result or step.reason
            got = got if step.value is None else f"{got}, {step.value}"
            expected = f"expected {step.expected or 'success'}, got {got}"
            return "failed", f"step {step.number}, {step.text}: {expected}"
    if isinstance(report.error, NoDevice):
        raise report.error
    if report.error is not None:
        step_text = report.error.context.get("step", "")
        return "failed", f"step {step_text}: {report.error}"
    return "passed", None
