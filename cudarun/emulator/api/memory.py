"""Memory: driver API, sections 6.13 and 6.16."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from cuda.bindings.driver import CUdeviceptr

from cudarun.emulator.api.calls import call
from cudarun.emulator.api.graph_memory import GraphAllocation, freeing
from cudarun.emulator.host.addresses import HostPointer, address_of
from cudarun.emulator.host.allocations import DriverAllocation
from cudarun.emulator.host.captures import CaptureRule
from cudarun.emulator.host.contexts import Context
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.hostmemory import RegisteredMemory
from cudarun.emulator.host.pools import DEVICE_KINDS, AllocationKind, Pool
from cudarun.emulator.host.process import Wait, process
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.host.streams import Stream

_PITCH = 512
_ATTACH_FLAGS = (1, 2)  # CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST
_HOST_ALLOC_FLAGS = 7
_PORTABLE, _MAPPED = 1, 2  # of both kinds of page-locked memory
_HOST_REGISTER_FLAGS = 15


def allocated(
    size: int,
    kind: AllocationKind,
    flags: int = 0,
    *,
    pool: Pool | None = None,
    context: Context | None = None,
) -> DriverAllocation:
    """Allocate memory in a context, by default the current one, from a pool if there is one."""
    context = context or process.current()
    refuse_if(size == 0, "the size is 0")
    device = context.device if pool is None else pool.device
    memory = device.memory if kind is AllocationKind.DEVICE else process.host_memory
    # Memory that the host can write directly counts as initialized.
    address = memory.allocate(size, label=kind.value, defined=kind is not AllocationKind.DEVICE)
    if pool is not None:
        try:
            pool.take(size)
        except Refusal:
            memory.free(address)
            raise
    return process.allocations.add(
        DriverAllocation(address, size, kind, context, memory, flags, pool)
    )


# --- allocation ----------------------------------------------------------------------------------


@call(during_capture=CaptureRule.UNSAFE)
def cuMemAlloc(bytesize: int) -> CUdeviceptr:
    """Allocate device memory; its contents are undefined, here zeros."""
    return CUdeviceptr(allocated(bytesize, AllocationKind.DEVICE).address)


@call()
def cuMemAllocAsync(bytesize: int, hStream: Handle) -> CUdeviceptr:
    """Allocate memory from the device's current pool, in a stream; null for 0 bytes."""
    stream = process.stream(hStream)
    pool = process.pools_of(stream.context.device.ordinal).current
    return CUdeviceptr(allocated_in_order(stream, bytesize, pool) if bytesize else 0)


@call(during_capture=CaptureRule.UNSAFE)
def cuMemAllocPitch(
    WidthInBytes: int, Height: int, ElementSizeBytes: int
) -> tuple[CUdeviceptr, int]:
    """Allocate device memory for rows; return the address and the pitch."""
    words = f"ElementSizeBytes is {ElementSizeBytes}; it must be 4, 8 or 16"
    refuse_if(ElementSizeBytes not in (4, 8, 16), words)
    pitch = -(-WidthInBytes // _PITCH) * _PITCH
    return CUdeviceptr(allocated(pitch * Height, AllocationKind.DEVICE).address), pitch


@call(during_capture=CaptureRule.UNSAFE)
def cuMemAllocManaged(bytesize: int, flags: int) -> CUdeviceptr:
    """Allocate memory with one address for the host and every device."""
    refuse_if(flags not in _ATTACH_FLAGS, f"{flags:#x} is not one of CUmemAttach_flags")
    return CUdeviceptr(allocated(bytesize, AllocationKind.MANAGED, flags).address)


@call(waits=Wait.DEVICE, during_capture=CaptureRule.UNSAFE, needs_context=True)
def cuMemFree(dptr: Handle) -> None:
    """Free device or managed memory; null is allowed."""
    address = handle_value(dptr)
    if address:
        process.allocations.release(address, *DEVICE_KINDS)


@call()
def cuMemFreeAsync(dptr: Handle, hStream: Handle) -> None:
    """Free device memory, in the order of a stream; null is allowed."""
    stream, address = process.stream(hStream), handle_value(dptr)
    if stream.branch is not None:
        stream.branch.add(freeing(stream.branch.capture.graph, address))
        return
    process.captures.check_unsafe()
    process.finish(stream)
    if not address:
        return
    buffer = process.allocations.find(address)
    pool = None if buffer is None else buffer.pool
    if buffer is not None and buffer.kind is AllocationKind.MANAGED and pool is None:
        raise Refusal("NOT_SUPPORTED", "managed memory is not freed in the order of a stream")
    process.allocations.release(address, AllocationKind.DEVICE if pool is None else pool.kind)


def allocated_in_order(stream: Stream, size: int, pool: Pool) -> int:
    """Return the address of memory from a pool; in a capture that of a node that allocates it."""
    if stream.branch is None:
        process.captures.check_unsafe()
        return allocated(size, pool.kind, pool=pool, context=stream.context).address
    operation = GraphAllocation(size, pool.device, stream.context)
    stream.branch.add(operation)
    return operation.address


@call(during_capture=CaptureRule.UNSAFE)
def cuMemAllocHost(bytesize: int) -> int:
    """Allocate page-locked host memory, accessible to kernels; for 0 bytes return null."""
    return _allocate_page_locked(bytesize)


@call(during_capture=CaptureRule.UNSAFE)
def cuMemHostAlloc(bytesize: int, Flags: int) -> int:
    """Allocate page-locked host memory, accessible to kernels; for 0 bytes return null."""
    words = f"{Flags:#x} is not a combination of CU_MEMHOSTALLOC flags"
    refuse_if(Flags & ~_HOST_ALLOC_FLAGS, words)
    return _allocate_page_locked(bytesize, Flags)


def _allocate_page_locked(size: int, flags: int = 0) -> int:
    process.current()
    return allocated(size, AllocationKind.PAGE_LOCKED, flags).address if size else 0


@call(waits=Wait.DEVICE, during_capture=CaptureRule.UNSAFE, needs_context=True)
def cuMemFreeHost(p: HostPointer) -> None:
    """Free page-locked host memory; null is allowed."""
    if address_of(p):
        process.allocations.release(address_of(p), AllocationKind.PAGE_LOCKED)


@call(during_capture=CaptureRule.UNSAFE)
def cuMemHostRegister(p: HostPointer, bytesize: int, Flags: int) -> None:
    """Register the program's own host memory for access by kernels."""
    context, address = process.current(), address_of(p)
    words = "the pointer is null, the size is 0 or CU_MEMHOSTREGISTER flags are unknown"
    refuse_if(bytesize == 0 or address == 0 or Flags & ~_HOST_REGISTER_FLAGS, words)
    buffer = process.allocations.find(address, bytesize)
    if buffer is not None and buffer.kind is AllocationKind.REGISTERED:
        words = f"part of the range at {address:#x} is registered"
        raise Refusal("HOST_MEMORY_ALREADY_REGISTERED", words)
    is_reserved = any(map(process.virtual.is_reserved, (address, address + bytesize - 1)))
    if buffer is not None or is_reserved:
        raise Refusal("INVALID_VALUE", f"{address:#x} is not memory of the program's own")
    memory = RegisteredMemory(address, bytesize, label=AllocationKind.REGISTERED.value)
    process.registered = [*(each for each in process.registered if each.used), memory]
    process.allocations.add(
        DriverAllocation(address, bytesize, AllocationKind.REGISTERED, context, memory, Flags)
    )


@call(waits=Wait.DEVICE, during_capture=CaptureRule.UNSAFE, needs_context=True)
def cuMemHostUnregister(p: HostPointer) -> None:
    """Undo `cuMemHostRegister`."""
    address = address_of(p)
    is_unknown = address and process.allocations.find(address) is None
    refusal = "HOST_MEMORY_NOT_REGISTERED" if is_unknown else "INVALID_VALUE"
    process.allocations.release(address, AllocationKind.REGISTERED, refusal=refusal)


@call(needs_context=True)
def cuMemHostGetDevicePointer(p: HostPointer, Flags: int) -> CUdeviceptr:
    """Return the device address of page-locked memory: the same as the host's."""
    address = address_of(p)
    refuse_if(Flags != 0, "Flags must be 0")
    _page_locked(address)
    return CUdeviceptr(address)


@call(needs_context=True)
def cuMemHostGetFlags(p: HostPointer) -> int:
    """Return the flags of page-locked or managed memory: it is mapped, whatever they were."""
    address = address_of(p)
    buffer = process.allocations.find(address)
    if buffer is not None and buffer.kind is AllocationKind.MANAGED:
        return _MAPPED
    buffer = _page_locked(address)
    is_registered = buffer.kind is AllocationKind.REGISTERED
    return (buffer.flags if is_registered else buffer.flags & ~_PORTABLE) | _MAPPED


def _page_locked(address: int) -> DriverAllocation:
    buffer = process.allocations.find(address)
    if buffer is None or buffer.on_device:
        raise Refusal("INVALID_VALUE", f"{address:#x} is not an address in page-locked memory")
    return buffer


@call()
def cuMemGetInfo() -> tuple[int, int]:
    """Return free and total bytes of the current device."""
    memory = process.current().device.memory
    return memory.capacity - memory.used, memory.capacity


@call(needs_context=True)
def cuMemGetAddressRange(dptr: Handle) -> tuple[CUdeviceptr, int]:
    """Return base and size of the allocation that contains an address."""
    address = handle_value(dptr)
    memory = process.memory_at(address)
    mapped = process.virtual.find(address)
    if memory is not None and mapped is not None:
        return CUdeviceptr(mapped[1].first), mapped[1].end - mapped[1].first
    allocation = memory.find(address) if memory else None
    if allocation is None:
        raise Refusal("NOT_FOUND", f"{address:#x} is not in any allocation")
    return CUdeviceptr(allocation.base), allocation.size
