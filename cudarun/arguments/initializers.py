"""Initializers: the contents of a buffer before the launch.

A vector or array buffer is filled as the flat buffer of its scalars, so ``iota`` counts
over these; a struct buffer is filled member by member, each like a separate buffer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from cudarun.arguments import types
from cudarun.arguments.array_files import file_contents
from cudarun.arguments.contents import (
    ArithmeticSequence,
    ArrayContents,
    Contents,
    RandomContents,
    RepeatedContents,
)
from cudarun.arguments.dtypes import Array, convert, element_dtype, scalar_dtype
from cudarun.arguments.initial_values import Constant, FileInitial, Generated
from cudarun.arguments.literals import read
from cudarun.arguments.packing import BufferSpec, leaf_bytes
from cudarun.arguments.scalars import UntypedNumber
from cudarun.arguments.values import BoxFilter, Initial, ListInitial
from cudarun.base.errors import RequestError

# Makes it at its first call; `numpy.random` is imported then.
Seeded: TypeAlias = Callable[[], "np.random.Generator"]


def seeded(seed: int, buffer_name: str) -> Seeded:
    """Return the random generator of one buffer, independent of the device and other arguments."""

    @cache
    def generator() -> np.random.Generator:
        import hashlib  # few launches have random contents

        digest = hashlib.sha256(buffer_name.encode()).digest()
        entropy = [abs(seed), int(seed < 0), int.from_bytes(digest[:16], "little")]
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy)))

    return generator


def fill(initial: Initial, element: types.Type, shape: tuple[int, ...], rng: Seeded) -> Array:
    """Return an array with the contents of ``initial``, C-contiguous and writable.

    Args:
        initial: The initializer; the path of a file is used unchanged.
        shape: Elements along each dimension; the array has the element's own axes after them.
        rng: The source of random numbers, see :func:`seeded`.
    """
    with in_memory(str(BufferSpec("", element, shape))):
        return _array(initial, element, shape, rng)


def contents(
    initial: Initial, element: types.Type, shape: tuple[int, ...], rng: Seeded
) -> Contents:
    """Return the contents that `fill` writes, for generation in chunks.

    Raises:
        RequestError: A file or list does not match, or a sequence exceeds the range of its type.
        MemoryError: The host is out of memory for contents that cannot be generated in chunks.
    """
    whole = shape + types.inner_shape(element)
    match initial, types.innermost(element):
        case BoxFilter(), types.ScalarType() as scalar:
            # The means of boxes of level 0, rounded once: a box has 2 texels of the level above it
            # along each axis of more than one; at an odd size, the last texel is not part of any.
            level = _array(initial.initial, element, initial.shape, rng).astype(np.float64)
            for _ in range(initial.level):
                for axis in range(initial.outer, len(initial.shape)):
                    half = level.shape[axis] // 2
                    if half:
                        pairs = np.take(level, np.arange(2 * half), axis)
                        split = (*level.shape[:axis], half, 2, *level.shape[axis + 1 :])
                        level = pairs.reshape(split).mean(axis + 1)
            return ArrayContents(convert(np.rint(level) if scalar.is_integer else level, scalar))
        case FileInitial(), _:
            return file_contents(initial, BufferSpec("", element, shape))
        case ListInitial(), _:
            data = bytearray(b"".join(map(leaf_bytes, initial.leaves)))
            return ArrayContents(np.frombuffer(data, element_dtype(element)))
        case Constant(), types.StructType() as struct:
            return RepeatedContents(_structs(initial, struct, (1,), rng), math.prod(whole))
        case Constant(), types.PointerType():
            return RepeatedContents(np.zeros(1, np.uint64), math.prod(whole))
        case _, types.StructType() as struct:
            return ArrayContents(_structs(initial, struct, whole, rng))
        case _, types.ScalarType() as scalar:
            count = math.prod(whole)
            match initial:
                case Constant(number):
                    value = number.of(scalar)
                    item = np.array([value.bits], f"u{scalar.size}").view(scalar_dtype(scalar))
                    return RepeatedContents(item, count)
                case Generated("iota", (start, step)) if scalar.is_float:
                    first, by = start.as_float(scalar), step.as_float(scalar)
                    last = first + max(count - 1, 0) * by
                    if not np.isfinite(convert(last, scalar).astype(np.float64)):
                        raise RequestError(
                            f"iota reaches {last:g}, which is out of range for {scalar}"
                        )
                    return ArithmeticSequence(scalar, first, by, count)
                case Generated("iota", (start, step)):
                    return ArithmeticSequence(scalar, _integer(start), _integer(step), count)
                case Generated("rand", (low, high)):
                    first = low.as_float(scalar)
                    width = high.as_float(scalar) - first
                    return RandomContents(scalar, lambda n: first + width * rng().random(n), count)
                case Generated("randn"):
                    return RandomContents(scalar, rng().standard_normal, count)
                case Generated("randint", (low, high)):
                    lowest, end = _integer(low), _integer(high)
                    dtype: Any = np.uint64 if end > 1 << 63 else np.int64
                    return RandomContents(
                        scalar, lambda n: rng().integers(lowest, end, size=n, dtype=dtype), count
                    )
                case Generated("eye"):
                    result = np.zeros(whole, scalar_dtype(scalar))
                    diagonal = np.arange(min(whole[-2:]))
                    result[..., diagonal, diagonal] = 1
                    return ArrayContents(result)
                case _:
                    raise AssertionError(f"{initial} is handled before")
        case _:
            raise AssertionError(f"a buffer cannot contain {element}")


@contextmanager
def in_memory(what: str) -> Iterator[None]:
    """Turn a shortage of host memory into an error that names its purpose.

    Raises:
        RequestError: The host is out of memory.
    """
    try:
        yield
    except MemoryError as error:
        raise RequestError(f"not enough host memory for {what}: {error}") from None


def _array(initial: Initial, element: types.Type, shape: tuple[int, ...], rng: Seeded) -> Array:
    return (
        contents(initial, element, shape, rng).array().reshape(shape + types.inner_shape(element))
    )


def _structs(
    initial: Initial, struct: types.StructType, shape: tuple[int, ...], rng: Seeded
) -> Array:
    result = np.zeros(shape, element_dtype(struct))
    for name, member in zip(struct.member_names, struct.members, strict=True):
        if isinstance(member.type, types.PointerType):  # only zeros come here
            continue
        result[name] = _array(initial, member.type, shape, rng)
    return result


def _integer(number: UntypedNumber) -> int:
    return read(number.text).integer
