"""Driver calls of C and C++ programs whose arguments are more than values and structures.

They read arrays, options and images of the program, or give it memory to read.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

from cuda.bindings.driver import (
    CUjit_option,
    CUjit_target,
    CUjitInputType,
    CUlaunchAttribute,
    CUlaunchConfig,
    CUpointer_attribute,
    CUresult,
    CUstream,
)

from cudarun.emulator.api.calls import CALLS
from cudarun.emulator.host import addresses
from cudarun.emulator.host.addresses import host_read, host_text, read_pointers
from cudarun.emulator.host.images import image_bytes
from cudarun.emulator.server.client_memory import ClientMemory
from cudarun.emulator.server.connections import Outputs
from cudarun.emulator.server.marshalling import Slots, encoded

Answer = tuple[int, Outputs]

_ATTRIBUTE_BYTES = 72  # of a CUlaunchAttribute
_INVALID_VALUE = 1
_WIDE = ("CONTEXT", "POINTER", "ADDR", "SIZE", "ID", "HANDLE")  # attributes of 8 bytes
# Options whose value is a buffer of the program, if the option with its size is given.
_BUFFERS = {
    CUjit_option.CU_JIT_INFO_LOG_BUFFER: CUjit_option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
    CUjit_option.CU_JIT_ERROR_LOG_BUFFER: CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
}
_placed: dict[bytes, int] = {}


def placed(data: bytes) -> int:
    """Put bytes where the program can read them, once; return the address there."""
    if data not in _placed:
        assert isinstance(addresses.host, ClientMemory)
        _placed[data] = addresses.host.place(data)
    return _placed[data]


def _call(name: str, *arguments: Any, outputs: Sequence[int] = ()) -> Answer:
    """Make a driver call; its results are numbers of 8 bytes."""
    result, *values = CALLS[name](*arguments)
    if result:
        return int(result), ()
    pairs = zip(outputs, values, strict=True)
    return 0, [(at, encoded(value, 8)) for at, value in pairs if at]


# --- launches ------------------------------------------------------------------------------------


def launch_config(
    geometry: Sequence[int], shared: int, stream: int, attributes: int, count: int
) -> CUlaunchConfig:
    """Return the configuration of a launch, with an array of attributes of the program."""
    made = CUlaunchConfig()
    made.gridDimX, made.gridDimY, made.gridDimZ = geometry[:3]
    made.blockDimX, made.blockDimY, made.blockDimZ = geometry[3:6]
    made.sharedMemBytes, made.hStream = shared, CUstream(stream)
    found = []
    for at in range(count):
        attribute = CUlaunchAttribute()
        data = host_read(attributes + _ATTRIBUTE_BYTES * at, _ATTRIBUTE_BYTES)
        ctypes.memmove(int(attribute.getPtr()), data, len(data))
        found.append(attribute)
    made.attrs, made.numAttrs = found, count
    return made


def _launch_ex(slots: Slots) -> Answer:
    *geometry, shared = struct.unpack("=7I", host_read(slots[0], 28))
    stream, attributes, count = struct.unpack("=QQI", host_read(slots[0] + 32, 20))
    config = launch_config(geometry, shared, stream, attributes, count)
    return _call("cuLaunchKernelEx", config, slots[1], slots[2], slots[3])


# --- images --------------------------------------------------------------------------------------


def _options(count: int, options: int, values: int) -> tuple[int, list[Any], list[Any]]:
    """Return options of the compiler and of the linker, as the bindings take them."""
    count &= 0xFFFF_FFFF
    kinds = map(CUjit_option, struct.unpack(f"={count}i", host_read(options, 4 * count)))
    given = dict(zip(kinds, read_pointers(values, count), strict=True))
    for option, value in given.items():
        if option is CUjit_option.CU_JIT_TARGET:
            given[option] = CUjit_target(value & 0xFFFF_FFFF)
        elif _BUFFERS.get(option) not in given:
            given[option] = value & 0xFFFF_FFFF
    return len(given), [*given], [*given.values()]


def _module_data(slots: Slots) -> Answer:
    return _call("cuModuleLoadData", image_bytes(slots[1]), outputs=slots[:1])


def _module_data_ex(slots: Slots) -> Answer:
    options = _options(*slots[2:5])
    return _call("cuModuleLoadDataEx", image_bytes(slots[1]), *options, outputs=slots[:1])


def _library_data(slots: Slots) -> Answer:
    count, options, values = _options(slots[4], slots[2], slots[3])
    arguments = image_bytes(slots[1]), options, values, count, None, None, 0
    return _call("cuLibraryLoadData", *arguments, outputs=slots[:1])


def _library_file(slots: Slots) -> Answer:
    count, options, values = _options(slots[4], slots[2], slots[3])
    arguments = host_text(slots[1]), options, values, count, None, None, 0
    return _call("cuLibraryLoadFromFile", *arguments, outputs=slots[:1])


def _link_create(slots: Slots) -> Answer:
    return _call("cuLinkCreate", *_options(*slots[:3]), outputs=slots[3:])


def _link_add_data(slots: Slots) -> Answer:
    kind, name = CUjitInputType(slots[1] & 0xFFFF_FFFF), slots[4]
    label = host_text(name) if name else None
    return _call("cuLinkAddData", slots[0], kind, *slots[2:4], label, *_options(*slots[5:8]))


def _link_add_file(slots: Slots) -> Answer:
    kind = CUjitInputType(slots[1] & 0xFFFF_FFFF)
    return _call("cuLinkAddFile", slots[0], kind, host_text(slots[2]), *_options(*slots[3:6]))


def _link_complete(slots: Slots) -> Answer:
    result, address, size = CALLS["cuLinkComplete"](slots[0])
    if result:
        return int(result), ()
    image = placed(ctypes.string_at(address, size) + b"\0")
    pairs = ((slots[1], image), (slots[2], size))
    return 0, [(at, encoded(value, 8)) for at, value in pairs if at]


# --- other ---------------------------------------------------------------------------------------


def _pointer_attributes(slots: Slots) -> Answer:
    count = slots[0] & 0xFFFF_FFFF
    kinds = [*map(CUpointer_attribute, struct.unpack(f"={count}i", host_read(slots[1], 4 * count)))]
    result, *values = CALLS["cuPointerGetAttributes"](count, kinds, slots[3])
    if result:
        return int(result), ()
    found = zip(kinds, read_pointers(slots[2], count), values, strict=True)
    return 0, [
        (at, encoded(value, 8 if kind.name.endswith(_WIDE) else 4))
        for kind, at, value in found
        if value is not None
    ]


def _pointer_attribute(slots: Slots) -> Answer:
    kind = CUpointer_attribute(slots[1] & 0xFFFF_FFFF)
    result, value = CALLS["cuPointerGetAttribute"](kind, slots[2])
    if result:
        return int(result), ()
    return 0, [(slots[0], encoded(value, 8 if kind.name.endswith(_WIDE) else 4))]


def _error_text(name: str, slots: Slots) -> Answer:
    try:
        error = CUresult(slots[0] & 0xFFFF_FFFF)
    except ValueError:
        return _INVALID_VALUE, ()
    result, text = CALLS[name](error)
    return int(result), [(slots[1], encoded(placed(text + b"\0"), 8))]


DRIVER_CALLS: dict[str, Callable[[Slots], Answer]] = {
    "cuLaunchKernelEx": _launch_ex,
    "cuModuleLoadData": _module_data,
    "cuModuleLoadFatBinary": _module_data,
    "cuModuleLoadDataEx": _module_data_ex,
    "cuLibraryLoadData": _library_data,
    "cuLibraryLoadFromFile": _library_file,
    "cuLinkCreate": _link_create,
    "cuLinkAddData": _link_add_data,
    "cuLinkAddFile": _link_add_file,
    "cuLinkComplete": _link_complete,
    "cuPointerGetAttributes": _pointer_attributes,
    "cuPointerGetAttribute": _pointer_attribute,
    "cuGetErrorName": lambda slots: _error_text("cuGetErrorName", slots),
    "cuGetErrorString": lambda slots: _error_text("cuGetErrorString", slots),
}
"""The calls by their names in the documentation."""
