"""Memory: driver API, sections 6.13 and 6.16."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cuda.bindings.driver import (
    CUdeviceptr,
    CUgraphNodeType,
)

from cudarun.emulator.api.calls import call, enqueue
from cudarun.emulator.host.addresses import Bytes, HostPointer, address_of, host_bytes
from cudarun.emulator.host.allocations import (
    DEVICE_KINDS,
    AllocationKind,
    DriverAllocation,
    bytes_anywhere,
    fill,
)
from cudarun.emulator.host.graphs import Operation, of_host
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.pools import Pool
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.host.streams import Stream

_PITCH = 512
_ATTACH_FLAGS = (1, 2)  # CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST
_HOST_ALLOC_FLAGS = 7
_PORTABLE, _MAPPED = 1, 2  # of both kinds of page-locked memory
_HOST_REGISTER_FLAGS = 15


def allocated(
    size: int, kind: AllocationKind, flags: int = 0, *, pool: Pool | None = None
) -> DriverAllocation:
    """Allocate memory in the current context; ``pool`` is the pool to take device memory from."""
    context = process.current()
    if size == 0:
        raise Refusal("INVALID_VALUE", "the size is 0")
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


@call(1)
def cuMemAlloc(bytesize: int) -> CUdeviceptr:
    """Allocate device memory; its contents are undefined, here zeros."""
    return CUdeviceptr(allocated(bytesize, AllocationKind.DEVICE).address)


@call(1)
def cuMemAllocAsync(bytesize: int, hStream: Handle) -> CUdeviceptr:
    """Allocate memory from the device's current pool, in a stream; null for 0 bytes."""
    stream = stream_of_allocation(hStream)
    if bytesize == 0:
        return CUdeviceptr(0)
    pool = process.pools_of(stream.context.device.ordinal).current
    return CUdeviceptr(allocated(bytesize, AllocationKind.DEVICE, pool=pool).address)


@call(2)
def cuMemAllocPitch(
    WidthInBytes: int, Height: int, ElementSizeBytes: int
) -> tuple[CUdeviceptr, int]:
    """Allocate device memory for rows; return the address and the pitch."""
    if ElementSizeBytes not in (4, 8, 16):
        raise Refusal(
            "INVALID_VALUE", f"ElementSizeBytes is {ElementSizeBytes}; it must be 4, 8 or 16"
        )
    pitch = -(-WidthInBytes // _PITCH) * _PITCH
    return CUdeviceptr(allocated(pitch * Height, AllocationKind.DEVICE).address), pitch


@call(1)
def cuMemAllocManaged(bytesize: int, flags: int) -> CUdeviceptr:
    """Allocate memory with one address for the host and every device."""
    if flags not in _ATTACH_FLAGS:
        raise Refusal("INVALID_VALUE", f"{flags:#x} is not one of CUmemAttach_flags")
    return CUdeviceptr(allocated(bytesize, AllocationKind.MANAGED, flags).address)


@call(waits=True)
def cuMemFree(dptr: Handle) -> None:
    """Free device or managed memory; null is allowed."""
    process.current()
    address = handle_value(dptr)
    if address:
        process.allocations.release(address, *DEVICE_KINDS)


@call()
def cuMemFreeAsync(dptr: Handle, hStream: Handle) -> None:
    """Free device memory, in the order of a stream; null is allowed."""
    stream = process.stream(hStream)
    if stream.branch is not None:
        raise Refusal("INVALID_VALUE", "the memory was not allocated in the capture")
    process.captures.check_unsafe()
    process.ready(stream.context.device)
    address = handle_value(dptr)
    if not address:
        return
    buffer = process.allocations.find(address)
    if buffer is not None and buffer.kind is AllocationKind.MANAGED:
        raise Refusal("NOT_SUPPORTED", "managed memory is not freed in the order of a stream")
    process.allocations.release(address, AllocationKind.DEVICE)


def stream_of_allocation(handle: Handle) -> Stream:
    """Return the stream in whose order memory is allocated.

    Raises:
        Refusal: It is capturing (nodes that allocate memory are not implemented), or another
            capture does not permit the call.
    """
    stream = process.stream(handle)
    if stream.branch is not None:
        stream.branch.capture.invalidate()
        words = "the emulated device does not capture allocations (cuMemAllocAsync)"
        raise Refusal("NOT_SUPPORTED", words)
    process.captures.check_unsafe()
    return stream


@call(1)
def cuMemAllocHost(bytesize: int) -> int:
    """Allocate page-locked host memory, accessible to kernels; for 0 bytes return null."""
    if bytesize == 0:
        process.current()
        return 0
    return allocated(bytesize, AllocationKind.PAGE_LOCKED).address


@call(1)
def cuMemHostAlloc(bytesize: int, Flags: int) -> int:
    """Allocate page-locked host memory, accessible to kernels; for 0 bytes return null."""
    if Flags & ~_HOST_ALLOC_FLAGS:
        raise Refusal("INVALID_VALUE", f"{Flags:#x} is not a combination of CU_MEMHOSTALLOC flags")
    if bytesize == 0:
        process.current()
        return 0
    return allocated(bytesize, AllocationKind.PAGE_LOCKED, Flags).address


@call(waits=True)
def cuMemFreeHost(p: HostPointer) -> None:
    """Free page-locked host memory; null is allowed."""
    process.current()
    if address_of(p):
        process.allocations.release(address_of(p), AllocationKind.PAGE_LOCKED)


@call()
def cuMemHostRegister(p: HostPointer, bytesize: int, Flags: int) -> None:
    """Register the program's own host memory for access by kernels."""
    context, address = process.current(), address_of(p)
    if bytesize == 0 or address == 0 or Flags & ~_HOST_REGISTER_FLAGS:
        raise Refusal(
            "INVALID_VALUE",
            "the pointer is null, the size is 0 or CU_MEMHOSTREGISTER flags are unknown",
        )
    for place in (address, address + bytesize - 1):
        found = process.allocations.find(place)
        if found is not None and found.kind is AllocationKind.REGISTERED:
            words = f"part of the range at {address:#x} is registered"
            raise Refusal("HOST_MEMORY_ALREADY_REGISTERED", words)
        if found is not None or process.virtual.is_reserved(place):
            raise Refusal("INVALID_VALUE", f"{place:#x} is not memory of the program's own")
    memory = process.register(address, bytesize, AllocationKind.REGISTERED.value)
    process.allocations.add(
        DriverAllocation(address, bytesize, AllocationKind.REGISTERED, context, memory, Flags)
    )


@call(waits=True)
def cuMemHostUnregister(p: HostPointer) -> None:
    """Undo `cuMemHostRegister`."""
    process.current()
    address = address_of(p)
    is_unknown = address and process.allocations.find(address) is None
    refusal = "HOST_MEMORY_NOT_REGISTERED" if is_unknown else "INVALID_VALUE"
    process.allocations.release(address, AllocationKind.REGISTERED, refusal=refusal)


@call(1)
def cuMemHostGetDevicePointer(p: HostPointer, Flags: int) -> CUdeviceptr:
    """Return the device address of page-locked memory: the same as the host's."""
    process.current()
    address = address_of(p)
    if Flags != 0:
        raise Refusal("INVALID_VALUE", "Flags must be 0")
    _page_locked(address)
    return CUdeviceptr(address)


@call(1)
def cuMemHostGetFlags(p: HostPointer) -> int:
    """Return the flags of page-locked or managed memory: it is mapped, whatever they were."""
    process.current()
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


@call(2)
def cuMemGetInfo() -> tuple[int, int]:
    """Return free and total bytes of the current device."""
    memory = process.current().device.memory
    return memory.capacity - memory.used, memory.capacity


@call(2)
def cuMemGetAddressRange(dptr: Handle) -> tuple[CUdeviceptr, int]:
    """Return base and size of the allocation that contains an address."""
    process.current()
    address = handle_value(dptr)
    memory = process.memory_at(address)
    mapped = process.virtual.find(address)
    if memory is not None and mapped is not None:
        return CUdeviceptr(mapped[1].address), mapped[1].size
    allocation = memory.find(address) if memory else None
    if allocation is None:
        raise Refusal("NOT_FOUND", f"{address:#x} is not in any allocation")
    return CUdeviceptr(allocation.base), allocation.size


# --- copies --------------------------------------------------------------------------------------


def device_bytes(pointer: Handle, size: int, *, to_write: bool = False) -> Bytes:
    """Return memory that the device can access; ``to_write`` if all of it will be written."""
    address = handle_value(pointer)
    memory = process.memory_at(address)
    if memory is None and size:
        raise Refusal("INVALID_VALUE", f"{address:#x} is not a device address")
    return bytes_anywhere(memory, address, size, to_write=to_write)


def any_bytes(pointer: HostPointer, size: int, *, to_write: bool = False) -> Bytes:
    """Return memory of a device or of the host, by its address."""
    address = address_of(pointer)
    memory = process.memory_at(address)
    if memory is None and process.virtual.is_reserved(address):
        raise Refusal("INVALID_VALUE", f"no device can access {address:#x}")
    return bytes_anywhere(memory, address, size, to_write=to_write)


def given_host_bytes(data: HostPointer, size: int, *, to_write: bool = False) -> Bytes:
    """Return memory that is given as the host's; as on a GPU, it may be that of a device."""
    address = address_of(data)
    if address == 0 and size:
        raise Refusal("INVALID_VALUE", "the host pointer is null")
    buffer = process.allocations.find(address)
    if (buffer is not None and not buffer.on_host) or process.virtual.is_reserved(address):
        return any_bytes(address, size, to_write=to_write)
    return host_bytes(address, size)


def _copy(target: Bytes, source: Bytes) -> None:
    process.current()
    target[:] = source


def _copy_in_stream(
    target: Callable[..., Bytes], source: Callable[..., Bytes], stream: Handle
) -> None:
    """Copy in a stream; the functions return the memory, now and when a graph is launched."""

    def work() -> None:
        target(to_write=True)[:] = source()

    nothing = not len(target()) + len(source())  # may refuse
    process.submit(process.stream(stream), *[] if nothing else [copy_operation(work)])


def copy_operation(work: Callable[[], None]) -> Operation:
    """Return the operation of a copy."""
    return of_host(CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY, work)


@call(waits=True)
def cuMemcpyHtoD(dstDevice: Handle, srcHost: HostPointer, ByteCount: int) -> None:
    """Copy from the host to a device."""
    _copy(device_bytes(dstDevice, ByteCount, to_write=True), given_host_bytes(srcHost, ByteCount))


@call(waits=True)
def cuMemcpyDtoH(dstHost: HostPointer, srcDevice: Handle, ByteCount: int) -> None:
    """Copy from a device to the host."""
    target = given_host_bytes(dstHost, ByteCount, to_write=True)
    _copy(target, device_bytes(srcDevice, ByteCount))


@call(waits=True)
def cuMemcpyDtoD(dstDevice: Handle, srcDevice: Handle, ByteCount: int) -> None:
    """Copy from device memory to device memory, of another device too."""
    _copy(device_bytes(dstDevice, ByteCount, to_write=True), device_bytes(srcDevice, ByteCount))


@call(waits=True)
def cuMemcpy(dst: HostPointer, src: HostPointer, ByteCount: int) -> None:
    """Copy between any two addresses."""
    _copy(any_bytes(dst, ByteCount, to_write=True), any_bytes(src, ByteCount))


@call(waits=True)
def cuMemcpyPeer(
    dstDevice: Handle, dstContext: Handle, srcDevice: Handle, srcContext: Handle, ByteCount: int
) -> None:
    """Copy from a context's memory to another's."""
    process.context(dstContext), process.context(srcContext)
    _copy(device_bytes(dstDevice, ByteCount, to_write=True), device_bytes(srcDevice, ByteCount))


@enqueue()
def cuMemcpyPeerAsync(
    dstDevice: Handle,
    dstContext: Handle,
    srcDevice: Handle,
    srcContext: Handle,
    ByteCount: int,
    hStream: Handle,
) -> None:
    """Copy from a context's memory to another's, in a stream."""
    process.context(dstContext), process.context(srcContext)
    process.stream(hStream).check_not_capturing()
    target = partial(device_bytes, dstDevice, ByteCount)
    _copy_in_stream(target, partial(device_bytes, srcDevice, ByteCount), hStream)


@enqueue()
def cuMemcpyHtoDAsync(
    dstDevice: Handle, srcHost: HostPointer, ByteCount: int, hStream: Handle
) -> None:
    """Copy from the host to a device, in a stream."""
    target = partial(device_bytes, dstDevice, ByteCount)
    _copy_in_stream(target, partial(given_host_bytes, srcHost, ByteCount), hStream)


@enqueue()
def cuMemcpyDtoHAsync(
    dstHost: HostPointer, srcDevice: Handle, ByteCount: int, hStream: Handle
) -> None:
    """Copy from a device to the host, in a stream."""
    target = partial(given_host_bytes, dstHost, ByteCount)
    _copy_in_stream(target, partial(device_bytes, srcDevice, ByteCount), hStream)


@enqueue()
def cuMemcpyDtoDAsync(
    dstDevice: Handle, srcDevice: Handle, ByteCount: int, hStream: Handle
) -> None:
    """Copy from device memory to device memory, in a stream."""
    target = partial(device_bytes, dstDevice, ByteCount)
    _copy_in_stream(target, partial(device_bytes, srcDevice, ByteCount), hStream)


@enqueue()
def cuMemcpyAsync(dst: HostPointer, src: HostPointer, ByteCount: int, hStream: Handle) -> None:
    """Copy between any two addresses, in a stream."""
    target = partial(any_bytes, dst, ByteCount)
    _copy_in_stream(target, partial(any_bytes, src, ByteCount), hStream)


# --- fills ---------------------------------------------------------------------------------------


def _fill(pointer: Handle, value: int, count: int, width: int) -> None:
    process.current()
    check_alignment(pointer, width)
    fill(device_bytes(pointer, count * width, to_write=True), value, width)


def _fill_in_stream(pointer: Handle, value: int, count: int, width: int, stream: Handle) -> None:
    def work() -> None:
        fill(device_bytes(pointer, count * width, to_write=True), value, width)

    check_alignment(pointer, width)
    nothing = not len(device_bytes(pointer, count * width))  # may refuse
    process.submit(process.stream(stream), *[] if nothing else [fill_operation(work)])


def fill_operation(work: Callable[[], None]) -> Operation:
    """Return the operation of a fill."""
    return of_host(CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET, work)


def check_alignment(pointer: Handle, width: int) -> None:
    """Raise `Refusal` if an address is not aligned for items of ``width`` bytes."""
    if handle_value(pointer) % width:
        raise Refusal("INVALID_VALUE", f"the address is not a multiple of {width}")


@call(waits=True)
def cuMemsetD8(dstDevice: Handle, uc: int, N: int) -> None:
    """Set ``N`` bytes."""
    _fill(dstDevice, uc, N, 1)


@call(waits=True)
def cuMemsetD16(dstDevice: Handle, us: int, N: int) -> None:
    """Set ``N`` items of 2 bytes."""
    _fill(dstDevice, us, N, 2)


@call(waits=True)
def cuMemsetD32(dstDevice: Handle, ui: int, N: int) -> None:
    """Set ``N`` items of 4 bytes."""
    _fill(dstDevice, ui, N, 4)


@enqueue()
def cuMemsetD8Async(dstDevice: Handle, uc: int, N: int, hStream: Handle) -> None:
    """Set ``N`` bytes, in a stream."""
    _fill_in_stream(dstDevice, uc, N, 1, hStream)


@enqueue()
def cuMemsetD16Async(dstDevice: Handle, us: int, N: int, hStream: Handle) -> None:
    """Set ``N`` items of 2 bytes, in a stream."""
    _fill_in_stream(dstDevice, us, N, 2, hStream)


@enqueue()
def cuMemsetD32Async(dstDevice: Handle, ui: int, N: int, hStream: Handle) -> None:
    """Set ``N`` items of 4 bytes, in a stream."""
    _fill_in_stream(dstDevice, ui, N, 4, hStream)
