"""Arrays in files: numpy's ``.npy`` format, PNG images and raw bytes.

The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from cudarun.arguments.contents import ArrayContents, Contents, FileContents, converted
from cudarun.arguments.dtypes import Array, DType, element_dtype, element_type
from cudarun.arguments.files import check_raw_size, is_npy, is_png, unreadable
from cudarun.arguments.initial_values import FileInitial, FileOrder
from cudarun.arguments.packing import BufferSpec
from cudarun.arguments.png import png_header, read_png
from cudarun.arguments.types import ScalarType, StructType, Type, inner_shape, innermost
from cudarun.arguments.values import FileBuffer
from cudarun.base.errors import RequestError

Paste = Callable[[object], str]
"""A function that returns a value as the user would write it on the command line."""


def npy_header(
    path: Path, value: FileBuffer | None = None, paste: Paste = str
) -> tuple[Type, tuple[int, ...]]:
    """Return the element type and shape of a ``.npy`` file or a PNG image.

    The contents of a ``.npy`` file are not read.

    As stored, an array in Fortran order has the shape of its transpose.

    Args:
        path: The resolved path.
        value: The value that names the file, with the order of the elements.
        paste: Returns the value in a hint.

    Raises:
        RequestError: The file is in another format, its type is unsupported, or it is in Fortran
            order.
    """
    value = value or FileBuffer(str(path))
    array = _typed_array(path, value.order)
    if array is None:
        hint = f"add the type and dimensions: f32[n]:@{path}"
        raise _refused(path, "is not a .npy file, so its type is unknown", hint)
    if not array.flags.c_contiguous and value.order is FileOrder.PLAIN:
        raise _in_fortran_order(path, lambda order: paste(replace(value, order=order)))
    element = element_type(array.dtype)
    if element is None and array.dtype.names is not None:
        what = f"contains structs whose layout is not that of C++: {array.dtype}"
        own = f"u8[{array.nbytes}]:asis(@{path})"
        hint = f"save it with numpy.dtype(…, align=True), or pass its bytes: {own}"
        raise _refused(path, what, hint)
    if element is None:
        hint = f"add the type and dimensions: bf16[n]:@{path}"
        raise _refused(path, f"contains {array.dtype}, which is not an argument type", hint)
    return element, array.shape[::-1] if _as_stored(array, value.order) else array.shape


def load_npy(path: Path) -> Array:
    """Return the array of a ``.npy`` file in native byte order, or the pixels of a PNG image.

    A ``.npy`` file is mapped: its size is no claim on memory. Pickled objects are refused.
    """
    if is_png(path):
        return read_png(path)
    if not is_npy(path):
        raise _refused(path, "is not a .npy file")
    return _native(np.asarray(_mapped(path)))


def check_file(path: Path, spec: BufferSpec, initial: FileInitial, paste: Paste = str) -> None:
    """Check that a file can initialize a buffer, without reading its contents.

    Args:
        path: The resolved path.
        paste: Returns the value in a hint.

    Raises:
        RequestError: The file cannot be read, is in Fortran order, or its type or its number of
            items does not match.
    """
    array = _typed_array(path, initial.order)
    if array is None:
        if initial.cast or initial.order is FileOrder.C:
            word = "cast" if initial.cast else "corder"
            raise _refused(path, f"is not a .npy file: {word} requires its type and shape")
        check_raw_size(path, spec.nbytes, str(spec))
        return

    def written(**changes: Any) -> str:
        return paste(f"{spec}:{replace(initial, **changes)}")

    if not array.flags.c_contiguous and initial.order is FileOrder.PLAIN:
        raise _in_fortran_order(path, lambda order: written(order=order))
    if initial.order is FileOrder.STORED and not initial.cast:
        if array.nbytes != spec.nbytes:
            raise _refused(path, f"has {array.nbytes} bytes of data; {spec} has {spec.nbytes}")
        return
    if initial.cast and not _is_numeric(array.dtype):
        raise _refused(path, f"contains {array.dtype}, which cast cannot convert")
    if not initial.cast and not _matches(array.dtype, spec.type):
        is_castable = _is_numeric(array.dtype) and isinstance(innermost(spec.type), ScalarType)
        hint = f"convert it: {written(cast=True)}" if is_castable else None
        raise _refused(path, f"contains {array.dtype}; the buffer is {spec}", hint)
    if _gets_alpha(array.shape, spec) and _is_image(path, initial.order):
        return
    if array.size * _width(array.dtype) != math.prod(spec.array_shape):
        raise _refused(path, f"has shape {array.shape}; the buffer is {spec}")


def file_contents(initial: FileInitial, spec: BufferSpec) -> Contents:
    """Return a file's contents as the contents of a buffer.

    The file is read in chunks. Only an image, and an array in another byte order or in Fortran
    order, is loaded into memory.
    """
    path = Path(initial.path)
    check_file(path, spec, initial)
    dtype, count = spec.dtype(), math.prod(spec.array_shape)
    if _is_image(path, initial.order):
        pixels = read_png(path)
        if _gets_alpha(pixels.shape, spec):  # an opaque one
            alpha = np.full((*pixels.shape[:2], 1), np.iinfo(pixels.dtype).max, pixels.dtype)
            pixels = np.concatenate((pixels, alpha), axis=2)
        scalar = innermost(spec.type)
        if initial.cast and isinstance(scalar, ScalarType):
            return converted(pixels.reshape(-1), scalar)
        return ArrayContents(pixels.reshape(-1).view(dtype))
    if not is_npy(path):
        return FileContents(path, 0, dtype, count)
    array = _mapped(path)
    stored = initial.order is FileOrder.STORED
    if initial.cast:
        scalar = innermost(spec.type)
        assert isinstance(scalar, ScalarType), "the grammar refuses other casts"
        flat = array.reshape(-1, order="F" if _as_stored(array, initial.order) else "C")
        if flat.dtype.kind == "c":  # as pairs
            flat = flat.view(f"{flat.dtype.byteorder}f{flat.dtype.itemsize // 2}")
        return converted(flat, scalar)
    native = array.dtype == array.dtype.newbyteorder("=")
    if stored or (native and array.flags.c_contiguous):
        return FileContents(path, array.offset, dtype, count)
    return ArrayContents(_native(array).reshape(-1).view(dtype))


def _is_image(path: Path, order: FileOrder) -> bool:
    """Return whether the pixels of a PNG image are the contents; ``asis`` requests its bytes."""
    return is_png(path) and order is not FileOrder.STORED


def _typed_array(path: Path, order: FileOrder) -> Array | None:
    """Return the array of a ``.npy`` file, or one like that of an image; ``None`` of raw bytes.

    The pixels of an image are decoded where they are needed: here is only their shape.
    """
    if _is_image(path, order):
        return png_header(path)
    return _mapped(path) if is_npy(path) else None


def _gets_alpha(shape: tuple[int, ...], spec: BufferSpec) -> bool:
    """Return whether a buffer has an alpha channel that its image lacks."""
    return len(shape) == 3 and shape[2] == 3 and spec.array_shape == (*shape[:2], 4)


def _is_numeric(dtype: DType) -> bool:
    element = element_type(dtype)
    return element is not None and isinstance(innermost(element), ScalarType)


def _matches(found: DType, element: Type) -> bool:
    """Return whether the items of a file are those of a buffer, or their vectors or scalars."""
    expected = innermost(element)
    if found.newbyteorder("=") == element_dtype(element):
        return True
    # numpy's encoding of bf16 and fp8, for which its format has no name.
    if found.kind == "V" and found.names is None:
        return found.itemsize == expected.size
    given = element_type(found)
    return given is not None and _alike(given, expected)


def _alike(one: Type, other: Type) -> bool:
    """Return whether two types consist of the same scalars at the same offsets."""
    first, second = innermost(one), innermost(other)
    if not (isinstance(first, StructType) and isinstance(second, StructType)):
        return first == second
    return first.layout == second.layout and all(
        a.type.size == b.type.size and _alike(a.type, b.type)
        for a, b in zip(first.members, second.members, strict=True)
    )


def _width(dtype: DType) -> int:
    """Return the number of scalars, or structs, of one item."""
    element = element_type(dtype)
    return 1 if element is None else math.prod(inner_shape(element))


def _as_stored(array: Array, order: FileOrder) -> bool:
    return order is FileOrder.STORED and not array.flags.c_contiguous


def _refused(path: Path, why: str, hint: str | None = None) -> RequestError:
    return RequestError(f"{path} {why}", hint=hint, file=str(path))


def _in_fortran_order(path: Path, written: Callable[[FileOrder], str]) -> RequestError:
    reordered, stored = map(written, (FileOrder.C, FileOrder.STORED))
    hint = f"reorder it: {reordered}\nor pass its bytes as stored: {stored}"
    return _refused(path, "is in Fortran order", hint)


def _mapped(path: Path) -> np.memmap[Any, Any]:
    """Map the array of a file; only the header is read."""
    from tokenize import TokenError

    try:
        with np.errstate(over="raise"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python's parser, about the header
            # Items of no bytes, by whose size numpy divides, would end the process by SIGFPE.
            formats = np.lib.format
            with path.open("rb") as stream:
                is_first = formats.read_magic(stream) == (1, 0)
                # Versions 2 and 3 differ in the encoding of names only.
                read = formats.read_array_header_1_0 if is_first else formats.read_array_header_2_0
                if read(stream)[2].itemsize == 0:
                    raise ValueError("its elements have no bytes")
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise unreadable(path, error) from None
    except (
        # The header is a literal of Python, which numpy parses with Python's parser.
        *(ValueError, TypeError, ArithmeticError, KeyError, RecursionError, MemoryError),
        *(SyntaxError, TokenError),
    ) as error:
        is_parser = isinstance(error, SyntaxError | TokenError)
        says = "its header is malformed" if is_parser or not str(error) else str(error)
        if "Python objects" in says or "allow_pickle" in says:  # the array is mapped, not loaded
            says = "it contains Python objects, which are not unpickled"
        raise unreadable(path, ValueError(says)) from None
    assert isinstance(array, np.memmap), "what cannot be mapped is refused"
    return array


def _native(array: Array) -> Array:
    """Return an array in native byte order and C order."""
    return np.asarray(array, array.dtype.newbyteorder("="), order="C")
