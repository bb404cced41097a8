"""Kernel parameters: from the forms that a launch accepts to one parameter buffer.

The forms are those of ``cuda.bindings``: an address of an array of pointers (``void **``), a buffer
that holds one, a pair of tuples (values and ctypes), or ``extra`` with a packed buffer.
"""

from __future__ import annotations

import ctypes
from typing import Any

from cudarun.emulator.host import addresses
from cudarun.emulator.host.addresses import HostPointer, address_of, read_numbers
from cudarun.emulator.host.refusal import Refusal, refuse_if
from cudarun.emulator.program import KernelCode


class PackedParameters(bytes):
    """The parameter buffer of a launch itself, which has been packed by the caller."""


KernelParameters = HostPointer | tuple[tuple[Any, ...], tuple[Any, ...]]

# CU_LAUNCH_PARAM_…: the words of ``extra``
_END, _BUFFER_POINTER, _BUFFER_SIZE = 0, 1, 2
_MOST_WORDS = 16

_CTYPES = frozenset(
    {
        *(ctypes.c_bool, ctypes.c_char, ctypes.c_wchar, ctypes.c_float, ctypes.c_double),
        *(ctypes.c_byte, ctypes.c_short, ctypes.c_int, ctypes.c_long, ctypes.c_longlong),
        *(ctypes.c_ubyte, ctypes.c_ushort, ctypes.c_uint, ctypes.c_ulong, ctypes.c_ulonglong),
        ctypes.c_size_t,
    }
)


def pack_parameters(code: KernelCode, kernel_params: KernelParameters, extra: HostPointer) -> bytes:
    """Return the parameter buffer of a launch of ``code``, ``code.parameter_bytes`` long.

    Raises:
        Refusal: Both forms are given, or neither where there are parameters, or a packed
            buffer without its address or size.
        TypeError: ``kernel_params`` has none of the forms that the bindings take.
    """
    if isinstance(kernel_params, PackedParameters):
        return kernel_params
    values = _values(kernel_params) if isinstance(kernel_params, tuple) else []
    pointers = 0 if isinstance(kernel_params, tuple) else address_of(kernel_params)
    extra_address = address_of(extra)
    if extra_address:
        refuse_if(values or pointers, "kernelParams and extra are mutually exclusive")
        return _packed_buffer(code, extra_address)
    sizes = [size for _, size in code.parameters]
    if pointers:
        places = read_numbers(pointers, len(sizes))
        refuse_if(0 in places, "a pointer in kernelParams is null")
        parts = [*map(addresses.host.read, places, sizes)]
    else:
        words = f"{code.name} has {len(sizes)} parameters, got {len(values)} values"
        refuse_if(len(values) < len(sizes), words)
        parts = [_value_bytes(*pair, size) for pair, size in zip(values, sizes, strict=False)]
    packed = bytearray(code.parameter_bytes)
    for (offset, size), part in zip(code.parameters, parts, strict=True):
        packed[offset : offset + size] = part[:size].ljust(size, b"\0")
    return bytes(packed)


def _values(pair: tuple[Any, ...]) -> list[tuple[Any, Any]]:
    """Yield the tuple form as pairs of a value and a ctype."""
    if len(pair) != 2 or not all(isinstance(part, tuple) for part in pair):
        raise TypeError("Argument 'kernelParams' is not a pair of tuples: values and ctypes")
    values, kinds = pair
    if len(values) != len(kinds):
        raise TypeError("Argument 'kernelParams' has tuples with different length")
    return list(zip(values, kinds, strict=True))


def _value_bytes(value: Any, kind: object, size: int) -> bytes:
    """Return one value of the tuple form as the bindings do; ``size`` is the parameter's."""
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
    """Return the memory of an object: a handle or struct of the bindings, a ctypes structure."""
    if callable(getattr(value, "getPtr", None)):
        return ctypes.string_at(value.getPtr(), size)
    if isinstance(value, ctypes.Structure):
        return bytes(value)
    if isinstance(value, int):  # an enum
        return bytes(ctypes.c_int(value))
    raise TypeError(f"Provided argument is of type {type(value)} but expected a structure")


def packed_words(buffer: int, size: int) -> tuple[int, ...]:
    """Return the words of ``extra`` for the addresses of a packed buffer and of its size."""
    return _BUFFER_POINTER, buffer, _BUFFER_SIZE, size, _END


def _packed_buffer(code: KernelCode, extra: int) -> bytes:
    buffer = size = 0
    for index in range(0, _MOST_WORDS, 2):
        [word] = read_numbers(extra + 8 * index, 1)
        if word == _END:
            break
        [value] = read_numbers(extra + 8 * index + 8, 1)
        if word == _BUFFER_POINTER:
            buffer = value
        elif word == _BUFFER_SIZE:
            [size] = read_numbers(value, 1)
        else:
            raise Refusal("INVALID_VALUE", f"extra contains the unknown key {word}")
    words = f"{code.name} has parameters, but extra contains no buffer pointer or size"
    refuse_if(code.parameter_bytes and (buffer == 0 or size == 0), words)
    # The driver accepts a buffer that is too small; here missing bytes are 0.
    present = min(size, code.parameter_bytes)
    return addresses.host.read(buffer, present).ljust(code.parameter_bytes, b"\0")
