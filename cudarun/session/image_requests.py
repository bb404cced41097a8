"""What the user asked of images: how to compile, load and link them. Plain frozen data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from cudarun.records import dataclass
from cudarun.session.requests import Extent, Image
from cudarun.session.targets import Target

if TYPE_CHECKING:  # the commands' help needs no images
    from cudarun.images.versions import Target as Architecture

Linker = Literal["auto", "driver", "nvjitlink"]
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
