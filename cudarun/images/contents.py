"""The contents of files and images: mapped, in memory, or decompressed as a stream."""

from __future__ import annotations

import mmap
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import BinaryIO

from cudarun.base.errors import ImageRefused


class MappedFile(mmap.mmap):
    """The bytes of an open file, read from the disk as they are used.

    It pickles as the path of the open file (proc(5)), so that a worker maps the same file even if
    its name has another one by then.
    """

    path: str

    @classmethod
    def of(cls, file: BinaryIO) -> MappedFile:
        """Map a regular file that is not empty."""
        mapped = cls(file.fileno(), 0, access=mmap.ACCESS_READ)
        # The map's own descriptor is private; this one keeps the file reachable by a path.
        mapped.path = f"/proc/{os.getpid()}/fd/{os.dup(file.fileno())}"
        return mapped

    def __reduce__(self) -> tuple[object, ...]:
        return open_mapped, (self.path,)

    def startswith(self, prefix: bytes, start: int = 0) -> bool:
        """Return whether the bytes at ``start`` are ``prefix``."""
        return self[start : start + len(prefix)] == prefix

    def forget(self) -> None:
        """Release the memory of all that was read; the system reads it again when it is used."""
        self.madvise(mmap.MADV_DONTNEED)

    def check_size(self, origin: str) -> None:
        """Refuse the file if it was truncated meanwhile: reading past its end is a bus error.

        Raises:
            ImageRefused: It is shorter than the map.
        """
        if self.size() < len(self):
            raise ImageRefused("the file became shorter while it was read", origin=origin)


@cache
def open_mapped(path: str) -> MappedFile:
    """Map a file by its path, once in a process."""
    with open(path, "rb") as file:
        return MappedFile.of(file)


Data = bytes | MappedFile  # the contents of a file: read, or mapped

Buffer = bytes | MappedFile | memoryview  # the bytes of an image, possibly inside another one


Extent = tuple[int, int]  # start and end of consecutive bytes


class CodeBytes(ABC):
    """The bytes of an image."""

    size: int
    is_whole: bool

    @abstractmethod
    def fetch(self, extents: Sequence[Extent], *, to_end: bool = False) -> list[memoryview]:
        """Return the bytes of each extent, which may extend past the end.

        Args:
            extents: In any order.
            to_end: Decompress everything, which checks it.
        """


class WholeCode(CodeBytes):
    """Contents in memory."""

    is_whole = True

    def __init__(self, data: Buffer) -> None:
        self._view = memoryview(data)
        self.size = len(self._view)

    def fetch(self, extents: Sequence[Extent], *, to_end: bool = False) -> list[memoryview]:
        """Return views."""
        return [self._view[start:end] for start, end in extents]


class StreamedCode(CodeBytes):
    """Contents that are decompressed anew by each `fetch`, of which only the extents are kept."""

    is_whole = False

    def __init__(self, chunks: Callable[[], Iterator[bytes]], size: int) -> None:
        self._chunks = chunks  # starts the decompression
        self.size = size  # the number of bytes in all chunks

    def fetch(self, extents: Sequence[Extent], *, to_end: bool = False) -> list[memoryview]:
        """Return copies."""
        kept = [bytearray() for _ in extents]
        waiting = sorted(
            (index for index, (start, end) in enumerate(extents) if start < end),
            key=lambda index: extents[index],
            reverse=True,
        )
        open_: list[int] = []
        at = 0
        for chunk in self._chunks():
            after = at + len(chunk)
            while waiting and extents[waiting[-1]][0] < after:
                open_.append(waiting.pop())
            for index in open_:
                start, end = extents[index]
                kept[index] += chunk[max(start - at, 0) : end - at]
            open_ = [index for index in open_ if extents[index][1] > after]
            at = after
            if not (open_ or waiting or to_end):
                break
        return [memoryview(data) for data in kept]
