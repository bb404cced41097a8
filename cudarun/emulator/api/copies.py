"""Copies of consecutive bytes: driver API, section 6.13."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from cuda.bindings.driver import CUgraphNodeType

from cudarun.emulator.api.calls import call, enqueue, generated
from cudarun.emulator.api.handles import array_of
from cudarun.emulator.host.addresses import (
    Bytes,
    HostPointer,
    RemoteBytes,
    address_of,
    host_bytes,
    move,
)
from cudarun.emulator.host.captures import CaptureRule
from cudarun.emulator.host.graphs import Operation
from cudarun.emulator.host.handles import Handle, handle_value
from cudarun.emulator.host.process import Wait, process
from cudarun.emulator.host.refusal import Refusal, refuse_if

# The calls with a target and a source, and their documentation. A parameter with a type is memory
# of that kind; an ``offset`` is in the array before it, a ``context`` that of the memory before it.
_COPIES = """
cuMemcpy(dst: memory, src: memory, ByteCount)
    Copy between any two addresses
cuMemcpyHtoD(dstDevice: device, srcHost: host, ByteCount)
    Copy from the host to a device
cuMemcpyDtoH(dstHost: host, srcDevice: device, ByteCount)
    Copy from a device to the host
cuMemcpyDtoD(dstDevice: device, srcDevice: device, ByteCount)
    Copy from device memory to device memory, of another device too
cuMemcpyPeer(dstDevice: device, dstContext: context, srcDevice: device, srcContext: context, \
ByteCount)
    Copy from a context's memory to another's
cuMemcpyHtoA(dstArray: array, dstOffset: offset, srcHost: host, ByteCount)
    Copy from the host to an array of one dimension
cuMemcpyAtoH(dstHost: host, srcArray: array, srcOffset: offset, ByteCount)
    Copy from an array of one dimension to the host
cuMemcpyDtoA(dstArray: array, dstOffset: offset, srcDevice: device, ByteCount)
    Copy from device memory to an array of one dimension
cuMemcpyAtoD(dstDevice: device, srcArray: array, srcOffset: offset, ByteCount)
    Copy from an array of one dimension to device memory
cuMemcpyAtoA(dstArray: array, dstOffset: offset, srcArray: array, srcOffset: offset, ByteCount)
    Copy from an array of one dimension to another
"""
_WITHOUT_STREAM = ("cuMemcpyDtoA", "cuMemcpyAtoD", "cuMemcpyAtoA")
_ROW = re.compile(r"(\w+)\((.*), ByteCount\)\n +(.+)")
_TYPES = {"offset": "int", "host": "HostPointer", "memory": "HostPointer"}


def device_bytes(pointer: Handle, size: int, *, to_write: bool = False) -> Bytes:
    """Return memory that the device can access; ``to_write`` if all of it will be written."""
    address = handle_value(pointer)
    memory = process.memory_at(address)
    if memory is None:
        refuse_if(size, f"{address:#x} is not a device address")
        return np.empty(0, np.uint8)
    return memory.bytes_at(address, size, to_write=to_write)


def any_bytes(pointer: HostPointer, size: int, *, to_write: bool = False) -> Bytes | RemoteBytes:
    """Return memory of a device or of the host, by its address."""
    address = address_of(pointer)
    memory = process.memory_at(address)
    if memory is None and process.virtual.is_reserved(address):
        raise Refusal("INVALID_VALUE", f"no device can access {address:#x}")
    if memory is None:
        return host_bytes(address, size)
    return memory.bytes_at(address, size, to_write=to_write)


def host_pointer_bytes(
    data: HostPointer, size: int, *, to_write: bool = False
) -> Bytes | RemoteBytes:
    """Return memory that is given as the host's; as on a GPU, it may be that of a device."""
    address = address_of(data)
    refuse_if(address == 0 and size, "the host pointer is null")
    buffer = process.allocations.find(address)
    if (buffer is not None and not buffer.on_host) or process.virtual.is_reserved(address):
        return any_bytes(address, size, to_write=to_write)
    return host_bytes(address, size)


def array_bytes(handle: Handle, offset: int, size: int, *, to_write: bool = False) -> Bytes:
    """Return bytes of an array's first row, which need not be whole texels."""
    array = array_of(handle)
    width = array.size[2]
    words = f"{size} bytes at offset {offset} exceed the array's row of {width} bytes"
    refuse_if(offset + size > width, words)
    first = slice(1)
    part: Bytes = array.box((first, first, slice(offset, offset + size)), to_write=to_write)[0, 0]
    return part


MEMORY: dict[str, Callable[..., Bytes | RemoteBytes]] = {
    "device": device_bytes,
    "memory": any_bytes,
    "host": host_pointer_bytes,
    "array": array_bytes,
}


def is_pageable(*sides: Bytes | RemoteBytes) -> bool:
    """Return whether a side of a copy is memory that the program may change when a call returns."""
    return any(isinstance(side, RemoteBytes) for side in sides)


def copy_operation(work: Callable[[], None], target: Bytes | RemoteBytes) -> Operation:
    """Return the operation of a copy."""
    operation = Operation(CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY, work)
    operation.writes_pageable = is_pageable(target)
    return operation


def _sides(kinds: Sequence[str], values: Sequence[Any]) -> list[Callable[..., Bytes | RemoteBytes]]:
    """Return the functions that return the memory of the target and of the source."""
    sides: list[Callable[..., Bytes | RemoteBytes]] = []
    *operands, size = values
    for kind, value in zip(kinds, operands, strict=True):
        if kind == "context":
            process.context(value)
        elif kind == "offset":
            sides.append(partial(sides.pop(), value))
        else:
            sides.append(partial(MEMORY[kind], value))
    return [partial(side, size) for side in sides]


def _copy(kinds: Sequence[str], *values: Any) -> None:
    target, source = _sides(kinds, values)
    written, read = target(to_write=True), source()
    process.current()
    move(written, read)


def copy_in_stream(kinds: Sequence[str], *values: Any) -> None:
    """Copy between sides of some kinds; target, source, size and stream are given."""
    *operands, stream = values
    target, source = _sides(kinds, operands)

    def work() -> None:  # now, or when a graph is launched
        move(target(to_write=True), source())

    if "context" in kinds:
        process.stream(stream).check_not_capturing()
    sides = target(), source()  # may refuse
    operations = [copy_operation(work, sides[0])] if any(map(len, sides)) else []
    process.submit(process.stream(stream), *operations, waits=is_pageable(*sides))


def _declare(name: str, parameters: str, text: str) -> None:
    kinds = dict(each.split(": ") for each in parameters.split(", "))
    types = {each: _TYPES.get(kind, "Handle") for each, kind in kinds.items()}
    types["ByteCount"] = "int"
    work = partial(_copy, [*kinds.values()])
    rule = CaptureRule.LEGACY_STREAM
    call(waits=Wait.BLOCKING, during_capture=rule)(
        generated(__name__, name, types, f"{text}.", work)
    )
    if name not in _WITHOUT_STREAM:
        types["hStream"] = "Handle"
        work = partial(copy_in_stream, [*kinds.values()])
        text = f"{text}, in a stream."
        enqueue()(generated(__name__, f"{name}Async", types, text, work))


for _row in _ROW.findall(_COPIES):
    _declare(*_row)
