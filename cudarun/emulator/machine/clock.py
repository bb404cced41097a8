"""Special registers that change while a kernel runs: ``%clock``, ``%globaltimer``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active

Array = npt.NDArray[Any]


class ReadMoment:
    """A read of one of them. The emulated device's clock ticks once per nanosecond."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(
        self, active: Active, sources: tuple[Array, ...], destinations: tuple[Array, ...]
    ) -> None:
        """Write the time to the register, the same for all lanes."""
        now = time.time_ns() if "globaltimer" in self.name else time.perf_counter_ns()
        if self.name.endswith("_hi"):
            now >>= 32
        (destination,) = destinations
        destination[...] = now & ((1 << 8 * destination.itemsize) - 1)
