"""Host memory in a driver call: an address, or an object that holds bytes."""

from __future__ import annotations

import ctypes
from typing import Any, SupportsInt

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
HostPointer = (
    SupportsInt
    | bytes
    | bytearray
    | memoryview
    | npt.NDArray[Any]
    | ctypes.Array[Any]
    | ctypes.Structure
    | ctypes.Union
    | None
)
"""Host memory as the bindings take it: an address, ``None`` (0), or a buffer."""

# Objects of ctypes: buffers have formats that numpy does not read.
_CTYPES = (ctypes.Array, ctypes.Structure, ctypes.Union, ctypes._SimpleCData)


def address_of(data: HostPointer) -> int:
    """Return the host address of ``data``: a number, ``None`` (0), or a buffer.

    Raises:
        TypeError: It has another type, or is a buffer that is not contiguous.
    """
    if data is None:
        return 0
    if isinstance(data, int):  # as `SupportsInt` says, which asks for all attributes
        return int(data)
    if isinstance(data, np.ndarray):
        return _contiguous(data).ctypes.data
    if isinstance(data, SupportsInt):
        return int(data)
    if isinstance(data, _CTYPES):
        return ctypes.addressof(data)
    try:
        view = memoryview(data)
    except TypeError:
        raise TypeError(
            f"Provided argument is of type {type(data)} but expected None, an address "
            "or an object with the buffer protocol"
        ) from None
    return _contiguous(np.asarray(view)).ctypes.data


def _contiguous(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if not array.flags.forc:
        raise TypeError("the buffer is not contiguous")
    return array


def host_bytes(address: int, size: int) -> Bytes:
    """Return the host memory at ``address``, readable and writable."""
    if size == 0:
        return np.empty(0, np.uint8)
    return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))


def read_pointers(address: int, count: int) -> tuple[int, ...]:
    """Read ``count`` consecutive pointers at a host address; null is 0."""
    return tuple((ctypes.c_uint64 * count).from_address(address)) if count else ()


def c_string(text: object) -> str:
    """Check a ``const char *`` argument: bytes, as the bindings demand.

    Raises:
        TypeError: It is not bytes.
    """
    if not isinstance(text, bytes | bytearray):
        raise TypeError(f"expected bytes, got {type(text).__name__}")
    return bytes(text).split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def padded_name(text: str, length: int) -> bytes:
    """Return a string as the bindings do for a ``char *`` of ``length``: NUL, then spaces.

    Text that is too long is truncated and NUL-terminated.
    """
    cut = text.encode()[: max(length - 1, 0)]
    return (cut + b"\0").ljust(length)[:length]
