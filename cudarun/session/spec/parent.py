"""Many launches: every case on every device, with workers that are replaced after a fault.

The cases of a device are a generator that submits tasks to its workers and receives their outcomes.
One loop waits for all devices, so that they work concurrently and none waits for another.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from cudarun.base.errors import AddressOccupied, InternalError, OutOfTime, WorkerDied, worst
from cudarun.base.records import derived
from cudarun.session.driver.contexts import ContextOptions, Target
from cudarun.session.driver.devices import describe
from cudarun.session.launch.parent import LaunchJob, ReferenceJob, prefetch
from cudarun.session.spec.case import Case
from cudarun.session.spec.limits import CandidateLimits
from cudarun.session.spec.ranking import Ranking
from cudarun.session.workers.devices import label_of, one_by_one, session_spec
from cudarun.session.workers.job import ADDRESS_ATTEMPTS, Devices, Job, JobTask, answers_of
from cudarun.session.workers.parent import WorkerProcess
from cudarun.session.workers.pool import Steps, WorkerPool
from cudarun.session.workers.progress import ProgressDisplay, ReadProgress
from cudarun.session.workers.shared_file import SharedFile
from cudarun.session.workers.worker import Answer, WorkerSpec

if TYPE_CHECKING:
    from cudarun.model.devices import DeviceInfo
    from cudarun.model.launch import LaunchResult
    from cudarun.model.spec import CaseReport, SpecReport, Statistic, Verdict
    from cudarun.session.workers.session import Session

T = TypeVar("T")

_SPARES = 3
"""The number of spare workers on a device after a loss, once a case takes long: faults come in
clusters, and drivers initialize one after the other, which takes 0.3 s."""
_LONG = 0.3  # the seconds after which a case takes long, so that starting spares does not delay it

_Place = WorkerSpec["Session"]  # a device and a context: the specification of a worker


class DeviceRuns:
    """The runs of a spec, one per device."""

    def __init__(self, pool: WorkerPool, target: Target) -> None:
        self.pool = pool
        self._target = target  # the devices whose workers start to initialize immediately
        self._groups: dict[Devices, list[Devices]] = {}
        self._runs: dict[Devices, DeviceRun] = {}
        self.of(target.devices)

    def of(self, devices: Devices) -> list[DeviceRun]:
        """Return the run of each device; `NoDevice` if they are all devices, and there is none."""
        if devices not in self._groups:
            chosen = replace(self._target, devices=devices)
            self._groups[devices] = one_by_one(self.pool, chosen)
        for each in self._groups[devices]:
            if each not in self._runs:
                self._runs[each] = DeviceRun(self.pool, each, self._target)
        return [self._runs[each] for each in self._groups[devices]]


@contextmanager
def device_runs(target: Target) -> Iterator[DeviceRuns]:
    """Yield the runs of a spec; their workers end with the context."""
    with WorkerPool() as pool:
        yield DeviceRuns(pool, target)


def run_spec(
    origin: str,
    cases: Sequence[Case],
    runs: DeviceRuns,
    *,
    limits: CandidateLimits | None = None,
    display: ProgressDisplay | None = None,
    on_case: Callable[[CaseReport], object] = lambda case: None,
    meanwhile: Callable[[], object] = lambda: None,
    keep: bool = True,
    best: Statistic | None = None,
) -> SpecReport:
    """Run every case on each of its devices.

    Args:
        limits: The ends of candidates before their last cases; by default none.
        on_case: Called with each completed case.
        meanwhile: Called several times a second.
        keep: Include each case's result in the report, which may need too much memory if
            there are very many.
        best: Compare the passed cases by this time.
    """
    started = time.monotonic()
    chosen: dict[DeviceRun, list[Case]] = {}
    for case in cases:
        for run in runs.of(case.devices):
            chosen.setdefault(run, []).append(case)
    done: list[CaseReport] = []
    limits = limits or CandidateLimits()
    ranking = Ranking(best)

    def settled(report: CaseReport) -> None:
        if display is not None:
            display.end()
        limits.add(report)
        ranking.add(report)
        on_case(report)
        done.append(report if keep else replace(report, result=None, error=None, output=""))

    def update() -> None:
        meanwhile()
        busy = [run for run in chosen if run.progress is not None]
        for run in busy:
            run.meanwhile()
        if display is not None and busy:
            display.update([run.progress for run in busy if run.progress is not None])

    try:
        runs.pool.run([run.steps(own, settled, limits) for run, own in chosen.items()], update)
    finally:
        if display is not None:
            display.end()
    labels = [run.label for run in chosen]
    from cudarun.model.spec import SpecReport

    order = {case.label: place for place, case in enumerate(cases)}
    ordered = tuple(sorted(done, key=lambda r: (order[r.label], labels.index(r.device))))
    verdicts = [report.verdict for report in done]
    return SpecReport(
        spec=origin,
        passed=verdicts.count("passed"),
        failed=verdicts.count("failed"),
        skipped=verdicts.count("skipped"),
        seconds=time.monotonic() - started,
        cases=ordered,
        candidates=ranking.candidates(ordered),
        best=ranking.fastest(labels),
    )


class DeviceRun:
    """The cases of a spec on one device, and its workers.

    For each place (the device, a context of it, the reference device) at most one worker is
    busy. A worker that faulted, died or timed out is never reused.
    """

    def __init__(self, pool: WorkerPool, devices: Devices, target: Target) -> None:
        self.pool = pool  # the pool of the workers; the first one initializes immediately
        self.label = label_of(devices)  # the device's name in messages
        # The running case and its worker's progress; ``None`` between cases.
        self.progress: tuple[str, ReadProgress] | None = None
        self._devices = devices
        self._target = target  # the context of cases without their own
        self._at_work: dict[_Place, WorkerProcess[Session]] = {}
        self._ready: dict[_Place, Answer[DeviceInfo]] = {}
        self._losses = 0  # workers that had to be replaced
        self._began = 0.0  # of the case
        self._next: _Place | None = None  # the place of the next case
        self._limits = CandidateLimits()
        pool.reserve(self._place(devices, target.context))

    def meanwhile(self) -> None:
        """Start spare workers while a case takes long; called several times a second."""
        is_long = time.monotonic() - self._began > _LONG
        if is_long and self._losses and self._next is not None:
            self.pool.reserve(self._next, _SPARES)

    def steps(
        self,
        cases: Sequence[Case],
        settled: Callable[[CaseReport], None],
        limits: CandidateLimits,
    ) -> Steps[None]:
        """Run every case; call ``settled`` with its report."""
        self._limits = limits
        fatal = [index for index, case in enumerate(cases[:-1]) if case.ends_worker]
        last_fatal = max(fatal, default=-1)  # the last case that is expected to end its worker
        surprises = 0  # workers lost to other cases
        for index, case in enumerate(cases):
            where = f"on {self.label}, case {index + 1} of {len(cases)}: {case.label}"
            report = partial(_case_report, case, self.label)
            if case.skip is not None:
                settled(report("skipped", case.skip))
            elif (reason := limits.reason(case)) is not None:
                settled(report("skipped", reason))
            else:
                losses, others = self._losses, len(cases) - index - 1
                # A spare is useful where a case is expected to end its worker, and where the losses
                # so far predict another one.
                spare = index <= last_fatal or index + 1 <= surprises * others
                settled((yield from self._case(case, where, spare=spare, is_last=not others)))
                surprises += self._losses > losses and not case.ends_worker
        self.progress = None
        for worker in [*self._at_work.values()]:
            self.pool.discard(worker)
        self._at_work.clear()

    def _case(self, case: Case, where: str, *, spare: bool, is_last: bool) -> Steps[CaseReport]:
        """Run one case, after the reference if it has one."""
        if case.request is None:
            return self._judged(case, Answer(error=case.refused))
        place = self._place(self._devices, case.context)
        timeout = self._limits.timeout(case)
        if spare:  # in addition to the one that is busy or about to be
            self.pool.reserve(place, 1 if place in self._at_work else 2)
        ready = yield from self._prepare(place, where, timeout)
        if ready.value is None:
            return self._judged(case, Answer(error=ready.error, output=ready.output))
        reason = case.unmet(self._devices[0].driver, ready.value)
        if reason is not None:
            return _case_report(case, self.label, "skipped", reason)
        self._began, self._next = time.monotonic(), None if is_last else place
        if case.request.options.reference is None:
            return (yield from self._launch(case, place, timeout, LaunchJob(case.request)))
        with SharedFile() as file:
            there = self._place((case.request.options.reference,), ContextOptions())
            error = (yield from self._prepare(there, where, timeout)).error
            buffers = None
            if error is None:
                reference = ReferenceJob(case.request, file.path)
                answer = yield from self._ask(there, reference, timeout)
                buffers, error = answer.value, answer.error
            if error is not None:
                error.of(option="--reference", shown="reference")
                return self._judged(case, Answer(error=error))
            self._show(place, where)
            job = LaunchJob(case.request, buffers)
            return (yield from self._launch(case, place, timeout, job))

    def _launch(
        self, case: Case, place: _Place, timeout: float | None, job: LaunchJob
    ) -> Steps[CaseReport]:
        started = time.monotonic()
        ready = self._ready[place]
        answer = yield from self._ask(place, job, timeout)
        for _ in range(ADDRESS_ATTEMPTS):
            if not isinstance(answer.error, AddressOccupied):
                break
            # Replace the worker by one with other addresses; its device is known to be ready.
            from cudarun.session.workers.fresh_worker import start_fresh  # few runs need it

            if place in self._at_work:
                self.pool.discard(self._at_work.pop(place))
            self._at_work[place] = self.pool.acquire(place, start_fresh(job.addresses))
            self._ready[place] = ready
            answer = yield from self._ask(place, job, timeout)
        seconds = time.monotonic() - started
        self._limits.explain(case, answer.error)
        return self._judged(case, answer, seconds)

    def _judged(self, case: Case, answer: Answer[LaunchResult], seconds: float = 0.0) -> CaseReport:
        result, request = answer.value, case.request
        error = worst((answer.error, *(result.errors if result else ())))
        verdict, reason, code = case.judge(result, error)
        return replace(
            _case_report(case, self.label, verdict, reason),
            exit_code=code,
            seconds=seconds,
            seed=request.options.seed if request is not None and request.is_random else None,
            result=result,
            error=error,
            output=answer.output,
        )

    def _place(self, devices: Devices, context: ContextOptions) -> _Place:
        # Their output belongs to the case, not to the terminal.
        target = replace(self._target, devices=devices, context=context, capture=True)
        return session_spec(devices, target, prefetch)

    def _prepare(
        self, place: _Place, where: str, timeout: float | None
    ) -> Steps[Answer[DeviceInfo]]:
        """Prepare a worker with an initialized driver; the answer describes its device.

        A driver or device that does not exist is queried only once.
        """
        if place not in self._ready:
            worker = self._at_work[place] = self.pool.acquire(place)
            self._show(place, where)
            worker.submit(_describe, timeout)
            answer = yield from self._done(place)
            if answer.value is None and isinstance(answer.error, OutOfTime | WorkerDied):
                self._discard(place)
                return answer
            self._ready[place] = answer
        elif place in self._at_work:
            self._show(place, where)
        return self._ready[place]

    def _show(self, place: _Place, where: str) -> None:
        self.progress = where, self._at_work[place].page.read

    def _ask(self, place: _Place, job: Job[T], timeout: float | None) -> Steps[Answer[T]]:
        """Run a job on the one device of the worker that is ready at ``place``."""
        self._at_work[place].submit(JobTask(job, reuse=True), timeout)
        answer: Answer[list[Answer[T]]] = yield from self._done(place)
        [on_device] = answers_of(answer)
        if not on_device.is_reusable:
            self._discard(place)
        return on_device

    def _done(self, place: _Place) -> Steps[Answer[Any]]:
        """Wait for the worker at a place; after a bug in cudarun, for another one."""
        answer = yield self._at_work[place]
        if isinstance(answer.error, InternalError):
            self._at_work[place] = self.pool.repeat(self._at_work[place], answer.error)
            answer = yield self._at_work[place]
        return answer

    def _discard(self, place: _Place) -> None:
        self.pool.discard(self._at_work.pop(place))
        self._ready.pop(place, None)
        self._losses += 1


def _describe(session: Session) -> DeviceInfo:
    """Describe the worker's device, in the worker."""
    [device] = session.devices
    return describe(session.driver, device)


def _case_report(case: Case, device: str, verdict: Verdict, reason: str | None) -> CaseReport:
    from cudarun.model.spec import CaseReport

    command = case.command(device)
    return derived(CaseReport, case, device=device, verdict=verdict, reason=reason, command=command)
