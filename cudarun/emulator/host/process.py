"""The state of the emulated driver in this process, behind one lock.

A launch runs its kernel to the end before it returns, but as on hardware a fault is not reported
until a call synchronizes; from then on every call returns it until the process ends.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum, auto
from typing import TYPE_CHECKING

from cuda.bindings.driver import CUgraphNodeType

from cudarun.emulator.engines import Engines
from cudarun.emulator.execution import execute
from cudarun.emulator.faults import DeviceFault
from cudarun.emulator.host.allocations import DriverAllocations
from cudarun.emulator.host.captures import Captures
from cudarun.emulator.host.contexts import Context, ContextStack, PrimaryContext
from cudarun.emulator.host.devices import EmulatedDevice, make_devices, memory_size
from cudarun.emulator.host.graphs import Operation
from cudarun.emulator.host.handles import Handle, HandleTable, handle_value
from cudarun.emulator.host.hostmemory import HostMemory, RegisteredMemory
from cudarun.emulator.host.interprocess import ExportedFile, ImportedMemory
from cudarun.emulator.host.log import ErrorLog
from cudarun.emulator.host.placed_memory import PlacedMemory
from cudarun.emulator.host.pools import AllocationKind, DevicePools
from cudarun.emulator.host.queues import StreamQueues
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.host.streams import DEFAULT_STREAMS, PER_THREAD, Stream, Task
from cudarun.emulator.host.virtual_memory import VirtualMemory
from cudarun.emulator.machine.observer import NO_OBSERVER, Observer
from cudarun.emulator.machine.schedules.schedule import Schedule
from cudarun.emulator.memory import Memory

if TYPE_CHECKING:
    from cudarun.emulator.machine.launch import Launch
    from cudarun.emulator.machine.schedules.schedule import OverlappingGrid

_STDOUT = 1


class Wait(Enum):
    """The work that a synchronizing call waits for, where streams run on their own."""

    DEVICE = auto()  # all work of the current device
    BLOCKING = auto()  # what the legacy default stream of the context waits for
    ITSELF = auto()  # what its arguments name; it does so itself


class Process:
    """The devices and every object that a program has created on them.

    Attributes:
        imported: The address and the memory of what other processes export.
        graph_addresses: The addresses of the memory that nodes of graphs allocate.
        on_progress: Called from time to time with the completed part of a kernel, from 0 to 1.
        observer: Notified of the actions of kernels.
        execute: Executes launches: `execution.execute`, or a function with the same parameters.
        engines: Selects the engines of launches.
        schedule: The schedule of launches; ``None`` for the usual one.
        in_flight: The last kernel, if nothing has waited for it.
        queues: The streams that run on their own; ``None`` if work runs when it is submitted.
        show: Writes text that kernels have printed.
        compiles_on_demand: Whether libraries compile their kernels when they are asked for.
    """

    host_memory: HostMemory  # from `initialize` on

    def __init__(self) -> None:
        self.mutex = threading.RLock()
        self.lock = threading.Condition(self.mutex)
        self._idle = threading.Condition(self.mutex)  # notified when a device is no longer busy
        self.reset()

    def reset(self) -> None:
        """Reset the state to that of a new process. For tests; no program can do this."""
        self.handles = HandleTable()
        self.log = ErrorLog()
        self.registered: list[RegisteredMemory] = []
        self.placed: list[PlacedMemory] = []
        self.allocations = DriverAllocations()
        self.graph_addresses: set[int] = set()
        self.virtual = VirtualMemory()
        self.imported: dict[ExportedFile, tuple[int, ImportedMemory]] = {}
        self.stack = ContextStack()
        self.captures = Captures()
        self.devices: tuple[EmulatedDevice, ...] = ()
        self.primary_contexts: tuple[PrimaryContext, ...] = ()
        self.pools: tuple[DevicePools, ...] = ()
        self._host_pools: dict[AllocationKind, DevicePools] = {}
        self.fault: DeviceFault | None = None
        self._printed = bytearray()
        self.queues: StreamQueues | None = None
        self.show: Callable[[bytes], object] = _write_to_stdout
        self.on_progress: Callable[[float], object] = lambda done: None
        self.observer: Observer = NO_OBSERVER
        self.execute: Callable[..., None] = execute
        self.engines = Engines()
        self.schedule: Schedule | None = None
        self.launch: Launch | None = None
        self.in_flight: OverlappingGrid | None = None
        self.compiles_on_demand = False

    # --- devices and contexts --------------------------------------------------------------------

    def initialize(self) -> None:
        """Create the devices, once; `Refusal` if the environment asks for what does not exist."""
        if not self.devices:
            invalid = Engines.invalid_variable()
            if invalid is not None:
                name, expected = invalid
                raise Refusal("INVALID_VALUE", f"{name}={os.environ[name]}: expected {expected}")
            self.engines = Engines.of_environment()
            self.devices = make_devices()
            self.primary_contexts = tuple(
                PrimaryContext(device, self.handles) for device in self.devices
            )
            self.pools = tuple(DevicePools(device, self.handles) for device in self.devices)
            self.host_memory = HostMemory(memory_size())

    def device(self, handle: Handle) -> EmulatedDevice:
        """Return the device that a ``CUdevice`` names."""
        ordinal = handle_value(handle)
        if not 0 <= ordinal < len(self.devices):
            raise Refusal("INVALID_DEVICE", f"device {ordinal} does not exist")
        return self.devices[ordinal]

    def primary_context(self, device: Handle) -> PrimaryContext:
        """Return the primary context of the device that a ``CUdevice`` names."""
        return self.primary_contexts[self.device(device).ordinal]

    def pools_of(self, device: Handle) -> DevicePools:
        """Return the memory pools of the device that a ``CUdevice`` names."""
        return self.pools[self.device(device).ordinal]

    def pools_of_kind(self, kind: AllocationKind, device: Handle) -> DevicePools:
        """Return the pools of a kind of memory; that of a device has pools of its own."""
        if kind is AllocationKind.DEVICE:
            return self.pools_of(device)
        if kind not in self._host_pools:
            self._host_pools[kind] = DevicePools(self.devices[0], self.handles, kind)
        return self._host_pools[kind]

    def current(self) -> Context:
        """Return the calling thread's current context; `Refusal` if there is none."""
        return self.stack.current()

    def context(self, handle: Handle) -> Context:
        """Return the context behind a handle, which may be an inactive primary context."""
        return self.handles.get(handle_value(handle), Context, "INVALID_CONTEXT")

    def stream(self, handle: Handle, *, invalidate: bool = True) -> Stream:
        """Return the stream behind a handle; a default one is the current context's.

        Args:
            invalidate: Whether the use of the legacy default stream invalidates captures.

        Raises:
            Refusal: It is no stream, or the legacy stream while a blocking one is capturing.
        """
        value = handle_value(handle)
        if value not in DEFAULT_STREAMS:
            return self.handles.get(value, Stream)
        context = self.current()
        thread = threading.get_ident() if value == PER_THREAD else 0
        stream: Stream | None = context.default_streams.get(thread)
        if stream is None:
            stream = Stream(context, is_legacy=value != PER_THREAD)
            context.default_streams[thread] = stream
        if stream.is_legacy:
            self.captures.check_legacy_stream(stream.context, invalidate=invalidate)
        return stream

    def idle_stream(self, handle: Handle) -> Stream:
        """Return the stream behind a handle for a call that waits for it, or observes its work.

        Raises:
            Refusal: A capture does not permit the call.
        """
        stream = self.stream(handle)
        stream.check_not_capturing()
        self.captures.check_unsafe()
        return stream

    # --- memory ----------------------------------------------------------------------------------

    def memory_at(self, address: int) -> Memory | None:
        """Return the memory with a live allocation at ``address``: a device's, or the host's."""
        for device in self.devices:
            if device.memory.find(address) is not None:
                return device.memory
        for memory in (self.host_memory, *self.registered, *self.placed, *self.virtual.ranges()):
            if memory.find(address) is not None:
                return memory
        return None

    def reachable(self, context: Context) -> list[Memory]:
        """Return the memories that kernels of a context can access."""
        peers = [peer.device.memory for peer in context.peers]
        registered = [memory for memory in self.registered if memory.used]
        ordinal = context.device.ordinal
        mapped = [memory for memory in self.virtual.ranges() if ordinal in memory.devices]
        return [context.device.memory, self.host_memory, *registered, *self.placed, *mapped, *peers]

    def note_writes(self, *, noted: bool) -> None:
        """Track written bytes in device memory that is allocated from now on."""
        for device in self.devices:
            device.memory.notes_writes = noted

    # --- running ---------------------------------------------------------------------------------

    def ready(self, device: EmulatedDevice) -> bool:
        """Wait until a device is idle; return whether it can run work: no fault occurred."""
        if self.queues is not None:
            self.queues.wait(lambda each: each.context.device is device)
        self._idle.wait_for(lambda: not device.busy)
        self._complete_in_flight(device)
        return self.fault is None

    def has_work(self) -> bool:
        """Return whether a stream that runs on its own has work."""
        return self.queues is not None and self.queues.has_work()

    def finish(self, stream: Stream) -> None:
        """Wait for the work of a stream."""
        if self.queues is None:
            self.ready(stream.context.device)
        else:
            self.queues.wait(lambda each: each is stream)

    def _complete_in_flight(self, device: EmulatedDevice) -> None:
        if self.in_flight is not None:
            self.run(device, self._complete)

    def _complete(self) -> None:
        """Complete the last kernel, where no other one runs."""
        grid, self.in_flight = self.in_flight, None
        if grid is not None:
            grid.complete()

    def run_streams(self) -> None:
        """Let streams run on their own from now on: see `host.queues`."""
        self.queues = StreamQueues(self.mutex, self.lock, self._perform, self._failed)

    def _failed(self, refusal: Refusal) -> None:
        if self.fault is None:
            self.fault = DeviceFault(int(refusal.result), refusal.words)

    def submit(self, stream: Stream, *operations: Operation, waits: bool = False) -> Task | None:
        """Execute operations in the order of a stream, or capture them if it is capturing.

        Args:
            waits: Return when they are done.

        Raises:
            Refusal: A capture does not permit them, or one that it waits for cannot be executed.
        """
        branch = stream.branch
        if branch is not None:
            for operation in operations:
                branch.add(operation)
        elif self.queues is None:
            self._perform(stream.context.device, operations)
        else:
            task = self.queues.submit(stream, operations)
            if waits:
                self.queues.finish(task)
            return task
        return None

    def _perform(self, device: EmulatedDevice, operations: Sequence[Operation]) -> None:
        try:
            for operation in operations:
                if operation.device is not None:
                    self.run(operation.device, operation.work)
                elif self._is_settled(device):
                    # A host function may wait for other threads.
                    is_function = operation.kind == CUgraphNodeType.CU_GRAPH_NODE_TYPE_HOST
                    unlocked = self.queues is not None and is_function
                    with self._unlocked() if unlocked else contextlib.nullcontext():
                        operation.work()
                    for part in operation.parts():
                        self._perform(device, part)
                        if not self._is_settled(device):
                            break
                operation.end()
        finally:  # others wait for those that an error prevents, too
            for operation in operations:
                operation.end()

    def _is_settled(self, device: EmulatedDevice) -> bool:
        """Complete earlier kernels; return whether no fault occurred."""
        if self.queues is None:
            return self.ready(device)
        self._complete_in_flight(device)
        return self.fault is None

    def run(self, device: EmulatedDevice, work: Callable[[], None]) -> None:
        """Run a kernel on a device, one at a time, without blocking other threads' calls."""
        self._idle.wait_for(lambda: not device.busy)
        if self.fault is not None:
            return
        device.busy = True
        try:
            with self._unlocked():
                work()
        except DeviceFault as fault:
            if self.fault is None:
                self.fault = fault.with_traceback(None)  # which has the memory of the launch
        finally:
            self.launch = None
            device.busy = False
            self._idle.notify_all()

    def begun(self, launch: Launch) -> None:
        """Record that a kernel starts to run."""
        self.launch = launch

    @contextmanager
    def _unlocked(self) -> Iterator[None]:
        self.lock.release()
        try:
            yield
        finally:
            self.lock.acquire()

    def wait(self, wait: Wait = Wait.DEVICE) -> None:
        """Wait until the current context's device is idle, or for some of its streams."""
        context = self.stack.top
        if context is None or (self.queues is not None and wait is Wait.ITSELF):
            return
        if self.queues is not None and wait is Wait.BLOCKING:
            self.queues.wait(lambda each: each.context is context and each.is_blocking)
        else:
            self.ready(context.device)

    def printed(self, text: bytes) -> None:
        """Keep a kernel's printed text until a call synchronizes."""
        with self.lock:
            self._printed += text

    def show_printed(self) -> None:
        """Write text printed by kernels to the process's standard output, as the driver does."""
        text, self._printed = self._printed, bytearray()
        if text:
            self.show(bytes(text))

    def check_fault(self, call: str, *, synchronizes: bool, of_current: bool = True) -> None:
        """Raise `Refusal` if a fault is known, or becomes known because ``call`` synchronizes.

        A call ``of_current`` needs the current context; after a fault a missing or destroyed one
        (``cuDevicePrimaryCtxReset``) is reported instead.
        """
        if self.fault is None or not (self.fault.is_known or synchronizes):
            return
        if not self.fault.is_known:
            self.fault.is_known = True
            self.log.write(self.fault.report)  # the current call reports it
            self.show_printed()
        top = self.stack.top
        if of_current and (top is None or not top.alive):
            raise Refusal("INVALID_CONTEXT" if top is None else "CONTEXT_IS_DESTROYED")
        raise Refusal(self.fault.name.removeprefix("CUDA_ERROR_"))


def _write_to_stdout(text: bytes) -> None:
    # Output that cannot be written is dropped, as with the driver's printf.
    with contextlib.suppress(OSError), os.fdopen(_STDOUT, "wb", closefd=False) as stdout:
        stdout.write(text)


process = Process()
