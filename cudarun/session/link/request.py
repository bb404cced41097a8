"""The request of ``cudarun link``: frozen data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cudarun.base.records import dataclass

if TYPE_CHECKING:  # the command's help does not need images
    from cudarun.base.files import OutputFile
    from cudarun.images.versions import Architecture
    from cudarun.session.driver.target import Target
    from cudarun.session.image.image import Image
    from cudarun.session.load.request import JitOptions

Linker = Literal["auto", "driver", "nvjitlink"]


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """The request of a link.

    Attributes:
        inputs: The inputs, in order.
        output: The file to write.
        linker: The linker; ``auto`` chooses among the available ones.
        architecture: The architecture to link for; ``None`` for the device's.
        options: The linker's options.
        lto: Optimize LTO-IR while linking.
        target: The device to link on, where the driver links.
        load: Load the result immediately.
    """

    inputs: tuple[Image, ...]
    output: OutputFile
    linker: Linker
    architecture: Architecture | None
    options: JitOptions
    lto: bool
    target: Target
    load: bool = False
