"""Kernel parameters, as a launch is given them, to one parameter buffer.

The forms are those of ``cuda.bindings``: an address of an array of pointers (``void **``), a buffer
that holds one, a pair of tuples (values and ctypes), or ``extra`` with a packed buffer.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from cudarun.emulator.host.addresses import address_of, read_pointers
from cudarun.emulator.host.refusal import Refusal
from cudarun.emulator.program import KernelCode

# CU_LAUNCH_PARAM_…: the words of ``extra``
_END, _BUFFER_POINTER, _BUFFER_SIZE = 0, 1, 2
_MOST_WORDS = 16

_CTYPES = frozenset(
    {
        ctypes.c_bool,
        ctypes.c_char,
        ctypes.c_wchar,
        ctypes.c_byte,
        ctypes.c_ubyte,
        ctypes.c_short,
        ctypes.c_ushort,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.c_long,
        ctypes.c_ulong,
        ctypes.c_longlong,
        ctypes.c_ulonglong,
        ctypes.c_size_t,
        ctypes.c_float,
        ctypes.c_double,
    }
)


def pack_parameters(code: KernelCode, kernel_params: Any, extra: Any) -> bytes:
    """The parameter buffer of a launch of ``code``, ``code.parameter_bytes`` long.

    Raises:
        Refusal: Both forms are given, or neither where there are parameters, or a packed
            buffer that is too small.
        TypeError: ``kernel_params`` has none of the forms that the bindings take.
    """
    values = _pointed_to(code, kernel_params)
    extra_address = address_of(extra)
    if values is not None and extra_address:
        raise Refusal("INVALID_VALUE", "parameters are given by both kernelParams and extra")
    if extra_address:
        return _packed_buffer(code, extra_address)
    if values is None and code.parameters:
        raise Refusal("INVALID_VALUE", f"{code.name} has parameters and none are given")
    packed = bytearray(code.parameter_bytes)
    for (offset, size), value in zip(code.parameters, values or (), strict=True):
        packed[offset : offset + size] = value[:size].ljust(size, b"\0")
    return bytes(packed)


def _pointed_to(code: KernelCode, kernel_params: Any) -> Sequence[bytes] | None:
    """The bytes of each parameter; ``None`` where the pointer is null."""
    sizes = [size for _, size in code.parameters]
    if isinstance(kernel_params, tuple):
        values, kinds = _value_tuples(kernel_params)
        if len(values) < len(sizes):
            raise Refusal(
                "INVALID_VALUE", f"{code.name} has {len(sizes)} parameters, not {len(values)}"
            )
        return [_value_bytes(*item) for item in zip(values, kinds, sizes, strict=False)]
    address = address_of(kernel_params)
    if address == 0:
        return None
    pointers = read_pointers(address, len(sizes))
    if not all(pointers):
        raise Refusal("INVALID_VALUE", "a pointer in kernelParams is null")
    return [ctypes.string_at(*item) for item in zip(pointers, sizes, strict=True)]


def _value_tuples(given: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    if len(given) != 2 or not all(isinstance(part, tuple) for part in given):
        raise TypeError("Argument 'kernelParams' is not a pair of tuples: values and ctypes")
    values, kinds = given
    if len(values) != len(kinds):
        raise TypeError("Argument 'kernelParams' has tuples with different length")
    return values, kinds


def _value_bytes(value: Any, kind: Any, size: int) -> bytes:
    """One value of the tuple form, as the bindings lay it out; ``size`` is the parameter's."""
    if kind is None:
        return _object_bytes(value, size)
    if kind is ctypes.c_void_p:
        return bytes(ctypes.c_uint64(_pointer_value(value)))
    if kind not in _CTYPES:
        raise TypeError(f"Unsupported type: {type(kind)}")
    if kind is ctypes.c_double and isinstance(value, ctypes.c_float):
        value = value.value
    return bytes(value if isinstance(value, kind) else kind(value))


def _pointer_value(value: Any) -> int:
    if isinstance(value, ctypes.c_void_p):
        return value.value or 0
    if isinstance(value, int):
        return value
    if callable(getattr(value, "getPtr", None)):
        return int(value.getPtr())
    raise TypeError(f"Provided argument is of type {type(value)} but expected a pointer")


def _object_bytes(value: Any, size: int) -> bytes:
    """An object that lies in memory: a handle or struct of the bindings, a ctypes structure."""
    if callable(getattr(value, "getPtr", None)):
        return ctypes.string_at(value.getPtr(), size)
    if isinstance(value, ctypes.Structure):
        return bytes(value)
    if isinstance(value, int):  # an enum
        return bytes(ctypes.c_int(value))
    raise TypeError(f"Provided argument is of type {type(value)} but expected a structure")


def _packed_buffer(code: KernelCode, extra: int) -> bytes:
    words = ctypes.cast(extra, ctypes.POINTER(ctypes.c_uint64))
    buffer = size = 0
    for index in range(0, _MOST_WORDS, 2):
        word = words[index]
        if word == _END:
            break
        if word == _BUFFER_POINTER:
            buffer = words[index + 1]
        elif word == _BUFFER_SIZE:
            size = ctypes.c_size_t.from_address(words[index + 1]).value
        else:
            raise Refusal("INVALID_VALUE", f"{word} is no word of extra")
    if buffer == 0 or size < code.parameter_bytes:
        raise Refusal(
            "INVALID_VALUE",
            f"{code.name} has {code.parameter_bytes} bytes of parameters, the buffer {size}",
        )
    return ctypes.string_at(buffer, code.parameter_bytes)
