"""A launch in the parent: planned without a driver, or run by the workers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, TypeVar

from cudarun.errors import AddressOccupied, CudarunError, worst
from cudarun.session.workers.job import Job

if TYPE_CHECKING:  # imports here delay the start of the workers
    from cudarun.arguments.scope import Scope
    from cudarun.diagnostics.entries import Diagnostic
    from cudarun.model.launch import LaunchPlan, LaunchReport, LaunchResult, PlannedStep
    from cudarun.session.driver.devices import Device
    from cudarun.session.image.image import Image
    from cudarun.session.launch.reference import ReferenceBuffers
    from cudarun.session.launch.request import LaunchRequest
    from cudarun.session.launch.steps import Libraries
    from cudarun.session.workers.answer import Answer
    from cudarun.session.workers.devices import DeviceWorkers
    from cudarun.session.workers.session import Session

T = TypeVar("T")

ADDRESS_ATTEMPTS = 4
"""How often a recording is tried in other processes if one of its addresses is occupied."""


def prefetch() -> None:
    """Import the modules that a launch needs in a worker, numpy above all."""
    import cudarun.session.launch.verified_runs  # noqa: F401


def launch(
    request: LaunchRequest,
    workers: DeviceWorkers,
    *,
    reference: DeviceWorkers | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> LaunchReport:
    """Launch on each device of the workers.

    Args:
        request: The launch.
        workers: The workers, made with `prefetch`.
        reference: A worker of the device that ``request.reference`` names. If there is one, it
            launches first and the results of the others are compared with its own.
        meanwhile: Called in this process while the workers run.

    Raises:
        CudarunError: The launch on the reference device failed.
    """
    if reference is None:
        return _report(request, workers, LaunchJob(request), meanwhile)
    from cudarun.session.workers.shared_file import SharedFile

    with SharedFile() as file:
        [answer] = reference.run(ReferenceJob(request, file.path), last=True)
        try:
            buffers = answer.unwrap()
        except CudarunError as error:
            raise error.of(option="--reference") from None
        return _report(request, workers, LaunchJob(request, buffers), meanwhile)


def _report(
    request: LaunchRequest,
    workers: DeviceWorkers,
    job: LaunchJob,
    meanwhile: Callable[[], object] | None,
) -> LaunchReport:
    is_recorded = request.image.recording is not None
    answers = workers.run(job, meanwhile=meanwhile, last=not is_recorded)
    for _ in range(ADDRESS_ATTEMPTS):
        if not any(isinstance(answer.error, AddressOccupied) for answer in answers):
            break
        workers.replace(fresh=True, held=recorded_addresses(request))
        answers = workers.run(job)
    from cudarun.model.launch import DeviceOutcome, LaunchReport

    return LaunchReport(
        image=request.steps[0].image.origin,
        seed=request.seed if request.is_random else None,
        outcomes=tuple(
            DeviceOutcome(answer.device, answer.value, _error(answer), answer.output)
            for answer in answers
        ),
    )


def recorded_addresses(request: LaunchRequest) -> Sequence[tuple[int, int]]:
    """Return the addresses and sizes of the memory of a recording, in whole pages."""
    recording = request.image.recording
    if recording is None:
        return ()
    from cudarun.session.launch.fixed_addresses import required  # few launches are recorded

    return required([(each.address, each.size) for each in recording.manifest.memory])


def _error(answer: Answer[LaunchResult]) -> CudarunError | None:
    return worst((answer.error, *(answer.value.errors if answer.value else ())))


class KernelJob(Job[T]):
    """A job that launches kernels of images, which are loaded once for all devices."""

    def __init__(self, request: LaunchRequest) -> None:
        self.request = request

    def begin(self, session: Session) -> None:
        """Load the images, before any context exists."""
        super().begin(session)
        from cudarun.session.launch.steps import load_libraries

        session.driver.traits.compile_on_demand()
        held = [each for step in self.request.steps for each in recorded_addresses(step)]
        if held:
            from cudarun.session.launch.fixed_addresses import reserve  # few launches are recorded

            reserve(session, held)
        self._libraries = load_libraries(session, self.request)

    def on(self, device: Device) -> T:
        """Launch."""
        self.session.enter(device)
        try:
            return self._launch(self._libraries, device)
        except CudarunError as error:
            compiled = [each for library in self._libraries for each in library.image.warnings]
            error.warnings = (*dict.fromkeys(compiled), *error.warnings)
            raise

    @abstractmethod
    def _launch(self, libraries: Libraries, device: Device) -> T: ...


class LaunchJob(KernelJob["LaunchResult"]):
    """A launch.

    Args:
        request: The launch.
        reference: The buffers that `ReferenceJob` left, to compare with.
    """

    def __init__(self, request: LaunchRequest, reference: ReferenceBuffers | None = None) -> None:
        super().__init__(request)
        self._reference = reference
        self._baseline: Libraries = ()

    def begin(self, session: Session) -> None:
        """Load the images, also that of the baseline."""
        super().begin(session)
        from cudarun.session.launch.steps import load_libraries

        if self.request.baseline is not None:
            self._baseline = load_libraries(session, self.request.baseline.request)

    def _launch(self, libraries: Libraries, device: Device) -> LaunchResult:
        from cudarun.session.launch.verified_runs import run_verified

        return run_verified(
            self.session, libraries, self.request, device, self._reference, self._baseline
        )


class ReferenceJob(KernelJob["ReferenceBuffers"]):
    """The launch on the reference device, which writes every buffer to a shared file.

    Args:
        request: The launch.
        path: The file.
    """

    def __init__(self, request: LaunchRequest, path: str) -> None:
        from cudarun.session.launch.request import Detection

        super().__init__(
            replace(request, timing=None, profile=False, detection=Detection(), graph=False)
        )
        self._path = path

    def _launch(self, libraries: Libraries, device: Device) -> ReferenceBuffers:
        from cudarun.session.launch.worker import run_reference

        return run_reference(self.session, libraries, self.request, device, self._path)


def plan(request: LaunchRequest, timeout: float | None = None, device: str = "0") -> LaunchPlan:
    """Return the parameters that the launch would pass to the kernel, from the file alone.

    Args:
        request: The launch.
        timeout: The time limit of a compiler in seconds.
        device: The device that a suggested command names.

    Raises:
        ImageRefused: The file does not describe its kernels' parameters.
        RequestError: The arguments do not match the parameters, or the geometry is invalid.
    """
    from cudarun.arguments.scope import Scope
    from cudarun.model.launch import LaunchPlan

    scope = Scope()
    steps: list[PlannedStep] = []
    for number, step in enumerate(request.steps, start=1):
        try:
            planned, diagnostics, scope = _plan_step(step, scope, timeout, device)
        except CudarunError as error:
            raise error.of(operation=f"step {number}" if request.earlier else None) from None
        steps.append(planned)
    last = {each.name: getattr(planned, each.name) for each in fields(planned)}
    program = tuple(steps) if request.earlier else ()
    return LaunchPlan(**last, diagnostics=diagnostics, steps=program)


def _plan_step(
    request: LaunchRequest, scope: Scope, timeout: float | None, device: str
) -> tuple[PlannedStep, tuple[Diagnostic, ...], Scope]:
    """Return the plan of a step, its diagnostics, and the names that the next one may use."""
    from cudarun.arguments.binding import bind
    from cudarun.diagnostics.entries import notes
    from cudarun.model.launch import PlannedStep
    from cudarun.session.image.debug_parameters import DebugReader
    from cudarun.session.image.kernels import select_kernel
    from cudarun.session.launch.geometry import resolve_geometry
    from cudarun.session.launch.missing_arguments import complete_command
    from cudarun.session.launch.recorded import recorded_arguments, recorded_buffers
    from cudarun.session.launch.swaps import resolve_swaps
    from cudarun.session.launch.variable_addresses import completed
    from cudarun.session.launch.variables import buffer_rows, variable_names, variables_of

    image = _with_facts(request.image, timeout, request.kernel)
    kernels = {kernel.name: kernel for kernel in image.facts.kernels} if image.facts else {}
    kernel = kernels[select_kernel(kernels, image.lowered_name(request.kernel), image.origin)]
    debug = DebugReader(image).read(kernel.name, kernel.parameters)
    try:
        request = recorded_arguments(request, debug.parameters)
        binding = bind(
            request.arguments,
            debug.parameters,
            kernel=kernel.demangled,
            directory=request.directory,
            allow_type_mismatch=request.allow_type_mismatch,
            suggest=complete_command(
                request, image, lambda: [*kernels], kernel.name, debug.parameters, device
            ),
            others=request.buffers,
            parameter_names=request.parameter_names,
            constants=request.constants,
            symbols=lambda: variable_names(image.facts.variables if image.facts else ()),
            scope=scope,
        )
    except CudarunError as error:
        error.warnings = notes(debug.notes)
        raise
    binding = replace(binding, others=(*binding.others, *recorded_buffers(request)))
    facts = image.facts
    variables = variables_of(
        replace(request, checks=(), prints=(), saves=(), shows=(), expectations=()),
        lambda: facts.variables if facts else (),
        binding.integers,
        (),
    )
    binding, variables = completed(
        binding, variables, image, kernel, lambda: facts.variables if facts else ()
    )
    geometry = resolve_geometry(request.geometry, binding, lambda: kernel)
    resolve_swaps(request, binding, binding.following)
    said = [*debug.notes, *binding.warnings, *geometry.notes]
    if facts and facts.has_unread_code:
        said.append(_unread(image))
    planned = PlannedStep(
        image=image.origin,
        kernel=kernel.name,
        demangled=kernel.demangled,
        grid=geometry.grid,
        block=geometry.block,
        threads=geometry.threads,
        shared_bytes=geometry.shared_bytes,
        cluster=geometry.cluster,
        cooperative=geometry.cooperative,
        parameters=binding.rows,
        parameter_bytes=binding.size,
        memory=(*variables.rows, *buffer_rows(binding.others)),
    )
    return planned, (*image.warnings, *notes(said)), binding.following


def _unread(image: Image) -> str:
    """Return the note that the code of a long text was not checked."""
    return (
        f"only the declarations of {image.origin} were checked, not the code of its kernels: see "
        "cudarun load"
    )


def _with_facts(image: Image, timeout: float | None, kernel: str | None) -> Image:
    """Return the image with the facts of its kernels, or of the named one of a container.

    CUDA source is compiled for them.
    """
    if image.facts is not None:
        return image
    from cudarun.images.kinds import CONTAINERS, ImageKind, identify
    from cudarun.images.reader import read_image

    kind = identify(image.data)
    if kind is ImageKind.CUDA_SOURCE:
        from cudarun.session.compile.parent import compile_for_facts

        return compile_for_facts(image, timeout)
    if kind in CONTAINERS:
        from cudarun.session.load.offline import read_kernel

        return replace(image, facts=read_kernel(image, kernel))
    return replace(image, facts=read_image(image.data, image.origin, whole=False))
