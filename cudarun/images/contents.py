"""The contents of an image: in memory, or decompressed as a stream where they are large."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudarun.images.mapping import Buffer


Extent = tuple[int, int]
"""Start and end of consecutive bytes."""


class CodeBytes(ABC):
    """The bytes of an image.

    Attributes:
        size: Their number.
        is_whole: Whether all of them are in memory.
    """

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
    """Contents that are decompressed anew by each `fetch`, of which only the extents are kept.

    Args:
        chunks: Starts the decompression.
        size: The number of bytes in all chunks.
    """

    is_whole = False

    def __init__(self, chunks: Callable[[], Iterator[bytes]], size: int) -> None:
        self._chunks = chunks
        self.size = size

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


def as_contents(data: Buffer | CodeBytes) -> CodeBytes:
    """Return the contents of an image."""
    return data if isinstance(data, CodeBytes) else WholeCode(data)
