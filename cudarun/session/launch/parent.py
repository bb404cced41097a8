"""A launch in the parent: planned without a driver, or run by the workers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, TypeVar

from cudarun.base.errors import CudarunError, errors_of, worst
from cudarun.base.records import derived
from cudarun.session.workers.job import Job

if TYPE_CHECKING:  # imports here delay the start of the workers
    from cudarun.model.launch import (
        DeviceOutcome,
        KernelLaunch,
        LaunchPlan,
        LaunchReport,
        LaunchResult,
        PlannedStep,
    )
    from cudarun.session.driver.devices import Device
    from cudarun.session.image.image import Image
    from cudarun.session.launch.reference import ReferenceBuffers
    from cudarun.session.launch.request import Program
    from cudarun.session.launch.step_binding import StepBinder
    from cudarun.session.launch.step_request import LaunchStep
    from cudarun.session.launch.steps import Libraries
    from cudarun.session.load.request import JitOptions
    from cudarun.session.workers.devices import DeviceWorkers
    from cudarun.session.workers.session import Session

T = TypeVar("T")


def prefetch() -> None:
    """Import the modules that a launch needs in a worker, numpy above all."""
    import cudarun.session.launch.worker  # noqa: F401


def launch(
    program: Program,
    workers: DeviceWorkers,
    *,
    reference: DeviceWorkers | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> LaunchReport:
    """Launch on each device of the workers.

    Args:
        workers: The workers, made with `prefetch`.
        reference: A worker of the device of ``--reference``. If there is one, it launches first and
            the results of the others are compared with its own.
        meanwhile: Called in this process while the workers run.
    """
    buffers = None
    with ExitStack() as stack:
        if reference is not None:
            from cudarun.session.workers.shared_file import SharedFile

            file = stack.enter_context(SharedFile())
            [answer] = reference.run(ReferenceJob(program, file.path), last=True)
            with errors_of(option="--reference"):
                buffers = answer.unwrap()
        answers = workers.run(LaunchJob(program, buffers), meanwhile=meanwhile, last=True)
    from cudarun.model.launch import DeviceOutcome

    return report(
        program,
        [
            DeviceOutcome(
                answer.device,
                answer.value,
                worst((answer.error, *(answer.value.errors if answer.value else ()))),
                answer.output,
            )
            for answer in answers
        ],
    )


def report(program: Program, outcomes: Sequence[DeviceOutcome]) -> LaunchReport:
    """Return the report of a program."""
    from cudarun.model.launch import LaunchReport

    seed = program.options.seed if program.is_random else None
    return LaunchReport(program.steps[0].image.origin, seed, tuple(outcomes))


class KernelJob(Job[T]):
    """A job that launches kernels of images, which are loaded once for all devices."""

    def __init__(self, program: Program, jit: JitOptions | None = None) -> None:
        self.program = program
        # The addresses and sizes of the memory of recordings, in whole pages.
        self.addresses: Sequence[tuple[int, int]] = ()
        recordings = [step.image.recording for step in program.steps if step.image.recording]
        if recordings:
            from cudarun.session.launch.recorded import fixed_addresses  # few need it

            memory = [each for recording in recordings for each in recording.manifest.memory]
            ranges = [(each.address, each.size) for each in memory]
            self.addresses = fixed_addresses.aligned(ranges, fixed_addresses.MAPPED_BYTES)
        self._jit = jit  # the JIT compiler's options

    def begin(self, session: Session) -> None:
        """Load the images, before any context exists."""
        super().begin(session)
        from cudarun.session.launch.steps import load_libraries
        from cudarun.session.load.library import unload_ahead

        session.driver.traits.compile_on_demand()
        if self.program.algebra:
            session.driver.traits.select_algebra(True)
            session.add_release(partial(session.driver.traits.select_algebra, False))
        if self.addresses:
            from cudarun.session.launch.recorded.fixed_addresses import reserve  # few need it

            unload_ahead(session)  # its variables can have these addresses
            reserve(session, self.addresses)
        self._libraries = load_libraries(session, self.program, self._jit)
        unload_ahead(session)  # the memory of its variables is for this launch

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
    """A launch."""

    def __init__(
        self,
        program: Program,
        reference: ReferenceBuffers | None = None,
        jit: JitOptions | None = None,
    ) -> None:
        super().__init__(program, jit)
        self.leaves_processes = program.calls_functions
        self._reference = reference
        self._baseline: Libraries = ()

    def begin(self, session: Session) -> None:
        """Load the images, also that of the baseline."""
        super().begin(session)
        from cudarun.session.launch.steps import load_libraries

        baseline = self.program.options.baseline
        if baseline is not None:
            self._baseline = load_libraries(session, baseline.program)

    def _launch(self, libraries: Libraries, device: Device) -> LaunchResult:
        if self.program.options.runs_once:
            from cudarun.session.launch.worker import run_on

            result = run_on(self.session, libraries, self.program, device, self._reference)
        else:
            from cudarun.session.launch.verified_runs import run_verified

            result = run_verified(self.session, libraries, self.program, device, self._baseline)
        if not any(step.gpus for step in self.program.steps):
            return result
        return _with_predictions(result, self.program)


def _with_predictions(result: LaunchResult, program: Program) -> LaunchResult:
    """Return a result with the launches on the GPUs of ``--for``, by their limits."""
    from cudarun.session.compile.parent import compile_here  # few launches are predicted
    from cudarun.session.load.prediction import predict
    from cudarun.session.load.request import LaunchShape, OfflineScope

    launches: tuple[KernelLaunch, ...] = result.steps or (result,)
    predictions = tuple(
        prediction
        for step, launch in zip(program.steps[-len(launches) :], launches, strict=True)
        if step.gpus
        for prediction in predict(
            step.image,
            OfflineScope(
                launch.kernel,
                gpus=step.gpus,
                shape=LaunchShape(
                    launch.block,
                    launch.shared_bytes,
                    launch.cluster,
                    prod(launch.grid) if launch.cooperative else 0,
                ),
            ),
            compile_here,
        )
    )
    errors = (each.error for each in predictions if each.error is not None)
    return replace(result, predictions=predictions, errors=(*result.errors, *errors))


class ReferenceJob(KernelJob["ReferenceBuffers"]):
    """The launch on the reference device, which writes every buffer to an existing file."""

    def __init__(self, program: Program, path: str) -> None:
        from cudarun.session.launch.request import Detection

        super().__init__(
            program.with_options(timing=None, profile=False, detection=Detection(), graph=False)
        )
        self._path = path

    def _launch(self, libraries: Libraries, device: Device) -> ReferenceBuffers:
        from cudarun.session.launch.worker import run_reference

        return run_reference(self.session, libraries, self.program, device, self._path)


def plan(program: Program, timeout: float | None = None, device: str = "0") -> LaunchPlan:
    """Return the parameters that the launch would pass to the kernel, from the file alone.

    Args:
        timeout: The time limit of a compiler in seconds.
        device: The device that a suggested command names.
    """
    from cudarun.diagnostics.entries import notes
    from cudarun.model.launch import LaunchPlan
    from cudarun.session.launch.step_binding import StepBinder

    binder = StepBinder(device)
    steps: list[PlannedStep] = []
    several = len(program.steps) > 1
    for number, step in enumerate(program.steps, start=1):
        with errors_of(operation=f"step {number}" if several else None):
            image = _with_facts(step.image, timeout, step.kernel)
            steps.append(_planned(binder, step.without_results(), image))
    messages = [*binder.notes]
    if image.facts and image.facts.has_unread_code:
        messages.append(
            f"only the declarations of {image.origin} were checked, not the code of its kernels: "
            "see cudarun load"
        )
    diagnostics = (*image.warnings, *notes(messages))
    program_steps = tuple(steps) if several else ()
    return derived(LaunchPlan, steps[-1], diagnostics=diagnostics, steps=program_steps)


def _planned(binder: StepBinder, step: LaunchStep, image: Image) -> PlannedStep:
    """Return the plan of the next step."""
    from cudarun.diagnostics.entries import notes
    from cudarun.model.launch import PlannedStep
    from cudarun.session.image.debug_parameters import DebugReader
    from cudarun.session.image.kernels import select_kernel
    from cudarun.session.launch.step_binding import KernelSource

    kernels = {kernel.name: kernel for kernel in image.facts.kernels} if image.facts else {}
    kernel = kernels[select_kernel(kernels, image.lowered_name(step.kernel), image.origin)]
    variables = image.facts.variables if image.facts else ()
    debug = DebugReader(image).read(kernel.name, kernel.parameters)
    source = KernelSource(
        step.image, image, kernel, *debug,
        names=lambda: [*kernels], variables=lambda: variables, facts=lambda: kernel,
    )  # fmt: skip
    try:
        bound = binder.bind(step, source)
    except CudarunError as error:
        error.warnings = notes(binder.notes)
        raise
    planned = bound.launch(kernel)
    return derived(PlannedStep, planned, image=image.origin, parameter_bytes=bound.binding.size)


def _with_facts(image: Image, timeout: float | None, kernel: str | None) -> Image:
    """Return the image with the facts of its kernels, or of the named one of a container.

    CUDA source is compiled for them. The code of short PTX is read for its errors, whatever has the
    text: the facts that are known are those of its declarations.
    """
    from cudarun.images.kinds import CONTAINERS, ImageKind, identify
    from cudarun.images.reader import read_image

    kind = identify(image.data)
    if image.facts is None and kind in CONTAINERS:
        from cudarun.session.load.offline import read_kernel

        return replace(image, facts=read_kernel(image, kernel))
    if image.facts is None and kind is ImageKind.CUDA_SOURCE:
        from cudarun.session.compile.parent import compile_for_facts

        image = compile_for_facts(image, timeout)
    facts = image.facts
    if facts is not None and (facts.kind is not ImageKind.PTX or facts.has_unread_code):
        return image
    whole = read_image(image.data, image.origin)
    return replace(image, facts=facts or whole)
