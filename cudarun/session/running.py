"""One launch on one device, inside the worker: bind, fill, launch, verify, copy back, check."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from cudarun.arguments.binding import Binding, bind
from cudarun.arguments.checks import run_check
from cudarun.arguments.expressions import Expression, evaluate
from cudarun.arguments.packing import BufferSpec
from cudarun.errors import CudarunError, RequestError
from cudarun.report.types import LaunchResult, Printed, TimingResult
from cudarun.session.buffers import Buffers, Values
from cudarun.session.devices import Device, describe
from cudarun.session.figures import check_showable, figure
from cudarun.session.launcher import Launcher
from cudarun.session.loading import Kernel, Library
from cudarun.session.outputs import check_saving, save
from cudarun.session.references import compare, keep
from cudarun.session.requests import LaunchRequest
from cudarun.session.session import Session


def run_on(
    session: Session,
    library: Library,
    request: LaunchRequest,
    device: Device,
    reference: Path | None = None,
) -> LaunchResult:
    """Launch on a device, in the current context, and say what came of it.

    Args:
        session: The initialised driver.
        library: The image, loaded once for all devices.
        request: What the user asked for.
        device: Where.
        reference: The folder where `run_reference` left its buffers.

    Raises:
        CudarunError: Anything that kept the launch from coming back.
    """
    ran = _carry_out(session, library, request, device)
    binding, buffers = ran.binding, ran.buffers
    wanted = None if reference is not None else _asked_for(request) | _to_verify(request, buffers)
    after = buffers.download(wanted)
    session.progress.say("checking")
    values, old = binding.scalars | after, binding.scalars | ran.before
    geometry = request.geometry
    return LaunchResult(
        device=describe(session.driver, device),
        kernel=ran.kernel.name,
        demangled=ran.kernel.demangled,
        grid=geometry.grid_extent(),
        block=geometry.block,
        shared_bytes=geometry.shared_bytes,
        cluster=geometry.cluster,
        cooperative=geometry.cooperative,
        parameters=binding.rows,
        buffers=() if request.profile else buffers.verified(after),
        # Outputs are saved first: they must be there also when a check fails or cannot be made.
        saved=tuple(
            save(s, device.label, after[s.name], force=request.force) for s in request.saves
        ),
        checks=tuple(
            run_check(check, values, old, request.tolerance, request.directory)
            for check in request.checks
        ),
        reference=None
        if reference is None
        else compare(str(request.reference), reference, binding.buffers, after, request.tolerance),
        prints=tuple(
            _printed(expression, values, old, request.directory) for expression in request.prints
        ),
        figures=tuple(figure(show, after[show.name]) for show in request.shows),
        milliseconds=ran.milliseconds,
        timing=ran.timing,
        diagnostics=library.image.warnings,
    )


def run_reference(
    session: Session, library: Library, request: LaunchRequest, device: Device, folder: Path
) -> None:
    """Launch on the reference device and leave every buffer in ``folder`` for `run_on`.

    Raises:
        CudarunError: Anything that kept the launch from coming back.
    """
    keep(folder, _carry_out(session, library, request, device).buffers.download())


@dataclass(frozen=True, slots=True)
class _Ran:
    """A launch that has come back, its results still on the device.

    ``before`` has the arrays that an ``old(…)`` asks for; ``milliseconds`` are those of one launch
    with the synchronisation after it.
    """

    kernel: Kernel
    binding: Binding
    buffers: Buffers
    before: Values
    milliseconds: float
    timing: TimingResult | None


def _carry_out(session: Session, library: Library, request: LaunchRequest, device: Device) -> _Ran:
    """Bind, allocate, fill, launch and wait."""
    kernel = library.kernel(request.kernel)
    try:
        binding = bind(
            request.arguments,
            kernel.parameters,
            kernel=kernel.demangled,
            directory=request.directory,
        )
        _check_names(request, binding)
        buffers = Buffers(session, binding.buffers, guarded=not request.profile)
        symbols = {name: library.symbol(name) for name in binding.symbols}
        before = buffers.fill(request.seed, _olds(request))
        packed = binding.pack(buffers.addresses, symbols)
        launcher = Launcher(session.driver, device, kernel, request, packed)
        if request.timing is not None:
            session.driver.on_progress(lambda done: None)  # `measure` says how far it is
            timing = _measure(session, device, launcher, request, buffers, binding.integers)
            return _Ran(kernel, binding, buffers, before, timing.median, timing)
        running = f"running {kernel.demangled}"
        session.progress.say(running)
        session.driver.on_progress(lambda done: session.progress.say(running, done))
        started = time.perf_counter()
        launcher()
        session.driver.cuCtxSynchronize()
        milliseconds = (time.perf_counter() - started) * 1e3
    except CudarunError as error:
        raise error.at(file=request.image.origin, kernel=kernel.demangled) from None
    return _Ran(kernel, binding, buffers, before, milliseconds, None)


def _measure(
    session: Session,
    device: Device,
    launcher: Launcher,
    request: LaunchRequest,
    buffers: Buffers,
    integers: dict[str, int],
) -> TimingResult:
    from cudarun.session.timing import measure

    assert request.timing is not None, "only a request to time comes here"
    buffers.keep_originals()
    return measure(session, device, launcher, request.timing, buffers.restore, integers)


def _check_names(request: LaunchRequest, binding: Binding) -> None:
    """Refuse, before anything is launched, what cannot be done with what the arguments are.

    Raises:
        RequestError: A check, a print, a save or a show asks for what is not there.
    """
    specs = {spec.name: spec for spec in binding.buffers}
    for expression in (*request.checks, *request.prints):
        expression.check_names([*specs, *binding.scalars])
    for to_save in request.saves:
        check_saving(to_save, _buffer("--save", to_save.name, specs))
    for to_show in request.shows:
        check_showable(to_show, _buffer("--show", to_show.name, specs))


def _buffer(option: str, name: str, specs: dict[str, BufferSpec]) -> BufferSpec:
    if name not in specs:
        raise RequestError(
            f"{option}: there is no buffer '{name}'",
            hint=f"there are {', '.join(specs)}" if specs else "no argument is a buffer",
        )
    return specs[name]


def _printed(expression: Expression, values: Values, old: Values, directory: Path) -> Printed:
    value = evaluate(expression, values, old, directory)
    return Printed(expression.text, str(value), value.tolist())


def _olds(request: LaunchRequest) -> set[str]:
    """The buffers whose values from before the run something asks for."""
    return {name for e in (*request.checks, *request.prints) for name in e.old_names}


def _asked_for(request: LaunchRequest) -> set[str]:
    """The buffers that something asks for after the run."""
    named = {name for e in (*request.checks, *request.prints) for name in e.names}
    return named | {save.name for save in request.saves} | {show.name for show in request.shows}


def _to_verify(request: LaunchRequest, buffers: Buffers) -> set[str]:
    """The buffers in which elements never written are counted."""
    return set() if request.profile else buffers.uninitialised
