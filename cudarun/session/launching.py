"""A launch request as the parent sees it: planned without a driver, or sent to the workers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from cudarun.session.fleet import Fleet
from cudarun.session.requests import LaunchRequest

if TYPE_CHECKING:
    from cudarun.report.types import LaunchPlan, LaunchReport, LaunchResult
    from cudarun.session.devices import Device
    from cudarun.session.session import Session


def prefetch() -> None:
    """Import what a launch needs in a worker, numpy above all."""
    import cudarun.session.running  # noqa: F401


def launch(
    request: LaunchRequest, fleet: Fleet, *, meanwhile: Callable[[], object] | None = None
) -> LaunchReport:
    """Launch once on each device of the fleet.

    Args:
        request: What to launch.
        fleet: Workers, made with `prefetch`.
        meanwhile: Called in this process while the workers run.
    """
    answers = fleet.run(partial(_begin, request), meanwhile=meanwhile)
    from cudarun.report.types import DeviceOutcome, LaunchReport

    return LaunchReport(
        image=request.image.origin,
        seed=request.seed if request.is_random else None,
        outcomes=tuple(
            DeviceOutcome(answer.device, answer.value, answer.error, answer.output)
            for answer in answers
        ),
    )


def _begin(request: LaunchRequest, session: Session) -> Callable[[Device], LaunchResult]:
    """In a worker: load the image, once and before any context exists."""
    library = session.load(request.image)

    def on_device(device: Device) -> LaunchResult:
        session.enter(device)
        session.prefetched()
        from cudarun.session.running import run_on

        return run_on(session, library, request, device)

    return on_device


def plan(request: LaunchRequest) -> LaunchPlan:
    """What the launch would pass to the kernel, from the file alone.

    Raises:
        ImageRefused: The file does not tell its kernels' parameters.
        RequestError: The arguments do not fit.
    """
    from cudarun.arguments.binding import bind
    from cudarun.images.read import read_image
    from cudarun.report.types import LaunchPlan
    from cudarun.session.loading import select_kernel

    facts = request.image.facts or read_image(request.image.data, request.image.origin)
    kernels = {kernel.name: kernel for kernel in facts.kernels}
    kernel = kernels[select_kernel(kernels, request.kernel, request.image.origin)]
    binding = bind(request.arguments, kernel.parameters, kernel=kernel.demangled)
    return LaunchPlan(
        image=request.image.origin,
        kernel=kernel.name,
        demangled=kernel.demangled,
        grid=request.geometry.grid_extent(),
        block=request.geometry.block,
        shared_bytes=request.geometry.shared_bytes,
        parameters=binding.rows,
        parameter_bytes=binding.size,
    )
