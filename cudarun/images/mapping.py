"""Files as memory maps: a large library is listed from its headers and read part by part."""

from __future__ import annotations

import mmap
import os
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


Data = bytes | MappedFile
"""The contents of a file: read, or mapped."""

Buffer = bytes | MappedFile | memoryview
"""The bytes of an image, possibly inside another one."""
