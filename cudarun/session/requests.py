"""What the user asked for, parsed and validated before any driver is touched. Plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from cudarun.session.selection import Selector

if TYPE_CHECKING:  # names only: a request for `devices` needs no argument grammar
    from cudarun.arguments.expressions import Expression
    from cudarun.arguments.grammar import Argument
    from cudarun.arguments.tolerance import Tolerance
    from cudarun.images.facts import ImageFacts
    from cudarun.session.sources import CompileOptions

Extent = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """The context that work is done in.

    Attributes:
        kind: The device's primary context, or one created for this run (``cuCtxCreate``).
        flags: Words of ``CUctx_flags`` in command-line spelling: ``spin``, ``map-host``, ….
        limits: ``cuCtxSetLimit``, name in command-line spelling to size in bytes or count.
        cache_config: ``cuCtxSetCacheConfig``: ``none``, ``shared``, ``l1`` or ``equal``.
    """

    kind: Literal["primary", "new"] = "primary"
    flags: tuple[str, ...] = ()
    limits: tuple[tuple[str, int], ...] = ()
    cache_config: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """On which devices, in which contexts and how many workers, for how long at most (seconds)."""

    devices: tuple[Selector, ...]
    context: ContextOptions = ContextOptions()
    together: bool = False
    timeout: float | None = None
    trace: bool = False
    capture: bool = False  # kernel printf goes into the report, not to stdout


@dataclass(frozen=True, slots=True)
class Image:
    """A kernel file as read.

    Attributes:
        origin: The name it goes by in messages.
        data: Its bytes.
        facts: What a PTX text says of its kernels: their parameters' names and types. ``None`` for
            binaries, of which the driver tells as much, and for a text that we cannot read: whether
            that is good is the driver's to say.
        compilation: How to compile it, of CUDA source.
    """

    origin: str
    data: bytes = field(repr=False)
    facts: ImageFacts | None = field(default=None, repr=False)
    compilation: CompileOptions | None = None


@dataclass(frozen=True, slots=True)
class Geometry:
    """Launch geometry: ``grid``, or ``threads`` from which it is deduced, rounding up."""

    block: Extent
    grid: Extent | None = None
    threads: Extent | None = None
    shared_bytes: int = 0

    def grid_extent(self) -> Extent:
        """The grid in blocks."""
        if self.threads is None:
            return self.grid or (1, 1, 1)
        x, y, z = (-(-t // b) for t, b in zip(self.threads, self.block, strict=True))
        return (x, y, z)


@dataclass(frozen=True, slots=True)
class Save:
    """``--save NAME=PATH``; ``{device}`` in the path stands for the device's label."""

    name: str
    path: str

    def path_on(self, device: str) -> str:
        """The file of one device."""
        return self.path.replace("{device}", device.replace(":", "-"))


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """Everything ``cudarun launch`` was told about one launch."""

    image: Image
    kernel: str | None
    geometry: Geometry
    arguments: tuple[Argument, ...]
    checks: tuple[Expression, ...]
    prints: tuple[Expression, ...]
    saves: tuple[Save, ...]
    tolerance: Tolerance
    seed: int
    passing: Literal["array", "buffer"] = "array"
    force: bool = False

    @property
    def is_random(self) -> bool:
        """Whether an initialiser draws random numbers."""
        from cudarun.arguments.values import Buffer, Rand, RandInt, Randn

        values = [argument.value for argument in self.arguments]
        initials = [value.initial for value in values if isinstance(value, Buffer)]
        return any(isinstance(initial, Rand | Randn | RandInt) for initial in initials)
