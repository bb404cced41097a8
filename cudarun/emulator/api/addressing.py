"""Unified addressing: driver API, section 6.17."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsInt

from cuda.bindings import driver as cuda

from cudarun.emulator.api.calls import call, enqueue
from cudarun.emulator.api.handles import StreamHandle
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.hostmemory import Advice
from cudarun.emulator.host.pools import AllocationKind
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal, enum_field, enum_member

Values = dict[int, object]
"""Values by the numbers of their attributes, as the bindings have them; ``None`` is an attribute
that is not defined for the memory."""

_HOST, _DEVICE = cuda.CUmemorytype.CU_MEMORYTYPE_HOST, cuda.CUmemorytype.CU_MEMORYTYPE_DEVICE
_OF_MAPPINGS = {
    "CONTEXT": cuda.CUcontext(0),
    "MEMORY_TYPE": int(_DEVICE),
    "HOST_POINTER": None,
    "IS_LEGACY_CUDA_IPC_CAPABLE": False,
    "IS_MANAGED": False,
    "SYNC_MEMOPS": False,
    "MEMPOOL_HANDLE": cuda.CUmemoryPool(0),
    "MAPPED": True,
    "ALLOWED_HANDLE_TYPES": 0,
    "IS_GPU_DIRECT_RDMA_CAPABLE": 0,
}
_DEVICE_LOCATION = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
_HOST_LOCATION = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST
_ADVISE, _RANGE_ATTRIBUTE = "CU_MEM_ADVISE_", "CU_MEM_RANGE_ATTRIBUTE_"
_ACCESSED_BY = 3  # CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY
_CPU, _INVALID = -1, -2  # CU_DEVICE_CPU, CU_DEVICE_INVALID
_WORD = 4
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
        values = _values(
            CONTEXT=cuda.CUcontext(0),
            DEVICE_POINTER=cuda.CUdeviceptr(0),
            HOST_POINTER=address,
            RANGE_START_ADDR=cuda.CUdeviceptr(0),
            MEMPOOL_HANDLE=cuda.CUmemoryPool(0),
        )
    found = [values.get(int(attribute)) for attribute in attributes[:numAttributes]]
    return [0 if value is None else value for value in found]


def _attributes(address: int) -> Values | None:
    """Return the attributes of an address; ``None`` for memory unknown to CUDA.

    The range of a mapping is the whole reservation; it has a device address once the current
    context's device has access.
    """
    mapped, buffer = process.virtual.find(address), process.allocations.find(address)
    if mapped is not None:
        reservation, mapping = mapped
        top = process.stack.top
        is_accessible = top is not None and top.device.ordinal in mapping.devices
        return _values(
            DEVICE_POINTER=cuda.CUdeviceptr(address) if is_accessible else None,
            BUFFER_ID=mapping.physical.number,
            DEVICE_ORDINAL=mapping.physical.device.ordinal,
            RANGE_START_ADDR=cuda.CUdeviceptr(reservation.address),
            RANGE_SIZE=reservation.size,
            ACCESS_FLAGS=_READ_WRITE if is_accessible else 0,
            **_OF_MAPPINGS,
        )
    if buffer is None:
        return None
    pool, is_managed = buffer.pool, buffer.kind is AllocationKind.MANAGED
    own = {
        "CONTEXT": cuda.CUcontext(buffer.context.handle),
        "MEMORY_TYPE": int(_DEVICE if buffer.on_device else _HOST),
        "HOST_POINTER": address if buffer.on_host else None,
        "IS_LEGACY_CUDA_IPC_CAPABLE": buffer.kind is AllocationKind.DEVICE and pool is None,
        "IS_MANAGED": is_managed,
        "SYNC_MEMOPS": is_managed,
        "MEMPOOL_HANDLE": cuda.CUmemoryPool(0 if pool is None else pool.handle),
    }
    return _values(
        DEVICE_POINTER=cuda.CUdeviceptr(address),
        BUFFER_ID=buffer.number,
        DEVICE_ORDINAL=buffer.context.device.ordinal,
        RANGE_START_ADDR=cuda.CUdeviceptr(buffer.address),
        RANGE_SIZE=buffer.size,
        ACCESS_FLAGS=_READ_WRITE,
        **_OF_MAPPINGS | own,
    )


@enqueue()
def cuMemPrefetchAsync(
    devPtr: Handle, count: int, location: object, *flags_and_stream: object
) -> None:
    """Prefetch managed memory; no effect here, but noted."""
    prefetched(devPtr, count, location)


def prefetched(pointer: Handle, count: int, location: object) -> None:
    """Note that managed memory was prefetched; `Refusal` if a range is not managed."""
    address, place = handle_value(pointer), _place(location)
    managed(address, count).give(address, count, "LAST_PREFETCH_LOCATION", place)


@call()
def cuMemAdvise(devPtr: Handle, count: int, advice: cuda.CUmem_advise, location: object) -> None:
    """Give advice on managed memory; no effect here, but noted."""
    address = handle_value(devPtr)
    noted = managed(address, count)
    action, _, name = (
        enum_member(cuda.CUmem_advise, advice).name.removeprefix(_ADVISE).partition("_")
    )
    topic: object = name
    if name == "ACCESSED_BY":
        topic = name, _place(location)[1]
    value = _place(location) if name == "PREFERRED_LOCATION" else (1, 1)
    noted.give(address, count, topic, value if action == "SET" else None)


@call()
def cuMemRangeGetAttribute(
    dataSize: int, attribute: cuda.CUmem_range_attribute, devPtr: Handle, count: int
) -> object:
    """Return the advice of a program on a range of managed memory."""
    return range_attribute(dataSize, attribute, handle_value(devPtr), count)


@call()
def cuMemRangeGetAttributes(
    dataSizes: Sequence[int],
    attributes: Sequence[cuda.CUmem_range_attribute],
    numAttributes: int,
    devPtr: Handle,
    count: int,
) -> list[object]:
    """`cuMemRangeGetAttribute` for several attributes."""
    pairs = zip(dataSizes, attributes[:numAttributes], strict=False)
    return [range_attribute(size, at, handle_value(devPtr), count) for size, at in pairs]


def range_attribute(size: int, attribute: SupportsInt, address: int, count: int) -> object:
    """Return an attribute, one or several integers; `Refusal` if they do not have such a size."""
    number = int(attribute)
    name = enum_member(cuda.CUmem_range_attribute, number).name.removeprefix(_RANGE_ATTRIBUTE)
    advice = managed(address, count)
    if size % _WORD or not size or (size > _WORD and number != _ACCESSED_BY):
        raise Refusal("INVALID_VALUE", f"{size} bytes for {name}")
    if number == _ACCESSED_BY:
        ordinals = [_CPU, *range(len(process.devices))]
        given = [each for each in ordinals if advice.of(address, count, (name, each)) == {(1, 1)}]
        return [*given, *[_INVALID] * (size // _WORD)][: size // _WORD]
    topic, _, part = name.partition("_LOCATION")
    topic += "_LOCATION" * bool("_LOCATION" in name)
    values = advice.of(address, count, topic)
    [value] = values if len(values) == 1 else [None]
    if topic == "READ_MOSTLY":
        return int(value is not None)
    kind, place = value if isinstance(value, tuple) else (0, _INVALID)
    return kind if part == "_TYPE" else place


def _place(location: Any) -> tuple[int, int]:
    """Return the type and the number of a location; in CUDA 12 it is a device."""
    if hasattr(location, "type"):
        kind, number = int(enum_field(location, "type")), int(location.id)
    else:
        number = handle_value(location)
        number = number - (1 << 32) if number >= 1 << 31 else number
        kind = int(_HOST_LOCATION if number == _CPU else _DEVICE_LOCATION)
    if kind == _DEVICE_LOCATION:
        process.device(number)  # may refuse
    return kind, _CPU if kind == _HOST_LOCATION else number


@enqueue()
def cuStreamAttachMemAsync(hStream: StreamHandle, dptr: Handle, length: int, flags: int) -> None:
    """Attach managed memory to a stream; no effect here."""
    hStream.check_not_capturing()
    managed(dptr, length)


def managed(pointer: Handle, count: int) -> Advice:
    """Return the advice on managed memory; `Refusal` if a range is not managed."""
    address, memory = handle_value(pointer), process.host_memory
    found = memory.find(address)
    if found is None:
        raise Refusal("INVALID_VALUE", f"{address:#x} is not managed memory")
    memory.bytes_at(address, count)
    return memory.advice[found.base]


def _values(**values: object) -> Values:
    """Return values by the numbers of their attributes, from those by the ends of their names."""
    return {
        int(getattr(cuda.CUpointer_attribute, f"CU_POINTER_ATTRIBUTE_{name}")): values[name]
        for name in values
    }
