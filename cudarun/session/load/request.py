"""The request of ``cudarun load``, and the JIT compiler's options: frozen data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cudarun.records import dataclass

if TYPE_CHECKING:  # the commands' help does not need images
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
    """The JIT compiler's options, ``CUjit_option``. ``None`` is the driver's default.

    Attributes:
        max_registers: The limit of per-thread registers.
        threads_per_block: The minimum number of threads per block to compile for.
        optimization: The optimization level, 0 to 4.
        line_info: Generate line information.
        debug: Generate code for a debugger.
        target: The architecture to compile for; by default the device's.
        cache_mode: The caching of global loads: a key of `CACHE_MODES`.
        fallback: The choice when no SASS matches exactly: a key of `FALLBACKS`.
        position_independent: Generate position-independent code.
        verbose: Create a verbose log.
    """

    max_registers: int | None = None
    threads_per_block: int | None = None
    optimization: int | None = None
    line_info: bool = False
    debug: bool = False
    target: Architecture | None = None
    cache_mode: str | None = None
    fallback: str | None = None
    position_independent: bool = False
    verbose: bool = False


@dataclass(frozen=True, slots=True)
class OfflineScope:
    """The part of a file to read without a driver.

    Attributes:
        kernel: Only this kernel, in any of its spellings, with its details.
        target: Only code for this architecture: ``sm_90``, ``compute_90``.
        details: Read every kernel of a container. Otherwise they are only counted.
        timeout: The time limit of compiling CUDA source in seconds.
    """

    kernel: str | None = None
    target: str | None = None
    details: bool = True
    timeout: float | None = None


@dataclass(frozen=True, slots=True)
class FatbinSelection:
    """A fatbin of a file with several.

    Attributes:
        fatbin: The fatbin.
        index: Its position among those that are loaded, from 0.
        count: Their number.
    """

    fatbin: UsedFatbin
    index: int
    count: int


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """The request of a load.

    Attributes:
        images: The images, in order.
        ways: The interfaces to load through, one after the other.
        lazy: Leave kernels unloaded until they are used, the driver's default.
        block: The block size for the occupancy; ``None`` to omit it.
        shared_bytes: The dynamic shared memory of that block.
        options: The JIT compiler's options.
        kernel: Load only this kernel, in any of its spellings.
    """

    images: tuple[Image, ...]
    loaders: tuple[Via, ...] = ("library",)
    lazy: bool = False
    block: Extent | None = None
    shared_bytes: int = 0
    options: JitOptions = JitOptions()
    kernel: str | None = None
