"""Many launches: every case on every device, a worker per device that is replaced after a fault.

Each device has a lane: a generator that hands tasks to its workers and is resumed with what became
of them. One loop waits for all lanes at once, so the devices work side by side and none waits for
another.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from cudarun.errors import CudarunError, OutOfTime, WorkerDied, worst
from cudarun.records import dataclass
from cudarun.session.driver.devices import describe
from cudarun.session.driver.selection import Selector
from cudarun.session.driver.target import ContextOptions, Target
from cudarun.session.launch.parent import on_each_device, on_reference_device, prefetch
from cudarun.session.spec.case import Case
from cudarun.session.workers.fleet import Work, label_of, make_session, one_by_one
from cudarun.session.workers.parent import WATCH_INTERVAL, Outcome, Worker, settle
from cudarun.session.workers.progress import Progress, Watch
from cudarun.session.workers.temporary import temporary_folder

if TYPE_CHECKING:
    from cudarun.report.spec_types import CaseReport, SpecReport
    from cudarun.report.types import DeviceInfo
    from cudarun.session.workers.session import Session

T = TypeVar("T")

_SPARES = 3
"""How many workers stand by on a device where one was lost, once a case takes long: faults come in
clusters, and drivers initialise one after the other, which takes 0.3 s."""
_LONG = 0.3
"""Seconds after which a case takes long, so that nothing is lost by what is done beside it."""

Place = tuple[tuple[Selector, ...], ContextOptions]
"""What a worker is made for."""

Steps = Generator[Worker[Any], Outcome[Any], T]
"""Yields the worker that was given something to do; is sent what became of that."""


@contextmanager
def crews(target: Target) -> Iterator[list[Crew]]:
    """The workers of a spec, a crew for each device, which initialise while the spec is read.

    Raises:
        NoDevice: ``all`` was asked for and there is none.
    """
    with ExitStack() as stack:
        yield [Crew(selectors, target, stack) for selectors in one_by_one(target)]


def run_spec(
    origin: str,
    cases: Sequence[Case],
    target: Target,
    crews: Sequence[Crew],
    *,
    fail_fast: bool = False,
    watch: Watch | None = None,
    on_case: Callable[[CaseReport], object] = lambda case: None,
    keep: bool = True,
) -> SpecReport:
    """Run every case on every device.

    Args:
        origin: What the spec is called.
        cases: In order.
        target: Its context and time limit are those of cases that say nothing else.
        crews: What `crews` made for the devices.
        fail_fast: Begin no case any more once one has failed.
        watch: Is shown what the workers are doing.
        on_case: Called with each case as soon as it is settled.
        keep: Whether the report has each case's result, for which there may be no memory where
            there are very many.
    """
    started = time.monotonic()
    done: list[CaseReport] = []

    def settled(report: CaseReport) -> None:
        if watch is not None:
            watch.end()
        on_case(report)
        done.append(report if keep else replace(report, result=None, error=None, output=""))

    def stopped() -> bool:
        return fail_fast and any(report.verdict == "failed" for report in done)

    _run_all([_Lane(crew, cases, target, settled, stopped) for crew in crews], watch)
    devices = [crew.label for crew in crews]
    return _report(origin, cases, devices, done, time.monotonic() - started)


def _report(
    origin: str,
    cases: Sequence[Case],
    devices: Sequence[str],
    done: Sequence[CaseReport],
    seconds: float,
) -> SpecReport:
    from cudarun.report.spec_types import SpecReport

    order = {case.name: place for place, case in enumerate(cases)}
    verdicts = [report.verdict for report in done]
    return SpecReport(
        spec=origin,
        passed=verdicts.count("passed"),
        failed=verdicts.count("failed"),
        skipped=verdicts.count("skipped"),
        seconds=seconds,
        cases=tuple(sorted(done, key=lambda r: (order[r.name], devices.index(r.device)))),
    )


def _run_all(lanes: Sequence[_Lane], watch: Watch | None) -> None:
    """Resume each lane whenever what it waits for is settled, until all have ended."""
    waiting: dict[Worker[Any], tuple[_Lane, Steps[None]]] = {}
    for lane in lanes:
        steps = lane.steps()
        first = next(steps, None)
        if first is not None:
            waiting[first] = lane, steps
    while waiting:
        for worker in settle([*waiting], patience=WATCH_INTERVAL):
            lane, steps = waiting.pop(worker)
            with suppress(StopIteration):
                waiting[steps.send(worker.outcome())] = lane, steps
        for lane, _ in waiting.values():
            lane.meanwhile()
        if watch is not None and waiting:
            watch.look([lane.doing for lane, _ in waiting.values()])
    if watch is not None:
        watch.end()


class _Lane:
    """All cases on one device.

    Args:
        crew: The workers of the device.
        cases: What to run.
        target: As for `run_spec`.
        settled: Called with each case's report.
        stopped: Whether no further case is to begin.
    """

    def __init__(
        self,
        crew: Crew,
        cases: Sequence[Case],
        target: Target,
        settled: Callable[[CaseReport], None],
        stopped: Callable[[], bool],
    ) -> None:
        self.label = crew.label
        self._selectors = crew.selectors
        self._cases = cases
        self._target = target
        self._crew = crew
        self._settled = settled
        self._stopped = stopped
        self._where = ""  # in the spec
        self._began = 0.0  # the case
        told = [index for index, case in enumerate(cases[:-1]) if case.poisons]
        self._last_told = max(told, default=-1)  # of the cases that the spec expects to end one
        self._surprises = 0  # workers lost to other cases
        self._next: Place | None = None  # where the case after it needs a worker

    @property
    def doing(self) -> tuple[str, Progress]:
        """The device and the case, and what the worker says."""
        return f"on {self.label}, {self._where}", self._crew.progress

    def meanwhile(self) -> None:
        """Called now and then while a case runs."""
        is_long = time.monotonic() - self._began > _LONG
        if is_long and self._crew.losses and self._next is not None:
            self._crew.prepare(self._next, _SPARES)

    def steps(self) -> Steps[None]:
        """Settle every case."""
        for index, case in enumerate(self._cases):
            self._where = f"case {index + 1} of {len(self._cases)}: {case.name}"
            report = partial(_case_report, case, self.label)
            if case.skip is not None:
                self._settled(report("skipped", case.skip))
            elif self._stopped():
                self._settled(report("skipped", "not run: an earlier case failed (--fail-fast)"))
            else:
                losses = self._crew.losses
                self._settled((yield from self._case(case, index)))
                self._surprises += self._crew.losses > losses and not case.poisons
        self._crew.dismiss()

    def _needs_spare(self, index: int) -> bool:
        """Whether a worker will probably be lost from this case on, and be missed.

        One is where the spec says so, and where things going on as before would bring it about.
        """
        others = len(self._cases) - index - 1
        return index <= self._last_told or index + 1 <= self._surprises * others

    def _case(self, case: Case, index: int) -> Steps[CaseReport]:
        """Run one case, the reference first where it has one."""
        if case.request is None:
            return _judged(case, self.label, _Answer(None, case.refused), 0.0, "")
        place = self._selectors, case.context
        timeout = case.timeout or self._target.timeout
        if self._needs_spare(index):
            self._crew.back_up(place)
        ready = yield from self._crew.member(place, timeout)
        if ready.value is None:
            return _judged(case, self.label, _Answer(None, ready.error), 0.0, ready.output)
        reason = case.unmet(self._selectors[0].driver, ready.value)
        if reason is not None:
            return _case_report(case, self.label, "skipped", reason)
        is_last = index + 1 == len(self._cases)
        self._began, self._next = time.monotonic(), None if is_last else place
        if case.request.reference is None:
            return (yield from self._launch(case, place, timeout, on_each_device(case.request)))
        with temporary_folder("cudarun-reference-") as folder:
            there = (case.request.reference,), ContextOptions()
            failed = yield from self._refer(case, there, timeout, folder)
            if failed is not None:
                return failed
            work = on_each_device(case.request, folder)
            return (yield from self._launch(case, place, timeout, work))

    def _refer(
        self, case: Case, place: Place, timeout: float | None, folder: Path
    ) -> Steps[CaseReport | None]:
        """Launch on the reference device; a report where that came to nothing."""
        assert case.request is not None, "only launches have a reference"
        ready = yield from self._crew.member(place, timeout)
        error = ready.error
        if error is None:
            work = on_reference_device(case.request, folder)
            error = (yield from self._crew.ask(place, work, timeout)).error
        if error is None:
            return None
        error.message = f"reference: {error.message}"
        return _judged(case, self.label, _Answer(None, error), 0.0, "")

    def _launch(
        self, case: Case, place: Place, timeout: float | None, work: Work[Any]
    ) -> Steps[CaseReport]:
        started = time.monotonic()
        outcome = yield from self._crew.ask(place, work, timeout)
        answer = outcome.value or _Answer(None, outcome.error)
        seconds = time.monotonic() - started
        return _judged(case, self.label, answer, seconds, outcome.output)


class Crew:
    """The workers of a device: for each place at most one at work, and some that stand by.

    The first begins at once. One that faulted, died or was out of time is never used again. Ending
    a process that has a GPU takes a while, so nobody waits for that before the end.

    Attributes:
        selectors: The device.
        label: What messages call it.
        progress: Where its workers say what they do.
        losses: How many workers had to be replaced.
    """

    def __init__(self, selectors: tuple[Selector, ...], target: Target, stack: ExitStack) -> None:
        self.selectors = selectors
        self.label = label_of(selectors)
        self._target = target
        stack.callback(self._end)
        self._at_work: dict[Place, Worker[Any]] = {}
        self._ready: dict[Place, Outcome[DeviceInfo]] = {}
        self._standing_by: defaultdict[Place, deque[Worker[Any]]] = defaultdict(deque)
        self._ending: list[Worker[Any]] = []
        self.progress = Progress(verbose=target.verbose)
        self.losses = 0
        self.prepare((selectors, target.context))

    def prepare(self, place: Place, count: int = 1) -> None:
        """Have so many workers stand by, initialising their drivers meanwhile."""
        standing_by = self._standing_by[place]
        selectors, context = place
        # Their output is the case's, never the terminal's.
        target = replace(self._target, context=context, capture=True)
        make = partial(make_session, selectors, target, prefetch, self.progress)
        self._ending = [worker for worker in self._ending if not worker.has_ended()]
        while len(standing_by) < count:
            worker: Worker[Any] = Worker(make, capture=True)
            worker.send(_describe)
            standing_by.append(worker)

    def back_up(self, place: Place) -> None:
        """Have a worker stand by beside the one that is, or is to be, at work."""
        self.prepare(place, 1 if place in self._at_work else 2)

    def member(self, place: Place, timeout: float | None) -> Steps[Outcome[DeviceInfo]]:
        """Have a worker whose driver is initialised; the outcome describes its device.

        A driver or device that is not there stays so: it is asked for once. A worker that was
        killed while it stood by is replaced.
        """
        if place not in self._ready:
            standing_by = self._standing_by[place]
            while standing_by and standing_by[0].has_ended():
                standing_by.popleft().retire()
            self.prepare(place)
            worker = self._at_work[place] = standing_by.popleft()
            worker.limit(timeout)
            outcome = yield worker
            if outcome.value is None and isinstance(outcome.error, OutOfTime | WorkerDied):
                self._discard(place)
                return outcome
            self._ready[place] = outcome
        return self._ready[place]

    def ask(self, place: Place, work: Work[T], timeout: float | None) -> Steps[Outcome[_Answer[T]]]:
        """Have the worker that is ready at ``place`` do something."""
        worker = self._at_work[place]
        worker.send(partial(_carry_out, work))
        worker.limit(timeout)
        outcome: Outcome[_Answer[T]] = yield worker
        if outcome.value is None or not outcome.value.healthy:
            self._discard(place)
        return Outcome(outcome.value, outcome.error or _error_of(outcome.value), outcome.output)

    def dismiss(self) -> None:
        """End all that are left, without waiting for each."""
        for worker in self._all():
            worker.kill()

    def _all(self) -> Iterator[Worker[Any]]:
        yield from self._at_work.values()
        yield from chain.from_iterable(self._standing_by.values())
        yield from self._ending

    def _end(self) -> None:
        """Leave no process behind."""
        workers = [*self._all()]
        for worker in workers:
            worker.retire()
        for worker in workers:
            with worker:  # which waits for its end
                pass

    def _discard(self, place: Place) -> None:
        worker = self._at_work.pop(place)
        worker.retire()
        self._ending.append(worker)
        self._ready.pop(place, None)
        self.losses += 1


# --- in the worker -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Answer(Generic[T]):
    """What came of one task; ``healthy`` says whether the worker can take another."""

    value: T | None
    error: CudarunError | None
    healthy: bool = True


def _describe(session: Session) -> DeviceInfo:
    session.prefetched()  # so that no case's time has imports in it
    [device] = session.devices
    return describe(session.driver, device)


def _carry_out(work: Work[T], session: Session) -> _Answer[T]:
    """Do the work on the session's one device, and give back what it took."""
    [device] = session.devices
    value, error = None, None
    try:
        value = work(session)(device)
    except OutOfTime:  # of the worker, which is at its end
        raise
    except CudarunError as caught:
        error = caught.at(device=device.label)
    return _Answer(value, error, session.release())


# --- in the parent -------------------------------------------------------------------------------


def _error_of(answer: _Answer[Any] | None) -> CudarunError | None:
    return None if answer is None else answer.error


def _judged(
    case: Case, device: str, answer: _Answer[Any], seconds: float, output: str
) -> CaseReport:
    error = worst((answer.error, *(answer.value.errors if answer.value else ())))
    verdict, reason, code = case.judge(answer.value, error)
    request = case.request
    return replace(
        _case_report(case, device, verdict, reason),
        exit_code=code,
        seconds=seconds,
        seed=request.seed if request is not None and request.is_random else None,
        result=answer.value,
        error=error,
        output=output,
    )


def _case_report(case: Case, device: str, verdict: Any, reason: str | None) -> CaseReport:
    from cudarun.report.spec_types import CaseReport

    return CaseReport(case.name, case.line, device, verdict, reason)
