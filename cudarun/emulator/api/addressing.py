"""Unified addressing: driver API, section 6.17."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from collections.abc import Sequence

from cuda.bindings.driver import CUmem_advise, CUpointer_attribute

from cudarun.emulator.api.calls import call, enqueue
from cudarun.emulator.api.handles import StreamHandle
from cudarun.emulator.host import pointer_attributes
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal


@call()
def cuPointerGetAttribute(attribute: CUpointer_attribute, ptr: Handle) -> object:
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
    numAttributes: int, attributes: Sequence[CUpointer_attribute], ptr: Handle
) -> list[object]:
    """Return several attributes of an address; zeros where they are not defined."""
    if len(attributes) < numAttributes:
        raise RuntimeError(f"List is too small: {len(attributes)} < {numAttributes}")
    address = handle_value(ptr)
    values = _attributes(address)
    if values is None:
        values = pointer_attributes.unknown_attributes(address)
    found = [values.get(int(attribute)) for attribute in attributes[:numAttributes]]
    return [0 if value is None else value for value in found]


def _attributes(address: int) -> pointer_attributes.Values | None:
    """Return the attributes of an address; ``None`` for memory unknown to CUDA."""
    mapped = process.virtual.find(address)
    if mapped is not None:
        context = process.stack.top
        ordinal = -1 if context is None else context.device.ordinal
        return pointer_attributes.mapping_attributes(*mapped, address, ordinal)
    buffer = process.allocations.find(address)
    return None if buffer is None else pointer_attributes.allocation_attributes(buffer, address)


@enqueue()
def cuMemPrefetchAsync(
    devPtr: Handle, count: int, location: object, *flags_and_stream: object
) -> None:
    """Prefetch managed memory; no effect here."""
    _managed(devPtr, count)


@call()
def cuMemAdvise(devPtr: Handle, count: int, advice: CUmem_advise, location: object) -> None:
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
