"""One launch on one device, in the worker: bind, initialize, launch, verify, copy back, check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace

from cudarun.arguments.packing import BufferSpec
from cudarun.arguments.statements import check_lets
from cudarun.diagnostics.entries import notes
from cudarun.errors import CudarunError, RequestError
from cudarun.images.demangler import demangle
from cudarun.model.launch import LaunchResult, StepResult
from cudarun.model.runs import SeededRun, TimingResult
from cudarun.records import dataclass, values_of
from cudarun.session.driver.devices import Device, describe, uuid_of
from cudarun.session.launch.buffers import Buffers, Values
from cudarun.session.launch.copies import write_copies
from cudarun.session.launch.detection import DetectorResults, detecting, detector_report
from cudarun.session.launch.engines import engines_of
from cudarun.session.launch.faults import explain_fault
from cudarun.session.launch.figures import check_showable
from cudarun.session.launch.outputs import check_on_device, check_saving
from cudarun.session.launch.program import DeviceProgram, StepLaunches
from cudarun.session.launch.recorded.results import tolerance_note
from cudarun.session.launch.reference import ReferenceBuffers, compare, write_reference
from cudarun.session.launch.request import Program, ProgramOptions
from cudarun.session.launch.results import StepResults, initializer_note, old_names, step_results
from cudarun.session.launch.steps import (
    BoundStep,
    Libraries,
    all_buffers,
    all_scalars,
    bind_steps,
    writable_arrays,
)
from cudarun.session.launch.timed_inputs import InputSet, TimedInputs
from cudarun.session.launch.variables import shortest_names
from cudarun.session.workers.deadline import stopped_when_overdue
from cudarun.session.workers.session import Session


def run_on(
    session: Session,
    libraries: Libraries,
    program: Program,
    device: Device,
    reference: ReferenceBuffers | None = None,
) -> LaunchResult:
    """Launch on a device, in the current context, and return the result.

    Args:
        session: The initialized session.
        libraries: The image of each step, loaded once for all devices.
        program: The program.
        device: The device.
        reference: The buffers that `run_reference` wrote.

    Raises:
        CudarunError: The launch failed.
    """
    options = program.options
    for step in program.steps:
        check_on_device(step.saves, device.label, force=options.force)
    about = describe(session.driver, device)
    results: list[StepResults] = []

    def after(ran: _Launch, step: BoundStep) -> None:
        if step.number < step.count and step.request.reads_results:
            so_far = ran.steps[: step.number]
            results.append(step_results(session, options, ran.buffers, ran.before, so_far, device))
            ran.buffers.forget_copies()

    ran = _run(session, libraries, program, device, after)
    last, comparing = ran.steps[-1], reference is not None
    results.append(
        step_results(
            session, options, ran.buffers, ran.before, ran.steps, device, comparing=comparing
        )
    )
    sets = [(options.seed, results[-1]), *reversed(ran.other_sets)] if ran.other_sets else []
    shown = next((each for _, each in sets if each.failures), results[-1])
    said = [each for step in ran.steps for each in step.notes]
    tracks = session.driver.traits.unwritten_bytes is not None
    suggest_uninit = tracks and "uninit" not in options.detection.detect
    found = initializer_note(ran.buffers.specs, shown, suggest_uninit=suggest_uninit)
    said += filter(None, [tolerance_note(last.request, shown.checks), found])
    said += (f"{demangle(k)}: {note}" for k, note in session.driver.traits.launch_notes().items())
    warnings = [each for library in libraries for each in library.image.warnings]
    specs = all_buffers(ran.steps)
    errors = [error for each in (*results, *dict(sets[1:]).values()) for error in each.errors]
    return LaunchResult(
        **values_of(last.launch(last.kernel)),
        device=about,
        buffers=shown.buffers,
        saved=tuple(saved for each in results for saved in each.saved),
        checks=tuple(check for each in (*results[:-1], shown) for check in each.checks),
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
        diagnostics=(*dict.fromkeys(warnings), *notes(dict.fromkeys(said))),
        watched=detector_report(options.detection, ran.seen, specs, ran.buffers.addresses),
        errors=tuple(errors),
        steps=_step_rows(ran),
        input_sets=tuple(SeededRun(seed, each.failures) for seed, each in sets),
        copies=() if options.copies is None else write_copies(options.copies, ran.buffers),
        engines=engines_of(session.driver, ran.steps, options.engine),
    )


def run_reference(
    session: Session, libraries: Libraries, program: Program, device: Device, path: str
) -> ReferenceBuffers:
    """Launch on the reference device and write every buffer to a shared file for `run_on`.

    Raises:
        CudarunError: The launch failed.
    """
    ran = _run(session, libraries, program, device, lambda ran, step: None)
    return write_reference(
        path, uuid_of(session.driver, device), ran.buffers.addresses, ran.buffers.deliver
    )


@dataclass(slots=True)
class _Launch:
    """A launch, or a program of several, with its results still on the device.

    Attributes:
        steps: The steps.
        buffers: Their buffers.
        before: The arrays of ``old(…)``: the contents before the first step.
        seen: The results of detectors.
        milliseconds: The time of all launches with their synchronization; with ``--repeat``, the
            median.
        step_milliseconds: That of each step; empty for a graph.
        timing: The times of ``--repeat``.
        step_timings: Those of each step; empty for a graph.
        other_sets: The seed and the results of each input set after the first one.
    """

    steps: tuple[BoundStep, ...]
    buffers: Buffers
    before: Values
    seen: DetectorResults
    milliseconds: float = 0.0
    step_milliseconds: list[float] = field(default_factory=list)
    timing: TimingResult | None = None
    step_timings: tuple[TimingResult, ...] = ()
    other_sets: list[tuple[int, StepResults]] = field(default_factory=list)


def _run(
    session: Session,
    libraries: Libraries,
    program: Program,
    device: Device,
    after: Callable[[_Launch, BoundStep], None],
) -> _Launch:
    """Bind, allocate, initialize, launch and wait.

    Args:
        session: The initialized session.
        libraries: The image of each step.
        program: The program.
        device: The device.
        after: Called after each step, if the host waits for it.
    """
    steps = bind_steps(session, libraries, program, device)
    for number, step in enumerate(steps, start=1):
        with step.errors_named():
            _check_names(step, all_buffers(steps[:number]), all_scalars(steps[:number]))
    specs, options = all_buffers(steps), program.options
    seen = DetectorResults()
    ran: _Launch | None = None
    session.driver.traits.select_engine(options.engine, options.cpu_threads)
    try:
        with detecting(session.driver, options.detection, session.progress) as seen:
            steps = tuple(step.located() for step in steps)
            read = {each.name: each for step in steps for each in step.variables.read}
            written = steps[0].variables.written
            everything = [*specs, *read.values()]
            writable = writable_arrays(steps)
            buffers = Buffers(session, device, everything, written, writable, bare=options.profile)
            places = {step.number: step.places(buffers) for step in steps}
            by_name = {
                spec.name: places[step.number] for step in steps for spec in step.binding.buffers
            }
            by_name |= {each.name: places[1] for each in written}
            kept = old_names(program, everything)

            def fill(seed: int) -> Values:
                return buffers.fill(seed, kept, by_name)

            before = fill(options.seed)
            prepared = DeviceProgram(session, device, options, steps, buffers, places)
            ran = _Launch(steps, buffers, before, seen)
            if options.timing is None:
                with stopped_when_overdue(session.driver, session.progress):
                    _run_once(prepared, ran, options, after)
                ran.milliseconds -= 1e3 * seen.proving_seconds
                return ran
        with stopped_when_overdue(session.driver, session.progress):
            _measure(session, device, prepared, ran, options, fill)
        return ran
    except CudarunError as error:
        if ran is not None:
            addresses = ran.buffers.addresses
            named = _step_of(error, steps)
            if named is None:
                error.hint = error.hint or "to find the step, run without --graph and --repeat"
            step = named or steps[-1]
            error.engines = engines_of(session.driver, steps, options.engine)
            image, kernel = step.library.image, step.kernel.name
            explain_fault(error, image, kernel, step.geometry, specs, addresses)
            until_then = detector_report(options.detection, seen, specs, addresses)
            if until_then is not None:
                error.findings, error.statistics = until_then.findings, until_then.statistics
        said = dict.fromkeys(each for step in steps for each in step.notes)
        error.warnings = error.warnings or notes(said)
        if len(steps) == 1:
            error.at(file=steps[0].request.image.origin, kernel=steps[0].kernel.demangled)
        raise


def _step_of(error: CudarunError, steps: Sequence[BoundStep]) -> BoundStep | None:
    """Return the step that an error names, or the only one; ``None`` if it names none."""
    named = error.context.get("step")
    if named is None:
        return steps[0] if len(steps) == 1 else None
    return steps[int(named.split()[0]) - 1]


def _run_once(
    program: DeviceProgram,
    ran: _Launch,
    options: ProgramOptions,
    after: Callable[[_Launch, BoundStep], None],
) -> None:
    """Launch and wait: for each step, or for the graph."""
    if options.graph:
        ran.milliseconds = program.run_as_graph()
        return

    def done(launches: StepLaunches, milliseconds: float) -> None:
        ran.step_milliseconds.append(milliseconds)
        ran.milliseconds += milliseconds
        after(ran, launches.step)

    program.run(done)


def _measure(
    session: Session,
    device: Device,
    program: DeviceProgram,
    ran: _Launch,
    options: ProgramOptions,
    fill: Callable[[int], Values],
) -> None:
    """Time the runs, and verify the last run of each input set but the first."""
    from cudarun.session.launch.timing import measure

    assert options.timing is not None, "only a request to time comes here"
    session.driver.traits.on_progress(lambda done: None)  # `measure` reports the progress
    libraries = [step.library for step in ran.steps]
    seeds = range(options.seed, options.seed + options.timing.input_sets)
    inputs = TimedInputs(session, ran.buffers, libraries, seeds, ran.before, fill)
    only_checked = replace(ran.steps[-1], request=ran.steps[-1].request.without_outputs())
    unweighed = replace(options, check_strength="off")

    def verify(chosen: InputSet) -> None:
        steps = (*ran.steps[:-1], only_checked)
        results = step_results(session, unweighed, ran.buffers, chosen.before, steps, device)
        ran.other_sets.append((chosen.seed, results))
        ran.buffers.forget_copies()

    integers = ran.steps[-1].binding.integers
    ran.timing, ran.step_timings = measure(
        session, device, program, options.timing, inputs, integers,
        as_graph=options.graph, verify=verify,
    )  # fmt: skip
    ran.milliseconds = ran.timing.median
    program.exchange_all()


def _step_rows(ran: _Launch) -> tuple[StepResult, ...]:
    """Return the steps for the report; none for one launch."""
    if len(ran.steps) == 1 and ran.steps[0].request.times == 1:
        return ()
    milliseconds = [each.median for each in ran.step_timings] or ran.step_milliseconds
    return tuple(
        StepResult(
            **values_of(step.launch(step.kernel)),
            image=step.request.image.origin,
            times=step.request.times,
            milliseconds=milliseconds[index] if milliseconds else None,
            timing=ran.step_timings[index] if ran.step_timings else None,
        )
        for index, step in enumerate(ran.steps)
    )


def _check_names(step: BoundStep, buffers: Sequence[BufferSpec], scalars: Values) -> None:
    """Refuse, before the launch, operations that the types of the arguments do not allow.

    Args:
        step: The step.
        buffers: The buffers of the steps so far.
        scalars: The values of the steps so far.

    Raises:
        RequestError: A check, a print, a save or a show names an unknown or unsuitable argument.
    """
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
