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
    """

    module: ModuleType | Any
    guard_bytes: int


def choose_driver(name: DriverName) -> DriverChoice:
    """Import the driver API that ``name`` stands for (30–60 ms; nothing is initialised yet)."""
    if name == "cpu":
        return DriverChoice(importlib.import_module("cudarun.emulator.driver"), guard_bytes=0)
    return DriverChoice(importlib.import_module("cuda.bindings.driver"), guard_bytes=4096)
