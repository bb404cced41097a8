"""A launch request as the parent sees it: planned without a driver, or sent to the devices.

What only a worker needs (numpy, the binding, the checks) is imported there, beside cuInit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cudarun.report.types import DeviceOutcome, LaunchPlan, LaunchReport, LaunchResult
from cudarun.session.devices import Device
from cudarun.session.fleet import on_each_device
from cudarun.session.loading import select_kernel
from cudarun.session.requests import LaunchRequest, Target
from cudarun.session.session import Session


def launch(
    request: LaunchRequest, target: Target, *, meanwhile: Callable[[], object] | None = None
) -> LaunchReport:
    """Launch once on each device of the target.

    Args:
        request: What to launch.
        target: Where.
        meanwhile: Called in this process while the workers run.
    """
    answers = on_each_device(
        target, partial(_prepare, request), prefetch=_prefetch, meanwhile=meanwhile
    )
    return LaunchReport(
        image=request.image.origin,
        seed=request.seed,
        outcomes=tuple(
            DeviceOutcome(answer.device, answer.value, answer.error, answer.output)
            for answer in answers
        ),
    )


def _prefetch() -> None:
    import cudarun.session.running  # noqa: F401


def _prepare(request: LaunchRequest, session: Session) -> Callable[[Device], LaunchResult]:
    """In the worker: load the image once, before any context exists."""
    from cudarun.session.running import run_on

    return partial(run_on, session, session.load(request.image), request)


def plan(request: LaunchRequest) -> LaunchPlan:
    """What the launch would pass to the kernel, from the file alone.

    Raises:
        ImageRefused: The file does not tell its kernels' parameters.
        RequestError: The arguments do not fit.
    """
    from cudarun.arguments.binding import bind
    from cudarun.images.read import read_image

    facts = read_image(request.image.data, request.image.origin)
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
