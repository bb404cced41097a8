"""The conversion of a user's file to images that a driver loads.

A driver loads PTX, cubins and fatbins. CUDA source is compiled for the device first. Of a host
object, an executable or an archive the fatbins inside are used, and the emulated device gets the
PTX of a fatbin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from cudarun.diagnostics.errors import Diagnosed
from cudarun.diagnostics.refusals import LoadTarget
from cudarun.errors import ImageRefused, RequestError
from cudarun.images.facts import ImageFacts
from cudarun.images.fatbin import Entry, read_entries
from cudarun.images.kinds import ImageKind, identify
from cudarun.images.reader import CONTAINERS, fatbins_in, read_image
from cudarun.images.versions import Architecture, parse_target
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import Device, newest_ptx_of
from cudarun.session.image.diagnosis import check_structure, device_place, diagnose
from cudarun.session.image.image import Image
from cudarun.session.load.version_notes import with_version_note


def prepare(driver: Driver, image: Image, devices: Iterable[Device]) -> Image:
    """Return the single image to load.

    Raises:
        RequestError: The file contains several images.
        ImageRefused: The file contains no suitable image, or does not compile.
    """
    prepared = prepare_all(driver, image, devices)
    if len(prepared) > 1:
        raise RequestError(
            f"{image.origin} contains {len(prepared)} fatbins",
            hint="use 'cudarun load' for all of them; extract them with cuobjdump -xelf all",
        )
    return prepared[0]


def prepare_all(driver: Driver, image: Image, devices: Iterable[Device]) -> tuple[Image, ...]:
    """Return the images to load, at least one.

    Args:
        driver: The initialized driver.
        image: The file.
        devices: The devices to run on.

    Raises:
        ImageRefused: The file contains no suitable image, or does not compile.
        RequestError: CUDA source cannot be compiled for devices of several architectures.
    """
    with _refusals_explained(driver, image):
        return tuple(with_version_note(driver, one) for one in _prepared(driver, image, devices))


@contextmanager
def _refusals_explained(driver: Driver, image: Image) -> Iterator[None]:
    try:
        yield
    except Diagnosed:
        raise
    except ImageRefused as error:
        raise diagnose(error, [image], device_place(driver)) from None


def _prepared(driver: Driver, image: Image, devices: Iterable[Device]) -> tuple[Image, ...]:
    kind = identify(image.data)
    if kind is ImageKind.EMPTY:
        raise ImageRefused("the file is empty", origin=image.origin)
    check_structure(image, device_place(driver))
    if kind is ImageKind.CUDA_SOURCE:
        return (_compiled(driver, image, devices),)
    if kind is ImageKind.LTO_IR:
        raise ImageRefused("LTO-IR must be linked before it can be loaded", origin=image.origin)
    if kind not in CONTAINERS or (kind is ImageKind.FATBIN and driver.traits.runs_machine_code):
        return (image,)
    return tuple(_fatbins(driver, image, kind))


def _compiled(driver: Driver, image: Image, devices: Iterable[Device]) -> Image:
    from cudarun.session.compile.source import compile_source  # most commands compile nothing

    architectures = sorted({architecture_of(driver, device) for device in devices})
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


def architecture_of(driver: Driver, device: Device) -> int:
    """Return 90 for compute capability 9.0."""
    major, minor = (
        driver.cuDeviceGetAttribute(
            getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_{part}"),
            device.handle,
        )
        for part in ("MAJOR", "MINOR")
    )
    return 10 * int(major) + int(minor)


def _fatbins(driver: Driver, image: Image, kind: ImageKind) -> Iterable[Image]:
    """Yield the fatbins of a file, numbered if there are several; or the PTX of each."""
    place = device_place(driver)
    fatbins = fatbins_in(image.data, image.origin)
    if not fatbins:
        raise ImageRefused(f"the {kind.value} contains no device code", origin=image.origin)
    # Every executable contains some without code, from the objects that a linker adds.
    used = [n for n, data in enumerate(fatbins, start=1) if _has_code(data, image.origin)]
    images = []
    for number in used or [1]:
        origin = image.origin if len(used) <= 1 else f"{image.origin}:{number}"
        found = replace(image, origin=origin, data=fatbins[number - 1])
        images.append(found if driver.traits.runs_machine_code else _ptx_of(found, place))
    return images


def _has_code(fatbin: bytes, origin: str) -> bool:
    """Return whether a fatbin has a kernel, a variable or a function, or is unreadable here."""
    for entry in read_entries(fatbin, origin):
        try:
            facts = read_image(entry.content(origin), origin)
        except ImageRefused:
            return True
        if facts.kernels or facts.variables or facts.is_relocatable:
            return True
    return False


def _ptx_of(fatbin: Image, place: LoadTarget) -> Image:
    """Return a fatbin's PTX for the newest architecture that is not newer than the device."""
    entries = read_entries(fatbin.data, fatbin.origin)
    fitting = [entry for entry in entries if _fits(entry, place)]
    if not fitting:
        refused = ImageRefused(f"it contains no PTX for {place.name}", origin=fatbin.origin)
        raise diagnose(refused, [fatbin], place)
    best = max(fitting, key=lambda entry: _target(entry).number)
    data = best.content(fatbin.origin).rstrip(b"\0")
    return replace(fatbin, data=data, facts=_facts(data, fatbin.origin))


def _facts(ptx: bytes, origin: str) -> ImageFacts | None:
    """Return the types and names of parameters; the driver decides whether the text is valid."""
    try:
        return read_image(ptx, origin)
    except ImageRefused:
        return None


def _fits(entry: Entry, place: LoadTarget) -> bool:
    is_ptx = entry.kind is ImageKind.PTX
    return is_ptx and _target(entry).runs_on(place.architecture or 0)


def _target(entry: Entry) -> Architecture:
    return parse_target(entry.target) or Architecture(True, 0)
