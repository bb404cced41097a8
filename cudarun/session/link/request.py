"""The request of ``cudarun link``: frozen data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cudarun.base.options import option_field
from cudarun.base.records import dataclass

if TYPE_CHECKING:  # the command's help does not need images
    from cudarun.base.files import OutputFile
    from cudarun.images.versions import Architecture
    from cudarun.session.driver.contexts import Target
    from cudarun.session.image.image import Image
    from cudarun.session.load.request import JitOptions

Linker = Literal["auto", "driver", "nvjitlink"]


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """The request of a link."""

    inputs: tuple[Image, ...]
    output: OutputFile
    options: JitOptions
    target: Target  # the device to link on, where the driver links
    linker: Linker = option_field(
        "--linker",
        default="auto",
        choices=("auto", "driver", "nvjitlink"),
        help="Link with the driver (cuLink) or with nvJitLink, which supports LTO-IR and requires "
        "no GPU.",
    )
    architecture: Architecture | None = option_field(
        "--arch ARCH",
        "arch",
        help="Target architecture, such as sm_90.  [default: the device's own]",
    )
    lto: bool = option_field("--lto", help="Optimize LTO-IR at link time; nvJitLink only.")
    load: bool = option_field("--load", "load_it", help="Load the linked image on each device.")
