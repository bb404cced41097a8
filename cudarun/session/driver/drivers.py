"""The choice between the real driver and the emulated one."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Literal

from cudarun.base.bindings import import_driver_types
from cudarun.base.errors import RequestError
from cudarun.base.profiles import PROFILE_VARIABLE
from cudarun.base.records import dataclass, derived
from cudarun.session.driver.log import LibcudaLogs, libcuda_logs
from cudarun.session.driver.selection import DriverName, process_profile

if TYPE_CHECKING:  # the emulator's data about an instrumented kernel
    import numpy as np
    import numpy.typing as npt

    from cudarun.base.fault_place import FaultPlace
    from cudarun.emulator.code import BlockCode as BlockCode
    from cudarun.emulator.code import FunctionCode as FunctionCode
    from cudarun.emulator.code import Site as Site
    from cudarun.emulator.debugging.debug_observer import BlockRun as BlockRun
    from cudarun.emulator.debugging.debug_observer import Controller as Controller
    from cudarun.emulator.debugging.debug_observer import DebugObserver as DebugObserver
    from cudarun.emulator.debugging.lane_access import LaneAccess as LaneAccess
    from cudarun.emulator.debugging.nan_flow import NanBirth as NanBirth
    from cudarun.emulator.debugging.thread_states import LaneGroup as LaneGroup
    from cudarun.emulator.debugging.thread_states import ThreadStates as ThreadStates
    from cudarun.emulator.debugging.writes import MemoryRange as MemoryRange
    from cudarun.emulator.detectors.findings import AccessSite as AccessSite
    from cudarun.emulator.detectors.findings import DetectorFinding as DetectorFinding
    from cudarun.emulator.detectors.proof import Variant as Variant
    from cudarun.emulator.detectors.statistics import MemoryTraffic as MemoryTraffic
    from cudarun.emulator.detectors.statistics import Statistics as Statistics
    from cudarun.emulator.detectors.touched_memory import TouchedMemory as TouchedMemory
    from cudarun.emulator.engines import Compiler as Compiler
    from cudarun.emulator.engines import EngineNote as EngineNote
    from cudarun.emulator.faults import DeviceFault as DeviceFault
    from cudarun.emulator.machine.batch import Batch as Batch
    from cudarun.emulator.machine.launch import Launch as Launch
    from cudarun.images.versions import Version
    from cudarun.session.driver.protocol import Handle

SERVER = "cudarun.emulator.server"
"""The module that serves the emulated driver to the processes of a program."""


def serve_program(control: Callable[..., Callable[..., None]] | None = None) -> None:
    """Do as `SERVER` does; a debugger can control the launches."""
    import_driver_types("runtime")
    importlib.import_module(f"{SERVER}.__main__").main(control)


def _nothing(*_: object) -> None:
    """Do nothing: a GPU reports no progress, tracks no memory, and has no engines."""


@dataclass(frozen=True, slots=True)
class DriverTraits:
    """The properties of a driver beside its calls; the defaults are a GPU's."""

    # The width of a guard zone on each side of a buffer that makes stray writes detectable. A GPU
    # checks addresses per page only; the emulator checks every access against the exact allocation,
    # where a guard zone would hide the fault.
    guard_bytes: int
    clock: str = "CUDA events"  # a description of the clock of events
    has_cache: bool = True  # whether earlier work can make a kernel faster
    runs_machine_code: bool = True  # whether the driver loads cubins; the emulator runs PTX only
    # Whether the registers of a kernel, and the occupancy that follows from them, are estimates
    # because there is no machine code.
    estimates_resources: bool = False
    # Whether events measure a device, so that rates computed from them describe one.
    measures_device: bool = True
    # Returns the newest PTX that the driver accepts; ``None`` if its CUDA version determines it.
    newest_ptx: Callable[[], Version] | None = None
    # Whether a kernel generates data faster than the host does. Emulated kernels do not, and would
    # be counted with the user's.
    quick_kernels: bool = True
    # Sets a function that is called with the completed part of a running kernel.
    on_progress: Callable[[Callable[[float], object]], None] = _nothing
    # Instruments allocations and launches with detectors from now on; ``None`` unless
    # `has_detectors`. With ``prove``, which limits the time of a variant, launches are repeated.
    start_detectors: Callable[..., None] | None = None
    # Returns the launches without a synchronizing instruction, if any were requested.
    variants: Callable[[], list[Variant] | None] = _nothing
    # Returns the findings and statistics, and stops the instrumentation.
    stop_detectors: Callable[[], tuple[list[DetectorFinding], Statistics | None]] | None = None
    # Reports the thread states of a running kernel, and their places; ``None`` if unsupported.
    thread_states: Callable[[], tuple[str, tuple[FaultPlace, ...]] | None] | None = None
    # Ends a fault, so that the process can be used in new contexts; returns whether that is so.
    end_fault: Callable[[], bool] = bool
    # Ends all objects, contexts included, as for a new process; returns whether that is so. New
    # contexts take a GPU 0.1 s.
    renew: Callable[[], bool] = bool
    # Returns the places of the fault that calls return; empty for a GPU.
    fault_places: Callable[[], tuple[FaultPlace, ...]] = tuple
    # Returns whether a kernel that is to run is being compiled.
    is_compiling: Callable[[], bool] = bool
    # Marks memory, by address and size, as never written.
    never_written: Callable[[int, int], None] = _nothing
    # Returns for each byte of marked memory, by address and size, 1 if nothing has written it
    # since, plus 2 if a kernel has read it before; ``None`` where the driver does not know.
    unwritten_bytes: Callable[[int, int], npt.NDArray[np.uint8]] | None = None
    never_written_array: Callable[[Handle], None] = _nothing  # marks a CUDA array as never written
    # Returns the same for each byte of a marked CUDA array.
    unwritten_array: Callable[[Handle], npt.NDArray[np.uint8]] | None = None
    # Lets the driver compile each kernel of a long PTX text when it is used.
    compile_on_demand: Callable[[], None] = _nothing
    # Returns the number of kernels of a library that it has not compiled.
    unchecked_kernels: Callable[[Handle], int] = lambda library: 0
    # Returns the compiler of the emulator's kernels; ``None`` for a GPU.
    compiler: Callable[[], Compiler] | None = None
    # Selects the engine of the emulator and the number of its threads; ``None`` for those of the
    # environment. A GPU has none.
    select_engine: Callable[[str | None, int | None], None] = _nothing
    # Returns the engine of each kernel that was launched; empty for a GPU.
    engine_notes: Callable[[], list[EngineNote]] = list
    # Selects the schedule of kernels: late, or a seed; ``None`` for the usual one. A GPU has its
    # own.
    select_schedule: Callable[[Literal["late"] | int | None], None] = _nothing
    # Selects whether floats are numbers modulo a prime in images that are loaded later.
    select_algebra: Callable[[bool], None] = _nothing
    # Returns by kernel why a GPU may refuse its last launch.
    launch_notes: Callable[[], dict[str, str]] = dict
    # Returns whether a launch was refused, since the last call, because the selected engine cannot
    # run its kernel.
    was_refused_by_engine: Callable[[], bool] = bool
    # Returns the driver's ``cuLogs*`` calls; ``None`` without a log.
    find_logs: Callable[[], LibcudaLogs | ModuleType | None] = _nothing
    # Allocates memory at addresses, by address and size, and returns what frees it; ``None`` where
    # addresses must be reserved.
    allocate_at: Callable[[Sequence[tuple[int, int]]], Callable[[], None]] | None = None
    # Gives a texture or surface object, by its handle, another one, too; ``None`` where the driver
    # chooses.
    alias_object: Callable[[int, int], None] | None = None
    # Notes the memory that launches access; ``None`` if unsupported.
    touched: Callable[[], AbstractContextManager[TouchedMemory]] | None = None
    # Lets a debugger control launches; ``None`` if unsupported.
    start_debugger: Callable[[Controller], DebugObserver] | None = None


@dataclass(frozen=True, slots=True)
class DriverChoice:
    """A driver: a module with the signatures of ``cuda.bindings.driver``, and its traits."""

    module: ModuleType
    traits: DriverTraits


def has_detectors(name: DriverName) -> bool:
    """Return whether a driver has detectors for kernels; only the emulator does."""
    return name == "cpu"


def choose_driver(name: DriverName, profile: str = "") -> DriverChoice:
    """Import the driver API of the given name (30–60 ms).

    Args:
        profile: The GPU that this process emulates from now on; empty for the environment's.
    """
    if name == "cpu":
        import_driver_types()
        from cudarun.emulator import driver as emulator
        from cudarun.emulator.api import logs
        from cudarun.emulator.engines import Engines
        from cudarun.emulator.host.devices import COUNT_VARIABLE, MOST_DEVICES, is_count
        from cudarun.emulator.host.headers import PTX_VARIABLE
        from cudarun.emulator.host.refusal import Refusal

        count = os.environ.get(COUNT_VARIABLE) or "1"
        if not is_count(count):
            raise RequestError(
                f"{COUNT_VARIABLE}={count}: expected a number from 1 to {MOST_DEVICES}",
                hint=f"{COUNT_VARIABLE}=2 creates two emulated devices",
            )
        if profile:
            os.environ[PROFILE_VARIABLE] = profile
        process_profile(profile)
        invalid = Engines.invalid_variable()
        if invalid is not None:
            variable, expected = invalid
            raise RequestError(
                f"{variable}={os.environ[variable]}: expected {expected}", hint=f"unset {variable}"
            )
        try:
            emulator.newest_ptx()
        except Refusal as error:
            raise RequestError(str(error), hint=f"unset {PTX_VARIABLE}") from None
        traits = derived(
            DriverTraits,
            emulator,
            guard_bytes=0,
            clock="wall time of the emulation",
            has_cache=False,
            runs_machine_code=False,
            estimates_resources=True,
            measures_device=False,
            quick_kernels=False,
            find_logs=lambda: logs,
        )
        return DriverChoice(emulator, traits)
    bindings = importlib.import_module("cuda.bindings.driver")
    return DriverChoice(bindings, DriverTraits(guard_bytes=4096, find_logs=libcuda_logs))


def is_ptx_instruction(name: str) -> bool:
    """Return whether a name is an opcode of PTX, perhaps with modifiers of it: ``ld.global.v4``."""
    from cudarun.emulator.isa.manual import is_instruction  # few programs ask

    return is_instruction(name)


def import_driver(name: DriverName) -> None:
    """Import all that a launch needs of a driver, without initializing it.

    Processes that are forked afterwards need not import it: of the emulator 0.1 s.
    """
    if name == "cpu":
        import_driver_types()
        import cudarun.emulator.decode.module
        import cudarun.emulator.driver  # noqa: F401
    else:
        importlib.import_module("cuda.bindings.driver")
