"""``cudarun link`` in the parent: the choice of the linker, its worker, and the output file."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from cudarun.base.errors import ImageRefused, NoDevice, RequestError
from cudarun.base.files import whole_file
from cudarun.base.records import derived
from cudarun.images.kinds import ImageKind, identify
from cudarun.session.driver.contexts import Target
from cudarun.session.image.image import Image
from cudarun.session.link.request import LinkRequest
from cudarun.session.load.parent import load, prefetch
from cudarun.session.load.request import LoadRequest
from cudarun.session.workers.devices import DeviceWorkers
from cudarun.session.workers.job import CallJob
from cudarun.session.workers.pool import WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable

    from cudarun.images.versions import Architecture
    from cudarun.model.images import LinkReport, LoadOutcome
    from cudarun.session.driver.devices import Device
    from cudarun.session.link.worker import Linked
    from cudarun.session.workers.progress import ProgressDisplay
    from cudarun.session.workers.session import Session
    from cudarun.session.workers.worker import Answer

T = TypeVar("T")


def link(request: LinkRequest, display: ProgressDisplay | None = None) -> LinkReport:
    """Link, write the complete output, and load it if requested."""
    _check_inputs(request)
    linked = _link(request, display)
    with whole_file(request.output) as file:
        file.write(linked.data)
    return _report(request, linked, display)


def _check_inputs(request: LinkRequest) -> None:
    for image in request.inputs:
        kind = identify(image.data)
        if kind is ImageKind.EMPTY:
            raise ImageRefused("the file is empty", origin=image.origin)
        if kind is ImageKind.UNKNOWN:
            raise ImageRefused(
                "not an image",
                hint="pass PTX text, a cubin, a fatbin, an object or library with device code, "
                "LTO-IR or CUDA source",
                origin=image.origin,
            )


def _link(request: LinkRequest, display: ProgressDisplay | None) -> Linked:
    """Link with the requested linker; ``auto`` is the driver's if it is able and available."""
    on_cpu = request.target.devices[0].driver == "cpu"
    if request.linker == "nvjitlink":
        return _with_nvjitlink(request, display)
    if request.linker == "driver" or on_cpu:
        return _with_driver(request, display)
    if request.lto or any(identify(i.data) is ImageKind.LTO_IR for i in request.inputs):
        return _with_nvjitlink(request, display)
    try:
        return _with_driver(request, display)
    except NoDevice:
        return _with_nvjitlink(request, display)


def _with_driver(request: LinkRequest, display: ProgressDisplay | None) -> Linked:
    return _on_one_device(partial(_linked, request), request.target, display).unwrap()


def _linked(request: LinkRequest, session: Session, device: Device) -> Linked:
    from cudarun.session.link.worker import link_on_device

    return link_on_device(request, session, device)


def _with_nvjitlink(request: LinkRequest, display: ProgressDisplay | None) -> Linked:
    from cudarun.session.link.nvjitlink import link_with_nvjitlink

    target = request.architecture or _architecture(request.target)
    return link_with_nvjitlink(request, target, display)


def _architecture(target: Target) -> Architecture:
    """Return the device's own architecture; `RequestError` if there is no device."""
    answer = _on_one_device(_architecture_of, target)
    if isinstance(answer.error, NoDevice):
        raise RequestError("--arch is required without a GPU", hint="example: --arch sm_90")
    return answer.unwrap()


def _architecture_of(session: Session, device: Device) -> Architecture:
    from cudarun.images.versions import Architecture
    from cudarun.session.driver.devices import architecture_of

    return Architecture(False, architecture_of(session.driver, device.handle))


def _on_one_device(
    call: Callable[[Session, Device], T], target: Target, display: ProgressDisplay | None = None
) -> Answer[T]:
    """Call on the first chosen device, because a link needs only one."""
    alone = replace(target, devices=target.devices[:1], together=True)
    with WorkerPool() as pool:
        [answer, *_] = DeviceWorkers(pool, alone, display=display).run(CallJob(call), last=True)
    return answer


def _report(request: LinkRequest, linked: Linked, display: ProgressDisplay | None) -> LinkReport:
    from cudarun.model.images import InputReport, LinkReport
    from cudarun.session.load.offline import read_file

    made = read_file(Image(request.output.path, linked.data))
    return derived(
        LinkReport,
        linked,
        made,
        output=request.output.path,
        inputs=tuple(
            InputReport(image.origin, identify(image.data).value, len(image.data))
            for image in request.inputs
        ),
        loads=_loads(request, linked.data, display) if request.load else (),
    )


def _loads(
    request: LinkRequest, data: bytes, display: ProgressDisplay | None
) -> tuple[LoadOutcome, ...]:
    with WorkerPool() as pool:
        workers = DeviceWorkers(pool, replace(request.target, capture=True), prefetch, display)
        return load(LoadRequest((Image(request.output.path, data),)), workers).outcomes
