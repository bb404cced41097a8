"""Unified addressing: driver API, section 6.17."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from collections.abc import Sequence

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import call, enqueue
from cudarun.emulator.api.handles import StreamHandle
from cudarun.emulator.host.allocations import AllocationKind, DriverAllocation
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.host.virtual_memory import Mapping, Reservation

Values = dict[int, object]
"""Values by the numbers of their attributes, as the bindings have them; ``None`` is an attribute
that is not defined for the memory."""

_HOST, _DEVICE = cuda.CUmemorytype.CU_MEMORYTYPE_HOST, cuda.CUmemorytype.CU_MEMORYTYPE_DEVICE
_OF_ALL = {
    "IS_LEGACY_CUDA_IPC_CAPABLE": False,
    "MAPPED": True,
    "ALLOWED_HANDLE_TYPES": 0,
    "IS_GPU_DIRECT_RDMA_CAPABLE": 0,
}
_READ_WRITE = 3  # CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE


@call()
def cuPointerGetAttribute(attribute: cuda.CUpointer_attribute, ptr: Handle) -> object:
    """Return an attribute of an address."""
    address, number = handle_value(ptr), int(attribute)
    values = _attributes(address)
    if values is None:
        raise Refusal("INVALID_VALUE", f"{address:#x} is not a CUDA allocation")
    if (value := values.get(number)) is None:
        words = f"pointer attribute {number} is not available for the memory at {address:#x}"
        raise Refusal("INVALID_VALUE", words)
    return value


@call()
def cuPointerGetAttributes(
    numAttributes: int, attributes: Sequence[cuda.CUpointer_attribute], ptr: Handle
) -> list[object]:
    """Return several attributes of an address; zeros where they are not defined."""
    if len(attributes) < numAttributes:
        raise RuntimeError(f"List is too small: {len(attributes)} < {numAttributes}")
    address = handle_value(ptr)
    values = _attributes(address)
    if values is None:
        values = unknown_attributes(address)
    found = [values.get(int(attribute)) for attribute in attributes[:numAttributes]]
    return [0 if value is None else value for value in found]


def _attributes(address: int) -> Values | None:
    """Return the attributes of an address; ``None`` for memory unknown to CUDA."""
    mapped = process.virtual.find(address)
    if mapped is not None:
        context = process.stack.top
        ordinal = -1 if context is None else context.device.ordinal
        return mapping_attributes(*mapped, address, ordinal)
    buffer = process.allocations.find(address)
    return None if buffer is None else allocation_attributes(buffer, address)


@enqueue()
def cuMemPrefetchAsync(
    devPtr: Handle, count: int, location: object, *flags_and_stream: object
) -> None:
    """Prefetch managed memory; no effect here."""
    _managed(devPtr, count)


@call()
def cuMemAdvise(devPtr: Handle, count: int, advice: cuda.CUmem_advise, location: object) -> None:
    """Give advice on managed memory; no effect here."""
    _managed(devPtr, count)


@enqueue()
def cuStreamAttachMemAsync(hStream: StreamHandle, dptr: Handle, length: int, flags: int) -> None:
    """Attach managed memory to a stream; no effect here."""
    hStream.check_not_capturing()
    _managed(dptr, length)


def _managed(pointer: Handle, count: int) -> None:
    address = handle_value(pointer)
    if process.host_memory.find(address) is None:
        raise Refusal("INVALID_VALUE", f"{address:#x} is not managed memory")
    process.host_memory.bytes_at(address, count)


def allocation_attributes(buffer: DriverAllocation, address: int) -> Values:
    """Return the attributes of an address in an allocation or a registration."""
    pool = 0 if buffer.pool is None else buffer.pool.handle
    return _values(
        CONTEXT=cuda.CUcontext(buffer.context.handle),
        MEMORY_TYPE=int(_DEVICE if buffer.on_device else _HOST),
        DEVICE_POINTER=cuda.CUdeviceptr(address),
        HOST_POINTER=address if buffer.on_host else None,
        IS_MANAGED=buffer.kind is AllocationKind.MANAGED,
        SYNC_MEMOPS=buffer.kind is AllocationKind.MANAGED,
        BUFFER_ID=buffer.number,
        DEVICE_ORDINAL=buffer.context.device.ordinal,
        RANGE_START_ADDR=cuda.CUdeviceptr(buffer.address),
        RANGE_SIZE=buffer.size,
        ACCESS_FLAGS=_READ_WRITE,
        MEMPOOL_HANDLE=cuda.CUmemoryPool(pool),
        **_OF_ALL,
    )


def mapping_attributes(
    reservation: Reservation, mapping: Mapping, address: int, ordinal: int
) -> Values:
    """Return the attributes of a mapped address for a device.

    The range is the whole reservation; there is a device address once the device has access.
    """
    is_accessible = ordinal in mapping.devices
    return _values(
        CONTEXT=cuda.CUcontext(0),
        MEMORY_TYPE=int(_DEVICE),
        DEVICE_POINTER=cuda.CUdeviceptr(address) if is_accessible else None,
        HOST_POINTER=None,
        IS_MANAGED=False,
        SYNC_MEMOPS=False,
        BUFFER_ID=mapping.physical.number,
        DEVICE_ORDINAL=mapping.physical.device.ordinal,
        RANGE_START_ADDR=cuda.CUdeviceptr(reservation.address),
        RANGE_SIZE=reservation.size,
        ACCESS_FLAGS=_READ_WRITE if is_accessible else 0,
        MEMPOOL_HANDLE=cuda.CUmemoryPool(0),
        **_OF_ALL,
    )


def unknown_attributes(address: int) -> Values:
    """Return what ``cuPointerGetAttributes`` reports for memory unknown to CUDA."""
    return _values(
        CONTEXT=cuda.CUcontext(0),
        DEVICE_POINTER=cuda.CUdeviceptr(0),
        HOST_POINTER=address,
        RANGE_START_ADDR=cuda.CUdeviceptr(0),
        MEMPOOL_HANDLE=cuda.CUmemoryPool(0),
    )


def _values(**values: object) -> Values:
    """Return values by the numbers of their attributes, from those by the ends of their names."""
    return {
        int(getattr(cuda.CUpointer_attribute, f"CU_POINTER_ATTRIBUTE_{name}")): values[name]
        for name in values
    }
