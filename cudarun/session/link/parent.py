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
    from collections.abc import Callable, Sequence

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
    from cudarun.model.images import InputReport, LinkReport
    from cudarun.session.load.offline import read_file

    kinds = [identify(image.data) for image in request.inputs]
    for image, kind in zip(request.inputs, kinds, strict=True):
        if kind is ImageKind.EMPTY:
            raise ImageRefused("the file is empty", origin=image.origin)
        if kind is ImageKind.UNKNOWN:
            raise ImageRefused(
                "not an image",
                hint="pass PTX text, a cubin, a fatbin, an object or library with device code, "
                "LTO-IR or CUDA source",
                origin=image.origin,
            )
    linked = _link(request, kinds, display)
    with whole_file(request.output) as file:
        file.write(linked.data)
    made = Image(request.output.path, linked.data)
    contents = read_file(made)
    loads: tuple[LoadOutcome, ...] = ()
    if request.load:
        with WorkerPool() as pool:
            workers = DeviceWorkers(pool, replace(request.target, capture=True), prefetch, display)
            loads = load(LoadRequest((made,)), workers).outcomes
    inputs = (
        InputReport(image.origin, kind.value, len(image.data))
        for image, kind in zip(request.inputs, kinds, strict=True)
    )
    return derived(
        LinkReport, linked, contents, output=made.origin, inputs=tuple(inputs), loads=loads
    )


def _link(
    request: LinkRequest, kinds: Sequence[ImageKind], display: ProgressDisplay | None
) -> Linked:
    """Link with the requested linker; ``auto`` is the driver's if it is able and available."""
    is_required = request.linker == "driver"
    if request.linker == "auto":
        is_required = request.target.devices[0].driver == "cpu"
    is_able = not request.lto and ImageKind.LTO_IR not in kinds
    if is_required or (request.linker == "auto" and is_able):
        linked = _on_one_device(partial(_linked, request), request.target, display)
        if is_required or not isinstance(linked.error, NoDevice):
            return linked.unwrap()
    from cudarun.session.link.nvjitlink import link_with_nvjitlink

    target = request.architecture
    if target is None:
        answer = _on_one_device(_architecture_of, request.target)
        if isinstance(answer.error, NoDevice):
            raise RequestError("--arch is required without a GPU", hint="example: --arch sm_90")
        target = answer.unwrap()
    return link_with_nvjitlink(request, target, display)


def _linked(request: LinkRequest, session: Session, device: Device) -> Linked:
    from cudarun.session.link.worker import link_on_device

    return link_on_device(request, session, device)


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
