"""A launch request as the parent sees it: planned without a driver, or sent to the workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from cudarun.errors import CudarunError, worst
from cudarun.session.workers.fleet import DeviceAnswer, Fleet

if TYPE_CHECKING:  # what is imported here keeps the workers from starting
    from pathlib import Path

    from cudarun.report.types import LaunchPlan, LaunchReport, LaunchResult
    from cudarun.session.driver.devices import Device
    from cudarun.session.image.image import Image
    from cudarun.session.launch.request import LaunchRequest
    from cudarun.session.load.library import Library
    from cudarun.session.workers.session import Session

T = TypeVar("T")


def prefetch() -> None:
    """Import what a launch needs in a worker, numpy above all."""
    import cudarun.session.launch.worker  # noqa: F401


def launch(
    request: LaunchRequest,
    fleet: Fleet,
    *,
    reference: Fleet | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> LaunchReport:
    """Launch on each device of the fleet.

    Args:
        request: What to launch.
        fleet: Workers, made with `prefetch`.
        reference: A worker of the device that ``request.reference`` names; where there is one, it
            launches first and what the others make is compared with what it made.
        meanwhile: Called in this process while the workers run.

    Raises:
        CudarunError: The launch on the reference device did not come back.
    """
    if reference is None:
        return _report(request, fleet, on_each_device(request), meanwhile)
    from cudarun.session.workers.temporary import temporary_folder

    with temporary_folder("cudarun-reference-") as folder:
        for answer in reference.run(on_reference_device(request, folder), final=True):
            try:
                answer.unwrap()
            except CudarunError as error:
                error.message = f"--reference: {error.message}"
                raise
        return _report(request, fleet, on_each_device(request, folder), meanwhile)


def _report(
    request: LaunchRequest,
    fleet: Fleet,
    work: Callable[[Session], Callable[[Device], LaunchResult]],
    meanwhile: Callable[[], object] | None,
) -> LaunchReport:
    answers = fleet.run(work, meanwhile=meanwhile, final=True)
    from cudarun.report.types import DeviceOutcome, LaunchReport

    return LaunchReport(
        image=request.image.origin,
        seed=request.seed if request.is_random else None,
        outcomes=tuple(
            DeviceOutcome(answer.device, answer.value, _error(answer), answer.output)
            for answer in answers
        ),
    )


def _error(answer: DeviceAnswer[LaunchResult]) -> CudarunError | None:
    return worst((answer.error, *(answer.value.errors if answer.value else ())))


def on_each_device(
    request: LaunchRequest, reference: Path | None = None
) -> Callable[[Session], Callable[[Device], LaunchResult]]:
    """The work of a launch; ``reference`` is the folder that `on_reference_device` filled."""
    return partial(_begin, request, partial(_run_on, request, reference))


def on_reference_device(
    request: LaunchRequest, folder: Path
) -> Callable[[Session], Callable[[Device], None]]:
    """The work on the reference device: launch once, and leave every buffer in ``folder``."""
    from cudarun.session.launch.request import Watch

    once = replace(request, timing=None, profile=False, watch=Watch())
    return partial(_begin, once, partial(_run_reference, once, folder))


def _begin(
    request: LaunchRequest, run: Callable[[Session, Library, Device], T], session: Session
) -> Callable[[Device], T]:
    """In a worker: load the image, once and before any context exists."""
    library = session.load(request.image)

    def on_device(device: Device) -> T:
        session.enter(device)
        session.prefetched()
        try:
            return run(session, library, device)
        except CudarunError as error:
            error.warnings = (*library.image.warnings, *error.warnings)
            raise

    return on_device


def _run_on(
    request: LaunchRequest,
    reference: Path | None,
    session: Session,
    library: Library,
    device: Device,
) -> LaunchResult:
    from cudarun.session.launch.worker import run_on

    return run_on(session, library, request, device, reference)


def _run_reference(
    request: LaunchRequest, folder: Path, session: Session, library: Library, device: Device
) -> None:
    from cudarun.session.launch.worker import run_reference

    run_reference(session, library, request, device, folder)


def plan(request: LaunchRequest) -> LaunchPlan:
    """What the launch would pass to the kernel, from the file alone.

    Raises:
        ImageRefused: The file does not tell its kernels' parameters.
        RequestError: The arguments do not fit.
    """
    from cudarun.arguments.binding import bind
    from cudarun.diagnostics.entries import notes
    from cudarun.report.types import LaunchPlan
    from cudarun.session.image.kernels import select_kernel

    image = _with_facts(request.image)
    kernels = {kernel.name: kernel for kernel in image.facts.kernels} if image.facts else {}
    kernel = kernels[select_kernel(kernels, image.lowered_name(request.kernel), image.origin)]
    binding = bind(
        request.arguments,
        kernel.parameters,
        kernel=kernel.demangled,
        directory=request.directory,
    )
    return LaunchPlan(
        image=image.origin,
        kernel=kernel.name,
        demangled=kernel.demangled,
        grid=request.geometry.grid_extent(),
        block=request.geometry.block,
        shared_bytes=request.geometry.shared_bytes,
        cluster=request.geometry.cluster,
        cooperative=request.geometry.cooperative,
        parameters=binding.rows,
        parameter_bytes=binding.size,
        diagnostics=(*image.warnings, *notes(binding.doubts)),
    )


def _with_facts(image: Image) -> Image:
    """The image with what it says of its kernels; CUDA source says it when it is compiled."""
    if image.facts is not None:
        return image
    from cudarun.images.identify import ImageKind, identify
    from cudarun.images.read import read_image

    if identify(image.data) is ImageKind.CUDA_SOURCE:
        from cudarun.session.compile.nvrtc import compile_for_facts

        return compile_for_facts(image)
    return replace(image, facts=read_image(image.data, image.origin))
