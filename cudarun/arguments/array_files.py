"""Arrays in files: numpy's ``.npy`` format and raw bytes.

The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from cudarun.arguments.contents import ArrayContents, Contents, FileContents
from cudarun.arguments.dtypes import Array, scalar_type
from cudarun.arguments.files import check_raw_size, is_npy, unreadable
from cudarun.arguments.packing import BufferSpec
from cudarun.arguments.types import ScalarType
from cudarun.errors import RequestError


def npy_header(path: Path) -> tuple[ScalarType, tuple[int, ...]]:
    """Return the element type and shape of a ``.npy`` file without reading its contents.

    Raises:
        RequestError: The file is not in this format, or its type is unsupported.
    """
    if not is_npy(path):
        raise RequestError(
            f"{path} is not a .npy file, so it does not tell its type",
            hint=f"give type and dimensions: f32[n]:@{path}",
            file=str(path),
        )
    array = _mapped(path)
    scalar = scalar_type(array.dtype.newbyteorder("="))
    if scalar is None:
        raise RequestError(
            f"{path} holds {array.dtype}, which is no type of an argument",
            hint=f"give the type and dimensions: bf16[n]:@{path}",
            file=str(path),
        )
    return scalar, array.shape


def load_npy(path: Path) -> Array:
    """Load the array of a ``.npy`` file in native byte order; pickled objects are refused.

    Raises:
        RequestError: The file cannot be read, is not in this format, or holds Python objects.
    """
    if not is_npy(path):
        raise RequestError(f"{path} is not a .npy file", file=str(path))
    return _native(_load(path, mapped=False))


def file_contents(path: Path, spec: BufferSpec) -> Contents:
    """Return a file's contents as the contents of a buffer.

    The file is read in chunks. Only an array in another byte order or in Fortran order is loaded
    into memory.

    Raises:
        RequestError: The file cannot be read, or its type or its number of items differs.
    """
    dtype, count = spec.dtype(), math.prod(spec.array_shape)
    if not is_npy(path):
        check_raw_size(path, spec.nbytes, str(spec))
        return FileContents(path, 0, dtype, count)
    array = _mapped(path)
    found = array.dtype.newbyteorder("=")
    # numpy's encoding of bf16 and fp8, for which its format has no name.
    nameless = found.kind == "V" and found.names is None and found.itemsize == dtype.itemsize
    if found != dtype and not nameless:
        raise RequestError(
            f"{path} holds {array.dtype}; the buffer is {spec}, of {dtype}", file=str(path)
        )
    if array.size != count:
        raise RequestError(f"{path} has shape {array.shape}; the buffer is {spec}", file=str(path))
    if array.dtype == found and array.flags.c_contiguous:
        return FileContents(path, array.offset, dtype, count)
    return ArrayContents(_native(array).view(dtype))


def _mapped(path: Path) -> np.memmap[Any, Any]:
    """Map the array of a file; only the header is read."""
    array = _load(path, mapped=True)
    assert isinstance(array, np.memmap), "what cannot be mapped is refused"
    return array


def _load(path: Path, *, mapped: bool) -> Array:
    try:
        array: Array = np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except OSError as error:
        raise unreadable(path, error) from None
    except ValueError as error:
        says = str(error)
        if "Python objects" in says or "allow_pickle" in says:  # the array is mapped, not loaded
            says = "it holds Python objects, which are never unpickled"
        raise RequestError(f"cannot read {path}: {says}", file=str(path)) from None
    return array


def _native(array: Array) -> Array:
    """Return an array in native byte order and C order."""
    native: Array = np.asarray(array, array.dtype.newbyteorder("="), order="C")
    return native
