"""The one place that chooses between the real driver and the emulated one."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

from cudarun.records import dataclass
from cudarun.session.driver.log import LogCalls, libcuda_logs
from cudarun.session.driver.selection import DriverName

if TYPE_CHECKING:  # what a watched kernel is told of, as the emulator has it
    from cudarun.emulator.detectors.findings import AccessSite as AccessSite
    from cudarun.emulator.detectors.findings import DetectorFinding as DetectorFinding
    from cudarun.emulator.detectors.statistics import MemoryTraffic as MemoryTraffic
    from cudarun.emulator.detectors.statistics import Statistics as Statistics


def _ignore(told: Callable[[float], object]) -> None:
    """A GPU does not tell how far a kernel is."""


def _keep(address: int, size: int) -> None:
    """A GPU does not know which memory was never written."""


def _no_logs() -> LogCalls | None:
    """A driver that keeps no log."""
    return None


class KernelWatch(Protocol):
    """A driver that can set detectors to work on kernels."""

    def watch(self, detect: Collection[str] = (), *, count: bool = False) -> None:
        """Watch what is allocated and launched from now on."""

    def seen(self) -> tuple[list[DetectorFinding], Statistics | None]:
        """Return what was found and counted since `watch`; watch no longer."""


@dataclass(frozen=True, slots=True)
class DriverTraits:
    """What the session must know of a driver beside its calls; the defaults are those of a GPU's.

    Attributes:
        guard_bytes: How wide a guard zone each side of a buffer needs for stray writes to be seen.
            A GPU checks addresses by the page only; the emulator checks every access against the
            exact allocation, where a guard zone would hide the fault it is there to find.
        clock: What the times of events are times of, in words.
        has_cache: Whether what ran before can make a kernel quicker.
        runs_machine_code: Whether it takes cubins; the emulator runs PTX alone.
        quick_kernels: Whether a kernel makes data faster than this program does; emulated ones do
            not, and would count among what is told of the user's.
        on_progress: Has a function called with the part of a running kernel that is done.
        watching: Sets detectors to work on kernels; ``None`` where `can_watch` says so.
        standing: Tells where a running kernel stands; ``None`` where nobody can.
        never_written: Has memory, at an address and of a size, count as unwritten for them.
        find_logs: What has ``cuLogs*`` of this driver; ``None`` where it keeps no log.
    """

    guard_bytes: int
    clock: str = "CUDA events"
    has_cache: bool = True
    runs_machine_code: bool = True
    quick_kernels: bool = True
    on_progress: Callable[[Callable[[float], object]], None] = _ignore
    watching: KernelWatch | None = None
    standing: Callable[[], str | None] | None = None
    never_written: Callable[[int, int], None] = _keep
    find_logs: Callable[[], LogCalls | None] = _no_logs


@dataclass(frozen=True, slots=True)
class DriverChoice:
    """A driver: a module with the signatures of ``cuda.bindings.driver``, and its traits."""

    module: ModuleType
    traits: DriverTraits


def can_watch(name: DriverName) -> bool:
    """Whether detectors can follow kernels step by step: in the emulator alone."""
    return name == "cpu"


def choose_driver(name: DriverName) -> DriverChoice:
    """Import the driver API that ``name`` stands for (30–60 ms)."""
    if name == "cpu":
        from cudarun.emulator import driver as emulator
        from cudarun.emulator.api import logs

        traits = DriverTraits(
            guard_bytes=0,
            clock="wall time of the emulation",
            has_cache=False,
            runs_machine_code=False,
            quick_kernels=False,
            on_progress=emulator.on_progress,
            watching=emulator,
            standing=emulator.standing,
            never_written=emulator.never_written,
            find_logs=lambda: logs,
        )
        return DriverChoice(emulator, traits)
    bindings = importlib.import_module("cuda.bindings.driver")
    return DriverChoice(bindings, DriverTraits(guard_bytes=4096, find_logs=libcuda_logs))
