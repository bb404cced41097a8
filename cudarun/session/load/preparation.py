"""The conversion of a user's file to images that a driver loads.

A driver loads PTX, cubins and fatbins. CUDA source is compiled for the device first. Of a host
object, an executable or an archive the fatbins inside are used, and the emulated device gets the
PTX of a fatbin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from cudarun.base.errors import ImageRefused, RequestError
from cudarun.diagnostics.entries import Diagnosed, notes
from cudarun.diagnostics.refusals import version_text
from cudarun.images.fatbin import read_entries
from cudarun.images.kinds import ImageKind, identify
from cudarun.images.reader import read_image
from cudarun.images.summary import summarize
from cudarun.images.versions import Architecture, cuda_of_ptx, newest_ptx
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import Device, architecture_of, cuda_of, newest_ptx_of
from cudarun.session.image.diagnosis import check_structure, device_target, diagnose
from cudarun.session.image.image import Image
from cudarun.session.image.kernels import select_kernel
from cudarun.session.load.fatbins import entry_for, fatbin_count, fatbins_of, loadable, used_fatbins


def prepare(
    driver: Driver, image: Image, devices: Iterable[Device], kernel: str | None = None
) -> Image:
    """Return the single image to load.

    Args:
        kernel: The kernel that will be launched, which selects a fatbin of a file with several.

    Raises:
        RequestError: The file contains several images, and no kernel or another one is named.
        ImageRefused: The file contains no suitable image, or does not compile.
    """
    devices = tuple(devices)
    with _refusals_explained(driver, image):
        if (whole := _whole(driver, image, devices)) is not None:
            return whole
        chosen = loadable(image, used_fatbins(driver, image))
        if len(chosen) > 1 and kernel is None:
            raise RequestError(
                f"{image.origin} contains {len(chosen)} fatbins",
                hint="use 'cudarun load' for all of them, or choose a kernel of one with "
                "'cudarun launch --kernel'",
            )
        if len(chosen) > 1 and kernel is not None:
            names = {name for each in chosen for name in each.kernels}
            name = select_kernel(names, kernel, image.origin)
            chosen = tuple(each for each in chosen if name in each.kernels)
        others = [str(fatbin.number) for fatbin in chosen[1:]]
        prepared = prepare_fatbin(driver, image, chosen[0].number, is_alone=not others)
    if not others:
        return prepared
    note = f"{image.origin} contains the kernel in several fatbins; {chosen[0].number} is used"
    note += f", not {', '.join(others)}"
    return replace(prepared, warnings=(*prepared.warnings, *notes([note])))


def prepare_all(driver: Driver, image: Image, devices: Iterable[Device]) -> tuple[Image, ...]:
    """Return the images to load, at least one."""
    devices = tuple(devices)
    with _refusals_explained(driver, image):
        if (whole := _whole(driver, image, devices)) is not None:
            return (whole,)
        chosen = used_fatbins(driver, image)
    return tuple(
        prepare_fatbin(driver, image, fatbin.number, is_alone=len(chosen) == 1) for fatbin in chosen
    )


def prepare_fatbin(driver: Driver, image: Image, number: int, *, is_alone: bool) -> Image:
    """Return one fatbin of a file as an image, or its newest usable PTX for the emulated device.

    Args:
        number: The fatbin's number, from 1.
        is_alone: Whether the file has no other fatbin with code, so that its name suffices.
    """
    with _refusals_explained(driver, image):
        origin = image.origin if is_alone else f"{image.origin}:{number}"
        data = bytes(fatbins_of(image)[number - 1])
        device = device_target(driver)
        found = replace(image, origin=origin, data=data)
        best = entry_for(device, read_entries(data, origin))
        check_structure(found, device, lambda entry: best is None or entry.target == best.target)
        if not driver.traits.runs_machine_code:
            if best is None:
                refused = ImageRefused(f"it contains no PTX for {device.name}", origin=origin)
                raise diagnose(refused, [found], device)
            text, facts = best.content(origin).rstrip(b"\0"), None
            with suppress(ImageRefused):  # the driver decides whether the text is valid
                facts = read_image(text, origin, whole=False)
            found = replace(found, data=text, facts=facts)
        return with_version_note(driver, found)


@contextmanager
def _refusals_explained(driver: Driver, image: Image) -> Iterator[None]:
    try:
        yield
    except Diagnosed:
        raise
    except ImageRefused as error:
        raise diagnose(error, [image], device_target(driver)) from None


def _whole(driver: Driver, image: Image, devices: Iterable[Device]) -> Image | None:
    """Return an image of which no fatbin must be chosen; ``None`` for others."""
    kind, count = identify(image.data), fatbin_count(image)
    is_loaded_whole = kind is ImageKind.FATBIN and driver.traits.runs_machine_code
    if count is not None and (count > 1 or not is_loaded_whole):
        return None
    if kind is ImageKind.EMPTY:
        raise ImageRefused("the file is empty", origin=image.origin)
    check_structure(image, device_target(driver))
    if kind is ImageKind.CUDA_SOURCE:
        image = _compiled(driver, image, devices)
    if kind is ImageKind.LTO_IR:
        raise ImageRefused("LTO-IR must be linked before it can be loaded", origin=image.origin)
    return with_version_note(driver, image)


def _compiled(driver: Driver, image: Image, devices: Iterable[Device]) -> Image:
    from cudarun.session.compile.source import compile_source  # most commands compile nothing

    architectures = sorted({architecture_of(driver, device.handle) for device in devices})
    if len(architectures) > 1:
        raise RequestError(
            f"{image.origin} is compiled for one architecture, but the devices have "
            f"{', '.join(f'sm_{number}' for number in architectures)}",
            hint="remove --together, so that each device has its own process",
        ).of(origin=image.origin, shown="")
    [number] = architectures
    if driver.traits.runs_machine_code:
        return compile_source(image, Architecture(False, number), "CUBIN")
    newest = newest_ptx_of(driver)
    return compile_source(image, Architecture(True, number), "PTX", newest_ptx=newest)


def with_version_note(driver: Driver, image: Image) -> Image:
    """Return the image, with a note if its PTX is newer than the driver's CUDA version.

    PTX that was compiled from CUDA source has no note: a GPU gets machine code.
    """
    usual, own = newest_ptx(cuda_of(driver)), driver.traits.newest_ptx
    if own is None or usual is None or image.is_compiled:
        return image
    version = image.facts.ptx_version if image.facts is not None else None
    if image.facts is None and identify(image.data) is ImageKind.PTX:
        version = summarize(image.data, image.origin).ptx_version
    if version is None or not usual < version <= own():
        return image
    needed = version_text(cuda_of_ptx(version))
    note = f"{image.origin} has PTX {version_text(version)}: a GPU's driver needs CUDA {needed}"
    return replace(image, warnings=(*image.warnings, *notes([f"{note} or later to compile it"])))
