"""Special registers that change while a kernel runs: ``%clock``, ``%globaltimer``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cudarun.emulator.numerics.arrays import Arrays

if TYPE_CHECKING:
    from cudarun.emulator.machine.active import Active


class ReadMoment:
    """A read of one of them. The emulated device's clock ticks once per nanosecond.

    Attributes:
        is_global: Whether it reads the time of day.
        is_high: Whether it reads the upper 32 of 64 bits.
    """

    def __init__(self, name: str) -> None:
        self.is_global = "globaltimer" in name
        self.is_high = name.endswith("_hi")

    def __call__(self, active: Active, sources: Arrays, destinations: Arrays) -> None:
        """Write the time to the register, the same for all lanes."""
        now = time.time_ns() if self.is_global else time.perf_counter_ns()
        if self.is_high:
            now >>= 32
        (destination,) = destinations
        destination[...] = now & ((1 << 8 * destination.itemsize) - 1)
