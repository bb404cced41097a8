"""Attributes of addresses: driver API, section 6.17 (unified addressing).

Each function returns the values by the number of their ``CUpointer_attribute``, as the bindings do;
``None`` is an attribute that is not defined for the memory.
"""

from __future__ import annotations

from cuda.bindings.driver import CUcontext, CUdeviceptr, CUmemoryPool, CUmemorytype
from cuda.bindings.driver import CUpointer_attribute as Attribute

from cudarun.emulator.host.allocations import AllocationKind, DriverAllocation
from cudarun.emulator.host.virtual_memory import Mapping, Reservation

Values = dict[int, object]

_HOST, _DEVICE = CUmemorytype.CU_MEMORYTYPE_HOST, CUmemorytype.CU_MEMORYTYPE_DEVICE
_OF_ALL = {
    "IS_LEGACY_CUDA_IPC_CAPABLE": False,
    "MAPPED": True,
    "ALLOWED_HANDLE_TYPES": 0,
    "IS_GPU_DIRECT_RDMA_CAPABLE": 0,
}
_READ_WRITE = 3  # CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE


def allocation_attributes(buffer: DriverAllocation, address: int) -> Values:
    """Return the attributes of an address in an allocation or a registration."""
    pool = 0 if buffer.pool is None else buffer.pool.handle
    return _values(
        CONTEXT=CUcontext(buffer.context.handle),
        MEMORY_TYPE=int(_DEVICE if buffer.on_device else _HOST),
        DEVICE_POINTER=CUdeviceptr(address),
        HOST_POINTER=address if buffer.on_host else None,
        IS_MANAGED=buffer.kind is AllocationKind.MANAGED,
        SYNC_MEMOPS=buffer.kind is AllocationKind.MANAGED,
        BUFFER_ID=buffer.number,
        DEVICE_ORDINAL=buffer.context.device.ordinal,
        RANGE_START_ADDR=CUdeviceptr(buffer.address),
        RANGE_SIZE=buffer.size,
        ACCESS_FLAGS=_READ_WRITE,
        MEMPOOL_HANDLE=CUmemoryPool(pool),
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
        CONTEXT=CUcontext(0),
        MEMORY_TYPE=int(_DEVICE),
        DEVICE_POINTER=CUdeviceptr(address) if is_accessible else None,
        HOST_POINTER=None,
        IS_MANAGED=False,
        SYNC_MEMOPS=False,
        BUFFER_ID=mapping.physical.number,
        DEVICE_ORDINAL=mapping.physical.device.ordinal,
        RANGE_START_ADDR=CUdeviceptr(reservation.address),
        RANGE_SIZE=reservation.size,
        ACCESS_FLAGS=_READ_WRITE if is_accessible else 0,
        MEMPOOL_HANDLE=CUmemoryPool(0),
        **_OF_ALL,
    )


def unknown_attributes(address: int) -> Values:
    """Return what ``cuPointerGetAttributes`` reports for memory unknown to CUDA."""
    return _values(
        CONTEXT=CUcontext(0),
        DEVICE_POINTER=CUdeviceptr(0),
        HOST_POINTER=address,
        RANGE_START_ADDR=CUdeviceptr(0),
        MEMPOOL_HANDLE=CUmemoryPool(0),
    )


def _values(**values: object) -> Values:
    """Return values by the numbers of their attributes, from those by the ends of their names."""
    return {
        int(getattr(Attribute, f"CU_POINTER_ATTRIBUTE_{name}")): values[name] for name in values
    }
