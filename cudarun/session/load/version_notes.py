"""The note about PTX that the emulated device takes and a driver of its CUDA version refuses."""

from __future__ import annotations

from dataclasses import replace

from cudarun.diagnostics.entries import notes
from cudarun.diagnostics.refusals import version_text
from cudarun.images.kinds import ImageKind, identify
from cudarun.images.summary import summarize
from cudarun.images.versions import Version, cuda_of_ptx, newest_ptx
from cudarun.session.driver.calls import Driver
from cudarun.session.driver.devices import cuda_of
from cudarun.session.image.image import Image


def with_version_note(driver: Driver, image: Image) -> Image:
    """Return the image, with a note if its PTX is newer than the driver's CUDA version.

    PTX that was compiled from CUDA source has no note: a GPU gets machine code.
    """
    version = _version(image)
    usual = newest_ptx(cuda_of(driver))
    own = driver.traits.newest_ptx
    if own is None or usual is None or version is None or image.is_compiled:
        return image
    if not usual < version <= own():
        return image
    needed = version_text(cuda_of_ptx(version))
    note = f"{image.origin} has PTX {version_text(version)}: a GPU's driver needs CUDA {needed}"
    return replace(image, warnings=(*image.warnings, *notes([f"{note} or later to compile it"])))


def _version(image: Image) -> Version | None:
    if image.facts is not None:
        return image.facts.ptx_version
    is_ptx = identify(image.data) is ImageKind.PTX
    return summarize(image.data, image.origin).ptx_version if is_ptx else None
