"""The node's half: every case several times on every GPU, with digests of the outputs."""

from __future__ import annotations

import select
import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from cudarun import __version__
from cudarun.base import machine
from cudarun.base.errors import ExitCode, InternalError, NoDevice, OutOfTime
from cudarun.base.records import derived
from cudarun.model.fleet import Change, FleetCase, NodeGpu, NodeReport, overall
from cudarun.session.spec.parent import device_runs, run_spec

if TYPE_CHECKING:
    from cudarun.model.spec import CaseReport
    from cudarun.session.driver.contexts import Target
    from cudarun.session.fleet.request import NodeRequest
    from cudarun.session.spec.case import Case

_MOST_TIMES = 1000  # the runs of a case whose times are kept


def run_node(cases: Sequence[Case], where: Target, request: NodeRequest, output: int) -> NodeReport:
    """Run the cases several times on each GPU, and compare each GPU's outputs with themselves.

    Raises:
        NoDevice: There is no device, or no worker could describe one.
        OutOfTime: The limit of the node passed.
        BrokenPipeError: The reader of the output has left: the end of ssh sends no signal.
    """
    started = time.monotonic()
    reader = select.poll()
    reader.register(output, 0)  # for errors, which are always reported
    repeated = [
        replace(case, request=case.request and case.request.with_options(digests=True))
        for case in cases
    ] * request.runs
    results: dict[tuple[str, str], _CaseRuns] = {}

    def take(report: CaseReport) -> None:
        results.setdefault((report.device, report.name), _CaseRuns()).add(report)

    def watch() -> None:
        if reader.poll(0):
            raise BrokenPipeError
        if time.monotonic() - started > request.limit:
            raise OutOfTime(f"the node timed out after {request.limit:g} s")

    while True:
        with device_runs(where) as pool:
            run_spec("fleet", repeated, pool, on_case=take, meanwhile=watch, keep=False)
        if time.monotonic() - started >= request.soak:
            break
    labels = dict.fromkeys(device for device, _ in results)
    gpus = [
        NodeGpu(identity, tuple(results[label, case.name].case(case.name) for case in cases))
        for label in labels
        if (identity := machine.device(label)) is not None
    ]
    if not gpus:
        reasons = [runs.reason for runs in results.values() if runs.reason is not None]
        raise NoDevice(reasons[0] if reasons else "no device was initialized")
    gpus.sort(key=lambda gpu: gpu.identity.index)
    return NodeReport(__version__, time.monotonic() - started, tuple(gpus))


class _CaseRuns:
    """The runs of one case on one GPU."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.runs = 0
        self.exit_code = ExitCode.OK
        self.digests: dict[str, str] = {}
        self._failed = False
        self._skipped = False
        self._times: list[float] = []
        self._changes: dict[str, Change] = {}

    def add(self, report: CaseReport) -> None:
        """Take the report of one run."""
        if report.verdict == "skipped":
            self._skipped, self.reason = True, report.reason
            return
        self.runs += 1
        if report.verdict == "failed":
            ours = isinstance(report.error, InternalError)  # which does not measure the GPU
            code = ExitCode.UNUSABLE_REQUEST if ours else report.exit_code
            code = overall((self.exit_code, code))
            if code is not self.exit_code or not self._failed:
                self.reason = report.reason
            self._failed, self.exit_code = True, code
        if report.result is None:
            return
        if len(self._times) < _MOST_TIMES:
            self._times.append(report.result.milliseconds)
        for each in report.result.buffers:
            if each.digest is not None:
                first = self.digests.setdefault(each.name, each.digest)
                if each.digest != first and each.name not in self._changes:
                    values = first, each.digest
                    self._changes[each.name] = Change(each.name, self.runs, values)

    def case(self, name: str) -> FleetCase:
        """Return the result of all runs."""
        ran = "failed" if self._failed else "passed"
        return derived(
            FleetCase,
            self,
            name=name,
            verdict="skipped" if self._skipped and not self.runs else ran,
            milliseconds=median(self._times) if self._times else None,
            changes=tuple(self._changes.values()),
        )
