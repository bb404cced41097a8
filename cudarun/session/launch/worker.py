"""One launch on one device, in the worker: bind, initialize, launch, verify, copy back, check."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import partial

from cudarun.arguments.binding import Binding, bind
from cudarun.arguments.checks import run_check
from cudarun.arguments.dtypes import Array
from cudarun.arguments.evaluation import Evaluator, Unwritten
from cudarun.arguments.packing import BufferSpec
from cudarun.arguments.presentation import without_unwritten
from cudarun.arguments.rows import ALL, rows_wanted, span
from cudarun.arguments.statements import Check, check_lets
from cudarun.diagnostics.entries import notes
from cudarun.errors import CudarunError, ImageRefused, RequestError
from cudarun.records import dataclass
from cudarun.report.types import (
    CheckResult,
    LaunchResult,
    MemoryRow,
    Printed,
    Saved,
    TimingResult,
)
from cudarun.session.driver.devices import Device, describe, uuid_of
from cudarun.session.driver.transfers import ChunkSink
from cudarun.session.launch.buffers import Buffers, Values
from cudarun.session.launch.detection import DetectorResults, detecting, detector_report
from cudarun.session.launch.faults import explain_fault
from cudarun.session.launch.figures import check_showable, figure
from cudarun.session.launch.geometry import resolve_geometry
from cudarun.session.launch.launcher import Launcher
from cudarun.session.launch.missing_arguments import complete_command
from cudarun.session.launch.outputs import check_on_device, check_saving, save, takes_parts
from cudarun.session.launch.reference import ReferenceBuffers, compare, write_reference
from cudarun.session.launch.request import Geometry, LaunchRequest, Save
from cudarun.session.launch.variables import (
    VariableUse,
    buffer_rows,
    element_address,
    variable_names,
    variables_of,
)
from cudarun.session.load.library import Kernel, Library
from cudarun.session.workers.deadline import stopped_when_overdue
from cudarun.session.workers.session import Session

_LARGE_CHECKS = 256 << 20
"""Bytes of checked buffers from which on the strength of checks is not evaluated."""


def run_on(
    session: Session,
    library: Library,
    request: LaunchRequest,
    device: Device,
    reference: ReferenceBuffers | None = None,
) -> LaunchResult:
    """Launch on a device, in the current context, and return the result.

    Args:
        session: The initialized session.
        library: The image, loaded once for all devices.
        request: The launch.
        device: The device.
        reference: The buffers that `run_reference` wrote.

    Raises:
        CudarunError: The launch failed.
    """
    check_on_device(request.saves, device.label, force=request.force)
    ran = _run(session, library, request, device)
    binding, geometry = ran.binding, ran.geometry
    about = describe(session.driver, device)
    errors: list[CudarunError] = []
    # Outputs are saved first: they must exist even if a check fails or cannot be evaluated.
    after, saved = _copy_back(ran, request, device, errors, comparing=reference is not None)
    buffers = ran.buffers.verified()
    session.progress.report("checking")
    values, old = binding.scalars | after, binding.scalars | ran.before
    checks = _checks(session, ran, request, after, errors)
    return LaunchResult(
        device=about,
        kernel=ran.kernel.name,
        demangled=ran.kernel.demangled,
        grid=geometry.grid,
        block=geometry.block,
        threads=geometry.threads,
        shared_bytes=geometry.shared_bytes,
        cluster=geometry.cluster,
        cooperative=geometry.cooperative,
        parameters=binding.rows,
        buffers=buffers,
        saved=saved,
        checks=checks.results,
        weaknesses=checks.weaknesses,
        weak_is_failure=request.check_strength == "fail",
        reference=None
        if reference is None
        else compare(
            str(request.reference),
            about.uuid,
            reference,
            ran.buffers.specs,
            after,
            request.tolerance,
        ),
        prints=tuple(_printed(request, values, old, errors, ran.buffers.unwritten)),
        figures=tuple(figure(show, after[show.name]) for show in request.shows),
        milliseconds=ran.milliseconds,
        timing=ran.timing,
        diagnostics=(*library.image.warnings, *notes((*ran.kernel.notes, *binding.warnings))),
        watched=detector_report(
            request.detection, ran.seen, binding.buffers, ran.buffers.addresses
        ),
        errors=tuple(error.at(file=request.image.origin, device=device.label) for error in errors),
        memory=ran.memory,
    )


def run_reference(
    session: Session, library: Library, request: LaunchRequest, device: Device, path: str
) -> ReferenceBuffers:
    """Launch on the reference device and write every buffer to a shared file for `run_on`.

    Raises:
        CudarunError: The launch failed.
    """
    ran = _run(session, library, request, device)
    return write_reference(
        path, uuid_of(session.driver, device), ran.buffers.addresses, ran.buffers.deliver
    )


@dataclass(frozen=True, slots=True)
class _CompletedLaunch:
    """A completed launch with its results still on the device.

    ``before`` has the arrays of ``old(…)``; ``milliseconds`` is the time of one launch with its
    synchronization.
    """

    kernel: Kernel
    binding: Binding
    geometry: Geometry
    buffers: Buffers
    memory: tuple[MemoryRow, ...]
    before: Values
    milliseconds: float
    timing: TimingResult | None = None
    seen: DetectorResults = field(default_factory=DetectorResults)


def _run(
    session: Session, library: Library, request: LaunchRequest, device: Device
) -> _CompletedLaunch:
    """Bind, allocate, initialize, launch and wait."""
    kernel = library.kernel(request.kernel)
    if (unchecked := session.driver.traits.unchecked_kernels(library.handle)) > 0:
        others = "1 other kernel" if unchecked == 1 else f"{unchecked} other kernels"
        are = "is" if unchecked == 1 else "are"
        session.progress.note(f"{others} of {request.image.origin} {are} not compiled or checked")
    binding: Binding | None = None
    geometry: Geometry | None = None
    buffers: Buffers | None = None
    seen = DetectorResults()
    since = len(library.logs.error)
    try:
        binding = bind(
            request.arguments,
            kernel.parameters,
            kernel=kernel.demangled,
            directory=request.directory,
            allow_type_mismatch=request.allow_type_mismatch,
            suggest=complete_command(
                request, library.image, library.names, kernel.name, kernel.parameters, device.label
            ),
            others=request.buffers,
            symbols=lambda: variable_names(library.variables()),
        )
        variables = variables_of(
            request, library.variables, binding.integers, _argument_names(binding)
        )
        rows = (*variables.rows, *buffer_rows(binding.others))
        _check_names(request, binding, variables)
        geometry = resolve_geometry(
            request.geometry, binding, lambda: library.kernel_facts(kernel.name)
        )
        with detecting(session.driver, request.detection, session.progress) as seen:
            used = variables.located(library.symbol)
            buffers = Buffers(session, binding.buffers, used, bare=request.profile)
            places = {
                each: element_address(each, library, variables.written)
                for each in binding.variables
            }
            before = buffers.fill(request.seed, _old_names(request, buffers.specs), places)
            packed = binding.pack(buffers.addresses, places)
            launcher = Launcher(session.driver, device, kernel, request, geometry, packed)
            if request.timing is None:
                with stopped_when_overdue(session.driver):
                    milliseconds = _run_once(session, launcher) - 1e3 * seen.proving_seconds
                return _CompletedLaunch(
                    kernel, binding, geometry, buffers, rows, before, milliseconds, seen=seen
                )
        with stopped_when_overdue(session.driver):
            timing = _measure(session, device, launcher, request, buffers, binding.integers)
        return _CompletedLaunch(
            kernel, binding, geometry, buffers, rows, before, timing.median, timing
        )
    except CudarunError as refused:
        is_image = isinstance(refused, ImageRefused)  # the kernel: the image has been loaded
        error = library.refused(refused, since=since) if is_image else refused
        error.warnings = notes((*kernel.notes, *(binding.warnings if binding else ())))
        if binding is not None and geometry is not None and buffers is not None:
            explain_fault(error, request.image, geometry, binding.buffers, buffers.addresses)
            until_then = detector_report(
                request.detection, seen, binding.buffers, buffers.addresses
            )
            if until_then is not None:
                error.findings, error.statistics = until_then.findings, until_then.statistics
        raise error.at(file=request.image.origin, kernel=kernel.demangled) from None


def _run_once(session: Session, launcher: Launcher) -> float:
    """Launch and wait; return the milliseconds of both."""
    running = f"running {launcher.name}"
    session.progress.report(running)
    session.driver.traits.on_progress(lambda done: session.progress.report(running, done))
    started = time.perf_counter()
    launcher()
    session.driver.cuCtxSynchronize()
    return (time.perf_counter() - started) * 1e3


def _measure(
    session: Session,
    device: Device,
    launcher: Launcher,
    request: LaunchRequest,
    buffers: Buffers,
    integers: dict[str, int],
) -> TimingResult:
    from cudarun.session.launch.timing import measure

    assert request.timing is not None, "only a request to time comes here"
    session.driver.traits.on_progress(lambda done: None)  # `measure` reports the progress
    buffers.keep_originals()
    return measure(session, device, launcher, request.timing, buffers.restore, integers)


def _argument_names(binding: Binding) -> list[str]:
    """Return the names that arguments have in expressions."""
    return [*(spec.name for spec in binding.buffers), *binding.scalars]


def _check_names(request: LaunchRequest, binding: Binding, variables: VariableUse) -> None:
    """Refuse, before the launch, operations that the types of the arguments do not allow.

    Raises:
        RequestError: A check, a print, a save or a show names an unknown or unsuitable argument.
    """
    specs = {spec.name: spec for spec in (*binding.buffers, *variables.read)}
    names = [*dict.fromkeys([*specs, *binding.scalars])]
    check_lets(request.lets, names)
    for expression in request.expressions:
        expression.check_names([*names, *(let.name for let in request.lets)])
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


@dataclass(frozen=True, slots=True)
class _CheckResults:
    """The results of all checks, and the replacements of the outputs that they do not notice."""

    results: tuple[CheckResult, ...]
    weaknesses: tuple[str, ...] = ()


def _checks(
    session: Session,
    ran: _CompletedLaunch,
    request: LaunchRequest,
    after: Values,
    errors: list[CudarunError],
) -> _CheckResults:
    """Evaluate checks and comparisons with what is expected; add errors of those that cannot be."""
    values, old = ran.binding.scalars | after, ran.binding.scalars | ran.before
    unwritten = ran.buffers.unwritten
    results = [_checked(each, values, old, request, errors, unwritten) for each in request.checks]
    expected: list[Array | CudarunError] = []
    if request.expectations:
        from cudarun.session.launch.expectation import (  # few launches have one
            compare_expected,
            expected_arrays,
        )

        for each in expected_arrays(session, request, ran.buffers.specs, old):
            expected.append(each)
            if isinstance(each, CudarunError) and each not in errors:
                errors.append(each.of(option="--expect"))
        results += compare_expected(request, ran.buffers.specs, expected, values, unwritten)
    found: tuple[str, ...] = ()
    specs = ran.buffers.specs
    if results and all(each.passed for each in results) and _tests_strength(request, specs):
        from cudarun.session.launch.strength import weaknesses

        def passes(replaced: Values) -> bool:
            again: list[CheckResult] = []
            for each in request.checks:
                tolerance = request.tolerance.overridden(each.rtol, each.atol)
                directory = request.directory
                again.append(run_check(each.expression, replaced, old, tolerance, directory))
            if expected:
                again += compare_expected(request, ran.buffers.specs, expected, replaced)
            return all(each.passed for each in again)

        checked = {name: after[name] for name in _checked_names(request) if name in after}
        found = weaknesses(passes, values, checked, ran.before)
    return _CheckResults(tuple(results), found)


def _tests_strength(request: LaunchRequest, specs: Sequence[BufferSpec]) -> bool:
    """Return whether the strength of checks is evaluated: not with very large buffers."""
    names = _checked_names(request)
    nbytes = sum(spec.nbytes for spec in specs if spec.name in names)
    return request.check_strength != "off" and nbytes < _LARGE_CHECKS


def _checked_names(request: LaunchRequest) -> set[str]:
    """Return the names in checks, and the buffers with an expected output."""
    names = {name for each in request.checks for name in each.expression.names}
    return names | {each.name for each in request.expectations}


def _checked(
    check: Check,
    values: Values,
    old: Values,
    request: LaunchRequest,
    errors: list[CudarunError],
    unwritten: Unwritten,
) -> CheckResult:
    """Return the result of a check; if it cannot be evaluated, also add an error."""
    tolerance = request.tolerance.overridden(check.rtol, check.atol)
    try:
        return run_check(check.expression, values, old, tolerance, request.directory, unwritten)
    except CudarunError as error:
        errors.append(error.of(option="--check"))
        return CheckResult(
            check.expression.text, False, 0, 0, None, None, 0.0, 0.0, evaluated=False
        )


def _printed(
    request: LaunchRequest,
    values: Values,
    old: Values,
    errors: list[CudarunError],
    unwritten: Unwritten,
) -> Iterator[Printed]:
    """Yield the values to print; if one cannot be evaluated, add an error instead."""
    for expression in request.prints:
        try:
            evaluator = Evaluator(expression, values, old, request.directory)
            value = evaluator.result()
            mask = evaluator.unwritten(expression.node, unwritten)
        except CudarunError as error:
            errors.append(error.of(option="--print"))
        else:
            text, plain = without_unwritten(value, mask)
            yield Printed(expression.text, text, plain)


def _old_names(request: LaunchRequest, specs: Sequence[BufferSpec]) -> set[str]:
    """Return the buffers whose values from before the launch are needed."""
    if any(each.function is not None for each in request.expectations):
        return {spec.name for spec in specs}
    names = {name for each in request.expressions for name in each.old_names}
    return names | _checked_names(request) if _tests_strength(request, specs) else names


def _copy_back(
    ran: _CompletedLaunch,
    request: LaunchRequest,
    device: Device,
    errors: list[CudarunError],
    *,
    comparing: bool,
) -> tuple[Values, tuple[Saved, ...]]:
    """Copy the requested data from the device: into arrays if necessary, else only to files.

    A file that cannot be written adds an error instead.
    """
    arrays: Values = {}
    saved: dict[Save, Saved] = {}
    wanted = _as_arrays(request, ran.buffers.specs)
    for spec in ran.buffers.specs:
        deliver: Callable[[ChunkSink], object] = partial(ran.buffers.deliver, spec.name)
        if comparing or ALL in wanted.get(spec.name, ()):
            arrays[spec.name] = ran.buffers.array(spec.name)
            deliver = partial(_deliver, arrays[spec.name])
        elif spec.name in wanted:
            rows = span(wanted[spec.name], (*spec.array_shape, 1)[0])
            arrays[spec.name] = ran.buffers.rows(spec.name, rows)
        for each in request.saves:
            if each.name == spec.name:
                try:
                    saved[each] = save(each, device.label, spec, deliver, force=request.force)
                except RequestError as error:
                    errors.append(error)
    return arrays, tuple(saved[each] for each in request.saves if each in saved)


def _deliver(array: Array, take: ChunkSink) -> None:
    """Pass a whole array as one chunk."""
    take(array.reshape(-1), 0)


def _as_arrays(request: LaunchRequest, specs: Sequence[BufferSpec]) -> dict[str, list[slice]]:
    """Return the rows of the buffers that are needed as arrays after the launch."""
    wanted: dict[str, list[slice]] = {show.name: [ALL] for show in request.shows}
    wanted |= {each.name: [ALL] for each in request.expectations}
    if _tests_strength(request, specs):
        wanted |= {name: [ALL] for name in _checked_names(request)}
    wanted |= {save.name: [ALL] for save in request.saves if not takes_parts(save)}
    for expression in request.expressions:
        for name, rows in rows_wanted(expression.node):
            wanted.setdefault(name, []).append(rows)
    return wanted
