"""Grids that a kernel launches (CUDA dynamic parallelism 2): their parameters, streams and order.

CUDA C++ Programming Guide, "CUDA Dynamic Parallelism". The emulated device runs the children of a
grid in the order of their launches when the threads of the grid have exited, which satisfies the
order of every stream; when threads seem to wait for a child, or many are pending, it runs them
before. Tail launches follow when all children are complete. A grid is complete with its tails.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import field
from itertools import count
from math import prod
from typing import Protocol

from cudarun.base.records import dataclass
from cudarun.emulator.memory import Memory
from cudarun.emulator.program import KernelCode

Extent = tuple[int, int, int]

NULL_STREAM, LEGACY_STREAM, PER_THREAD_STREAM, TAIL_STREAM, FIRE_AND_FORGET_STREAM = range(5)

_FIRST_STREAM = 0x99C8_0000  # handles are numbers that cannot be mistaken for named streams
_FIRST_EVENT = 0x7F00_0000_0000
_BUFFER_ALIGNMENT = 64


class DeviceServices(Protocol):
    """The properties of device and context that the device runtime functions return.

    Results are a ``cudaError_t`` and a value.
    """

    @property
    def pending_launches(self) -> int:
        """``cudaLimitDevRuntimePendingLaunchCount``."""

    @property
    def device_count(self) -> int:
        """The number of devices that the host sees."""

    def refusal(self, kernel: KernelCode, grid: Extent, block: Extent, dynamic_shared: int) -> int:
        """Return the error of a launch of a kernel; 0 if it is valid."""

    def attribute(self, number: int) -> int:
        """Return a device attribute."""

    def set_condition(self, handle: int, value: int) -> bool:
        """Set the value of a condition of a graph; return whether there is one."""

    def limit(self, number: int) -> tuple[int, int]:
        """Return a limit of the context."""

    def error_text(self, error: int, *, name: bool) -> str:
        """Return the name or the description of an error."""

    def function_attributes(self, kernel: KernelCode) -> bytes:
        """Return the first members of ``cudaFuncAttributes``."""

    def occupancy(self, kernel: KernelCode, threads: int, dynamic_shared: int) -> tuple[int, int]:
        """Return the resident blocks of a kernel per multiprocessor."""


@dataclass(slots=True, eq=False)
class ChildGrid:
    """A grid whose parameter buffer has been requested, and that may have been launched."""

    kernel: KernelCode  # its kernel
    grid: Extent  # its blocks
    block: Extent  # threads per block
    dynamic_shared: int  # bytes
    buffer: int  # the address of the parameter buffer
    parameters: bytes = b""  # the contents of the buffer when it was launched

    @property
    def threads(self) -> int:
        """Threads per block."""
        return prod(self.block)


Work = ChildGrid | Callable[[], None]  # a child grid, or a copy of memory


@dataclass(slots=True)
class GridFamily:
    """The shared state of a launch from the host and of all grids that descend from it."""

    streams: set[int] = field(default_factory=set)  # handles of the streams that they have created
    events: set[int] = field(default_factory=set)  # handles of the events
    # The addresses of strings that they have been given.
    texts: dict[bytes, int] = field(default_factory=dict)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def new_handle(self, *, of_event: bool) -> int:
        """Return the handle of a new event or stream."""
        number = next(self._numbers)
        handle = _FIRST_EVENT + 16 * number if of_event else _FIRST_STREAM + number
        (self.events if of_event else self.streams).add(handle)
        return handle

    def is_stream(self, handle: int) -> bool:
        """Return whether a handle is a stream's: of a named one, or a created one."""
        return NULL_STREAM <= handle <= FIRE_AND_FORGET_STREAM or handle in self.streams

    def text(self, memory: Memory, text: bytes) -> int:
        """Return the address of a string in device memory."""
        if text not in self.texts:
            address = memory.allocate(len(text) + 1, label="string of the device runtime")
            memory.bytes_at(address, len(text))[:] = memoryview(text)
            self.texts[text] = address
        return self.texts[text]

    def release(self, memory: Memory) -> None:
        """Free the strings."""
        for address in self.texts.values():
            memory.free(address)
        self.texts.clear()


@dataclass(slots=True)
class ChildQueue:
    """The launches of one grid that have not run yet, and the errors of its threads."""

    family: GridFamily  # shared with the other grids
    # The children whose parameters are being written, by the address of the buffer.
    buffers: dict[int, ChildGrid] = field(default_factory=dict)
    # Work in all streams but that of tail launches, in order.
    children: deque[Work] = field(default_factory=deque)
    tails: deque[Work] = field(default_factory=deque)  # the tail launches, in order
    # The last error of each thread that has one, by its index in the grid.
    errors: dict[int, int] = field(default_factory=dict)
    complete: Callable[[], None] = lambda: None  # runs the children of a running grid to their ends

    def prepare(self, memory: Memory, child: ChildGrid) -> int:
        """Return the address of a new parameter buffer."""
        size = max(child.kernel.parameter_bytes, 1)
        label = f"parameters of {child.kernel.name}"
        child.buffer = memory.allocate(size, alignment=_BUFFER_ALIGNMENT, label=label)
        self.buffers[child.buffer] = child
        return child.buffer

    def discard(self, memory: Memory, child: ChildGrid) -> None:
        """Free the parameter buffer of a child, and keep its contents."""
        size = child.kernel.parameter_bytes
        child.parameters = memory.bytes_at(child.buffer, size).tobytes() if size else b""
        del self.buffers[child.buffer]
        memory.free(child.buffer)

    def enqueue(self, work: Work, stream: int) -> None:
        """Append work to a stream."""
        (self.tails if stream == TAIL_STREAM else self.children).append(work)

    def release(self, memory: Memory) -> None:
        """Free the buffers that were never launched."""
        for address in self.buffers:
            memory.free(address)
        self.buffers.clear()
