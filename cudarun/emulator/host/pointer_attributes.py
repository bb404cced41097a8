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
_READ_WRITE = 3  # CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE


def of_allocation(buffer: DriverAllocation, address: int) -> Values:
    """Return the attributes of an address in an allocation or a registration."""
    is_managed = buffer.kind is AllocationKind.MANAGED
    return _numbered(
        {
            Attribute.CU_POINTER_ATTRIBUTE_CONTEXT: CUcontext(buffer.context.handle),
            Attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE: int(_DEVICE if buffer.on_device else _HOST),
            Attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER: CUdeviceptr(address),
            Attribute.CU_POINTER_ATTRIBUTE_HOST_POINTER: address if buffer.on_host else None,
            Attribute.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: is_managed,
            Attribute.CU_POINTER_ATTRIBUTE_BUFFER_ID: buffer.number,
            Attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED: is_managed,
            Attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: buffer.context.device.ordinal,
            Attribute.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: CUdeviceptr(buffer.address),
            Attribute.CU_POINTER_ATTRIBUTE_RANGE_SIZE: buffer.size,
            Attribute.CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: _READ_WRITE,
            Attribute.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: CUmemoryPool(
                0 if buffer.pool is None else buffer.pool.handle
            ),
        }
    )


def of_mapping(reservation: Reservation, mapping: Mapping, address: int, ordinal: int) -> Values:
    """Return the attributes of a mapped address for a device.

    The range is the whole reservation; there is a device address once the device has access.
    """
    is_accessible = ordinal in mapping.devices
    return _numbered(
        {
            Attribute.CU_POINTER_ATTRIBUTE_CONTEXT: CUcontext(0),
            Attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE: int(_DEVICE),
            Attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER: CUdeviceptr(address)
            if is_accessible
            else None,
            Attribute.CU_POINTER_ATTRIBUTE_HOST_POINTER: None,
            Attribute.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: False,
            Attribute.CU_POINTER_ATTRIBUTE_BUFFER_ID: mapping.physical.number,
            Attribute.CU_POINTER_ATTRIBUTE_IS_MANAGED: False,
            Attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: mapping.physical.device.ordinal,
            Attribute.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: CUdeviceptr(reservation.address),
            Attribute.CU_POINTER_ATTRIBUTE_RANGE_SIZE: reservation.size,
            Attribute.CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: _READ_WRITE if is_accessible else 0,
            Attribute.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: CUmemoryPool(0),
        }
    )


def of_nothing(address: int) -> Values:
    """Return what ``cuPointerGetAttributes`` reports for memory unknown to CUDA."""
    values: dict[Attribute, object] = {
        Attribute.CU_POINTER_ATTRIBUTE_CONTEXT: CUcontext(0),
        Attribute.CU_POINTER_ATTRIBUTE_DEVICE_POINTER: CUdeviceptr(0),
        Attribute.CU_POINTER_ATTRIBUTE_HOST_POINTER: address,
        Attribute.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: CUdeviceptr(0),
        Attribute.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: CUmemoryPool(0),
    }
    return {int(key): value for key, value in values.items()}


def _numbered(values: dict[Attribute, object]) -> Values:
    same_for_all: dict[Attribute, object] = {
        Attribute.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: False,
        Attribute.CU_POINTER_ATTRIBUTE_MAPPED: True,
        Attribute.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: 0,
        Attribute.CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: 0,
    }
    return {int(key): value for key, value in (values | same_for_all).items()}
