"""A launch that runs several times: ``--seeds``, ``--schedules``, ``--stateless``, ``--baseline``.

Before each run, buffers are allocated and initialized anew, and the variables of the image get the
values that they had after loading. Only the launches of ``--stateless`` find what earlier ones
left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cudarun.base.errors import DeviceFailed, OutOfTime, errors_of
from cudarun.base.records import derived
from cudarun.comparison.rank_test import CONFIDENCE, time_ratio
from cudarun.diagnostics.entries import notes
from cudarun.model.launch import USUAL_SCHEDULE, LaunchResult
from cudarun.model.runs import (
    BaselineResult,
    ScheduledRun,
    ScheduleResult,
    SeededRun,
    SpeedResult,
    StateResult,
    TimingResult,
)
from cudarun.session.driver.devices import Device
from cudarun.session.launch.image_state import ImageState
from cudarun.session.launch.reference import ReferenceBuffers
from cudarun.session.launch.request import BaselineLaunch, Program
from cudarun.session.launch.step_request import LaunchStep
from cudarun.session.launch.steps import Libraries
from cudarun.session.launch.timing import summary
from cudarun.session.launch.worker import run_on, run_reference
from cudarun.session.workers.session import Session
from cudarun.session.workers.shared_file import SharedFile


class Launches:
    """Launches of loaded images on one device, and the variables of these images.

    Each has its own buffers and its own time limit; all are in the current context.
    """

    def __init__(self, session: Session, libraries: Libraries, device: Device) -> None:
        self._session = session
        self._libraries = libraries
        self._device = device
        self.measures_device = session.driver.traits.measures_device
        self.state = ImageState(session, libraries)  # the values of the variables after loading

    def run(self, program: Program, reference: ReferenceBuffers | None = None) -> LaunchResult:
        """Launch with the variables as after loading."""
        self.state.restore()
        return self.run_again(program, reference)

    def run_again(
        self, program: Program, reference: ReferenceBuffers | None = None
    ) -> LaunchResult:
        """Launch with the variables as earlier launches left them; otherwise as `run`."""
        self._session.progress.start_phase()
        with self._session.temporary():
            return run_on(self._session, self._libraries, program, self._device, reference)

    def reference(self, program: Program, file: SharedFile) -> ReferenceBuffers:
        """Launch with the variables as after loading, and write all buffers to a file."""
        self.state.restore()
        self._session.progress.start_phase()
        with self._session.temporary():
            return run_reference(self._session, self._libraries, program, self._device, file.path)


def run_verified(
    session: Session,
    libraries: Libraries,
    program: Program,
    device: Device,
    baseline: Libraries = (),
) -> LaunchResult:
    """Launch as often as the request wants.

    ``baseline`` has the image of ``--baseline``.
    """
    own = Launches(session, libraries, device)
    return _VerifiedRuns(program, own, Launches(session, baseline, device)).result()


class _VerifiedRuns:
    """The runs of one launch on one device."""

    def __init__(self, program: Program, own: Launches, other: Launches) -> None:
        self._program = program
        self._options = program.options
        self._own = own
        self._other = other  # launches the image of ``--baseline``
        self._seeds = range(self._options.seed, self._options.seed + self._options.seeds)

    def result(self) -> LaunchResult:
        """Run everything; return the results of the run that the report shows."""
        runs = self._seeded() if self._options.seeds > 1 else []
        state = self._compared() if self._options.stateless else None
        first = runs[0] if runs and self._options.timing is None else self._run(self._program)
        wanted = self._options.schedules and all(run.passed for run in (first, *runs))
        scheduled = self._scheduled() if wanted else {}
        every = (first, *runs, *scheduled.values())
        failed = next((run for run in every if not run.passed), first)
        baseline = first.baseline
        if baseline is not None and failed.baseline is not None:
            baseline = replace(baseline, comparisons=failed.baseline.comparisons)
        result = replace(
            first,
            buffers=failed.buffers,
            checks=failed.checks,
            weaknesses=failed.weaknesses or first.weaknesses,
            watched=failed.watched,
            errors=failed.errors if failed is first else (*first.errors, *failed.errors),
            diagnostics=(*first.diagnostics, *notes(self._notes())),
            runs=tuple(map(SeededRun, self._seeds, map(_failures, runs))),
            schedules=_schedule_result(scheduled) if scheduled else None,
            state=state,
            baseline=baseline,
        )
        if result.baseline is None or result.passed:
            return result
        # Nothing is faster that fails.
        return replace(result, baseline=replace(result.baseline, speed=None))

    def _notes(self) -> Iterator[str]:
        several = self._options.seeds > 1 or self._options.stateless
        if several and not self._program.is_random:
            yield "no input is random: all runs have the same inputs"
        if self._own.state.unknown:
            named = ", ".join(self._own.state.unknown)
            yield f"not restored between runs, the driver returns no address: {named}"

    def _seeded(self) -> list[LaunchResult]:
        """Run with each seed; without ``--repeat``, the first run prints, shows and saves."""
        runs: list[LaunchResult] = []
        for seed in self._seeds:
            program = self._program.with_options(seed=seed, timing=None)
            if runs or self._options.timing is not None:
                program = program.without_outputs()
            with errors_of(DeviceFailed, OutOfTime, operation=f"seed {seed}"):
                runs.append(self._run(program))
        return runs

    def _scheduled(self) -> dict[str, LaunchResult]:
        """Run with other schedules, late first, and compare with the usual one."""
        plain = self._program.without_outputs().with_options(timing=None)
        plain = replace(plain, steps=tuple(map(_only_compared, plain.steps)))
        runs: dict[str, LaunchResult] = {}
        with SharedFile() as file:
            usual = self._own.reference(plain.without_results(), file)
            for schedule in ("late", *range(self._options.schedules - 1)):
                program = plain.with_options(schedule=schedule)
                with errors_of(DeviceFailed, OutOfTime, operation=f"--schedule {schedule}"):
                    runs[str(schedule)] = self._own.run(program, usual)
        return runs

    def _run(self, program: Program) -> LaunchResult:
        baseline = self._options.baseline
        return self._own.run(program) if baseline is None else self._beside(baseline, program)

    def _beside(self, baseline: BaselineLaunch, program: Program) -> LaunchResult:
        """Make a launch and that of the baseline with the same inputs, and compare.

        Half of the timed runs of the baseline precede those of the launch, and the others follow
        them, so that a slow change of the clock rate affects both equally.
        """
        timing, other = program.options.timing, baseline.program.without_results()
        repeat = 0 if timing is None else timing.repeat
        with SharedFile() as file:
            with errors_of(DeviceFailed, option="--baseline"):
                plain = other.with_options(seed=program.options.seed, timing=None)
                buffers = self._other.reference(plain, file)
                before = self._times(other, (repeat + 1) // 2)
            result = self._own.run(program, buffers)
        timings = [each for each in (before, self._times(other, repeat // 2)) if each is not None]
        assert result.reference is not None, "there are buffers to compare with"
        compared = BaselineResult(baseline.label, result.reference.comparisons, None, None)
        if result.timing is not None:
            samples = tuple(sample for each in timings for sample in each.samples)
            speed = None
            if self._other.measures_device:  # other times are not compared
                ratio = time_ratio(result.timing.samples, samples)
                speed = derived(SpeedResult, ratio, confidence=CONFIDENCE)
            compared = replace(compared, timing=_joined(timings, samples), speed=speed)
        return replace(result, reference=None, baseline=compared)

    def _times(self, program: Program, repeat: int) -> TimingResult | None:
        """Time a number of runs of the baseline; ``None`` of zero."""
        timing = program.options.timing
        if not repeat or timing is None:
            return None
        sets = min(repeat, timing.input_sets)
        timing = replace(timing, repeat=repeat, input_sets=sets, nbytes=None, flops=None)
        return self._other.run(program.with_options(timing=timing)).timing

    def _compared(self) -> StateResult:
        """Launch two inputs with restored variables, then again without, and compare."""
        plain = self._program.without_results().with_options(timing=None)
        first = replace(plain, steps=tuple(map(_only_compared, plain.steps)))
        second = first.with_options(seed=self._seeds.stop)
        own = self._own
        with SharedFile() as file, SharedFile() as other_file:
            expected = own.reference(second, other_file), own.reference(first, file)
            found = own.run_again(second, expected[0]), own.run_again(first, expected[1])
        references = [each.reference for each in found if each.reference is not None]
        wrong = [each for each in references if not all(c.passed for c in each.comparisons)]
        return StateResult((*wrong, *references)[0].comparisons, own.state.changed)


def _only_compared(step: LaunchStep) -> LaunchStep:
    """Return a step for another order of threads, in which warps execute in other parts."""
    return replace(step, tolerance=replace(step.tolerance, equal_nan=True), asserts=())


def _failures(result: LaunchResult) -> tuple[str, ...]:
    """Return the failures of one run; weak checks are a failure of all runs, not of one."""
    not_evaluated = (each.expression for each in result.checks if not each.evaluated)
    return (*replace(result, weaknesses=()).failures, *not_evaluated)


def _schedule_result(runs: dict[str, LaunchResult]) -> ScheduleResult:
    """Return the results of schedules; the comparisons with the usual one are references."""
    found = []
    for schedule, result in runs.items():
        assert result.reference is not None
        differing = [each for each in result.reference.comparisons if not each.passed]
        failures = _failures(replace(result, reference=None))
        named = (f"{each.expression} {USUAL_SCHEDULE}" for each in differing)
        found.append(ScheduledRun(schedule, (*failures, *named)))
    failed = (runs[run.schedule] for run in found if run.failures)
    shown = next(failed, [*runs.values()][-1])
    assert shown.reference is not None
    return ScheduleResult(tuple(found), shown.reference.comparisons)


def _joined(timings: list[TimingResult], samples: tuple[float, ...]) -> TimingResult:
    """Return the timing of all samples."""
    reasons = [each.throttled for each in timings if each.throttled is not None]
    return summary(
        [*samples],
        warmup=timings[0].warmup,
        clock=timings[0].clock,
        flushed_bytes=timings[0].flushed_bytes,
        throttled=tuple(dict.fromkeys(sum(reasons, ()))) if reasons else None,
    )
