"""Unified addressing: driver API, section 6.17."""
# ruff: noqa: N802, N803 - the names are CUDA's

from __future__ import annotations

from collections.abc import Sequence

from cuda.bindings.driver import CUmem_advise, CUpointer_attribute

from cudarun.emulator.api.calls import call, enqueue
from cudarun.emulator.host.allocations import attribute_of_nothing
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import process
from cudarun.emulator.host.refusal import Refusal


@call(1)
def cuPointerGetAttribute(attribute: CUpointer_attribute, ptr: Handle) -> object:
    """Return an attribute of an address."""
    address = _known(ptr)
    buffer = process.allocations.find(address)
    if buffer is None:
        raise Refusal("INVALID_VALUE", f"{address:#x} is not a CUDA allocation")
    return buffer.attribute(attribute, address)


@call(1)
def cuPointerGetAttributes(
    numAttributes: int, attributes: Sequence[CUpointer_attribute], ptr: Handle
) -> list[object]:
    """Return several attributes of an address; zeros for memory unknown to the driver."""
    if len(attributes) < numAttributes:
        raise RuntimeError(f"List is too small: {len(attributes)} < {numAttributes}")
    address = _known(ptr)
    buffer = process.allocations.find(address)
    if buffer is None:
        return [attribute_of_nothing(attribute) for attribute in attributes[:numAttributes]]
    return [buffer.attribute(attribute, address) for attribute in attributes[:numAttributes]]


def _known(pointer: Handle) -> int:
    """Return an address; `Refusal` for reserved ones, whose attributes are not implemented."""
    address = handle_value(pointer)
    if process.virtual.is_reserved(address):
        words = "the emulated device does not support pointer attributes of reserved addresses"
        raise Refusal("NOT_SUPPORTED", words)
    return address


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
def cuStreamAttachMemAsync(hStream: Handle, dptr: Handle, length: int, flags: int) -> None:
    """Attach managed memory to a stream; no effect here."""
    process.stream(hStream).check_not_capturing()
    _managed(dptr, length)


def _managed(pointer: Handle, count: int) -> None:
    address = handle_value(pointer)
    if process.host_memory.find(address) is None:
        raise Refusal("INVALID_VALUE", f"{address:#x} is not managed memory")
    process.host_memory.bytes_at(address, count)
