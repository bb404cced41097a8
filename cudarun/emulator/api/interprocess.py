"""Memory and events of other processes: driver API, section 6.13."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

import ctypes
import mmap
import os

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import call
from cudarun.emulator.api.handles import EventHandle
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.interprocess import (
    EVENT,
    MEMORY,
    ExportedFile,
    ImportedMemory,
    SharedCounts,
    exported_file,
)
from cudarun.emulator.host.pools import AllocationKind
from cudarun.emulator.host.process import Wait, process
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.host.streams import INTERPROCESS, create_event

_LAZY_PEER_ACCESS = 1  # CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS
_BYTES = 64
_PAGE = mmap.PAGESIZE


@call(waits=Wait.DEVICE, needs_context=True)
def cuIpcGetMemHandle(dptr: Handle) -> cuda.CUipcMemHandle:
    """Export device memory that ``cuMemAlloc`` has allocated."""
    buffer = process.allocations.find(handle_value(dptr))
    if buffer is None or buffer.kind is not AllocationKind.DEVICE or buffer.pool is not None:
        raise Refusal("INVALID_VALUE", "it is not memory of cuMemAlloc")
    offset = buffer.address - buffer.memory.base
    shared = buffer.memory.share()
    made = ExportedFile(MEMORY, os.getpid(), shared, offset, buffer.size, buffer.number)
    handle = cuda.CUipcMemHandle()
    ctypes.memmove(handle.getPtr(), made.handle(), _BYTES)
    return handle


@call(waits=Wait.DEVICE, needs_context=True)
def cuIpcOpenMemHandle(handle: cuda.CUipcMemHandle, Flags: int) -> cuda.CUdeviceptr:
    """Map memory of another process; return the address that it has here."""
    refuse_if(Flags != _LAZY_PEER_ACCESS, "Flags must be CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS")
    found = exported_file(_bytes(handle), MEMORY)
    first = found.offset // _PAGE * _PAGE
    if found not in process.imported:
        size = -(-(found.offset + found.size) // _PAGE) * _PAGE - first
        device = process.current().device
        memory = ImportedMemory(device, size, cuda.CUmemAllocationProp(), found.open())
        memory.offset, before = first, found.offset - first
        memory.margins = before, size - before - found.size
        address = process.virtual.reserve(size, 0, 0)
        process.virtual.map(address, memory)
        process.virtual.set_access(address, size, device.ordinal, permitted=True)
        process.imported[found] = address, memory
    address, memory = process.imported[found]
    memory.uses += 1
    return cuda.CUdeviceptr(address + found.offset - first)


@call(waits=Wait.DEVICE, needs_context=True)
def cuIpcCloseMemHandle(dptr: Handle) -> None:
    """End the use of memory of another process; the last one unmaps it."""
    page = handle_value(dptr) // _PAGE * _PAGE
    found = [file for file, (address, _) in process.imported.items() if address == page]
    refuse_if(not found, f"{page:#x} is not memory of another process")
    _, memory = process.imported[found[0]]
    memory.uses -= 1
    if not memory.uses:
        del process.imported[found[0]]
        process.virtual.unmap(page, memory.size, process.handles)
        process.virtual.release(page, memory.size)


@call(needs_context=True)
def cuIpcGetEventHandle(event: EventHandle) -> cuda.CUipcEventHandle:
    """Export an event that was created with ``CU_EVENT_INTERPROCESS``."""
    if not event.flags & INTERPROCESS:
        raise Refusal("INVALID_HANDLE", "the event was created without CU_EVENT_INTERPROCESS")
    if event.counts is None:
        if event.task is not None and process.queues is not None:
            process.queues.finish(event.task)
        event.counts = SharedCounts()
    file = event.counts.descriptor
    made = ExportedFile(EVENT, os.getpid(), file, 0, os.fstat(file).st_size, event.handle)
    handle = cuda.CUipcEventHandle()
    ctypes.memmove(handle.getPtr(), made.handle(), _BYTES)
    return handle


@call(needs_context=True)
def cuIpcOpenEventHandle(handle: cuda.CUipcEventHandle) -> cuda.CUevent:
    """Return an event that is one of another process."""
    counts = SharedCounts(exported_file(_bytes(handle), EVENT).open())
    flags = INTERPROCESS | int(cuda.CUevent_flags.CU_EVENT_DISABLE_TIMING)
    made = create_event(process.current(), flags)
    made.counts = counts
    return cuda.CUevent(made.handle)


def _bytes(handle: cuda.CUipcMemHandle | cuda.CUipcEventHandle) -> bytes:
    return ctypes.string_at(int(handle.getPtr()), _BYTES)
