"""Trees of arrays in memory that two processes share: the inputs and the outputs of a submission.

A tree has lists, tuples and dicts of numpy arrays, PyTorch tensors and plain values. Its
description is JSON. On a GPU the shared memory is that of the device (CUDA driver API, section
6.13, ``cuIpcGetMemHandle``), else a file.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import socket
import sys
from collections.abc import Iterator
from typing import Any, Callable  # noqa: UP035 - for older Pythons

import numpy as np

Tree = Any  # lists, tuples and dicts of arrays and plain values
Array = Any  # an array of numpy, or a tensor of PyTorch

_ALIGNMENT = 256
_HANDLE_BYTES = 64
_OPEN_FLAGS = 1  # CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS


def is_tensor(value: object) -> bool:
    """Return whether a value is a PyTorch tensor; PyTorch is not imported for it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value: object) -> bool:
    """Return whether a value is an array of PyTorch or numpy."""
    return is_tensor(value) or isinstance(value, np.ndarray)


def size_of(array: Array) -> int:
    """Return the size of an array in bytes."""
    return int(array.numel() * array.element_size() if is_tensor(array) else array.nbytes)


def described(tree: Tree, start: int = 0) -> tuple[dict[str, Any], int]:
    """Return the description of a tree in shared memory, and its end there."""
    if isinstance(tree, (list, tuple)):
        items = []
        for each in tree:
            item, start = described(each, start)
            items.append(item)
        return {"list" if isinstance(tree, list) else "tuple": items}, start
    if isinstance(tree, dict):
        named = {}
        for name, each in tree.items():
            named[name], start = described(each, start)
        return {"dict": named}, start
    if not is_array(tree):
        return {"value": tree}, start
    start = -(-start // _ALIGNMENT) * _ALIGNMENT
    leaf = {
        "array": "torch" if is_tensor(tree) else "numpy",
        "dtype": str(tree.dtype).replace("torch.", ""),
        "shape": list(tree.shape),
        "offset": start,
        "bytes": size_of(tree),
    }
    return leaf, start + size_of(tree)


def leaves(tree: Tree) -> Iterator[Array]:
    """Yield the arrays of a tree in order."""
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        for each in tree:
            yield from leaves(each)
    elif is_array(tree):
        yield tree


def mapped(tree: Tree, function: Callable[[Array], Tree], *, plain: bool = False) -> Tree:
    """Return a tree with a function applied to its arrays.

    Args:
        plain: Apply it to plain values, too, and make tuples of named ones.
    """
    if isinstance(tree, dict):
        return {name: mapped(each, function, plain=plain) for name, each in tree.items()}
    if isinstance(tree, (list, tuple)):
        kind = type(tree) if not plain else list if isinstance(tree, list) else tuple
        return kind([mapped(each, function, plain=plain) for each in tree])
    return function(tree) if plain or is_array(tree) else tree


def copied(array: Array) -> Array:
    """Return a copy of an array."""
    return array.detach().clone() if is_tensor(array) else array.copy()


def write(view: Array, array: Array) -> None:
    """Write an array to a view of shared memory."""
    if is_tensor(view):
        view.copy_(array.detach())
    else:
        view[...] = array


def write_all(views: Tree, arrays: Tree) -> None:
    """Write the arrays of a tree to those of another one."""
    for view, array in zip(leaves(views), leaves(arrays), strict=True):
        write(view, array)


class NotShared(Exception):
    """Device memory of another process cannot be opened."""


class SharedMemory:
    """Memory that another process has, too.

    Args:
        path: The file; it has the size.
        handle: The handle of device memory in place of the file.
        size: The size of the device memory.
    """

    def __init__(self, path: str, handle: bytes | None = None, size: int = 0) -> None:
        if handle is not None:
            self._bytes: Array = _device_bytes(_opened(handle), size)
        else:
            with open(path, "r+b") as file:  # an np.memmap would be a subclass of the array
                self._bytes = np.frombuffer(mmap.mmap(file.fileno(), 0), np.uint8)

    @classmethod
    def on_device(cls, size: int) -> tuple[SharedMemory, bytes]:
        """Allocate device memory, and return its handle for the other process."""
        address, handle = ctypes.c_uint64(), ctypes.create_string_buffer(_HANDLE_BYTES)
        _call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        _call("cuIpcGetMemHandle", handle, address)
        shared = cls.__new__(cls)
        shared._bytes = _device_bytes(address.value, max(size, 1))
        return shared, handle.raw

    def fill(self, byte: int) -> None:
        """Set every byte."""
        self._bytes[:] = byte

    def views(self, description: dict[str, Any]) -> Tree:
        """Return the tree of a description, whose arrays are views of the memory."""
        for kind, make in (("list", list), ("tuple", tuple)):
            if kind in description:
                return make(map(self.views, description[kind]))
        if "dict" in description:
            return {name: self.views(each) for name, each in description["dict"].items()}
        if "value" in description:
            return description["value"]
        memory, dtype = self._bytes, description["dtype"]
        if description["array"] == "torch":
            import torch

            memory = memory if is_tensor(memory) else torch.from_numpy(memory)
            dtype = getattr(torch, dtype)
        part = memory[description["offset"] : description["offset"] + description["bytes"]]
        return part.view(dtype).reshape(description["shape"])


class _DeviceArray:
    """Device memory for ``torch.as_tensor``."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "data": (address, False), "shape": (size,), "typestr": "|u1", "version": 3,
        }  # fmt: skip


def _device_bytes(address: int, size: int) -> Array:
    import torch

    return torch.as_tensor(_DeviceArray(address, size), device="cuda")


class _Handle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_char * _HANDLE_BYTES)]


def _opened(handle: bytes) -> int:
    address, value = ctypes.c_uint64(), _Handle.from_buffer_copy(handle)
    try:
        _call("cuIpcOpenMemHandle_v2", ctypes.byref(address), value, ctypes.c_uint(_OPEN_FLAGS))
    except OSError as error:
        raise NotShared(str(error)) from None
    return address.value


def _call(name: str, *arguments: object) -> None:
    """Call the driver in the context of PyTorch."""
    import torch

    torch.cuda.init()
    torch.empty(1, device="cuda")
    status = getattr(ctypes.CDLL("libcuda.so.1"), name)(*arguments)
    if status:
        raise OSError(f"{name} failed with {status}")


def device_attribute(number: int) -> int:
    """Return a ``CUdevice_attribute`` of the first device."""
    value = ctypes.c_int()
    _call("cuDeviceGetAttribute", ctypes.byref(value), ctypes.c_int(number), ctypes.c_int(0))
    return value.value


def task_stream() -> Any:
    """Return the stream of tasks, which is the socket that is stdin; stdin becomes empty."""
    connection = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    return connection.makefile("rw", encoding="ascii")
