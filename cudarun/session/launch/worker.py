"""One launch on one device, in the worker: bind, initialize, launch, verify, copy back, check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from cudarun.arguments.dtypes import Array, Values
from cudarun.arguments.expressions.statements import check_lets
from cudarun.arguments.packing import BufferSpec
from cudarun.base.errors import CudarunError, RequestError
from cudarun.base.records import dataclass, derived
from cudarun.diagnostics.entries import notes
from cudarun.images.demangler import demangle
from cudarun.model.detectors import DetectorReport
from cudarun.model.launch import KernelEngine, LaunchResult, StepResult
from cudarun.model.runs import SeededRun, TimingResult
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import Device, describe, uuid_of
from cudarun.session.launch.assertions import asserted
from cudarun.session.launch.buffers import Buffers
from cudarun.session.launch.detection import DetectorResults, detecting, detector_report
from cudarun.session.launch.faults import explain_fault
from cudarun.session.launch.outputs import check_on_device, check_saving
from cudarun.session.launch.pictures import check_showable
from cudarun.session.launch.program import DeviceProgram, StepLaunches
from cudarun.session.launch.recorded.results import recorded_notes
from cudarun.session.launch.reference import (
    ReferenceBuffers,
    compare,
    write_copies,
    write_reference,
)
from cudarun.session.launch.request import Program, Timing
from cudarun.session.launch.results import StepReader, StepResults, initializer_notes, old_names
from cudarun.session.launch.steps import (
    BoundStep,
    Libraries,
    all_buffers,
    all_scalars,
    bind_steps,
    writable_arrays,
)
from cudarun.session.launch.variables import shortest_names
from cudarun.session.workers.deadline import stopped_after_timeout
from cudarun.session.workers.session import Session


def run_on(
    session: Session,
    libraries: Libraries,
    program: Program,
    device: Device,
    reference: ReferenceBuffers | None = None,
) -> LaunchResult:
    """Launch on a device, in the current context, and return the result."""
    options = program.options
    for each in program.steps:
        check_on_device(each.saves, device.label, force=options.force)
    about = describe(session.driver, device)
    ran = _run(session, libraries, program, device, reads_results=True)
    last = ran.steps[-1]
    results = [*ran.early, ran.results(ran.steps, comparing=reference is not None)]
    sets = [(options.seed, results[-1]), *reversed(ran.other_sets)] if ran.other_sets else []
    shown = next((each for _, each in sets if each.failures), results[-1])
    messages = [each for step in ran.steps for each in step.notes]
    tracks = session.driver.traits.unwritten_bytes is not None
    suggest_uninit = tracks and not options.detection.detect
    messages += recorded_notes(last.request, last.variables.written, shown.checks)
    messages += initializer_notes(ran.buffers.specs, shown, suggest_uninit=suggest_uninit)
    messages += (
        f"{demangle(k)}: {note}" for k, note in session.driver.traits.launch_notes().items()
    )
    messages += [
        f"{demangle(note.kernel)}: not arithmetic modulo a prime: {', '.join(note.opaque)}"
        for note in session.driver.traits.engine_notes()
        if note.opaque
    ]
    warnings = [each for library in libraries for each in library.image.warnings]
    assertions = [
        each
        for step in ran.steps
        for each in asserted(session, device, step, ran.detected.statistics)
    ]
    errors = [error for each in (*results, *dict(sets[1:]).values()) for error in each.errors]
    return derived(
        LaunchResult,
        last.launch(last.kernel),
        device=about,
        buffers=shown.buffers,
        saved=tuple(saved for each in results for saved in each.saved),
        checks=(*(check for each in (*results[:-1], shown) for check in each.checks), *assertions),
        weaknesses=tuple(dict.fromkeys(weak for each in results for weak in each.weaknesses)),
        weak_is_failure=options.check_strength == "fail",
        reference=None
        if reference is None
        else compare(
            str(options.reference),
            about.uuid,
            reference,
            ran.buffers.specs,
            results[-1].after,
            last.request.tolerance,
        ),
        prints=tuple(printed for each in results for printed in each.prints),
        figures=tuple(shown for each in results for shown in each.figures),
        milliseconds=ran.milliseconds,
        timing=ran.timing,
        diagnostics=(*dict.fromkeys(warnings), *notes(dict.fromkeys(messages))),
        watched=ran.watched(),
        errors=tuple(errors),
        steps=ran.step_rows(),
        input_sets=tuple(SeededRun(seed, each.failures) for seed, each in sets),
        copies=() if options.copies is None else write_copies(options.copies, ran.buffers),
        engines=_engines(session.driver, ran.steps, options.engine),
    )


def run_reference(
    session: Session, libraries: Libraries, program: Program, device: Device, path: str
) -> ReferenceBuffers:
    """Launch on the reference device and write every buffer to a shared file for `run_on`."""
    ran = _run(session, libraries, program, device, reads_results=False)
    return write_reference(path, uuid_of(session.driver, device.handle), ran.buffers)


@dataclass()
class _Launch:
    """A launch, or a program of several, with its results still on the device."""

    session: Session
    device: Device
    program: Program
    steps: tuple[BoundStep, ...]
    detected: DetectorResults
    # The time of all launches with their synchronization; with ``--repeat``, the median.
    milliseconds: float = 0.0
    timing: TimingResult | None = None
    # The seed and the results of each input set after the first one.
    other_sets: list[tuple[int, StepResults]] = field(default_factory=list)
    early: list[StepResults] = field(default_factory=list)  # those of steps before the last one
    step_milliseconds: list[float] = field(default_factory=list)
    step_timings: tuple[TimingResult, ...] = ()

    def __post_init__(self) -> None:
        steps, options, session = self.steps, self.program.options, self.session
        read = {each.name: each for step in steps for each in step.variables.read}
        written = steps[0].variables.written
        everything = [*all_buffers(steps), *read.values()]
        writable = writable_arrays(steps)
        # Their buffers, initialized.
        self.buffers = Buffers(
            session, self.device, everything, written, writable, bare=options.profile
        )
        handles = {step.number: step.handles(self.buffers) for step in steps}
        self._handles = {
            spec.name: handles[step.number] for step in steps for spec in step.binding.buffers
        }
        self._handles |= {each.name: handles[1] for each in written}
        self._kept = old_names(self.program, everything)
        self._before = self._fill(options.seed)
        self._ready = DeviceProgram(session, self.device, options, steps, self.buffers, handles)

    def _fill(self, seed: int) -> dict[str, Array]:
        """Initialize the buffers; return the arrays of ``old(…)``."""
        return self.buffers.fill(seed, self._kept, self._handles)

    def run(self, *, reads_results: bool) -> None:
        """Launch and wait: for each step, or for the graph."""
        if self.program.options.graph:
            self.milliseconds = self._ready.run_as_graph()
            return

        def done(launches: StepLaunches, milliseconds: float) -> None:
            self.step_milliseconds.append(milliseconds)
            self.milliseconds += milliseconds
            step = launches.step
            if reads_results and step.number < step.count and step.request.reads_results:
                self.early.append(self.results(self.steps[: step.number]))
                self.buffers.forget_copies()

        self._ready.run(done)

    def measure(self, timing: Timing) -> None:
        """Time the runs, and verify the last run of each input set but the first."""
        from cudarun.session.launch.image_state import ImageState  # few launches are timed
        from cudarun.session.launch.timing import InputSet, measure

        session, seed = self.session, self.program.options.seed
        session.driver.traits.on_progress(lambda done: None)  # `measure` reports the progress
        libraries = [step.library for step in self.steps]
        sets: list[InputSet] = []
        for number in range(timing.input_sets):
            before = self._fill(seed + number) if number else self._before
            originals, state = self.buffers.copy_inputs(), ImageState(session, libraries)
            sets.append(InputSet(seed + number, before, originals, state))
        *earlier, last = self.steps
        only_checked = replace(last, request=last.request.without_outputs())
        unweighed = replace(self.program.options, check_strength="off")

        def verify(chosen: InputSet) -> None:
            results = StepReader(
                session, unweighed, self.buffers, self.device, (*earlier, only_checked),
                chosen.before,
            ).results()  # fmt: skip
            self.other_sets.append((chosen.seed, results))
            self.buffers.forget_copies()

        self.timing, self.step_timings = measure(
            self.device, self._ready, timing, sets, last.binding.integers,
            as_graph=self.program.options.graph, verify=verify,
        )  # fmt: skip
        self.milliseconds = self.timing.median
        self._ready.exchange_all()

    def results(self, steps: Sequence[BoundStep], *, comparing: bool = False) -> StepResults:
        """Return the results after the last of some steps."""
        return StepReader(
            self.session, self.program.options, self.buffers, self.device, steps, self._before,
            comparing=comparing,
        ).results()  # fmt: skip

    def watched(self) -> DetectorReport | None:
        """Return the report of the detectors, also of a launch that has failed."""
        specs, addresses = all_buffers(self.steps), self.buffers.addresses
        return detector_report(self.program.options.detection, self.detected, specs, addresses)

    def step_rows(self) -> tuple[StepResult, ...]:
        """Return the steps for the report; none for one launch."""
        if len(self.steps) == 1 and self.steps[0].request.times == 1:
            return ()
        timings = self.step_timings
        milliseconds = [each.median for each in timings] or self.step_milliseconds
        return tuple(
            derived(
                StepResult,
                step.launch(step.kernel),
                image=step.request.image.origin,
                times=step.request.times,
                milliseconds=milliseconds[index] if milliseconds else None,
                timing=timings[index] if timings else None,
            )
            for index, step in enumerate(self.steps)
        )


def _run(
    session: Session,
    libraries: Libraries,
    program: Program,
    device: Device,
    *,
    reads_results: bool,
) -> _Launch:
    """Bind, allocate, initialize, launch and wait; read the results of steps before the last."""
    steps = bind_steps(session, libraries, program, device)
    for number, step in enumerate(steps, start=1):
        with step.errors_named():
            _check_names(step, all_buffers(steps[:number]), all_scalars(steps[:number]))
    options = program.options
    ran: _Launch | None = None
    session.driver.traits.select_engine(options.engine, options.cpu_threads)
    session.driver.traits.select_schedule(options.schedule)
    try:
        with detecting(
            session.driver, options.detection, session.progress, counts=program.counts
        ) as detected:
            located = tuple(step.located() for step in steps)
            ran = _Launch(session, device, program, located, detected)
            session.on_launch(located, ran.buffers)
            if options.timing is None:
                with stopped_after_timeout(session.driver, session.progress):
                    ran.run(reads_results=reads_results)
                if detected.limit is not None:
                    ran.milliseconds -= 1e3 * detected.limit.spent
                return ran
        with stopped_after_timeout(session.driver, session.progress):
            ran.measure(options.timing)
        return ran
    except CudarunError as error:
        if ran is not None:
            step, named = ran.steps[-1], error.context.get("step")
            if named is not None:
                step = ran.steps[int(named.split()[0]) - 1]
            elif len(steps) > 1:
                hint = "to find the step, run without --graph, --repeat and --pdl"
                error.hint = error.hint or hint
            error.engines = _engines(session.driver, ran.steps, options.engine)
            explain_fault(error, step, all_buffers(steps), ran.buffers.addresses)
            if (until_then := ran.watched()) is not None:
                error.findings, error.statistics = until_then.findings, until_then.statistics
        messages = dict.fromkeys(each for step in steps for each in step.notes)
        error.warnings = error.warnings or notes(messages)
        if len(steps) == 1:
            error.at(file=steps[0].request.image.origin, kernel=steps[0].kernel.demangled)
        raise


def _engines(
    driver: Driver, steps: Sequence[BoundStep], selected: str | None
) -> tuple[KernelEngine, ...]:
    """Return the engine of each kernel that has run; none for a GPU.

    Args:
        steps: The steps of the launch. Their kernels come first, then those that kernels launched.
        selected: The engine of ``--cpu-engine``; ``None`` for that of the environment.
    """
    option = f"--cpu-engine {selected}" if selected else "CUDARUN_CPU_ENGINE=interpret"
    ran = {note.kernel: note for note in driver.traits.engine_notes()}
    names = {step.kernel.name: step.kernel.demangled for step in steps}
    launched = {name: names.get(name) or demangle(name) for name in (*names, *ran)}
    return tuple(
        KernelEngine(
            name,
            demangled,
            "compile" if ran[name].engine == "compile" else "interpret",
            ran[name].reason or (option if ran[name].engine == "interpret" else None),
            ran[name].is_default,
        )
        for name, demangled in launched.items()
        if name in ran
    )


def _check_names(step: BoundStep, buffers: Sequence[BufferSpec], scalars: Values) -> None:
    """Refuse, before the launch, operations that the types of the arguments do not allow."""
    request = step.request
    specs = {spec.name: spec for spec in (*buffers, *step.variables.read)}
    names = [*dict.fromkeys([*specs, *scalars])]

    def variables() -> list[str]:
        return shortest_names(step.library.variables())

    check_lets(request.lets, names, variables)
    for expression in request.expressions:
        expression.check_names([*names, *(let.name for let in request.lets)], variables)
    for expectation in request.expectations:
        _buffer("--expect", expectation.name, specs)
    for to_save in request.saves:
        check_saving(to_save, _buffer("--save", to_save.name, specs))
    for to_show in request.shows:
        check_showable(to_show, _buffer("--show", to_show.name, specs))


def _buffer(option: str, name: str, specs: dict[str, BufferSpec]) -> BufferSpec:
    if name not in specs:
        raise RequestError(
            f"unknown buffer '{name}'",
            hint=f"the buffers are {', '.join(specs)}" if specs else "no argument is a buffer",
            option=option,
        )
    return specs[name]
