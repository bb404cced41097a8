"""``cudarun link`` as the parent sees it: which linker, in which worker, and the file it makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from cudarun.errors import ImageRefused, NoDevice, RequestError
from cudarun.images.identify import ImageKind, identify
from cudarun.session.driver.target import Target
from cudarun.session.image.image import Image
from cudarun.session.link.request import LinkRequest
from cudarun.session.load.parent import load, prefetch
from cudarun.session.load.request import LoadRequest
from cudarun.session.workers.fleet import Fleet
from cudarun.writing import check_writable, whole_file

if TYPE_CHECKING:
    from cudarun.images.versions import Target as Architecture
    from cudarun.report.image_types import LinkReport, LoadOutcome
    from cudarun.session.driver.devices import Device
    from cudarun.session.link.worker import Linked
    from cudarun.session.workers.progress import Watch
    from cudarun.session.workers.session import Session


def link(request: LinkRequest, watch: Watch | None = None) -> LinkReport:
    """Link, write the output when it is complete, and load it if that was asked for.

    Args:
        request: What to link, and how.
        watch: Is shown what the workers are doing.

    Raises:
        RequestError: The request is unusable; the output cannot be written.
        NoDevice: The driver was to link and there is none.
        ImageRefused: The inputs do not link.
    """
    check_writable("--output", request.output)
    _check_inputs(request)
    linked = _link(request, watch)
    with whole_file("--output", request.output) as file:
        file.write(linked.data)
    return _report(request, linked, watch)


def _check_inputs(request: LinkRequest) -> None:
    for image in request.inputs:
        kind = identify(image.data)
        if kind is ImageKind.EMPTY:
            raise ImageRefused(f"{image.origin}: the file is empty")
        if kind is ImageKind.UNKNOWN:
            raise ImageRefused(
                f"{image.origin}: not an image",
                hint="an input is PTX text, a cubin, a fatbin, an object or library with device "
                "code, LTO-IR or CUDA source",
            )


def _link(request: LinkRequest, watch: Watch | None) -> Linked:
    """With the linker asked for; ``auto`` is the driver's, where it can and there is a driver."""
    on_cpu = request.target.devices[0].driver == "cpu"
    if request.linker == "nvjitlink":
        return _with_nvjitlink(request, watch)
    if request.linker == "driver" or on_cpu:
        return _with_driver(request, watch)
    if _needs_nvjitlink(request):
        return _with_nvjitlink(request, watch)
    try:
        return _with_driver(request, watch)
    except NoDevice:
        return _with_nvjitlink(request, watch)


def _needs_nvjitlink(request: LinkRequest) -> bool:
    return request.lto or any(identify(i.data) is ImageKind.LTO_IR for i in request.inputs)


def _with_driver(request: LinkRequest, watch: Watch | None) -> Linked:
    with _one_device(request.target, watch) as fleet:
        [answer, *_] = fleet.run(partial(_begin, request))
    return answer.unwrap()


def _begin(request: LinkRequest, session: Session) -> Callable[[Device], Linked]:
    from cudarun.session.link.worker import link_on_device

    return lambda device: link_on_device(request, session, device)


def _with_nvjitlink(request: LinkRequest, watch: Watch | None) -> Linked:
    from cudarun.session.link.nvjitlink import link_with_nvjitlink

    target = request.architecture or _architecture(request.target)
    return link_with_nvjitlink(request, target, watch)


def _architecture(target: Target) -> Architecture:
    """The device's own.

    Raises:
        RequestError: There is no device to ask.
    """
    with _one_device(target) as fleet:
        [answer, *_] = fleet.run(_ask_architecture)
    if isinstance(answer.error, NoDevice):
        raise RequestError(
            "--arch is required: there is no GPU to link for",
            hint="as for instance --arch sm_90",
        )
    return answer.unwrap()


def _ask_architecture(session: Session) -> Callable[[Device], Architecture]:
    from cudarun.images.versions import Target as Architecture
    from cudarun.session.load.preparation import architecture_of

    return lambda device: Architecture(False, architecture_of(session.driver, device))


def _one_device(target: Target, watch: Watch | None = None) -> Fleet:
    """A worker for the first device of those chosen: a link is for one."""
    return Fleet(replace(target, devices=target.devices[:1], together=True), watch=watch)


def _report(request: LinkRequest, linked: Linked, watch: Watch | None) -> LinkReport:
    from cudarun.report.image_types import InputReport, LinkReport
    from cudarun.session.load.offline import read_file

    made = read_file(Image(request.output, linked.data))
    return LinkReport(
        output=request.output,
        linker=linked.linker,
        target=linked.target,
        inputs=tuple(
            InputReport(image.origin, identify(image.data).value, len(image.data))
            for image in request.inputs
        ),
        milliseconds=linked.milliseconds,
        size=len(linked.data),
        kind=made.kind,
        kernels=made.kernels,
        variables=made.variables,
        info_log=linked.info_log,
        diagnostics=linked.diagnostics,
        loads=_loads(request, linked.data, watch) if request.load else (),
    )


def _loads(request: LinkRequest, data: bytes, watch: Watch | None) -> tuple[LoadOutcome, ...]:
    def fleet() -> Fleet:
        return Fleet(replace(request.target, capture=True), prefetch, watch)

    with fleet() as first:
        return load(LoadRequest((Image(request.output, data),)), first, fleet).outcomes
