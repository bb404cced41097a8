"""Elementwise operations on arrays, deferred so that they can be computed chunk by chunk.

``a*x + 1`` over 2^26 elements would write each step to memory. With a few thousand elements at
a time the steps stay in the cache, and a comparison needs no array of that size.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, cast

import numpy as np

from cudarun.arguments.dtypes import Array
from cudarun.arguments.expressions.operators import Operand, sized
from cudarun.base.errors import RequestError

MAX_ELEMENTS = 1 << 26
"""The largest array, of half a GiB, that an expression may create if none of the launch's arrays
and none of its operands is as large."""

_CHUNK = 1 << 16

Data: TypeAlias = "int | np.generic | Array | Deferred"  # an intermediate value of an expression


class Deferred:
    """An elementwise operation that is not yet computed; at least one operand is an array."""

    __slots__ = ("function", "operands", "shape")

    def __init__(
        self, function: Callable[..., Operand], operands: Sequence[Data], shape: tuple[int, ...]
    ) -> None:
        self.function = function
        self.operands = operands
        self.shape = shape

    def compute(self, chunk: Mapping[int, Array]) -> Operand:
        """Return the value over a chunk of each leaf array, given by the array's ``id``."""
        return self.function(*(_part(operand, chunk) for operand in self.operands))


def _part(data: Data, chunk: Mapping[int, Array]) -> Operand:
    if isinstance(data, Deferred):
        return data.compute(chunk)
    return chunk[id(data)] if isinstance(data, np.ndarray) else data


def _arrays(data: Data) -> Iterator[Array]:
    if isinstance(data, Deferred):
        for operand in data.operands:
            yield from _arrays(operand)
    elif isinstance(data, np.ndarray):
        yield data


def shape_of(data: Data) -> tuple[int, ...]:
    """Return the shape of a value; ``()`` for a scalar."""
    return () if isinstance(data, int) else data.shape


def joint_shape(operands: Sequence[Data]) -> tuple[int, ...]:
    """Return the shape that values broadcast to.

    Raises:
        RequestError: The shapes do not broadcast, or a value is a struct, which is not an operand.
    """
    for operand in operands:
        if not isinstance(operand, int | Deferred) and operand.dtype.names:
            members = ", ".join(f'["{name}"]' for name in operand.dtype.names)
            raise RequestError(f"a struct has no single value; select a member: {members}")
    shapes = [shape_of(operand) for operand in operands]
    try:
        joint = np.broadcast_shapes(*shapes)
    except ValueError:
        distinct = " and ".join(map(str, dict.fromkeys(shape for shape in shapes if shape)))
        raise RequestError(f"the shapes {distinct} cannot be broadcast together") from None
    guard_size(math.prod(joint), *operands)
    return joint


def guard_size(count: int, *made_from: Data) -> None:
    """Refuse arrays that would exhaust the memory, unless an operand is as large."""
    if count > max(MAX_ELEMENTS, *(math.prod(shape_of(data)) for data in made_from), 0):
        raise RequestError(
            f"an array of {count} elements exceeds the limit of {MAX_ELEMENTS} "
            "elements in expressions"
        )


def chunks(*operands: Data) -> Iterator[tuple[int, tuple[Operand, ...]]]:
    """Broadcast the operands and yield them chunk by chunk in index order.

    Yields:
        The flat index of the first element, and a part of each operand: one-dimensional arrays of
        one length, and scalars as they are. An array part is overwritten by the next chunk's.
    """
    arrays = {id(array): array for operand in operands for array in _arrays(operand)}
    if not arrays:
        yield 0, tuple(_part(operand, {}) for operand in operands)
        return
    with numpy_errors("too many different arrays"):
        iterator = np.nditer(
            list(arrays.values()),
            flags=["external_loop", "buffered", "zerosize_ok"],
            order="C",
            buffersize=_CHUNK,
        )
    if iterator.itersize == 0:  # one empty chunk, which determines the types of the results
        empty = {key: np.empty(0, array.dtype) for key, array in arrays.items()}
        yield 0, tuple(_part(operand, empty) for operand in operands)
        return
    start = 0
    with iterator:
        for parts in iterator:
            given = cast("tuple[Array, ...]", parts if len(arrays) > 1 else (parts,))
            chunk = dict(zip(arrays, given, strict=True))
            yield start, tuple(_part(operand, chunk) for operand in operands)
            start += next(iter(chunk.values())).size


def materialize(data: Data) -> Any:
    """Return a value as a numpy scalar or array; a literal becomes a 64-bit integer."""
    if isinstance(data, int):
        return sized(data, np.dtype(np.int64))
    if not isinstance(data, Deferred):
        return data
    result: Array | None = None
    for start, (part,) in chunks(data):
        chunk = np.asarray(part)
        if result is None:
            result = np.empty(math.prod(data.shape), chunk.dtype)
        result[start : start + chunk.size] = chunk
    assert result is not None, "there is always at least one chunk"
    return result.reshape(data.shape)


def elementwise(function: Callable[..., Operand], *operands: Data) -> Data:
    """Apply an elementwise function: immediately to scalars, deferred with an array."""
    shape = joint_shape(operands)
    if all(isinstance(operand, int | np.generic) for operand in operands):
        return cast(Data, plain(function(*operands)))
    return Deferred(function, operands, shape)


def plain(value: Any) -> Any:
    """Return a zero-dimensional array as a scalar."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


@contextmanager
def numpy_errors(what: str) -> Iterator[None]:
    """Turn numpy's exceptions into request errors, and its warnings, which it prints, too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    except (ValueError, TypeError, IndexError, OverflowError, MemoryError, Warning) as error:
        raise RequestError(f"{what}: {error or 'out of memory'}") from None
