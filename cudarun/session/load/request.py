"""The request of ``cudarun load``, and the JIT compiler's options: frozen data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cudarun.base.options import INT_MAX, option_field
from cudarun.base.records import dataclass

if TYPE_CHECKING:  # the commands' help does not need images
    from cudarun.base.profiles import Profile
    from cudarun.images.versions import Architecture
    from cudarun.session.image.image import Image
    from cudarun.session.load.fatbins import UsedFatbin

Extent = tuple[int, int, int]
Via = Literal["library", "module"]

CACHE_MODES = {"none": "NONE", "ca": "CA", "cg": "CG"}
"""The ``CUjit_cacheMode`` of each ``--cache-mode``."""
FALLBACKS = {"prefer-ptx": "PTX", "prefer-binary": "BINARY"}
"""The ``CUjit_fallback`` of each ``--fallback``."""


@dataclass(frozen=True, slots=True)
class JitOptions:
    """The JIT compiler's options, ``CUjit_option``. ``None`` is the driver's default."""

    optimization: int | None = option_field(
        "-O",
        "--optimize LEVEL",
        bounds=(0, 4),
        help="JIT optimization level for PTX, 0–4.  [default: 4]",
    )
    max_registers: int | None = option_field(
        "--max-registers N",
        bounds=(1, INT_MAX),
        help="Limit the registers per thread of compiled PTX to N.",
    )
    threads_per_block: int | None = option_field(
        "--threads-per-block N",
        bounds=(1, INT_MAX),
        help="Compile PTX for at least N threads per block.",
    )
    line_info: bool = option_field("--lineinfo", help="Compile PTX with line information.")
    debug: bool = option_field("-g", "--debug", help="Compile PTX with debug information.")
    target: Architecture | None = option_field(
        "--target ARCH", help="Compile PTX for this architecture instead of the device's own."
    )
    cache_mode: str | None = option_field(
        "--cache-mode", choices=(*CACHE_MODES,), help="Default cache modifier of global loads."
    )
    fallback: str | None = option_field(
        "--fallback",
        choices=(*FALLBACKS,),
        help="When no SASS matches exactly: prefer PTX or compatible SASS.",
    )
    position_independent: bool = option_field(
        "--position-independent", help="Compile PTX to position-independent code."
    )
    verbose: bool = False  # create a verbose log


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """The properties of a launch that a GPU limits."""

    # The block; ``None`` for the required one, or for no launch in particular.
    block: Extent | None = None
    shared_bytes: int = 0  # dynamic shared memory of a block
    cluster: Extent | None = None  # the cluster; ``None`` for the required one
    resident: int = 0  # blocks that have to be resident: those of a cooperative grid


@dataclass(frozen=True, slots=True)
class OfflineScope:
    """The part of a file to read without a driver."""

    kernel: str | None = None  # only this kernel, in any of its spellings, with its details
    target: str | None = None  # only code for this architecture: ``sm_90``, ``compute_90``
    details: bool = True  # Read every kernel of a container. Otherwise they are only counted.
    timeout: float | None = None  # the time limit of compiling CUDA source in seconds
    gpus: tuple[Profile, ...] = ()  # the GPUs to predict for
    shape: LaunchShape = LaunchShape()  # the launches to predict


@dataclass(frozen=True, slots=True)
class FatbinSelection:
    """A fatbin of a file with several."""

    fatbin: UsedFatbin
    index: int  # its position among those that are loaded, from 0
    count: int


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """The request of a load: images, in order, and the JIT compiler's options."""

    images: tuple[Image, ...]
    options: JitOptions = JitOptions()
    via: Literal["library", "module", "both"] = option_field(
        "--via",
        default="library",
        choices=("library", "module", "both"),
        of_device=True,
        help="Load once for all contexts (cuLibrary), once per context (cuModule), or both.",
    )
    lazy: bool = option_field(
        "--lazy",
        of_device=True,
        help="Do not force kernels to load; invalid code can remain undetected.",
    )
    kernel: str | None = option_field(
        "-k",
        "--kernel NAME",
        is_keyword=True,
        help="Load or inspect only this kernel, and only the parts of a file that contain it.",
    )
    block: Extent | None = option_field(
        "--block X[,Y[,Z]]", of_device=True, help="Show the occupancy for this block size."
    )
    shared_bytes: int = option_field(
        "--smem BYTES",
        "smem",
        default=0,
        of_device=True,
        help="Dynamic shared memory per block in bytes, for the occupancy.",
    )

    @property
    def loaders(self) -> tuple[Via, ...]:
        """The interfaces to load through, one after the other."""
        return ("library", "module") if self.via == "both" else (self.via,)
