"""What a buffer holds before the launch, as arrays.

A vector or array buffer is filled as the flat buffer of its scalars that it is, so ``iota`` counts
over them; a struct buffer is filled member by member, each as a buffer of its own.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cudarun.arguments.dtypes import Array, convert, element_dtype, scalar_dtype, scalar_type
from cudarun.arguments.files import check_raw_size, is_npy, unreadable
from cudarun.arguments.literals import read
from cudarun.arguments.packing import BufferSpec, element_bytes
from cudarun.arguments.types import SCALARS, ScalarType, StructType, Type, inner_shape, innermost
from cudarun.arguments.values import (
    BareNumber,
    Constant,
    Element,
    Eye,
    FileInitial,
    Initial,
    Iota,
    ListInitial,
    Rand,
    RandInt,
    Randn,
    Scalar,
)
from cudarun.errors import RequestError

_CHUNK = 1 << 16
"""Elements made at a time: a few float64 arrays of it stay in the cache."""

_WRAP = (1 << 64) - 1


def seeded(seed: int, buffer_name: str) -> np.random.Generator:
    """The random numbers of one buffer: the same whatever the device or the other arguments."""
    digest = hashlib.sha256(buffer_name.encode()).digest()
    entropy = [abs(seed), int(seed < 0), int.from_bytes(digest[:16], "little")]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))


def fill(
    initial: Initial, element: Type, shape: tuple[int, ...], rng: np.random.Generator
) -> Array:
    """An array with what ``initial`` says, C-contiguous and writable.

    Args:
        initial: The initialiser; a file is read from its path as it stands.
        element: The type of one element.
        shape: Elements along each dimension; the array has the element's own axes after them.
        rng: Where random numbers come from, see :func:`seeded`.

    Raises:
        RequestError: A file or list does not fit, a sequence leaves the range of its type, or this
            machine has not the memory.
    """
    try:
        return _fill(initial, element, shape, rng)
    except MemoryError as error:
        text = str(BufferSpec("", element, shape))
        raise RequestError(f"cannot make {text} on this machine: {error}") from None


def _fill(
    initial: Initial, element: Type, shape: tuple[int, ...], rng: np.random.Generator
) -> Array:
    whole = shape + inner_shape(element)
    match initial, innermost(element):
        case FileInitial(path), _:
            return _from_file(Path(path), BufferSpec("", element, shape))
        case ListInitial(), _:
            data = bytearray(b"".join(map(element_bytes, _leaves(initial))))
            return np.frombuffer(data, element_dtype(element)).reshape(whole)
        case _, StructType() as struct:
            return _fill_struct(initial, struct, whole, rng)
        case _, ScalarType() as scalar:
            return _fill_scalars(initial, scalar, whole, rng)
        case _:
            raise AssertionError(f"no buffer holds {element}")


def _leaves(items: ListInitial) -> Iterator[Element]:
    for item in items.items:
        if isinstance(item, ListInitial):
            yield from _leaves(item)
        else:
            yield item


def _fill_struct(
    initial: Initial, struct: StructType, shape: tuple[int, ...], rng: np.random.Generator
) -> Array:
    result = np.zeros(shape, element_dtype(struct))
    for name, member in zip(struct.member_names, struct.members, strict=True):
        result[name] = _fill(initial, member.type, shape, rng)
    return result


def _fill_scalars(
    initial: Initial, scalar: ScalarType, shape: tuple[int, ...], rng: np.random.Generator
) -> Array:
    match initial:
        case Constant(number):
            return _constant(number.of(scalar), shape)
        case Iota(start, step) if scalar.is_float:
            return _float_sequence(_float(start), _float(step), scalar, shape)
        case Iota(start, step):
            return _integer_sequence(_integer(start), _integer(step), scalar, shape)
        case Rand(low, high):
            first, width = _float(low), _float(high) - _float(low)
            return _chunked(shape, scalar, lambda at, n: first + width * rng.random(n))
        case Randn():
            return _chunked(shape, scalar, lambda at, n: rng.standard_normal(n))
        case RandInt(low, high):
            lowest, end = _integer(low), _integer(high)
            dtype: Any = np.uint64 if end > 1 << 63 else np.int64
            return _chunked(
                shape, scalar, lambda at, n: rng.integers(lowest, end, size=n, dtype=dtype)
            )
        case Eye():
            return _eye(scalar, shape)
        case _:
            raise AssertionError(f"{initial} is handled before")


def _float(number: BareNumber) -> float:
    return float(number.of(SCALARS["f64"]).value)


def _integer(number: BareNumber) -> int:
    return read(number.text).integer


def _chunked(
    shape: tuple[int, ...], scalar: ScalarType, make: Callable[[int, int], Array]
) -> Array:
    """An array made from ``make(first index, count)``, a chunk at a time, as a type."""
    count = math.prod(shape)
    flat = np.empty(count, scalar_dtype(scalar))
    for start in range(0, count, _CHUNK):
        size = min(_CHUNK, count - start)
        flat[start : start + size] = convert(make(start, size), scalar)
    return flat.reshape(shape)


def _constant(value: Scalar, shape: tuple[int, ...]) -> Array:
    dtype = scalar_dtype(value.type)
    if value.bits == 0:
        return np.zeros(shape, dtype)  # untouched pages: no memory is written at all
    return np.full(shape, value.bits, f"u{value.type.size}").view(dtype)


def _integer_sequence(start: int, step: int, scalar: ScalarType, shape: tuple[int, ...]) -> Array:
    """``start + index * step``, wrapped as device integers wrap."""
    ramp = np.arange(_CHUNK, dtype=np.uint64) * np.uint64(step & _WRAP)
    return _chunked(shape, scalar, lambda at, n: ramp[:n] + np.uint64((start + at * step) & _WRAP))


def _float_sequence(start: float, step: float, scalar: ScalarType, shape: tuple[int, ...]) -> Array:
    """``start + index * step`` in float64, rounded once to the type."""
    last = start + max(math.prod(shape) - 1, 0) * step
    if math.isfinite(last) and not np.isfinite(convert(last, scalar).astype(np.float64)):
        raise RequestError(f"iota goes up to {last:g}: out of range for {scalar}")
    ramp = np.arange(_CHUNK, dtype=np.float64)
    return _chunked(shape, scalar, lambda at, n: start + (ramp[:n] + at) * step)


def _eye(scalar: ScalarType, shape: tuple[int, ...]) -> Array:
    result = np.zeros(shape, scalar_dtype(scalar))
    diagonal = np.arange(min(shape[-2:]))
    result[..., diagonal, diagonal] = 1
    return result


# --- files ---------------------------------------------------------------------------------------


def npy_header(path: Path) -> tuple[ScalarType, tuple[int, ...]]:
    """The element type and shape that a ``.npy`` file tells, without reading its contents.

    Raises:
        RequestError: It is not such a file, or its type is none of ours.
    """
    if not is_npy(path):
        raise RequestError(
            f"{path} is not a .npy file, so it does not tell its type",
            hint=f"give type and dimensions: f32[n]:@{path}",
            file=str(path),
        )
    array = _load(path, header_only=True)
    scalar = scalar_type(array.dtype)
    if scalar is None:
        raise RequestError(
            f"{path} holds {array.dtype}, which is no type of an argument",
            hint=f"give the type and dimensions: bf16[n]:@{path}",
            file=str(path),
        )
    return scalar, array.shape


def load_npy(path: Path) -> Array:
    """The array in a ``.npy`` file, in native byte order; never unpickled.

    Raises:
        RequestError: It cannot be read, is not such a file, or holds Python objects.
    """
    if not is_npy(path):
        raise RequestError(f"{path} is not a .npy file", file=str(path))
    return _load(path)


def _load(path: Path, *, header_only: bool = False) -> Array:
    try:
        # A mapping of the file reads no more than its header.
        array = np.load(path, mmap_mode="r" if header_only else None, allow_pickle=False)
    except OSError as error:
        raise unreadable(path, error) from None
    except ValueError as error:
        raise RequestError(f"cannot read {path}: {error}", file=str(path)) from None
    array = np.asarray(array)
    if header_only:
        return array.view(array.dtype.newbyteorder("="))
    return np.asarray(array, array.dtype.newbyteorder("="), order="C")


def _from_file(path: Path, spec: BufferSpec) -> Array:
    if is_npy(path):
        return _as_buffer(load_npy(path), path, spec)
    check_raw_size(path, spec.nbytes, str(spec))
    return np.fromfile(path, spec.dtype()).reshape(spec.array_shape)


def _as_buffer(array: Array, path: Path, spec: BufferSpec) -> Array:
    """The array of a file as the contents of a buffer: same type, same number of values."""
    dtype = spec.dtype()
    nameless = array.dtype.kind == "V" and array.dtype.names is None
    if nameless and array.dtype.itemsize == dtype.itemsize:
        # How numpy writes bf16 and fp8, which its format has no name for.
        array = array.view(dtype)
    if array.dtype != dtype:
        raise RequestError(
            f"{path} holds {array.dtype}; the buffer is {spec}, of {dtype}", file=str(path)
        )
    if array.size != math.prod(spec.array_shape):
        raise RequestError(f"{path} has shape {array.shape}; the buffer is {spec}", file=str(path))
    return array.reshape(spec.array_shape)
