"""The functions of the CUDA device runtime that kernels call: launches, streams, copies, queries.

CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", "API Reference". Compilers emit calls of
``__cudaCDP2LaunchDeviceV2`` and so on, which on a GPU are in ``libcudadevrt``. Results are those of
the library of CUDA 13.0 on an H200: errors are a thread's own, and functions that fail set its
last error. There are no limits of depth; ``cudaLimitDevRuntimePendingLaunchCount`` limits tail
launches, for other grids start while their parent runs.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np

from cudarun.base.records import dataclass
from cudarun.emulator.code import ActionFunction, Site
from cudarun.emulator.machine.child_grids import TAIL_STREAM, ChildGrid, Extent
from cudarun.emulator.machine.launch import Launch
from cudarun.emulator.machine.report import Report
from cudarun.emulator.machine.runtime_calls import CallingThread, Result, RuntimeQuery, each_lane
from cudarun.emulator.machine.spaces import section_window
from cudarun.emulator.memory import InvalidAddress, OutOfMemory
from cudarun.emulator.numerics.arrays import Array


@dataclass(frozen=True, slots=True)
class Box:
    """A box of bytes in memory."""

    address: int  # the first byte
    width: int  # bytes of a row
    height: int = 1  # rows of a plane
    pitch: int = 0  # bytes from one row to the next
    depth: int = 1  # planes
    rows: int = 1  # rows from one plane to the next

    @classmethod
    def of_pitched(
        cls, pointer: tuple[int, ...], extent: tuple[int, ...], start: tuple[int, ...] = (0, 0, 0)
    ) -> Self:
        """Return the box of a ``cudaPitchedPtr``, a ``cudaExtent`` and a ``cudaPos``."""
        address, pitch, _, rows = pointer
        x, y, z = start
        width, height, depth = extent
        return cls(address + x + pitch * (y + rows * z), width, height, pitch, depth, rows)

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self.width * self.height * self.depth

    @property
    def overlaps_itself(self) -> bool:
        """True if its rows are longer than their pitch."""
        return (self.height > 1 or self.depth > 1) and self.width > self.pitch

    def lines(self) -> list[int]:
        """Return the address of every row."""
        return [
            self.address + self.pitch * (row + self.rows * plane)
            for plane in range(self.depth)
            for row in range(self.height)
        ]


def copy_box(launch: Launch, target: Box, source: Box, site: Site | None) -> None:
    """Copy a box to another one of the same extent."""
    rows = [np.array(_row(launch, source, line, site, to_write=False)) for line in source.lines()]
    for line, data in zip(target.lines(), rows, strict=True):
        _row(launch, target, line, site, to_write=True)[:] = data


def fill_box(launch: Launch, target: Box, site: Site | None) -> None:
    """Set a box to zeros: ``libcudadevrt`` of CUDA 13.0 ignores the value, as an H200 shows."""
    for line in target.lines():
        _row(launch, target, line, site, to_write=True)[:] = 0


def _row(launch: Launch, box: Box, address: int, site: Site | None, *, to_write: bool) -> Array:
    for memory in launch.memories:
        try:
            return memory.bytes_at(address, box.width, to_write=to_write)
        except InvalidAddress:
            continue
    what = "written" if to_write else "read"
    box_bytes = f"{box.width} bytes at {address:#x}"
    report = Report(launch, f"{box_bytes} cannot be {what} by a copy that the kernel has enqueued")
    report.at(site)
    raise report.fault(700)


# cudaError_t
_SUCCESS, _INVALID_VALUE, _OUT_OF_MEMORY = 0, 1, 2
_INVALID_PITCH, _INVALID_DIRECTION = 12, 21
_PENDING_COUNT_EXCEEDED = 69
_UNKNOWN = 999

_RUNTIME_VERSION = 6000  # of libcudadevrt, whatever CUDA it comes with
_DEVICE_TO_DEVICE, _DEFAULT_KIND = 3, 4
_STREAM_FLAGS = (0, 1)
_EVENT_FLAGS = (2, 3)  # cudaEventDisableTiming is required
_ATTRIBUTE_WORDS = 5  # of 8 bytes; the library leaves the rest of cudaFuncAttributes alone
_COPY_PARAMETERS = struct.Struct("<Q3Q4QQ3Q4Q3Qi4x")  # cudaMemcpy3DParms

# --- launches ------------------------------------------------------------------------------------


def _parameter_buffer(
    thread: CallingThread, function: int, *shape: *tuple[*Extent, *Extent, int]
) -> int:
    """Return the buffer for the parameters of a launch, or null if there is no memory."""
    kernel = thread.kernel(function)
    if kernel is None:
        what = f"launch of {function:#x}, which is not the address of a kernel"
        raise thread.active.fault(700, what, thread.index)
    child = ChildGrid(kernel, shape[:3], shape[3:6], dynamic_shared=shape[6], buffer=0)
    launch = thread.launch
    try:
        return launch.children.prepare(launch.memories[0], child)
    except OutOfMemory:
        thread.fail(_OUT_OF_MEMORY)
        return 0


def _launch(thread: CallingThread, buffer: int, stream: int) -> int:
    launch = thread.launch
    queue, memory = launch.children, launch.memories[0]
    child = queue.buffers.get(buffer)
    if child is None:
        what = f"launch with {buffer:#x}, which is not a parameter buffer of this grid"
        raise thread.active.fault(700, what, thread.index)
    error = thread.services.refusal(child.kernel, child.grid, child.block, child.dynamic_shared)
    if not error and not queue.family.is_stream(stream):
        error = _INVALID_VALUE
    if not error and _is_full(thread, stream):
        error = _PENDING_COUNT_EXCEEDED
    queue.discard(memory, child)
    if error:
        return thread.fail(error)
    queue.enqueue(child, stream)
    block = thread.number // launch.block_threads
    launch.observer.child_launched(launch, child, stream, block)
    _relieve(thread)
    return _SUCCESS


def _is_full(thread: CallingThread, stream: int) -> bool:
    """Return whether no more work can be pending in a stream."""
    tails = thread.launch.children.tails
    return stream == TAIL_STREAM and len(tails) >= thread.services.pending_launches


def _relieve(thread: CallingThread) -> None:
    """Run the children if many are pending, as a GPU does meanwhile."""
    queue = thread.launch.children
    if len(queue.children) >= thread.services.pending_launches:
        queue.complete()


# --- errors --------------------------------------------------------------------------------------


def _error_text(thread: CallingThread, error: int, *, name: bool) -> int:
    text = thread.services.error_text(error, name=name)
    launch = thread.launch
    return launch.children.family.text(launch.memories[0], text.encode())


# --- streams and events --------------------------------------------------------------------------


def _create(thread: CallingThread, flags: int, *, of_event: bool) -> Result:
    if flags not in (_EVENT_FLAGS if of_event else _STREAM_FLAGS):
        return _INVALID_VALUE
    return _SUCCESS, thread.launch.children.family.new_handle(of_event=of_event)


def _check(thread: CallingThread, handle: int, *, of_event: bool) -> int:
    """Check the handle of an event or a created stream, also to destroy it: it remains usable."""
    family = thread.launch.children.family
    known = handle in (family.events if of_event else family.streams)
    return _SUCCESS if known else thread.fail(_INVALID_VALUE)


def _record_event(thread: CallingThread, event: int, stream: int) -> int:
    """Record an event: work is run in the order of its launches, so nothing is to be kept."""
    if not thread.launch.children.family.is_stream(stream):
        return thread.fail(_INVALID_VALUE)
    return _check(thread, event, of_event=True)


# --- queries -------------------------------------------------------------------------------------


def _function_attributes(thread: CallingThread, function: int) -> Result:
    kernel = thread.kernel(function)
    if kernel is None:
        return _INVALID_VALUE
    data = thread.services.function_attributes(kernel)
    return _SUCCESS, *struct.unpack(f"<{_ATTRIBUTE_WORDS}Q", data)


def _occupancy(
    thread: CallingThread, function: int, threads: int, dynamic_shared: int, flags: int = 0
) -> Result:
    kernel = thread.kernel(function)
    if kernel is None:
        return _INVALID_VALUE
    return thread.services.occupancy(kernel, threads, dynamic_shared)


def _malloc(thread: CallingThread, size: int) -> Result:
    heap = thread.launch.config.heap
    if size == 0:
        return _INVALID_VALUE
    address = heap.allocate(size) if heap is not None else 0
    return (_SUCCESS, address) if address else _OUT_OF_MEMORY


def _free(thread: CallingThread, address: int) -> int:
    heap = thread.launch.config.heap
    if address and (heap is None or not heap.free(address)):
        what = f"cudaFree of {address:#x}, which is not an allocated block of the device heap"
        raise thread.active.fault(700, what, thread.index)
    return _SUCCESS


# --- copies --------------------------------------------------------------------------------------


def _enqueue_copy(thread: CallingThread, work: Callable[[], None], stream: int) -> int:
    queue = thread.launch.children
    if _is_full(thread, stream) or not queue.family.is_stream(stream):
        return thread.fail(_UNKNOWN)
    queue.enqueue(work, stream)
    _relieve(thread)
    return _SUCCESS


def _is_global(*addresses: int) -> bool:
    return all(address and section_window(address) is None for address in addresses)


def _copy(thread: CallingThread, target: Box, source: Box, kind: int, stream: int) -> int:
    if not target.size:
        return _SUCCESS
    if kind not in (_DEVICE_TO_DEVICE, _DEFAULT_KIND):
        return thread.fail(_INVALID_DIRECTION)
    if target.overlaps_itself or source.overlaps_itself:
        return thread.fail(_INVALID_PITCH)
    if not _is_global(target.address, source.address):
        return thread.fail(_INVALID_VALUE)
    work = partial(copy_box, thread.launch, target, source, thread.active.site)
    return _enqueue_copy(thread, work, stream)


def _fill(thread: CallingThread, target: Box, stream: int) -> int:
    if not target.size:
        return _SUCCESS
    if target.overlaps_itself or not _is_global(target.address):
        return thread.fail(_INVALID_VALUE)
    work = partial(fill_box, thread.launch, target, thread.active.site)
    return _enqueue_copy(thread, work, stream)


def _copy_planes(thread: CallingThread, parameters: int, stream: int) -> int:
    data = thread.bytes_at(parameters, _COPY_PARAMETERS.size)
    values = _COPY_PARAMETERS.unpack(data)
    extent, kind = values[16:19], values[19]
    if values[0] or values[8]:  # an array
        return thread.fail(_INVALID_VALUE)
    source, target = (
        Box.of_pitched(values[at + 3 : at + 7], extent, values[at : at + 3]) for at in (1, 9)
    )
    return _copy(thread, target, source, kind, stream)


def _set_condition(thread: CallingThread, handle: int, value: int) -> int:
    if not thread.services.set_condition(handle, value):
        what = f"cudaGraphSetConditional of {handle:#x}, which is not a handle of a condition"
        raise thread.active.fault(700, what, thread.index)
    return _SUCCESS


# --- the functions -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RuntimeFunction:
    """One function."""

    action: ActionFunction  # its action
    result: str  # the type of its result; empty without one
    # The types of its parameters; a structure is a tuple of types.
    parameters: tuple[str | tuple[str, ...], ...]


_TYPES: dict[str, str | tuple[str, ...]] = {
    "int": "u32", "ptr": "u64", "size": "u64", "stream": "u64",
    "dim3": ("u32",) * 3, "extent": ("u64",) * 3, "pitched": ("u64",) * 4,
}  # fmt: skip


def _call(function: Callable[..., int], parameters: str, result: str = "u32") -> RuntimeFunction:
    """Return a function that only has a result."""
    return RuntimeFunction(each_lane(function), result, _types(parameters))


def _query(
    function: Callable[..., Result], parameters: str, dtype: str = "u4", **options: Any
) -> RuntimeFunction:
    """Return a function that writes values to its first argument."""
    return RuntimeFunction(RuntimeQuery(function, dtype, **options), "u32", _types(parameters))


def _types(parameters: str) -> tuple[str | tuple[str, ...], ...]:
    return tuple(_TYPES[word] for word in parameters.split())


_FUNCTIONS: dict[str, RuntimeFunction] = {
    "GetParameterBufferV2": _call(_parameter_buffer, "ptr dim3 dim3 int", "u64"),
    "LaunchDeviceV2": _call(_launch, "ptr stream"),
    "GetLastError": _call(lambda thread: thread.errors.pop(thread.number, _SUCCESS), ""),
    "PeekAtLastError": _call(lambda thread: thread.errors.get(thread.number, _SUCCESS), ""),
    "GetErrorName": _call(partial(_error_text, name=True), "int", "u64"),
    "GetErrorString": _call(partial(_error_text, name=False), "int", "u64"),
    "StreamCreateWithFlags": _query(partial(_create, of_event=False), "ptr int", "u8"),
    "StreamDestroy": _call(partial(_check, of_event=False), "stream"),
    "StreamWaitEvent": _call(
        lambda thread, stream, event, _: _record_event(thread, event, stream), "stream ptr int"
    ),
    "EventCreateWithFlags": _query(partial(_create, of_event=True), "ptr int", "u8"),
    "EventRecord": _call(_record_event, "ptr stream"),
    "EventDestroy": _call(partial(_check, of_event=True), "ptr"),
    "GetDevice": _query(lambda thread: (_SUCCESS, 0), "ptr"),
    "GetDeviceCount": _query(lambda thread: (_SUCCESS, thread.services.device_count), "ptr"),
    "RuntimeGetVersion": _query(lambda thread: (_SUCCESS, _RUNTIME_VERSION), "ptr"),
    "DeviceGetAttribute": _query(
        lambda thread, number, _: (_SUCCESS, thread.services.attribute(number)), "ptr int int"
    ),
    "DeviceGetLimit": _query(lambda thread, limit: thread.services.limit(limit), "ptr int", "u8"),
    "DeviceGetCacheConfig": _query(lambda thread: (_SUCCESS, 0), "ptr"),
    "FuncGetAttributes": _query(_function_attributes, "ptr ptr", "u8", count=_ATTRIBUTE_WORDS),
    "OccupancyMaxActiveBlocksPerMultiprocessor": _query(
        _occupancy, "ptr ptr int size", sets_error=False
    ),
    "OccupancyMaxActiveBlocksPerMultiprocessorWithFlags": _query(
        _occupancy, "ptr ptr int size int", sets_error=False
    ),
    "Malloc": _query(_malloc, "ptr size", "u8"),
    "Free": _call(_free, "ptr"),
    "GraphSetConditional": _call(_set_condition, "ptr int", ""),
    "MemcpyAsync": _call(
        lambda thread, target, source, size, kind, stream: _copy(
            thread, Box(target, size), Box(source, size), kind, stream
        ),
        "ptr ptr size int stream",
    ),
    "Memcpy2DAsync": _call(
        lambda thread, target, pitch, source, source_pitch, width, height, kind, stream: _copy(
            thread,
            Box(target, width, height, pitch),
            Box(source, width, height, source_pitch),
            kind,
            stream,
        ),
        "ptr size ptr size size size int stream",
    ),
    "Memcpy3DAsync": _call(_copy_planes, "ptr stream"),
    "MemsetAsync": _call(
        lambda thread, target, _, size, stream: _fill(thread, Box(target, size), stream),
        "ptr int size stream",
    ),
    "Memset2DAsync": _call(
        lambda thread, target, pitch, _, width, height, stream: _fill(
            thread, Box(target, width, height, pitch), stream
        ),
        "ptr size int size size stream",
    ),
    "Memset3DAsync": _call(
        lambda thread, *given: _fill(thread, Box.of_pitched(given[:4], given[5:8]), given[8]),
        "pitched int extent stream",
    ),
}
# Functions with a variant for programs whose default stream is a thread's own.
_WITH_STREAM = {"LaunchDeviceV2", "StreamWaitEvent", "EventRecord"} | {
    name for name in _FUNCTIONS if name.startswith("Mem")
}

RUNTIME_FUNCTIONS: dict[str, RuntimeFunction] = {
    f"{prefix}{name}{suffix}": function
    for name, function in _FUNCTIONS.items()
    for prefix in ("__cudaCDP2", "cuda")
    for suffix in (("", "_ptsz") if name in _WITH_STREAM else ("",))
}
"""The functions by name: ``__cudaCDP2MemsetAsync``, and ``cudaMemsetAsync`` of older compilers."""

LAUNCHING_FUNCTIONS = frozenset({"__cudaCDP2GetParameterBufferV2", "cudaGetParameterBufferV2"})
"""Those that a kernel calls to launch a grid."""
