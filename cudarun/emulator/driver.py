"""The CUDA driver API on emulated devices, in the form of ``cuda.bindings.driver``.

Use this module wherever a program uses that one::

    from cudarun.emulator import driver as cuda

    (result,) = cuda.cuInit(0)

The functions have the same names, parameters and tuples; enums, handle types and structures are
the bindings' own. A call that is not implemented raises `NotProvided` with its name; the others
are listed in docs/reference/driver-calls.md. The environment variable ``CUDARUN_CPU_DEVICES`` sets
the number of devices, ``CUDARUN_CPU_PTX`` the newest PTX, ``CUDARUN_CPU_ENGINE`` the
engine, ``CUDARUN_CPU_THREADS`` the threads of compiled code, ``CUDARUN_CPU_TARGET`` its processor.

Functions beyond the driver API let a program observe its kernels: `on_progress`, `thread_states`,
`start_detectors`, `variants` and `stop_detectors` for data races and uninitialized reads,
`allocate_at` for memory at given addresses, `alias_object` for given handles of objects,
`start_debugger` to stop at their instructions, `touched` for the memory that they access,
`never_written` and `unwritten_bytes`, `never_written_array` and `unwritten_array` for memory that
no kernel wrote, `compile_on_demand` and `unchecked_kernels` for long PTX texts, `newest_ptx`,
`select_engine` and `engine_notes` for the engine that executes kernels, `select_schedule` for the
order of its threads, and `select_algebra` for arithmetic modulo a prime.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from operator import itemgetter
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from cuda.bindings import driver as _bindings

from cudarun.emulator import api
from cudarun.emulator.api.calls import CALLS
from cudarun.emulator.api.handles import array_of
from cudarun.emulator.engines import MODES, MOST_THREADS, EngineNote, Engines
from cudarun.emulator.engines import installed_compiler as compiler  # noqa: F401
from cudarun.emulator.execution import execute
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.headers import newest_ptx as newest_ptx
from cudarun.emulator.host.modules import LoadedLibrary, LoadedModule
from cudarun.emulator.host.placed_memory import limits_of_host, place
from cudarun.emulator.host.process import process
from cudarun.emulator.machine.observer import NO_OBSERVER
from cudarun.emulator.machine.report import describe_thread_states
from cudarun.emulator.machine.schedules.schedule import Schedule
from cudarun.emulator.machine.spaces import PARAMETER_WINDOW, WINDOWS_END
from cudarun.emulator.numerics import algebra

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from cudarun.base.fault_place import FaultPlace
    from cudarun.emulator.debugging.debug_observer import Controller, DebugObserver
    from cudarun.emulator.detectors.findings import DetectorFinding
    from cudarun.emulator.detectors.proof import Prover, Variant
    from cudarun.emulator.detectors.statistics import Statistics
    from cudarun.emulator.detectors.touched_memory import TouchedMemory
    from cudarun.emulator.program import ModuleCode

for _chapter in iter_modules(api.__path__):
    import_module(f"{api.__name__}.{_chapter.name}")  # adds its calls
globals().update(CALLS)

_prover: Prover | None = None  # of `variants`


def on_progress(callback: Callable[[float], object]) -> None:
    """Call ``callback`` while kernels run, with the completed part of the blocks, from 0 to 1."""
    process.on_progress = callback


def end_fault() -> bool:
    """End the fault of a kernel, after which no call but `cuCtxDestroy` is useful; return true.

    A GPU needs a new process; here, invalid accesses have changed nothing.
    """
    process.fault = process.in_flight = None
    return True


def renew() -> bool:
    """Make this driver that of a new process that has called ``cuInit``; return true.

    All objects end, and addresses, settings and the fault are those of a new process. The log goes
    on: its iterators are numbers of entries.
    """
    log = process.log
    for each in (process.host_memory, *(one.memory for one in process.devices)):
        each.end()
    process.reset()
    process.log = log
    process.initialize()
    return True


def fault_places() -> tuple[FaultPlace, ...]:
    """Return the places of the fault that calls return."""
    return process.fault.places if process.fault is not None and process.fault.is_known else ()


def thread_states() -> tuple[str, tuple[FaultPlace, ...]] | None:
    """Return the states of the running kernel's threads, as in a fault's report, and their places.

    A launch returns when its kernel has ended, so the caller is a signal handler or another thread.
    ``None`` if no kernel runs.
    """
    if process.launch is None:
        return None
    report = describe_thread_states(process.launch)
    waiting = 0 if process.queues is None else process.queues.kernels_waiting()
    if waiting:
        kernels = "1 kernel waits" if waiting == 1 else f"{waiting} kernels wait"
        report.lines.append(f"  {kernels} until it ends: a device of cpu runs one kernel at a time")
    return report.text, tuple(report.places)


def is_compiling() -> bool:
    """Return whether the running kernel waits to be compiled; called as `thread_states` is."""
    return process.launch is not None and process.launch.is_compiling


def was_refused_by_engine() -> bool:
    """Return whether ``compile`` has refused a kernel since the last call of this function."""
    refused, process.engines.has_refused = process.engines.has_refused, False
    return refused


def start_detectors(
    detect: Collection[str] = (),
    *,
    count: bool = False,
    prove: Callable[[Callable[[], None]], bool] | None = None,
) -> None:
    """Observe all later launches; device memory that is allocated later is uninitialized.

    Args:
        detect: The detectors: ``"race"``, ``"uninit"``, ``"sync"``.
        count: Count instructions and accesses, too.
        prove: Launch again without each synchronizing instruction (see `variants`). It is called
            with a function that runs such a launch, limits its time, and returns false if it
            stopped it.
    """
    # Most programs never need these.
    from cudarun.emulator.detectors.detector_observer import DetectorObserver
    from cudarun.emulator.detectors.proof import Prover

    global _prover
    _prover = None if prove is None else Prover(prove)
    baseline = None if _prover is None else _prover.baseline
    process.observer = DetectorObserver(detect, count=count, baseline=baseline)
    if _prover is not None:
        process.execute = _prover.execute
    process.note_writes(noted="uninit" in detect)


def variants() -> list[Variant] | None:
    """Return the launches without a synchronizing instruction since `start_detectors`.

    ``None`` if none was requested, or if the unmodified kernels have races.
    """
    return None if _prover is None else _prover.variants


def start_debugger(controller: Controller) -> DebugObserver:
    """Let a debugger control all later launches, which the interpreter executes."""
    observer = debug_observer(controller)
    process.execute = observer.execute
    return observer


def debug_observer(controller: Controller) -> DebugObserver:
    """Return an observer by whose method ``execute`` a debugger controls a launch."""
    from cudarun.emulator.debugging.debug_observer import DebugObserver  # few programs need it

    def text_of(program: ModuleCode) -> str:
        loaded = (each.compiled for each in process.handles.every(LoadedModule))
        return next((each.text for each in loaded if each.program is program), "")

    return DebugObserver(controller, text_of)


def stop_detectors() -> tuple[list[DetectorFinding], Statistics | None]:
    """Stop observing; return the findings, most important first, and statistics."""
    from cudarun.emulator.detectors.detector_observer import DetectorObserver

    observer, process.observer = process.observer, NO_OBSERVER
    process.execute = execute
    process.note_writes(noted=False)
    if not isinstance(observer, DetectorObserver):
        raise RuntimeError("stop_detectors: no detector is active; call start_detectors first")
    return observer.findings, observer.statistics


def allocate_at(ranges: Sequence[tuple[int, int]]) -> Callable[[], None]:
    """Allocate memory at given addresses, for kernels of all devices; return what frees it.

    Args:
        ranges: The addresses and sizes; they do not overlap.

    Raises:
        MemoryError: The host has no addresses left for it.
        ValueError: The emulated device itself has an address, or less memory.
    """
    memories = [process.host_memory, *(each.memory for each in process.devices)]
    total, capacity = sum(size for _, size in ranges), memories[-1].capacity
    if total > capacity:  # the host would end the process when it is used
        address, size = max(ranges, key=itemgetter(1))
        raise ValueError(
            f"it has {total} bytes of memory, {size} of them at {address:#x}; "
            f"the emulated device has {capacity}"
        )
    with limits_of_host():
        process.host_memory.move_from(ranges)
    own = [each.addresses() for each in memories]
    own.append((PARAMETER_WINDOW, WINDOWS_END))
    for address, size in ranges:
        if any(start < address + size and address < end for start, end in own):
            words = f"the {size} bytes at {address:#x} are addresses of the emulated device"
            raise ValueError(words)
    with limits_of_host():
        placed = place(ranges)
    process.placed += placed

    def free() -> None:
        process.placed = [each for each in process.placed if each not in placed]

    return free


def alias_object(handle: int, other: int) -> None:
    """Let a texture or surface object of the current context have another handle, too."""
    context = process.current()
    if handle in context.textures:
        context.textures[other] = context.textures[handle]
    else:
        context.surfaces[other] = context.surfaces[handle]


@contextmanager
def touched() -> Iterator[TouchedMemory]:
    """Note the global memory that launches access within the block."""
    # Most programs never need these.
    from cudarun.emulator.detectors.detector_observer import DetectorObserver
    from cudarun.emulator.detectors.touched_memory import TouchedMemory

    found = TouchedMemory()
    process.observer = DetectorObserver((), touched=found)
    try:
        yield found
    finally:
        process.observer = NO_OBSERVER


def never_written(address: int, size: int) -> None:
    """Mark bytes of an allocation as never written, whatever they contain.

    Later kernels and calls that write them are recorded: see `unwritten_bytes`.
    """
    where = process.memory_at(address)
    if where is not None:
        where.mark_unwritten(address, size)


def unwritten_bytes(address: int, size: int) -> npt.NDArray[np.uint8]:
    """Return the marks of bytes of an allocation since `never_written`.

    The mark is 1 for a byte that nothing has written, plus 2 if a kernel has read it before.
    """
    where = process.memory_at(address)
    if where is None:
        raise ValueError(f"no allocation at {address:#x}")
    return where.unwritten_at(address, size)


def never_written_array(array: Handle) -> None:
    """Mark all bytes of a CUDA array as never written; see `never_written`."""
    array_of(array).mark_unwritten()


def unwritten_array(array: Handle) -> npt.NDArray[np.uint8]:
    """Return the marks of the bytes of a CUDA array, as `unwritten_bytes`.

    The padding of rows is left out.
    """
    return array_of(array).unwritten()


def select_engine(mode: str | None = None, threads: int | None = None) -> None:
    """Select the engine of later launches. Call it after ``cuInit``.

    Args:
        mode: ``"auto"``, ``"interpret"`` or ``"compile"``; by default that of the environment
            variable ``CUDARUN_CPU_ENGINE``, or ``"auto"``.
        threads: The most threads that run the blocks of a compiled kernel; by default that of
            ``CUDARUN_CPU_THREADS``, or the number of cores that this process may use.
    """
    if mode is not None and mode not in MODES:
        raise ValueError(f"select_engine: {mode!r} is not one of {', '.join(MODES)}")
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise ValueError(f"select_engine: {threads} threads: expected 1 to {MOST_THREADS}")
    process.engines = Engines.of_environment(mode, threads)


def select_schedule(schedule: Literal["late"] | int | None) -> None:
    """Select the schedule of later launches.

    Args:
        schedule: ``"late"`` to complete asynchronous operations at the last permitted time, or the
            seed of random times and of a random order of threads; ``None`` for the usual schedule.
    """
    seed = None if schedule == "late" else schedule
    process.schedule = None if schedule is None else Schedule(seed)


def select_algebra(enabled: bool) -> None:
    """Select whether floats are numbers modulo a prime in modules that are loaded from now on."""
    algebra.enabled = enabled


def engine_notes() -> list[EngineNote]:
    """Return the engine of each kernel that has been launched, and why it was interpreted."""
    return [*process.engines.notes.values()]


def launch_notes() -> dict[str, str]:
    """Return by kernel why a GPU may refuse its last launch."""
    every = (note for device in process.devices for note in device.launch_notes.items())
    return {kernel: note for kernel, note in every if note}


def compile_on_demand() -> None:
    """Compile the kernels of libraries that are loaded later when a call asks for them.

    A GPU's driver compiles, and refuses, a text as a whole. So does this driver otherwise, and with
    texts that are compiled quickly.
    """
    process.compiles_on_demand = True


def unchecked_kernels(library: Handle) -> int:
    """Return the number of kernels of a library that have not been compiled."""
    compiled = process.handles.get(handle_value(library), LoadedLibrary).compiled()
    return len(compiled.kernel_names) - len(compiled.program.kernels)


class NotProvided(AttributeError, NotImplementedError):
    """A call of the driver API that the emulated device does not provide.

    It is raised when the name is looked up, so ``hasattr`` works.
    """


def binding(bindings: ModuleType, api: str, name: str) -> Any:
    """Return an enum, type or constant of the bindings of an API, ``driver`` or ``runtime``.

    Raises:
        NotProvided: It is a call.
        AttributeError: There is none.
    """
    member = getattr(bindings, name, None)
    if member is None:
        raise AttributeError(f"cudarun.emulator.{api} has no {name}", name=name)
    if name.startswith("cu") and callable(member) and not isinstance(member, type):
        raise NotProvided(
            f"{name}: the emulated device does not provide this {api} call "
            f"(docs/reference/{api}-calls.md lists those it does)",
            name=name,
        )
    return member


def __getattr__(name: str) -> Any:
    return binding(_bindings, "driver", name)


def __dir__() -> list[str]:
    types = (name for name in dir(_bindings) if name.startswith(("CU", "cuuint")))
    return sorted({*CALLS, *types})
