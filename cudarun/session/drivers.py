"""The one place that chooses between the real driver and the emulated one."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from cudarun.session.selection import DriverName


@dataclass(frozen=True, slots=True)
class DriverChoice:
    """A module with the signatures of ``cuda.bindings.driver``, and what the session must know.

    Attributes:
        module: The functions, enums and handle types.
        guard_bytes: How wide a guard zone each side of a buffer needs for stray writes to be seen.
            A GPU checks addresses by the page only; the emulator checks every access against the
            exact allocation, where a guard zone would hide the fault it is there to find.
        clock: What the times of events are times of, in words.
        has_cache: Whether what ran before can make a kernel quicker.
        runs_machine_code: Whether it takes cubins; the emulator runs PTX alone.
    """

    module: ModuleType | Any
    guard_bytes: int
    clock: str = "CUDA events"
    has_cache: bool = True
    runs_machine_code: bool = True


def choose_driver(name: DriverName) -> DriverChoice:
    """Import the driver API that ``name`` stands for (30–60 ms; nothing is initialised yet)."""
    if name == "cpu":
        emulator = importlib.import_module("cudarun.emulator.driver")
        return DriverChoice(
            emulator, 0, "wall time of the emulation", has_cache=False, runs_machine_code=False
        )
    bindings = importlib.import_module("cuda.bindings.driver")
    return DriverChoice(bindings, guard_bytes=4096)
