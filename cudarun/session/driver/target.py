"""Where work is done: on which devices, in which contexts. All that a worker needs to begin.

Apart from the other requests, because workers are made before those are parsed.
"""

from __future__ import annotations

from typing import Literal

from cudarun.records import dataclass
from cudarun.session.driver.selection import Selector


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
    """On which devices, in which contexts and how many workers, for how long at most (seconds).

    Attributes:
        verbose: Each step of the work goes to stderr as it begins.
        capture: Kernel printf goes into the report, not to stdout.
        narrow: The driver is shown the chosen GPUs alone, which makes it start sooner.
    """

    devices: tuple[Selector, ...]
    context: ContextOptions = ContextOptions()
    together: bool = False
    timeout: float | None = None
    trace: bool = False
    verbose: bool = False
    capture: bool = False
    narrow: bool = True
