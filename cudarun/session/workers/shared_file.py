"""A file shared by processes of one command, deleted as soon as they end."""

from __future__ import annotations

import os
import tempfile
from contextlib import AbstractContextManager
from typing import BinaryIO


class SharedFile(AbstractContextManager["SharedFile"]):
    """A file without a name in ``TMPDIR``, which disappears however the processes end."""

    def __init__(self) -> None:
        self._file: BinaryIO = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed in __exit__
        # The path under which other processes of this user can open it (proc(5)).
        self.path = f"/proc/{os.getpid()}/fd/{self._file.fileno()}"

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def fileno(self) -> int:
        """Return the descriptor in this process."""
        return self._file.fileno()

    def read(self, last: int | None = None) -> bytes:
        """Return the contents, written by any process, or at most the last bytes."""
        size = os.fstat(self.fileno()).st_size
        count = size if last is None else min(size, last)
        return os.pread(self.fileno(), count, size - count)
