"""The request of ``cudarun link``: frozen data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cudarun.records import dataclass

if TYPE_CHECKING:  # the command's help needs no images
    from cudarun.images.versions import Architecture
    from cudarun.session.driver.target import Target
    from cudarun.session.image.image import Image
    from cudarun.session.load.request import JitOptions

Linker = Literal["auto", "driver", "nvjitlink"]


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """Everything ``cudarun link`` was told.

    Attributes:
        inputs: In order.
        output: The file to write.
        linker: Which one; ``auto`` is decided by what there is.
        architecture: What to link for; ``None``: the device's own.
        options: For the linker.
        lto: Optimise LTO-IR while linking.
        target: The device to link on, where the driver links.
        load: Load the result at once.
    """

    inputs: tuple[Image, ...]
    output: str
    linker: Linker
    architecture: Architecture | None
    options: JitOptions
    lto: bool
    target: Target
    load: bool = False
