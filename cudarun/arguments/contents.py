"""The initial contents of a buffer, generated in chunks so that they need not fit in memory."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cudarun.arguments.dtypes import Array, DType, convert, scalar_dtype
from cudarun.arguments.files import unreadable
from cudarun.arguments.types import ScalarType
from cudarun.base.errors import RequestError

_CHUNK = 1 << 16  # items generated at a time: a few float64 arrays of this size fit in the cache

_WRAP = (1 << 64) - 1


class Contents(ABC):
    """The items of a buffer in sequence: numbers or structs.

    Attributes:
        in_order: Whether chunks must be read sequentially, each once, from the first. Otherwise
            they can be read in any order and by several threads at a time.
    """

    in_order = False

    def __init__(self, dtype: DType, count: int) -> None:
        self.dtype = dtype
        self.count = count

    @property
    def nbytes(self) -> int:
        """The size of all items in bytes."""
        return self.count * self.dtype.itemsize

    @abstractmethod
    def read(self, part: Array, first: int) -> None:
        """Write the items from the index ``first`` on into ``part``, a flat array of `dtype`.

        Raises:
            RequestError: A file cannot be read.
        """

    def array(self) -> Array:
        """Return all items as a flat array; `MemoryError` if the host is out of memory."""
        whole = np.empty(self.count, self.dtype)
        self.read(whole, 0)
        return whole


class ArrayContents(Contents):
    """The items of an existing C-contiguous array."""

    def __init__(self, array: Array) -> None:
        super().__init__(array.dtype, array.size)
        self._array = array.reshape(-1)

    def read(self, part: Array, first: int) -> None:
        """Copy a chunk, as bytes so that the padding of structs is copied too."""
        source = self._array[first : first + part.size]
        part.view(np.uint8)[...] = source.view(np.uint8)

    def array(self) -> Array:
        """Return the array itself."""
        return self._array


class GeneratedContents(Contents):
    """Numbers converted to a scalar type chunk by chunk: ``values(first, count)`` returns some."""

    def __init__(self, scalar: ScalarType, count: int, values: Callable[[int, int], Array]) -> None:
        super().__init__(scalar_dtype(scalar), count)
        self.scalar = scalar
        self._values = values

    def read(self, part: Array, first: int) -> None:
        """Generate a chunk."""
        for start in range(0, part.size, _CHUNK):
            size = min(_CHUNK, part.size - start)
            part[start : start + size] = convert(self._values(first + start, size), self.scalar)


def converted(array: Array, scalar: ScalarType) -> Contents:
    """Return the items of a flat array converted to a scalar type."""
    return GeneratedContents(scalar, array.size, lambda at, size: array[at : at + size])


class RepeatedContents(Contents):
    """One item repeated; ``item`` is an array of it alone."""

    def __init__(self, item: Array, count: int) -> None:
        super().__init__(item.dtype, count)
        self._item = item

    def cut(self, count: int) -> RepeatedContents:
        """Return the same contents with fewer items."""
        return RepeatedContents(self._item, min(count, self.count))

    def read(self, part: Array, first: int) -> None:
        """Fill a chunk."""
        size = self.dtype.itemsize
        bare = np.dtype(f"u{size}" if size in (1, 2, 4, 8) else f"V{size}")
        part.view(bare)[...] = self._item.view(bare)

    def array(self) -> Array:
        """Return all items; zeros are untouched pages, which cost no time."""
        if self._item.view(np.uint8).any():
            return super().array()
        return np.zeros(self.count, self.dtype)


class ArithmeticSequence(GeneratedContents):
    """The sequence ``start + index * step`` as a scalar type.

    Integers wrap as they do on the device; floats are computed in float64 and rounded once.
    """

    def __init__(self, scalar: ScalarType, start: float, step: float, count: int) -> None:
        super().__init__(scalar, count, self._terms)
        self.start = start
        self.step = step
        self._ramp: Array = np.arange(min(_CHUNK, count), dtype=np.float64)
        if not scalar.is_float:
            self._ramp = self._ramp.astype(np.uint64) * np.uint64(int(step) & _WRAP)

    def _terms(self, at: int, size: int) -> Array:
        ramp = self._ramp[:size]
        if self.scalar.is_float:
            return np.asarray(self.start + (ramp + at) * self.step)
        return ramp + np.uint64(int(self.start + at * self.step) & _WRAP)


class RandomContents(GeneratedContents):
    """Random numbers as a scalar type; ``draw(n)`` returns the next ``n``."""

    in_order = True

    def __init__(self, scalar: ScalarType, draw: Callable[[int], Array], count: int) -> None:
        super().__init__(scalar, count, lambda _, size: draw(size))


class FileContents(Contents):
    """The items of a file from the byte ``start`` on.

    Raises:
        RequestError: The file cannot be opened.
    """

    def __init__(self, path: Path, start: int, dtype: DType, count: int) -> None:
        super().__init__(dtype, count)
        self._path = path
        self._start = start
        self._file = -1
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise unreadable(path, error) from None

    def __del__(self) -> None:
        if self._file >= 0:
            os.close(self._file)

    def read(self, part: Array, first: int) -> None:
        """Read a chunk, without blocking other threads."""
        rest = part.view(np.uint8).data
        at = self._start + first * self.dtype.itemsize
        while rest:
            try:
                size = os.preadv(self._file, [rest], at)
            except OSError as error:
                raise unreadable(self._path, error) from None
            if size == 0:
                raise RequestError(
                    f"cannot read {self._path}: the file was truncated while it was read",
                    file=str(self._path),
                )
            rest, at = rest[size:], at + size
