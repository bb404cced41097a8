"""The request of one launch, parsed and validated before any driver is touched: frozen data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cudarun.records import dataclass
from cudarun.session.driver.selection import Selector
from cudarun.session.load.request import Extent

if TYPE_CHECKING:  # names only: a request for `devices` needs no argument grammar
    from cudarun.arguments.expressions import Expression
    from cudarun.arguments.grammar import Argument
    from cudarun.arguments.tolerance import Tolerance
    from cudarun.session.image.image import Image


@dataclass(frozen=True, slots=True)
class Geometry:
    """Launch geometry: ``grid``, or ``threads`` from which it is deduced, rounding up.

    Attributes:
        block: Threads in a block.
        grid: Blocks in the grid.
        threads: Threads in all.
        shared_bytes: Dynamic shared memory of a block.
        cooperative: Whether all blocks must be resident, so that they can wait for each other.
        cluster: Blocks in a cluster; ``None`` leaves it to the kernel.
    """

    block: Extent
    grid: Extent | None = None
    threads: Extent | None = None
    shared_bytes: int = 0
    cooperative: bool = False
    cluster: Extent | None = None

    def grid_extent(self) -> Extent:
        """The grid in blocks."""
        if self.threads is None:
            return self.grid or (1, 1, 1)
        x, y, z = (-(-t // b) for t, b in zip(self.threads, self.block, strict=True))
        return (x, y, z)


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a kernel would like, and changes no result. ``None``: as the driver has it.

    Attributes:
        carveout: Percent of a multiprocessor's fast memory to be shared memory.
        cache_config: ``cuKernelSetCacheConfig``: ``none``, ``shared``, ``l1`` or ``equal``.
        priority: Of the stream; lower numbers go first.
    """

    carveout: int | None = None
    cache_config: str | None = None
    priority: int | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """``--repeat``: how a kernel is timed.

    Attributes:
        repeat: Runs that count.
        warmup: Runs before them.
        hot: Leave the L2 cache as the run before left it.
        nbytes: Bytes that one run moves, an expression over the integer arguments.
        flops: Floating-point operations of one run, likewise.
    """

    repeat: int
    warmup: int
    hot: bool = False
    nbytes: Expression | None = None
    flops: Expression | None = None


@dataclass(frozen=True, slots=True)
class Watch:
    """What to watch a kernel for; nothing is false.

    Attributes:
        detect: Detectors to set to work: ``race``, ``uninit``.
        stats: Count instructions and accesses.
    """

    detect: tuple[str, ...] = ()
    stats: bool = False

    def __bool__(self) -> bool:
        return self.stats or bool(self.detect)


@dataclass(frozen=True, slots=True)
class Save:
    """``--save NAME=PATH``; ``{device}`` in the path stands for the device's label."""

    name: str
    path: str

    def path_on(self, device: str) -> str:
        """The file of one device."""
        return self.path.replace("{device}", device.replace(":", "-"))


@dataclass(frozen=True, slots=True)
class Show:
    """``--show NAME=KIND``: a buffer as a picture in the terminal."""

    name: str
    kind: Literal["hist", "image", "plot"]


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """Everything ``cudarun launch`` was told about one launch.

    Attributes:
        timing: ``None``: one run, timed by the wall clock.
        profile: A bare launch for profilers: no guard zones, nothing copied that nobody asked for.
        watch: What to look for while it runs.
        reference: The device whose results those of the others are compared with.
        directory: What relative paths in arguments and expressions start from.
    """

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
    shows: tuple[Show, ...] = ()
    preferences: Preferences = Preferences()
    timing: Timing | None = None
    profile: bool = False
    watch: Watch = Watch()
    reference: Selector | None = None
    directory: Path = Path()

    @property
    def is_random(self) -> bool:
        """Whether an initialiser draws random numbers."""
        from cudarun.arguments.values import Buffer, Rand, RandInt, Randn

        values = [argument.value for argument in self.arguments]
        initials = [value.initial for value in values if isinstance(value, Buffer)]
        return any(isinstance(initial, Rand | Randn | RandInt) for initial in initials)
