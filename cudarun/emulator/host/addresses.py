"""Host memory in a driver call: an address, or an object that holds bytes."""

from __future__ import annotations

import ctypes
import mmap
import struct
from collections.abc import Callable
from typing import Any, SupportsInt

import numpy as np
import numpy.typing as npt

from cudarun.emulator.numerics.arrays import Array

Bytes = npt.NDArray[np.uint8]
HostPointer = (
    SupportsInt
    | bytes
    | bytearray
    | memoryview
    | Array
    | ctypes.Array[Any]
    | ctypes.Structure
    | ctypes.Union
    | None
)
"""Host memory as the bindings take it: an address, ``None`` (0), or a buffer."""

_MOST_BYTES = 1 << 20  # of a range: a call copies 1024 of them, and at most 2 GB
# Objects of ctypes: buffers have formats that numpy does not read.
_CTYPES = (ctypes.Array, ctypes.Structure, ctypes.Union, ctypes._SimpleCData)


def address_of(data: HostPointer) -> int:
    """Return the host address of ``data``: a number, ``None`` (0), or a buffer.

    Raises:
        TypeError: It has another type, or is a buffer that is not contiguous.
    """
    if data is None:
        return 0
    if isinstance(data, np.ndarray):
        return _contiguous(data).ctypes.data
    if isinstance(data, _CTYPES):
        return ctypes.addressof(data)
    if hasattr(data, "__int__"):  # quicker than `SupportsInt`, which asks for all attributes
        return int(data)
    try:
        view = memoryview(data)
    except TypeError:
        raise TypeError(
            f"Provided argument is of type {type(data)} but expected None, an address "
            "or an object with the buffer protocol"
        ) from None
    return _contiguous(np.asarray(view)).ctypes.data


def _contiguous(array: Array) -> Array:
    if not array.flags.forc:
        raise TypeError("the buffer is not contiguous")
    return array


class RemoteBytes:
    """A range of another process's memory, as rows of slices.

    Args:
        transfer: Copies between an array and ranges of that memory, given by address and size.
        address: The first address.
        shape: The numbers of slices, rows and bytes; of a row that of bytes alone.
        strides: The bytes from one to the next of each.
    """

    def __init__(
        self,
        transfer: Callable[[Bytes, npt.NDArray[np.uint64], bool], None],
        address: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> None:
        self._transfer = transfer
        self._address, self.shape, self._strides = address, shape, strides

    def __len__(self) -> int:
        return self.shape[0]

    def box(self, first: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> RemoteBytes:
        """Return a box of these bytes, from one of them on."""
        return RemoteBytes(self._transfer, self._address + first, shape, strides)

    def read_into(self, target: Bytes) -> None:
        """Read all bytes into a contiguous array of the same shape."""
        self._transfer(target, self._ranges(), False)

    def write(self, source: Bytes) -> None:
        """Write all bytes, and none between the rows."""
        self._transfer(np.ascontiguousarray(source), self._ranges(), True)

    def _ranges(self) -> npt.NDArray[np.uint64]:
        """Return address and size of each row, of long ones in parts."""
        *counts, width = self.shape
        starts = np.array([self._address], np.uint64)
        for count, stride in zip(counts, self._strides, strict=False):
            steps = np.arange(count, dtype=np.uint64) * np.uint64(stride)
            starts = (starts[:, None] + steps).reshape(-1)
        parts = [(at, min(_MOST_BYTES, width - at)) for at in range(0, width, _MOST_BYTES)]
        return np.array(
            [(int(start) + at, size) for start in starts for at, size in parts], np.uint64
        ).reshape(-1, 2)


class HostAccess:
    """Access to the memory and the functions of the program: of this process."""

    def memory(self, address: int, size: int) -> Bytes | RemoteBytes:
        """Return memory to read and to write; `move` copies it."""
        return np.asarray((ctypes.c_uint8 * size).from_address(address), np.uint8)

    def read(self, address: int, size: int) -> bytes:
        """Return a copy of memory."""
        return ctypes.string_at(address, size)

    def text(self, address: int) -> bytes:
        """Return the text at an address, without the NUL at its end."""
        return ctypes.string_at(address)

    def write(self, address: int, data: bytes) -> None:
        """Write memory."""
        ctypes.memmove(address, data, len(data))

    def path(self, name: str) -> str:
        """Return the path of a file that the program names."""
        return name

    def place(self, data: bytes) -> int:
        """Put bytes where the program can read them; return the address there."""
        made = ctypes.create_string_buffer(data, len(data))
        _placed.append(made)
        return ctypes.addressof(made)

    def arena(self, size: int) -> tuple[mmap.mmap, int] | None:
        """Return memory that is shared with another process, and its address there."""
        return None

    def mapped(self, address: int, size: int) -> Bytes:
        """Return memory that kernels can access from now on, as `cuMemHostRegister` asks."""
        return np.asarray((ctypes.c_uint8 * size).from_address(address), np.uint8)

    def unmap(self, address: int, size: int) -> None:
        """End the access of kernels to memory."""

    def function(self, address: int, result: Any, *arguments: Any) -> Callable[..., Any]:
        """Return a C function; its types are those of ctypes."""
        return ctypes.CFUNCTYPE(result, *arguments)(address)


host = HostAccess()
"""The access to the program; another one where its addresses are those of another process."""

_placed: list[ctypes.Array[ctypes.c_char]] = []  # read by the program of this process


def host_bytes(address: int, size: int) -> Bytes | RemoteBytes:
    """Return the program's memory at ``address``, readable and writable."""
    return host.memory(address, size) if size else np.empty(0, np.uint8)


def move(target: Bytes | RemoteBytes, source: Bytes | RemoteBytes) -> None:
    """Copy bytes of the program or of a device to others, in the same shape."""
    if isinstance(source, RemoteBytes):
        if isinstance(target, RemoteBytes) or not target.flags.c_contiguous:
            copy = np.empty(source.shape, np.uint8)
            source.read_into(copy)
            move(target, copy)
        else:
            source.read_into(target)
    elif isinstance(target, RemoteBytes):
        target.write(source)
    else:
        target[...] = source


def strided(
    view: Bytes | RemoteBytes, first: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> Bytes | RemoteBytes:
    """Return a box of bytes in a row, from one of them on."""
    if isinstance(view, RemoteBytes):
        return view.box(first, shape, strides)
    return np.lib.stride_tricks.as_strided(view[first:], shape, strides)


def read_numbers(address: int, count: int, form: str = "Q") -> tuple[int, ...]:
    """Read consecutive numbers at a host address, by default pointers, by their `struct` format."""
    data = host.read(address, struct.calcsize(f"={form}") * count) if count else b""
    return struct.unpack(f"={count}{form}", data)


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
