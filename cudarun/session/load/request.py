"""The request of ``cudarun load``, and the options of the driver's compiler: frozen data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cudarun.records import dataclass

if TYPE_CHECKING:  # the commands' help needs no images
    from cudarun.images.versions import Architecture
    from cudarun.session.image.image import Image

Extent = tuple[int, int, int]
Via = Literal["library", "module"]

CACHE_MODES = {"none": "NONE", "ca": "CA", "cg": "CG"}
"""``--cache-mode`` to ``CUjit_cacheMode``."""
FALLBACKS = {"prefer-ptx": "PTX", "prefer-binary": "BINARY"}
"""``--fallback`` to ``CUjit_fallback``."""


@dataclass(frozen=True, slots=True)
class JitOptions:
    """What the driver's compiler is told, ``CUjit_option``. ``None``: as the driver has it.

    Attributes:
        max_registers: Most registers of a thread.
        threads_per_block: Fewest threads that a block must be able to have.
        optimization: 0 to 4.
        line_info: Keep the lines of the source.
        debug: Make code for a debugger.
        target: Compile for this architecture, not for the device's own.
        cache_mode: What global loads are cached in: a word of `CACHE_MODES`.
        fallback: What to do where there is no machine code that fits: a word of `FALLBACKS`.
        position_independent: Make code that can be anywhere.
        verbose: Log what the compiler did.
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
class LoadRequest:
    """Everything ``cudarun load`` was told.

    Attributes:
        images: In order.
        ways: Load it through these interfaces, one after the other.
        lazy: Leave kernels unloaded until they are used, as the driver does by itself.
        block: The block that the occupancy is for; ``None``: none asked for.
        shared_bytes: Dynamic shared memory of that block.
        options: For the driver's compiler.
    """

    images: tuple[Image, ...]
    ways: tuple[Via, ...] = ("library",)
    lazy: bool = False
    block: Extent | None = None
    shared_bytes: int = 0
    options: JitOptions = JitOptions()
